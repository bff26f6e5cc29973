// The search field: pneu's query language, mistakes that are marked where they are, and suggestions.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { isUnfinished, problemIn, queryFor } from "../queries.js";
import { Mailbox, closeBrowser, focused, listReady, open, subjects, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

const mailbox = new Mailbox();
let link = "";

before(async () => {
  configure('headers = ["X-Mailer"]');
  const people = ["Ana Ito <ana@example.org>", "Bo Berg <bo@example.org>", "Cy Young <cy@example.org>"];
  const words = ["plan", "harbour", "lantern", "minutes", "meadow", "orchard"];
  for (const [index, word] of words.entries())
    mailbox.put("INBOX", {
      id: word,
      from: String(people[index % 3]),
      subject: `The ${word}`,
      body: `About the ${word}.`,
      date: new Date(Date.UTC(2025, 2, 12 - index, 9)).toUTCString(),
      flags: index % 2 === 0 ? "S" : "",
    });
  mailbox.put("Lists/rust", {
    id: "rust",
    from: "Di Marco <di@example.org>",
    subject: "Borrowing",
    date: "Sat, 1 Mar 2025 08:00:00 +0000",
    flags: "S",
  });
  mailbox.index();
  mailbox.run("tag", "+board", "--", "subject:minutes");
  mailbox.run("query", "by-mutt", "subject:plan X-Mailer:mutt");
  link = await mailbox.serve();
});
after(async () => {
  await closeBrowser();
  await mailbox.remove();
});

/** @param {string} text */
function configure(text) {
  const folder = path.join(mailbox.environment().HOME, ".config", "pneu");
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "config.toml"), `${text}\n`);
}

/** @param {import("playwright-core").BrowserContextOptions} [options] */
async function start(options) {
  if (!link) {
    await mailbox.stop();
    link = await mailbox.serve(mailbox.port);
  }
  const opened = await open(link, options);
  link = "";
  await listReady(opened.page);
  return opened;
}

/** Waits until the server has answered what was typed last. @param {Page} page @param {() => Promise<unknown>} type */
async function answered(page, type) {
  const isQuery = (/** @type {import("playwright-core").Response} */ response) =>
    String(response.request().postData()).includes('"pneuQuery"');
  await Promise.all([page.waitForResponse(isQuery), type()]);
  await until(page, "!document.querySelector('.search.waiting')");
}

/** Returns how far the marks are from the text that they mark, in pixels. @param {Page} page @param {string} before */
function distance(page, before) {
  return page.evaluate((text) => {
    const field = /** @type {HTMLInputElement} */ (document.getElementById("search"));
    const mark = /** @type {Element} */ (document.querySelector(".search-marks mark"));
    const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    pen.font = getComputedStyle(field).font;
    const left = field.getBoundingClientRect().left + pen.measureText(text).width - field.scrollLeft;
    return Math.abs(mark.getBoundingClientRect().left - left);
  }, before);
}

test("what one types is a query of pneu's language", async () => {
  const { page, close } = await start();
  for (const [query, expected] of [
    ["subject:(plan or meadow)", ["The plan", "The meadow"]],
    ["from:ana -subject:plan", ["The minutes"]],
    ["flag:unread date:2025-03-10..", ["The harbour"]],
    ["orch*", ["The orchard"]],
    ["tag:board", ["The minutes"]],
  ]) {
    await page.fill("#search", String(query));
    await until(page, `document.querySelector('.list-head h1').textContent.includes(${JSON.stringify(query)})`);
    await listReady(page);
    assert.deepEqual(await subjects(page), expected, String(query));
  }
  await page.fill("#search", "lant*");
  await until(page, "document.querySelector('#list .subject mark')?.textContent === 'lantern'");
  await close();
});

test("a mistake is marked where it is and explained, and the list stays", async () => {
  const { page, close } = await start();
  await page.locator("#search").click();
  await answered(page, () => page.fill("#search", "subject:plan form:ana "));
  await page.locator("#search[aria-invalid=true]").waitFor();
  assert.equal(await page.locator(".search-marks mark").textContent(), "form");
  assert.equal(await page.locator(".search-marks").textContent(), "subject:plan form:ana ");
  assert.ok((await distance(page, "subject:plan ")) < 1);
  const explained = page.locator(`#${await page.getAttribute("#search", "aria-describedby")}`);
  assert.match(String(await explained.textContent()), /^There is no field "form"\.Did you mean "from:"\?/);
  assert.match(String(await page.textContent("#announcement")), /^There is no field "form"\. Did you mean/);
  // Who presses on it stays in the field, and it stays.
  await explained.click();
  assert.equal(await focused(page), "Search all mail");
  assert.ok(await explained.isVisible());
  assert.equal(await page.textContent(".list-head h1"), "Inbox");
  assert.match(page.url(), /#\/mailbox\/F\w+$/);
  assert.equal((await subjects(page)).length, 6);
  // Enter leaves the cursor where it can be mended. Then all is well.
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), "Search all mail");
  await page.fill("#search", "subject:plan from:ana");
  await until(page, "document.querySelector('.list-head .count').textContent === '1 result'");
  assert.equal(await page.locator("#search[aria-invalid]").count(), 0);
  assert.equal(await page.locator(".search-marks").count(), 0);
  // A query that is wrong is no step: going back shows the mailbox.
  await page.goBack();
  await until(page, "document.querySelector('.list-head h1').textContent === 'Inbox'");
  assert.equal(await page.inputValue("#search"), "");
  await close();
});

test("what is still being typed is no mistake, until one goes on or away", async () => {
  const { page, close } = await start();
  await page.locator("#search").click();
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  const rested = async (/** @type {string} */ text) => {
    await page.fill("#search", "");
    await answered(page, async () => {
      await page.fill("#search", text);
      await page.clock.runFor(100);
    });
    await page.clock.runFor(1000);
  };
  for (const text of ["plan from:", "plan flag:unr", "(plan or", '"the pla']) {
    await rested(text);
    assert.equal(await page.locator("#search[aria-invalid], .search-marks").count(), 0, text);
    await page.keyboard.press("Enter");
    await page.locator("#search[aria-invalid=true]").waitFor();
  }
  await rested("plan form:ana");
  assert.equal(await page.locator("#search[aria-invalid]").count(), 0);
  await page.locator("#list .row a").first().focus();
  await page.locator("#search[aria-invalid=true]").waitFor();
  await close();
});

test("a message that is opened leaves what is typed, and a mailbox that is opened clears it", async () => {
  const { page, close } = await start();
  await page.locator("#search").click();
  await answered(page, () => page.fill("#search", "plan form:ana "));
  await page.locator("#search[aria-invalid=true]").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.locator("#list .row a").nth(3).click();
  await page.locator("#messages .message").first().waitFor();
  assert.equal(await page.inputValue("#search"), "plan form:ana ");
  await page.keyboard.press("u");
  await until(page, "!location.hash.includes('message')");
  assert.equal(await page.inputValue("#search"), "plan form:ana ");
  await page.locator("#mailboxes a", { hasText: "Inbox" }).click();
  assert.equal(await page.inputValue("#search"), "");
  assert.equal(await page.locator("#search[aria-invalid]").count(), 0);
  await close();
});

test("marks stay below their words in a text that is longer than the field", async () => {
  const { page, close } = await start({ viewport: { width: 360, height: 700 } });
  const long = "subject:harbour and subject:lantern and subject:orchard ";
  await page.locator("#search").click();
  await answered(page, () => page.fill("#search", `${long}flag:unraed `));
  await page.locator("#search[aria-invalid=true]").waitFor();
  assert.ok((await page.locator("#search").evaluate((field) => field.scrollLeft)) > 100);
  assert.ok((await distance(page, `${long}flag:`)) < 1);
  await page.keyboard.press("Home");
  await until(page, "document.getElementById('search').scrollLeft === 0");
  await until(page, "document.querySelector('.search-marks').scrollLeft === 0");
  assert.ok((await distance(page, `${long}flag:`)) < 1);
  await close();
});

test("a mistake in a saved query is shown with its name and its text", async () => {
  configure('headers = ["X-Mailex"]');
  await mailbox.stop();
  link = await mailbox.serve(mailbox.port);
  const { page, close } = await start();
  await page.fill("#search", "query:by-mutt");
  await page.keyboard.press("Enter");
  await page.locator("#search[aria-invalid=true]").waitFor();
  const explained = page.locator("#search-problem");
  assert.match(String(await explained.textContent()), /There is no field "X-Mailer"\..*“by-mutt”/);
  assert.equal(await explained.locator("code").textContent(), "subject:plan X-Mailer:mutt");
  assert.equal(await explained.locator("code mark").textContent(), "X-Mailer");
  assert.equal(await page.locator(".search-marks").count(), 0);
  // An address with a query that is wrong says so, too.
  await page.goto(`${mailbox.origin}/q/${encodeURIComponent("plan flag:unraed")}`);
  await page.getByText("This search cannot be answered: there is no flag").waitFor();
  assert.equal(await page.locator(".search-marks mark").textContent(), "unraed");
  assert.match(String(await page.textContent("#search-problem")), /Did you mean "unread"\?/);
  configure('headers = ["X-Mailer"]');
  await close();
});

test("where a mistake is, and whether it is one yet", () => {
  const wrong = (/** @type {string} */ text, /** @type {number} */ start, /** @type {number} */ end) =>
    problemIn(text, "what", { pneuQuery: text.trim(), position: { start, end }, suggestion: "how" });
  assert.deepEqual(wrong("  form:a ", 0, 4).at, { text: "  form:a ", start: 2, end: 6 });
  // Nothing cannot be seen: the last character is marked.
  assert.deepEqual(wrong("ab", 2, 2).at, { text: "ab", start: 1, end: 2 });
  assert.equal(problemIn("a", "what", {}).at, null);
  assert.equal(problemIn("other", "what", { pneuQuery: "a", position: { start: 0, end: 1 } }).at, null);
  for (const [text, start, end, expected] of /** @type {const} */ ([
    ["from:", 0, 5, true],
    ["from: ", 0, 5, false],
    ["from: bo", 0, 5, false],
    ["form:bo", 0, 4, true],
    ["(form:bo", 1, 5, true],
    ["form:bo x", 0, 4, false],
    ["(a b", 0, 1, true],
    ['x "a b', 2, 3, true],
    ["a or", 2, 4, true],
    ["a or ", 2, 4, true],
    ["or a", 0, 2, false],
    ["()", 0, 2, true],
    ["() a", 0, 2, false],
  ]))
    assert.equal(isUnfinished({ text, start, end }), expected, text);
  assert.equal(queryFor("tag", "board/2025"), "tag:board/2025");
  assert.equal(queryFor("tag", "a b"), 'tag:"a b"');
  assert.equal(queryFor("tag", '(x)*"\\'), 'tag:"(x)\\*\\"\\\\"');
  assert.equal(queryFor("tag", "/x/"), 'tag:"\\/x/"');
  assert.equal(queryFor("tag", "Größe"), "tag:Größe");
});

/** The suggestions that are shown. @param {Page} page */
const options = (page) => page.locator("#search-list [role=option]");

/** Waits for a suggestion. @param {Page} page @param {string | RegExp} name */
const option = (page, name) => options(page).filter({ hasText: name }).first().waitFor();

/** Types into the field, and puts the cursor at the stroke. @param {Page} page @param {string} text */
async function typeAt(page, text) {
  const at = text.indexOf("|");
  await page.fill("#search", text.replace("|", ""));
  await page.locator("#search").evaluate((field, cursor) => {
    /** @type {HTMLInputElement} */ (field).setSelectionRange(cursor, cursor);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }, at);
}

/** Returns the text of the field with a stroke where the cursor is. @param {Page} page */
const field = (page) =>
  page.locator("#search").evaluate((each) => {
    const { value, selectionStart, selectionEnd } = /** @type {HTMLInputElement} */ (each);
    if (selectionStart !== selectionEnd) throw new Error("something is selected");
    return `${value.slice(0, selectionStart ?? 0)}|${value.slice(selectionStart ?? 0)}`;
  });

test("suggestions are chosen by arrows and taken by Enter, for fields and then for their values", async () => {
  const { page, close } = await start();
  const search = page.getByRole("combobox", { name: "Search all mail" });
  const press = (/** @type {string} */ key) => page.keyboard.press(key);
  await press("/");
  assert.equal(await search.getAttribute("aria-expanded"), "false");
  await page.keyboard.type("fla");
  await option(page, "flag:");
  assert.equal(await search.getAttribute("aria-expanded"), "true");
  const list = page.locator(`#${await search.getAttribute("aria-controls")}`);
  assert.equal(await list.getAttribute("role"), "listbox");
  assert.equal(await search.getAttribute("aria-activedescendant"), null);
  const chosen = () =>
    page.evaluate(
      `document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.textContent`,
    );
  await press("ArrowDown");
  assert.equal(await chosen(), "Field: flag: flag, by name or letter");
  assert.equal(await list.locator("[aria-selected=true]").count(), 1);
  await press("ArrowUp");
  assert.equal(await chosen(), undefined);
  await press("ArrowUp");
  assert.match(String(await chosen()), /^Flag: flagged/);
  await press("ArrowDown");
  await press("ArrowDown");
  await press("Enter");
  // A field that is taken has values.
  assert.equal(await field(page), "flag:|");
  await option(page, "draft");
  await page.keyboard.type("unr");
  await until(page, "document.querySelectorAll('#search-list li').length === 1");
  await press("ArrowDown");
  await press("Tab");
  assert.equal(await field(page), "flag:unread|");
  assert.equal(await search.getAttribute("aria-expanded"), "false");
  await until(page, "document.querySelector('.list-head .count').textContent === '3 results'");
  await close();
});

test("a suggestion replaces its term alone, quoted, in the middle and after letters of two units", async () => {
  const { page, close } = await start();
  await page.locator("#search").click();
  for (const [text, name, expected] of [
    ["from:an|x subject:plan", "Ana Ito", "from:ana@example.org| subject:plan"],
    ["😀 (tag:bo|) plan", "board", "😀 (tag:board|) plan"],
    ["plan rus|", "/Lists/rust", "plan maildir:/Lists/rust|"],
    ["-mut|", "by-mutt", "-query:by-mutt|"],
  ]) {
    await typeAt(page, String(text));
    await option(page, String(name));
    await options(page).filter({ hasText: String(name) }).first().click();
    assert.equal(await field(page), expected);
    assert.equal(await focused(page), "Search all mail");
  }
  await close();
});

test("suggestions are never in the way of Enter, Tab and Escape", async () => {
  const { page, close } = await start();
  await page.locator("#search").click();
  await page.keyboard.type("plan");
  await page.keyboard.press("Enter");
  await until(page, "document.querySelector('.list-head h1').textContent.includes('“plan”')");
  await until(page, "document.activeElement.querySelector('.subject')?.textContent === 'The plan'");
  assert.equal(await options(page).count(), 0);
  await page.locator("#search").click();
  await page.fill("#search", "boa");
  await option(page, "board");
  await page.keyboard.press("Escape");
  assert.equal(await options(page).count(), 0);
  assert.equal(await page.inputValue("#search"), "boa");
  await page.keyboard.press("Escape");
  assert.equal(await page.inputValue("#search"), "");
  await page.fill("#search", "boa");
  await option(page, "board");
  await page.getByRole("button", { name: "Save this search" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.inputValue("#search"), "boa");
  assert.equal(await focused(page), "Save this search");
  assert.equal(await options(page).count(), 0);
  // An empty field suggests if it is asked to.
  await page.fill("#search", "");
  await page.keyboard.press("Alt+ArrowDown");
  await option(page, "from:");
  // Below open suggestions, arrows choose; without them, they go to the list.
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowDown");
  await until(page, "document.activeElement.querySelector('.subject')?.textContent === 'The plan'");
  await close();
});

test("one request for suggestions is under way at a time, and answers that come late are dropped", async () => {
  const { page, context, close } = await start();
  /** @type {{ text: string, go: () => void }[]} */
  const held = [];
  await context.route("**/jmap/api", async (route) => {
    const [call] = JSON.parse(String(route.request().postData())).methodCalls;
    if (call[0] !== "Suggestion/query") return route.fallback();
    await new Promise((go) => held.push({ text: call[1].text, go: () => go(undefined) }));
    return route.fallback().catch(() => {});
  });
  await page.locator("#search").click();
  await page.keyboard.type("b");
  const isHeld = async (/** @type {number} */ count) => {
    while (held.length < count) await page.evaluate(() => new Promise(requestAnimationFrame));
  };
  await isHeld(1);
  await page.keyboard.type("oard");
  await until(page, "document.querySelector('.list-head h1').textContent.includes('“board”')");
  assert.deepEqual(
    held.map(({ text }) => text),
    ["b"],
  );
  held[0]?.go();
  await isHeld(2);
  assert.equal(held[1]?.text, "board");
  assert.equal(await options(page).count(), 0);
  held[1]?.go();
  await option(page, "board");
  // What was chosen for an earlier text is not taken for this one, nor by pointer.
  await page.keyboard.press("ArrowDown");
  await page.keyboard.type("x");
  await isHeld(3);
  assert.equal(await page.locator("#search").getAttribute("aria-activedescendant"), null);
  await options(page).first().click();
  assert.equal(await page.inputValue("#search"), "boardx");
  held[2]?.go();
  await until(page, "document.querySelectorAll('#search-list li').length === 0");
  // What was asked before Escape is not shown after it.
  await page.keyboard.press("Backspace");
  await isHeld(4);
  held[3]?.go();
  await option(page, "board");
  await page.keyboard.press("Backspace");
  await isHeld(5);
  await page.keyboard.press("Escape");
  const late = page.waitForResponse((response) => String(response.request().postData()).includes("Suggestion/"));
  held[4]?.go();
  await (await late).finished();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.equal(await options(page).count(), 0);
  await page.keyboard.press("Alt+ArrowDown");
  await isHeld(6);
  held[5]?.go();
  await option(page, "board");
  await close();
});

test("receivers are suggested by the server, which reads no mail for it", async () => {
  const { page, context, close } = await start();
  /** @type {string[]} */
  const asked = [];
  await page.keyboard.press("c");
  await page.locator("#to-to").waitFor();
  await context.route("**/jmap/api", (route) => {
    const { methodCalls } = JSON.parse(String(route.request().postData()));
    asked.push(...methodCalls.map((/** @type {any} */ call) => call[0]));
    return route.fallback();
  });
  const people = page.locator("#people-to [role=option]");
  // Parts of names and addresses are found, whatever is between them, and signs of the language are none.
  for (const [typed, name] of [
    ["oung", "Cy Young cy@example.org"],
    ["BO exam", "Bo Berg bo@example.org"],
  ]) {
    await page.locator("#to-to").fill(String(typed));
    await people.filter({ hasText: String(name) }).waitFor();
    assert.deepEqual(await people.allTextContents(), [name]);
  }
  await page.keyboard.press("Enter");
  assert.deepEqual(await page.locator(".chip").allTextContents(), ["Bo Berg"]);
  assert.deepEqual([...new Set(asked)].sort(), ["Suggestion/query"]);
  await page.getByRole("button", { name: "Discard draft" }).click();
  await page.getByRole("dialog", { name: "Discard this draft?" }).getByRole("button", { name: "Discard draft" }).click();
  await page.locator("#compose").waitFor({ state: "hidden" });
  await close();
});
