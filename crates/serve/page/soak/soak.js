// A long run of everything at once: mail that changes, `pneu serve`, `pneu index`, `pneu index --watch`, and
// a user at the page in a real browser. Each minute all rest, and files, server and page are compared; what
// page and server hold in memory is counted. Is no test: it takes as long as it is told to.
//
//   PNEU=path/to/pneu npm run soak -- [--minutes N] [--seed N] [--messages N]
//
// Ends with 1 at the first thing that is wrong, and leaves the mail and the index where it says.

import { fork, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { Mailbox, closeBrowser, listReady, open, until } from "../tests/support.js";
import { PATIENCE_MS, checkPage, checkServer } from "./check.js";
import { Client } from "./client.js";
import { FOLDERS, Mail } from "./mail.js";
import { random } from "./random.js";
import { User } from "./user.js";

/** @typedef {Record<string, number>} Sample */

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "15" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    messages: { type: "string", default: "3000" },
  },
});
const ROUND_MS = 60_000;
/** How much more the last third of a run may hold than the second: by a factor, and beyond that. */
const GROWTH_MAX = 1.2;
const SLACK = /** @type {Sample} */ ({
  heap: 4,
  nodes: 400,
  listeners: 200,
  documents: 4,
  server: 16,
  files: 8,
  threads: 4,
});
/** Shorter runs are not judged. */
const ROUNDS_JUDGED = 9;

const seed = Number(options.seed);
console.log(`seed ${seed}, ${options.messages} messages, ${options.minutes} minutes`);
const mailbox = new Mailbox();
const directory = path.join(mailbox.directory, "mail");
/** What was wrong. @type {string[]} */
const problems = [];

write();
const link = await mailbox.serve();
mailbox.process?.stderr?.on("data", (data) => {
  if (!/logs a browser in/.test(String(data))) problems.push(`the server says: ${data}`);
});
const client = new Client(mailbox.origin, mailbox.run("serve", "--print-token").trim());
const listening = client.listen().catch((error) => {
  if (!client.abort.signal.aborted) problems.push(`events: ${error}`);
});
const { page, close, wrong } = await open(link);
page.on("console", (message) => {
  // Others remove messages that are being opened.
  const isGone = message.location().url.includes("/mail/") && message.text().includes("404");
  if (message.type() === "error" && !isGone) problems.push(`the console says: ${message.text()}`);
});
await listReady(page);
const developer = await page.context().newCDPSession(page);
await developer.send("Performance.enable");
const user = new User(page, random(seed + 1));
const others = fork(path.join(import.meta.dirname, "others.js"), [directory, String(seed + 2)]);
others.on("exit", (code) => code && problems.push(`the other programs ended with ${code}`));
/** @type {Sample[]} */
const samples = [];
let isOver = false;
const indexing = index(random(seed + 3));
try {
  for (let round = 1; round <= Number(options.minutes); round += 1) {
    others.send("go");
    const working = user.work();
    await Promise.race([working, new Promise((resolve) => setTimeout(resolve, ROUND_MS))]);
    user.rest();
    await working;
    await restOthers();
    await check();
    report(round);
  }
  judge();
} catch (error) {
  problems.push(String(/** @type {Error} */ (error).stack ?? error));
  console.log(`the last keys were ${user.last.join(" ")}; the page is at ${page.url()}`);
  console.log(await page.evaluate(held).catch(String));
  await page.screenshot({ path: path.join(mailbox.directory, "page.png") });
}
isOver = true;
client.close();
await Promise.all([indexing, listening]);
others.disconnect();
await close().catch((error) => problems.push(String(error)));
await closeBrowser();
for (const problem of [...wrong, ...problems]) console.log(`WRONG: ${problem}`);
if (problems.length === 0) await mailbox.remove();
else {
  await mailbox.stop();
  console.log(`the mail is left in ${mailbox.directory}`);
  process.exitCode = 1;
}

/** Writes the mail that is there at first. */
function write() {
  const chance = random(seed);
  const mail = new Mail(directory, chance, "mail");
  for (let count = 0; count < Number(options.messages); count += 1)
    mail.deliver(chance.below(2) === 0 ? "INBOX" : chance.pick(FOLDERS));
  mailbox.index();
}

/** Returns what the list of the page holds: its parts, and what it waits for. */
async function held() {
  const { src } = /** @type {HTMLScriptElement} */ (document.querySelector("script[src]"));
  /** @type {typeof import("../list.js")} */
  const list = await import(new URL("list.js", src).href);
  const rows = list.rows();
  const parts = [...(rows?.windows ?? [])].map(
    ([number, { rows: all, state }]) =>
      `${number}: ${Object.keys(all).length} of ${all.length} rows of state ${state}`,
  );
  const requests = [...(rows?.requests.keys() ?? [])].join();
  const drawn = [...document.querySelectorAll("#list .row")].map(
    (each) => `${each.getAttribute("data-index")}${each.classList.contains("ghost") ? " empty" : ""}`,
  );
  return [
    `total ${rows?.total.peek()}, wanted ${rows?.wanted}, state ${rows?.state}, cursor ${list.cursor.peek()}`,
    `requests ${requests}`,
    ...parts,
    `drawn ${drawn}`,
  ].join("\n");
}

/** @returns {Promise<void>} */
function restOthers() {
  return new Promise((resolve) => {
    others.once("message", () => resolve());
    others.send("rest");
  });
}

/**
 * Runs `pneu index` and `pneu index --watch` in turn, beside the server.
 * @param {import("./random.js").Random} chance
 */
async function index(chance) {
  const wait = (/** @type {number} */ seconds) =>
    new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  while (!isOver) {
    const isWatch = chance.below(3) === 0;
    const child = spawn(
      String(process.env["PNEU"]),
      ["index", "--maildir", directory, ...(isWatch ? ["--watch"] : [])],
      { env: mailbox.environment(), stdio: ["ignore", "ignore", "pipe"] },
    );
    let told = "";
    child.stderr.on("data", (data) => (told += data));
    const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code)));
    if (isWatch) {
      await Promise.race([wait(2 + chance.below(20)), ended]);
      child.kill("SIGTERM");
    }
    const code = await ended;
    const isRight = isWatch ? [0, 130, 143, "SIGTERM"].includes(code) : code === 0;
    if (!isRight || /panic/.test(told)) problems.push(`pneu index ended with ${code}: ${told}`);
    if (!isOver) await wait(chance.below(8));
  }
}

/** Compares all, and then counts what is held, with the same on the screen each time. */
async function check() {
  if (problems.length > 0 || wrong.length > 0) throw new Error("something was wrong before");
  const { waited, count } = await checkServer(client, directory);
  const pageWaited = await checkPage(client, page);
  // Again at the beginning of the inbox, and at its end.
  for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await until(page, "document.querySelector('.list-head h1')?.textContent === 'Inbox'", PATIENCE_MS);
  await listReady(page, PATIENCE_MS);
  for (const key of ["End", "Home"]) {
    await page.keyboard.press(key);
    await listReady(page, PATIENCE_MS);
    await checkPage(client, page);
  }
  samples.push({ ...(await counted()), messages: count, waited, pageWaited });
}

/** @returns {Promise<Sample>} */
async function counted() {
  for (let times = 0; times < 3; times += 1) await developer.send("HeapProfiler.collectGarbage");
  const { metrics } = await developer.send("Performance.getMetrics");
  const of = (/** @type {string} */ name) => Number(metrics.find((each) => each.name === name)?.value);
  const at = `/proc/${mailbox.process?.pid}`;
  const anonymous = /^Anonymous: +(\d+) kB/m.exec(fs.readFileSync(`${at}/smaps_rollup`, "utf8"));
  return {
    heap: of("JSHeapUsedSize") / 1e6,
    nodes: of("Nodes"),
    listeners: of("JSEventListeners"),
    documents: of("Documents"),
    server: Number(anonymous?.[1]) / 1000,
    files: fs.readdirSync(`${at}/fd`).length,
    threads: fs.readdirSync(`${at}/task`).length,
  };
}

/** @param {number} round */
function report(round) {
  const numbers = Object.entries(samples.at(-1) ?? {}).map(
    ([name, value]) => `${name} ${Number(value.toFixed(1))}`,
  );
  console.log(`minute ${round}: keys ${user.count}, events ${client.eventCount}, ${numbers.join(", ")}`);
}

/** Compares the last third of the run with the second: in the first, caches fill. */
function judge() {
  if (samples.length < ROUNDS_JUDGED) return;
  const third = Math.floor(samples.length / 3);
  const median = (/** @type {Sample[]} */ part, /** @type {string} */ name) =>
    Number(part.map((each) => Number(each[name])).sort((a, b) => a - b)[Math.floor(part.length / 2)]);
  for (const [name, slack] of Object.entries(SLACK)) {
    const [before, after] = [
      median(samples.slice(third, 2 * third), name),
      median(samples.slice(-third), name),
    ];
    console.log(`${name}: ${before.toFixed(1)} in the second third, ${after.toFixed(1)} in the last`);
    if (after > before * GROWTH_MAX + slack) problems.push(`${name} grew from ${before} to ${after}`);
  }
}
