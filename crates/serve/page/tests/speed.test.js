// What makes the page fast, as far as it can be counted: how often it asks. How long that takes, speed/
// measures.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { ahead } from "../ahead.js";
import { Fixture, openRow } from "./steps.js";
import { eventually, listReady, pageDirectory, until } from "./support.js";

const fixture = new Fixture();
const { mailbox, start } = fixture;

before(fixture.begin);
after(fixture.end);

/** Returns a script and all that it imports when it is loaded. @param {string} name @returns {string[]} */
function withImports(name, known = new Set([name])) {
  const source = fs.readFileSync(path.join(pageDirectory, name), "utf8");
  for (const [, from = ""] of source.matchAll(/^(?:import|export)\b[^;]*? from "(\.[^"]+)";/gm)) {
    const imported = path.join(path.dirname(name), from);
    if (known.has(imported)) continue;
    known.add(imported);
    withImports(imported, known);
  }
  return [...known];
}

test("the page names all scripts that it begins with, so that none waits for another", () => {
  const source = fs.readFileSync(path.join(pageDirectory, "index.html"), "utf8");
  const named = [...source.matchAll(/<link rel="modulepreload" href="\/([^"]+)">/g)].map(([, name]) => name);
  assert.deepEqual(
    named.sort(),
    withImports("app.js")
      .filter((name) => name !== "app.js")
      .sort(),
  );
});

/** @typedef {[name: string, args: any, id: string]} Call */

/**
 * Notes what the page asks for, and lets `handle` answer in the place of the server.
 * @param {import("playwright-core").BrowserContext} context
 * @param {(calls: Call[], route: import("playwright-core").Route) => Promise<boolean>} [handle]
 */
async function listen(context, handle = async () => false) {
  /** @type {Call[][]} */
  const requests = [];
  await context.route("**/jmap/api", async (route) => {
    const { methodCalls } = JSON.parse(String(route.request().postData()));
    requests.push(methodCalls);
    if (!(await handle(methodCalls, route))) await route.fallback();
  });
  const count = (/** @type {string} */ name) => requests.flat().filter((call) => call[0] === name).length;
  /** Those that open the conversation of a message. @param {string} id */
  const opening = (id) => requests.filter(([call]) => call?.[0] === "Email/get" && call[1].ids?.join() === id);
  return { requests, count, opening };
}

/** Returns the id of the open message, as the address has it. @param {import("playwright-core").Page} page */
const openId = (page) => new URL(page.url()).hash.split("/message/")[1] ?? "";

/** @param {number} number @returns {import("./support.js").Mail} */
function late(number) {
  const date = `Thu, 1${number} Apr 2025 09:00:00 +0000`;
  return { id: `late${number}`, subject: `Late ${number}`, date, flags: "S", body: `Text ${number}.` };
}

const firstIs = (/** @type {string} */ subject) =>
  `document.querySelector('#list .row .subject')?.textContent === '${subject}'`;

test("one request opens a conversation, and more do if it is longer than the server gives at once", async () => {
  const { page, context, close } = await start();
  let isLong = false;
  const { opening } = await listen(context, async (calls, route) => {
    if (!isLong || calls.length < 3 || calls[0]?.[0] !== "Email/get") return false;
    const reply = await (await route.fetch()).json();
    reply.methodResponses[2] = ["error", { type: "requestTooLarge" }, "c2"];
    await route.fulfill({ json: reply });
    return true;
  });
  const opened = () => page.locator("#messages .message.unfolded .text", { hasText: "Good." }).waitFor();
  await page.locator("#list .row a", { hasText: "Re: The plan" }).focus();
  await page.keyboard.press("o");
  await opened();
  const names = opening(openId(page)).map((calls) => calls.map((call) => call[0]));
  assert.deepEqual(names, [["Email/get", "Conversation/get", "Email/get", "Email/get"]]);
  assert.equal(await page.locator("#messages .message").count(), 3);
  isLong = true;
  await page.reload();
  await opened();
  assert.equal(await page.locator("#messages .message").count(), 3);
  await close();
});

test("everything is asked for once when the page begins, and again when it has changed", async () => {
  const { page, context, close } = await start();
  const { count } = await listen(context);
  await page.reload();
  await listReady(page);
  mailbox.put("INBOX", late(1));
  await until(page, firstIs("Late 1"));
  await eventually(() => assert.equal(count("Tag/get"), 2));
  for (const name of ["Mailbox/get", "Email/query", "SavedQuery/get"]) assert.equal(count(name), 2, name);
  await close();
});

test("what changes before the page hears of changes is shown", async () => {
  const { page, context, close } = await start();
  // What the server tells those who connect now.
  const told = async () => {
    const address = new URL("/jmap/eventsource?types=Email&closeafter=state&ping=0&lastEventId=", page.url());
    return (await context.request.get(address.href)).text();
  };
  /** @type {(string | null)[]} */
  const known = [];
  await context.route("**/jmap/eventsource*", async (route) => {
    known.push(new URL(route.request().url()).searchParams.get("lastEventId"));
    await listReady(page);
    const before = await told();
    mailbox.put("INBOX", late(2));
    while ((await told()) === before);
    await route.fallback();
  });
  await page.reload();
  await until(page, firstIs("Late 2"));
  // The rest of the list may be asked for late enough to show it, too.
  assert.deepEqual(known, [""]);
  await close();
});

test("the inbox of the last visit is asked for before it is known to be one", async () => {
  const { page, context, close } = await start();
  /** @type {(value: unknown) => void} */
  let asked = () => {};
  const isAsked = new Promise((done) => (asked = done));
  await listen(context, async (calls) => {
    if (calls[0]?.[0] === "Email/query") asked(null);
    if (calls[0]?.[0] === "Mailbox/get") await isAsked;
    return false;
  });
  await page.goto(new URL("/", page.url()).href);
  await listReady(page);
  await until(page, "document.querySelector('.list-head h1').textContent === 'Inbox'");
  await close();
});

test("conversations beside the open one are there before they are opened, unless they changed", async () => {
  const { page, context, close } = await start();
  const { opening } = await listen(context);
  const opened = (/** @type {string} */ body) =>
    page.locator("#messages .message.unfolded .text", { hasText: body }).waitFor();
  // Both are read: what is not changes a moment after it was opened.
  for (const number of [3, 4]) {
    mailbox.put("INBOX", late(number));
    await until(page, firstIs(`Late ${number}`));
  }
  const row = page.locator("#list .row a", { hasText: "Late 3" });
  const below = String(await row.getAttribute("href")).split("/message/")[1] ?? "";
  await openRow(page, "Late 4");
  await eventually(() => assert.equal(opening(below).length, 1));
  await page.keyboard.press("j");
  await opened("Text 3.");
  assert.equal(opening(below).length, 1);
  await page.keyboard.press("k");
  await opened("Text 4.");
  await page.keyboard.press("j");
  await opened("Text 3.");
  await page.keyboard.press("k");
  await opened("Text 4.");
  assert.equal(opening(below).length, 1);
  // The event of another message is heard when that is shown.
  mailbox.put("INBOX", late(5));
  await until(page, firstIs("Late 5"));
  await page.keyboard.press("j");
  await opened("Text 3.");
  assert.equal(opening(below).length, 2);
  await close();
});

test("few answers are held, with the one that is open, and none that failed or was given up", async () => {
  /** @type {[string, AbortSignal][]} */
  const asked = [];
  const { want, hold, get } = ahead(async (id, abort) => {
    asked.push([id, abort]);
    if (id === "wrong") throw new Error(id);
    return `answer ${id}`;
  });
  const ids = () => asked.map(([id]) => id).join();
  want(["a", "b", "c"]);
  want(["b", "a"]);
  assert.equal(ids(), "a,b");
  assert.equal(await get("a"), "answer a");
  want(["d", "wrong"], "a");
  assert.deepEqual([ids(), asked[1]?.[1].aborted, asked[0]?.[1].aborted], ["a,b,d,wrong", true, false]);
  assert.deepEqual([await get("a"), await get("b"), await get("wrong")], ["answer a", undefined, undefined]);
  hold("e", "answer e");
  want(["a"], "e");
  assert.deepEqual([await get("e"), ids()], ["answer e", "a,b,d,wrong"]);
  want([]);
  assert.deepEqual([get("e"), get("a")], [undefined, undefined]);
});
