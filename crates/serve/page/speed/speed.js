// How fast the page is in Chromium: prints a table of medians and maxima, with what they should be at most.
// Is no test: what it finds depends on the machine, which should do nothing else.
//
//   PNEU=path/to/pneu npm run speed -- [--runs N] [--home HOME] [--words A,B,..] [--trace DIR]
//
// HOME has an index of mail; without it, the mail of the tests is used. A, B and so on are searched for. With
// --trace, each kind of run leaves a trace of Chromium's in DIR, for its developer tools. PNEU should be a
// release build. With PAGE_FROM_DISK=1 the files of this folder are measured instead of those in the program.

import path from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { write } from "../tests/mail.js";
import { million } from "../tests/million.js";
import { Mailbox, listReady, until } from "../tests/support.js";
import { before } from "./files.js";
import { watch } from "./watch.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ what: string, unit: string, goal: number, values: number[] }} Figure */

const WORDS = "harbour,meadow,lantern,granite,orchard,compass,thistle,ember,willow,quarry";
const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "9" },
    home: { type: "string" },
    trace: { type: "string" },
    words: { type: "string", default: WORDS },
  },
});
const runs = Number(options.runs);
/** A fast typist needs this long for a letter. */
const LETTER_MS = 80;
/** What is searched for, one after the other. The mail of the tests has these words. */
const words = options.words.split(",");

/** @type {Map<string, Figure>} */
const figures = new Map();

/** @param {string} what @param {string} unit @param {number} goal @param {number[]} values */
function note(what, unit, goal, ...values) {
  const figure = figures.get(what) ?? { what, unit, goal, values: [] };
  figure.values.push(...values);
  figures.set(what, figure);
}

const mailbox = new Mailbox();
if (options.home) mailbox.home = path.resolve(options.home);
else {
  write(mailbox);
  mailbox.index();
}
const link = await mailbox.serve(0, ["--no-watch"]);
const ahead = process.env["PAGE_FROM_DISK"] === "1" ? await before(mailbox.origin) : null;
const origin = ahead?.origin ?? mailbox.origin;
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
try {
  const login = await browser.newContext();
  await login.request.get(link);
  const storageState = await login.storageState();
  await login.close();
  for (let run = 0; run <= runs; run += 1) {
    // Each has an empty cache at first. The first one warms the server up, and does not count.
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, storageState });
    await context.addInitScript(watch);
    await visit(context, (page) => load(page, ", first visit"));
    // The browser keeps the files now, and with the second visit how it reads the scripts.
    await visit(context, (page) => load(page, null));
    await visit(context, (page) => measure(page, run));
    await context.close();
    if (run === 0) figures.clear();
  }
} finally {
  await browser.close();
  ahead?.close();
  await mailbox.remove();
}
print();

/** @param {import("playwright-core").BrowserContext} context @param {(page: Page) => Promise<void>} act */
async function visit(context, act) {
  const page = await context.newPage();
  await act(page);
  await page.close();
}

/** @param {Page} page @param {number} run */
async function measure(page, run) {
  await traced(page, run, "load", () => load(page, ""));
  await traced(page, run, "next", () => next(page));
  await traced(page, run, "search", () => search(page, run));
  await traced(page, run, "scroll", () => scroll(page));
}

/** Opens the page. Notes how long it takes, if the visit has a name. @param {Page} page @param {string | null} name */
async function load(page, name) {
  await page.goto(`${origin}/`);
  await listReady(page);
  await until(page, "window.speed.listShown > 0 && window.speed.firstPaint > 0");
  const { firstPaint, listShown } = await page.evaluate(() => window.speed);
  if (name === null) return;
  note(`first paint${name}`, "ms", 150, firstPaint);
  note(`list shown${name}`, "ms", 250, listShown);
  if (name === "") return;
  const urls = await page.evaluate(() =>
    ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type).map((each) => each.name)),
  );
  // The server does not compress; a proxy may.
  let sum = 0;
  for (const url of urls.filter((each) => !/jmap|[/]mail[/]/.test(new URL(each).pathname)))
    sum += gzipSync(await (await page.request.get(url)).body()).length;
  note("files of the first load, as gzip", "bytes", 60_000, sum);
}

/** Opens the first conversation, and goes to the next ones and back. @param {Page} page */
async function next(page) {
  await page.keyboard.press("o");
  await until(page, "window.speed.isOpen()");
  for (const key of [..."jjjjjkkkkk"]) {
    await page.evaluate(() => window.speed.awaitNext());
    await page.keyboard.press(key);
    await until(page, "window.speed.nextShown > 0");
    const { nextShown } = await page.evaluate(() => window.speed);
    note(key === "j" ? "next conversation after j" : "previous conversation after k", "ms", 50, nextShown);
  }
  await page.keyboard.press("Escape");
  await until(page, "!location.hash.includes('message')");
}

/** Types a word, and waits for what is found after its last letter. @param {Page} page @param {number} run */
async function search(page, run) {
  await page.keyboard.press("/");
  const word = String(words[run % words.length]);
  await page.evaluate((wanted) => window.speed.awaitFound(wanted), word);
  await page.keyboard.type(word, { delay: LETTER_MS });
  await until(page, "window.speed.found > 0");
  const { found } = await page.evaluate(() => window.speed);
  note("rows found, after the last letter", "ms", 80, found);
  await page.keyboard.press("Escape");
  await until(page, "!location.hash.includes('search')");
}

/** Scrolls through a million rows, which a stand-in for the server has. @param {Page} page */
async function scroll(page) {
  await page.route("**/jmap/api", async (route) => {
    const { methodCalls } = JSON.parse(String(route.request().postData()));
    const query = methodCalls.find((/** @type {any} */ call) => call[0] === "Email/query");
    if (query?.[1].filter !== null) return route.fallback();
    return route.fulfill({ json: { methodResponses: million(query[1]), sessionState: "1" } });
  });
  await page.locator('#mailboxes a[data-mailbox="all"]').click();
  await until(page, "document.querySelector('.list-head .count').textContent.startsWith('1,000,000')");
  await listReady(page);
  const client = await page.context().newCDPSession(page);
  const at = /** @type {{ x: number, y: number }} */ (await page.locator("#scroller").boundingBox());
  const gesture = { x: at.x + 100, y: at.y + 300, gestureSourceType: /** @type {const} */ ("mouse") };
  for (const [speed, yDistance] of [
    [2000, -3000],
    [20_000, -20_000],
    [20_000, 10_000],
  ]) {
    await page.evaluate(() => window.speed.beginFrames());
    await client.send("Input.synthesizeScrollGesture", {
      ...gesture,
      speed: Number(speed),
      yDistance: Number(yDistance),
    });
    note(
      "frame while the wheel turns, a million rows",
      "ms",
      50,
      ...(await page.evaluate(() => window.speed.endFrames())),
    );
  }
  await page.evaluate(() => window.speed.beginFrames());
  // As the scroll bar does when it is dragged from end to end.
  await page.evaluate(async () => {
    const pane = /** @type {HTMLElement} */ (document.getElementById("scroller"));
    for (let step = 0; step <= 60; step += 1) {
      pane.scrollTop = (pane.scrollHeight * step) / 60;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  });
  note(
    "frame while the scroll bar is dragged, a million rows",
    "ms",
    50,
    ...(await page.evaluate(() => window.speed.endFrames())),
  );
  await page.unroute("**/jmap/api");
}

/**
 * Does something, in the last run under a trace, if traces are wanted.
 * @param {Page} page
 * @param {number} run
 * @param {string} name
 * @param {() => Promise<void>} work
 */
async function traced(page, run, name, work) {
  const isTraced = options.trace && run === runs;
  if (isTraced) await browser.startTracing(page, { path: path.join(String(options.trace), `${name}.json`) });
  await work();
  if (isTraced) await browser.stopTracing();
}

function print() {
  const rows = [["", "goal", "median", "max", "count", ""]];
  for (const { what, unit, goal, values } of figures.values()) {
    const sorted = values.sort((a, b) => a - b);
    const median = Number(sorted[Math.floor(sorted.length / 2)]);
    const max = Number(sorted.at(-1));
    const shown = [goal, median, max].map((each) => `${each.toFixed(unit === "ms" ? 1 : 0)} ${unit}`);
    // All frames must be short; of the others, most.
    const isMissed = (what.startsWith("frame") ? max : median) > goal;
    rows.push([what, ...shown, String(values.length), isMissed ? "missed" : ""]);
  }
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => String(row[column]).length))) ?? [];
  for (const row of rows)
    console.log(
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(Number(widths[column])) : cell.padStart(Number(widths[column])),
        )
        .join("  "),
    );
}
