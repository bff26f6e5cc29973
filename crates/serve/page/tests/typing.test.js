// Searching while one types: the word at the end may go on, until Enter says that it is whole.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, test } from "node:test";
import { Mailbox, closeBrowser, eventually, listReady, open, subjects, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page @typedef {import("playwright-core").BrowserContext} Context */
/** @typedef {{ pneuQuery: string, endsInPrefix?: boolean }} Filter */

const mailbox = new Mailbox();
let link = "";

before(async () => {
  const people = ["Ana Ito <ana@example.org>", "Bo Berg <bo@example.org>", "Anders Holm <holm@example.org>"];
  for (const [index, subject] of ["The harbour", "Two harbours", "The harvest", "The lantern"].entries())
    mailbox.put("INBOX", {
      id: `m${index}`,
      from: String(people[index % 3]),
      subject,
      body: "Hello.",
      date: new Date(Date.UTC(2025, 2, 12 - index, 9)).toUTCString(),
      flags: "S",
    });
  mailbox.index();
  mailbox.run("query", "by-ana", "from:ana");
  link = await mailbox.serve();
});
after(async () => {
  await closeBrowser();
  await mailbox.remove();
});

/** Opens the page, and notes what it searches for. */
async function start() {
  if (!link) {
    await mailbox.stop();
    link = await mailbox.serve(mailbox.port);
  }
  const opened = await open(link);
  link = "";
  await listReady(opened.page);
  /** @type {Filter[]} */
  const asked = [];
  await opened.context.route("**/jmap/api", (route) => {
    for (const [name, { filter }] of JSON.parse(String(route.request().postData())).methodCalls)
      if (/^(Email|Statistics)\/(query|get)$/.test(name) && filter?.pneuQuery) asked.push(filter);
    return route.fallback();
  });
  return { ...opened, asked };
}

/** Waits until the list has these rows, and the address these words. @param {Page} page @param {string} words */
async function shows(page, words, /** @type {string[]} */ ...expected) {
  const has = `decodeURIComponent(location.hash).endsWith(${JSON.stringify(`/search/${words}`)})`;
  const rows = `[...document.querySelectorAll("#list .row .subject")].map((each) => each.textContent).join()`;
  await until(page, `${has} && ${rows} === ${JSON.stringify(expected.join())}`);
}

const isExact = "history.state.endsInPrefix === false";

test("what begins with the last word is found while one types, and marked", async () => {
  const { page, context, close, asked } = await start();
  /** @type {Filter[]} */
  const snippets = [];
  await context.route("**/jmap/api", (route) => {
    const { methodCalls } = JSON.parse(String(route.request().postData()));
    for (const [name, { filter }] of methodCalls) if (name === "SearchSnippet/get") snippets.push(filter);
    return route.fallback();
  });
  await page.keyboard.press("/");
  await page.keyboard.type("harbou");
  await shows(page, "harbou", "The harbour", "Two harbours");
  assert.deepEqual(await page.locator("#list .subject mark").allTextContents(), ["harbour", "harbours"]);
  for (const filters of [asked, snippets])
    assert.deepEqual(filters.at(-1), { pneuQuery: "harbou", endsInPrefix: true });
  assert.equal(await page.textContent(".list-head .count"), "2 results");
  await page.fill("#search", "from:a");
  await shows(page, "from:a", "The harbour", "The harvest", "The lantern");
  // A word with a space after it is whole.
  await page.keyboard.type(" ");
  await page.getByText("Nothing found").waitFor();
  assert.deepEqual(asked.at(-1), { pneuQuery: "from:a" });
  await page.keyboard.type("harv");
  await shows(page, "from:a harv");
  await page.fill("#search", "from:a* harv");
  await shows(page, "from:a* harv", "The harvest");
  // What cannot go on is found all the same.
  await page.fill("#search", "date:2025-03-12");
  await shows(page, "date:2025-03-12", "The harbour");
  await close();
});

test("Enter means whole words, and changes what is shown only if other rows are found", async () => {
  const { page, close, asked } = await start();
  await page.keyboard.press("/");
  await page.keyboard.type("lantern");
  await shows(page, "lantern", "The lantern");
  await page.locator("#list .row .box").click();
  await page.getByText("1 selected").waitFor();
  await page.evaluate(() => {
    const list = /** @type {HTMLElement} */ (document.getElementById("list"));
    const observer = new MutationObserver((changes) => {
      const isChange = (/** @type {MutationRecord} */ { oldValue, target }) => oldValue !== target.textContent;
      if (changes.some(isChange)) Object.assign(window, { isChanged: true });
    });
    observer.observe(list, { childList: true, characterData: true, characterDataOldValue: true, subtree: true });
  });
  await page.locator("#search").focus();
  await page.keyboard.press("Enter");
  await until(page, `${isExact} && document.activeElement.closest("#list .row")`);
  assert.deepEqual(asked.at(-1), { pneuQuery: "lantern" });
  assert.equal(await page.evaluate("window.isChanged"), undefined);
  assert.ok(await page.getByText("1 selected").isVisible());
  // From now on the list is that of the whole word.
  const before = asked.length;
  const file = mailbox.put("INBOX", { id: "new", subject: "More lanterns", date: "Thu, 13 Mar 2025 09:00:00 +0000" });
  await eventually(() => assert.ok(asked.length > before));
  assert.ok(asked.slice(before).every((each) => each.endsInPrefix === undefined));
  await shows(page, "lantern", "The lantern");
  await page.keyboard.press("Escape");
  await page.fill("#search", "lantern");
  await shows(page, "lantern", "More lanterns", "The lantern");
  await page.keyboard.press("Enter");
  await shows(page, "lantern", "The lantern");
  fs.rmSync(file);
  await close();
});

test("words are whole in a suggestion, in the middle, in an address and in a saved search", async () => {
  const { page, close, asked } = await start();
  await page.locator("#search").click();
  await page.fill("#search", "from:an");
  await page.locator("#search-list [role=option]", { hasText: "Ana Ito" }).click();
  await shows(page, "from:ana@example.org", "The harbour", "The lantern");
  assert.deepEqual(asked.at(-1), { pneuQuery: "from:ana@example.org" });
  await page.fill("#search", "harb lantern");
  await page.keyboard.press("Home");
  await page.keyboard.type("The ");
  await page.getByText("Nothing found").waitFor();
  await eventually(() => assert.deepEqual(asked.at(-1), { pneuQuery: "The harb lantern" }));
  await page.goto(`${mailbox.origin}/q/harbou`);
  await page.getByText("Nothing found").waitFor();
  assert.deepEqual(asked.at(-1), { pneuQuery: "harbou" });
  // A saved search is none that was typed, though its words are the same.
  await page.fill("#search", "query:by-ana");
  await shows(page, "query:by-ana", "The harbour", "The lantern");
  assert.equal(await page.evaluate(isExact), false);
  await page.locator("#mailboxes .side a", { hasText: "by-ana" }).click();
  await until(page, isExact);
  await eventually(() => assert.deepEqual(asked.at(-1), { pneuQuery: "query:by-ana" }));
  await close();
});

test("what was typed stays as it is shown: outside of the field, after going back, and when mail comes", async () => {
  const { page, close, asked } = await start();
  const rows = ["The harbour", "Two harbours"];
  await page.locator("#search").click();
  await page.keyboard.type("harbou");
  await shows(page, "harbou", ...rows);
  await page.locator("#list .row a").first().focus();
  await page.keyboard.press("o");
  await page.locator("#messages .text").waitFor();
  assert.deepEqual(await subjects(page), rows);
  await page.keyboard.press("u");
  await shows(page, "harbou", ...rows);
  await page.locator("#mailboxes a", { hasText: "Inbox" }).click();
  await until(page, "document.querySelector('.list-head h1').textContent === 'Inbox'");
  await page.goBack();
  await shows(page, "harbou", ...rows);
  await page.reload();
  await shows(page, "harbou", ...rows);
  const file = mailbox.put("INBOX", { id: "new", subject: "More harbours", date: "Thu, 13 Mar 2025 09:00:00 +0000" });
  await shows(page, "harbou", "More harbours", ...rows);
  fs.rmSync(file);
  await shows(page, "harbou", ...rows);
  assert.deepEqual(
    asked.filter((each) => each.pneuQuery === "harbou" && !each.endsInPrefix),
    [],
  );
  await close();
});

test("rows stay until the next ones come, and what nobody waits for is given up", async () => {
  const { page, context, close } = await start();
  /** @type {() => void} */
  let release = () => {};
  const gate = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  await context.route("**/jmap/api", async (route) => {
    if (String(route.request().postData()).includes('"pneuQuery":"harb"')) await gate;
    return route.fallback().catch(() => {});
  });
  await page.locator("#search").click();
  await page.keyboard.type("har");
  const rows = ["The harbour", "Two harbours", "The harvest"];
  await shows(page, "har", ...rows);
  await page.evaluate(() => {
    const isBare = () => document.querySelector("#list .note, #list .ghost, #list .rows:empty") !== null;
    const observer = new MutationObserver(() => isBare() && Object.assign(window, { wasBare: true }));
    observer.observe(/** @type {HTMLElement} */ (document.getElementById("list")), { childList: true, subtree: true });
  });
  await page.keyboard.type("b");
  await until(page, "document.querySelector('.search.waiting')");
  await shows(page, "har", ...rows);
  const given = page.waitForEvent("requestfailed", (each) => String(each.postData()).includes('"pneuQuery":"harb"'));
  await page.keyboard.type("o");
  await given;
  await shows(page, "harbo", "The harbour", "Two harbours");
  release();
  await page.keyboard.press("Backspace");
  await shows(page, "harb", "The harbour", "Two harbours");
  await page.keyboard.press("Backspace");
  await shows(page, "har", ...rows);
  assert.equal(await page.evaluate("window.wasBare"), undefined);
  await close();
});

test("however many letters it had, a search is one step back", async () => {
  const { page, close } = await start();
  await page.locator("#search").click();
  const steps = Number(await page.evaluate("history.length"));
  for (const [index, letter] of [..."harbour"].entries()) {
    await page.keyboard.type(letter);
    await until(page, `location.hash.endsWith("/search/${"harbour".slice(0, index + 1)}")`);
  }
  await page.keyboard.press("Enter");
  await until(page, isExact);
  assert.equal(await page.evaluate("history.length"), steps + 1);
  await page.goBack();
  await until(page, "document.querySelector('.list-head h1').textContent === 'Inbox'");
  assert.equal(await page.inputValue("#search"), "");
  await close();
});

test("letters that come together are one question, and mistakes are marked after a longer rest", async () => {
  const { page, close, asked } = await start();
  await page.clock.install();
  await page.locator("#search").click();
  // What is below the field is there.
  await page.keyboard.type("f");
  await page.locator("#search-list [role=option]").first().waitFor();
  await page.fill("#search", "");
  await until(page, "!location.hash.includes('search') && !document.querySelector('.search.waiting')");
  asked.length = 0;
  await page.clock.pauseAt(Date.now() + 60_000);
  for (const letter of "harbour") {
    await page.keyboard.type(letter);
    await page.clock.runFor(5);
  }
  assert.equal(asked.length, 0);
  await page.clock.runFor(25);
  await eventually(() => assert.deepEqual(asked, [{ pneuQuery: "harbour", endsInPrefix: true }]));
  const marks = page.locator("#search[aria-invalid]");
  await page.fill("#search", "form:ana lan");
  await page.clock.runFor(30);
  await eventually(() => assert.equal(asked.at(-1)?.pneuQuery, "form:ana lan"));
  await until(page, "!document.querySelector('.search.waiting')");
  await page.clock.runFor(250);
  await page.keyboard.type("t");
  await page.clock.runFor(299);
  await until(page, "!document.querySelector('.search.waiting')");
  assert.equal(await marks.count(), 0);
  await page.clock.runFor(1);
  assert.equal(await page.locator(".search-marks mark").textContent(), "form");
  await page.keyboard.type("e");
  assert.equal(await marks.count(), 0);
  await page.keyboard.press("Enter");
  await marks.waitFor();
  await eventually(() => assert.equal(asked.at(-1)?.endsInPrefix, undefined));
  await close();
});

test("what finds nothing is asked for once, until the mail changes", async () => {
  const { page, close, asked } = await start();
  await page.locator("#search").click();
  await page.keyboard.type("nosuchword");
  await page.getByText("Nothing found").waitFor();
  await page.keyboard.press("Enter");
  await until(page, isExact);
  const whole = () => asked.filter((each) => each.pneuQuery === "nosuchword" && !each.endsInPrefix).length;
  assert.equal(whole(), 1);
  const file = mailbox.put("INBOX", { id: "new", subject: "Nosuchword", date: "Thu, 13 Mar 2025 09:00:00 +0000" });
  await shows(page, "nosuchword", "Nosuchword");
  fs.rmSync(file);
  await page.getByText("Nothing found").waitFor();
  // Each event is one question more.
  assert.ok(whole() < 10, `${whole()}`);
  await close();
});

test("numbers count what is found while one types", async () => {
  const { page, close, asked } = await start();
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.locator("#statistics h1, #statistics h2").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("harbou");
  await until(page, "location.hash.endsWith('/search/harbou')");
  await eventually(() => assert.deepEqual(asked.at(-1), { pneuQuery: "harbou", endsInPrefix: true }));
  assert.equal(asked.filter((each) => each.pneuQuery === "harbou").length, 2);
  await page.keyboard.press("Enter");
  await until(page, isExact);
  await eventually(() => assert.equal(asked.filter((each) => !each.endsInPrefix).length, 2));
  // Where there are no rows, one leaves the field all the same.
  await page.locator("#search").focus();
  for (const key of ["Escape", "Escape", "g", "i"]) await page.keyboard.press(key);
  await until(page, "document.body.dataset.view === 'list' && document.getElementById('search').value === ''");
  await close();
});
