// What the page keeps of what was shown and done: each has a limit.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as frame from "../frame.js";
import { Fixture, folder } from "./steps.js";
import { listReady, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

const fixture = new Fixture();
const { start } = fixture;

before(fixture.begin);
after(fixture.end);

/** Returns the address of a module of the page, which has another folder in each version. @param {Page} page */
async function address(page, /** @type {string} */ name) {
  const script = await page.locator("script[src]").getAttribute("src");
  return new URL(name, new URL(String(script), page.url())).href;
}

/** Returns how many objects of a class of the page there are, when no more can be freed. @param {Page} page */
async function count(page, /** @type {string} */ module, /** @type {string} */ name) {
  const developer = await page.context().newCDPSession(page);
  const expression = `import("${await address(page, module)}").then((all) => all.${name}.prototype)`;
  const { result, exceptionDetails: fault } = await developer.send("Runtime.evaluate", { expression, awaitPromise: true });
  assert.equal(fault, undefined);
  const { objects } = await developer.send("Runtime.queryObjects", { prototypeObjectId: String(result.objectId) });
  const { result: found } = await developer.send("Runtime.callFunctionOn", {
    objectId: String(objects.objectId),
    functionDeclaration: "function () { return this.length; }",
  });
  await developer.detach();
  return Number(found.value);
}

test("the last fifty things can be taken back, and no others", async () => {
  const { page, close } = await start();
  const [undone, told] = await page.evaluate(async (name) => {
    /** @type {typeof import("../undo.js")} */
    const { offer, undo } = await import(name);
    /** @type {number[]} */
    const done = [];
    for (let index = 0; index < 60; index += 1) offer("", () => done.push(index));
    for (let times = 0; times < 60; times += 1) await undo();
    return [done, document.getElementById("told")?.textContent];
  }, await address(page, "undo.js"));
  assert.deepEqual(
    undone,
    Array.from({ length: 50 }, (_, index) => 59 - index),
  );
  assert.match(String(told), /Nothing to undo/);
  await close();
});

test("what can be taken back keeps no rows", async () => {
  const { page, close } = await start();
  await page.keyboard.press("/");
  for (const word of ["harbour", "meadow", "lantern", "granite", "orchard", "compass", "thistle", "ember", "willow"]) {
    await page.fill("#search", word);
    await until(page, `document.querySelector('.list-head h1').textContent.includes('“${word}”')`);
    await page.keyboard.press("Enter");
    await until(page, "document.activeElement.closest('#list .row')");
    await page.keyboard.press("s");
    await page.locator("#told", { hasText: "flagged" }).waitFor();
    // Then the next text in the bar is another one.
    await page.locator("#told button.plain").click();
    await page.keyboard.press("/");
  }
  for (const name of ["Inbox", "Sent", "Talk"]) await folder(page, name);
  await until(page, "document.querySelectorAll('#list .row.ghost').length === 0");
  const lists = await count(page, "rows.js", "Rows");
  assert.ok(lists <= 8, `${lists}`);
  await close();
});

test("a list that is left keeps the rows that were seen, and shows them at once again", async () => {
  const { page, close } = await start();
  await folder(page, "Long");
  const left = await page.evaluateHandle(async (name) => {
    /** @type {typeof import("../list.js")} */
    const list = await import(name);
    return list.rows();
  }, await address(page, "list.js"));
  const size = () => left.evaluate((rows) => Number(rows?.windows.size));
  await page.locator("#list .row a").first().focus();
  for (const key of ["End", "Home", "End"]) {
    await page.keyboard.press(key);
    await listReady(page);
  }
  assert.ok((await size()) >= 2, `${await size()}`);
  const subject = await page.locator("#list .row .subject").last().textContent();
  await folder(page, "Inbox");
  assert.equal(await size(), 1);
  // Nothing is asked before it is seen.
  await page.context().route("**/jmap/api", () => {});
  await page.goBack();
  await page.locator("#list .subject", { hasText: String(subject) }).waitFor();
  await close();
});

test("what is known of messages is known of the newest, and what was unfolded folds", async () => {
  const empty = { currentTarget: { contentDocument: null } };
  for (let index = 0; index < 300; index += 1) {
    frame.turn(`text${index}`);
    // A document that cannot be read is one that could not be cleaned.
    const drawn = /** @type {any[]} */ (/** @type {unknown} */ (frame.draw(`M${index}`, "")));
    drawn.find((each) => each?.type === "iframe").props.onLoad(empty);
  }
  frame.forget();
  assert.deepEqual(["M99", "M100", "M299"].map(frame.isUnclean), [false, true, true]);
  assert.deepEqual(["text99", "text100", "text299"].map(frame.isShown), [true, false, false]);
  const { page, close } = await start();
  await folder(page, "Talk");
  await page.keyboard.press("o");
  // Of many receivers, the first are named.
  const more = page.locator(".message.unfolded .people .more");
  await more.click();
  await more.waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await until(page, "!location.hash.includes('message')");
  await page.keyboard.press("o");
  await more.waitFor();
  await close();
});
