// A moment in the past: asked for, shown, and left again. The backup is made first, then the mail changes.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, afterEach, beforeEach, test } from "node:test";
import { ask, withArchive } from "./elsewhere.js";
import { Mailbox, closeBrowser, eventually, listReady, open, subjects, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Mailbox} */
let mailbox;
/** @type {Awaited<ReturnType<typeof open>>} */
let opened;
/** @type {Page} */
let page;
/** The time of the backup, as the address has it. */
let then = "";

const date = (/** @type {number} */ day) => new Date(Date.UTC(2025, 2, day, 9)).toUTCString();
const press = (/** @type {string} */ key) => page.keyboard.press(key);
const told = (/** @type {string} */ text) => page.locator("#told", { hasText: text }).waitFor();
const banner = () => page.locator(".notice.past");
const onDisk = (/** @type {string} */ folder, /** @type {string[]} */ wanted) =>
  eventually(() => assert.deepEqual(mailbox.files(folder), wanted));
const boxes = () => page.locator("#mailboxes [data-mailbox] .name").allTextContents();

after(closeBrowser);
beforeEach(async () => {
  mailbox = new Mailbox();
  withArchive(mailbox);
  const moved = mailbox.put("INBOX", { id: "moved", subject: "Moved since", date: date(5), flags: "S" });
  const lost = mailbox.put("INBOX", { id: "lost", subject: "Lost since", date: date(6), body: "The quarry." });
  const reply = { id: "reply", inReplyTo: "lost", subject: "Re: Lost since", date: date(7), flags: "S" };
  mailbox.put("INBOX", reply);
  const old = mailbox.put("Old", { id: "old", subject: "In a folder that is gone", date: date(4), flags: "S" });
  mailbox.put("Drafts", { id: "draft", subject: "A draft", date: date(3), flags: "DS" });
  mailbox.index();
  mailbox.run("archive", "backup");
  for (const file of [moved, lost, old]) fs.rmSync(file);
  fs.rmSync(`${mailbox.directory}/mail/Old`, { recursive: true });
  mailbox.put("New", { id: "moved", subject: "Moved since", date: date(5), flags: "S" });
  mailbox.put("INBOX", { id: "new", subject: "New since", date: date(8), flags: "S" });
  mailbox.run("index", "--accept-loss");
  const link = await mailbox.serve();
  const [{ asOf }] = await ask(mailbox, [
    ["Mailbox/get", { ids: [], moment: new Date().toISOString().replace(/\.\d+/, "") }],
  ]);
  [then] = asOf;
  opened = await open(link);
  page = opened.page;
  await listReady(page);
});

afterEach(async () => {
  await opened.close();
  await mailbox.remove();
});

/** Goes to a moment by its address. @param {string} at */
async function goTo(at, rest = "/mailbox/all") {
  await page.evaluate((to) => {
    location.hash = to;
  }, `#${rest}/at/${at}`);
  await banner().waitFor();
}

test("the dialog shows mailboxes, list and conversation as they stood, and back leads to today", async () => {
  await press("g");
  await press("t");
  const dialog = page.getByRole("dialog", { name: "Show the mail as of" });
  await dialog.getByText("The first backup is of").waitFor();
  // The clock of the browser: two minutes from now is after the backup, whatever the time zone.
  const soon = await page.evaluate(() => {
    const at = new Date(Date.now() + 120_000);
    return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  });
  await dialog.getByLabel("Date and time").evaluate((field, max) => field.setAttribute("max", max), soon);
  await dialog.getByLabel("Date and time").fill(soon);
  await press("Enter");
  await dialog.waitFor({ state: "hidden" });
  await banner().getByText("The mail as of").waitFor();
  await banner().getByText("from the backup of").waitFor();
  assert.match(page.url(), /\/at\/20\d\d-\d\d-\d\dT\d\d:\d\dZ$/);
  await until(page, "document.querySelector('#list .subject')?.textContent === 'Re: Lost since'");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["Re: Lost since", "Moved since"]);
  // The conversation has what is gone since.
  assert.equal(await page.locator("#list .row .many").textContent(), "2");
  await until(page, "[...document.querySelectorAll('#mailboxes .name')].some((each) => each.textContent === 'Old')");
  assert.ok(!(await boxes()).includes("New"));
  await page.locator("#mailboxes a", { hasText: "Old" }).click();
  await until(page, "document.querySelector('#list .subject')?.textContent === 'In a folder that is gone'");
  assert.match(page.url(), /\/at\//);
  await banner().getByRole("button", { name: "Back to today" }).click();
  await banner().waitFor({ state: "detached" });
  // The folder is not there today.
  await until(page, "document.querySelector('.list-head h1')?.textContent === 'Inbox'");
  await until(page, "document.querySelector('#list .subject')?.textContent === 'New since'");
  assert.ok((await boxes()).includes("New"));
  await page.goBack();
  await banner().waitFor();
});

test("an address names the moment, and a reload keeps it", async () => {
  await goTo(then);
  await until(page, "document.querySelectorAll('#list .row').length === 4");
  await page.reload();
  await banner().waitFor();
  await until(page, "document.querySelectorAll('#list .row').length === 4");
  assert.equal((await subjects(page)).includes("New since"), false);
  assert.equal(await page.locator("#mailboxes button.open").textContent(), "As of…");
  // What is no moment is none.
  await page.evaluate(() => {
    location.hash = "#/mailbox/all/at/yesterday";
  });
  await banner().waitFor({ state: "detached" });
  await until(page, "document.querySelector('#list .subject')?.textContent === 'New since'");
});

test("the search finds what there was, and the words stay in the address", async () => {
  await goTo(then);
  await press("/");
  await page.keyboard.type("quarry");
  await until(page, "location.hash.endsWith('/search/quarry')");
  await until(page, "document.querySelectorAll('#list .row').length === 1");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["Lost since"]);
  assert.match(page.url(), /\/at\/[^/]+\/search\/quarry$/);
});

test("what is gone since is read from the backup and brought back, and nothing else changes", async () => {
  await goTo(then);
  await page.locator("#list .row a", { hasText: "Lost since" }).click();
  await until(page, "document.querySelectorAll('#messages .message').length === 2");
  // It was unread then.
  await page.locator("#messages .unread .text", { hasText: "The quarry." }).waitFor();
  assert.equal(await page.locator("#messages .gone").count(), 1);
  for (const key of ["e", "#", "s", "U", "v"]) {
    await press(key);
    await told("The past cannot be changed.");
    await page.locator("#told").getByRole("button", { name: "Close" }).click();
  }
  assert.deepEqual(
    await page.locator("#reader .tools button").evaluateAll((all) => all.map((each) => each.getAttribute("aria-label"))),
    ["Bring back"],
  );
  assert.equal(await page.locator("#list .row-tools").count(), 0);
  await press("b");
  await told("1 message brought back to Inbox.");
  await onDisk("INBOX", ["lost:", "new:S", "reply:S"]);
  await page.locator("#messages .gone").waitFor({ state: "detached" });
  await press("z");
  await told("Undone");
  await onDisk("INBOX", ["new:S", "reply:S"]);
  // A conversation of which nothing is gone.
  await page.locator("#list .row a", { hasText: "Moved since" }).click();
  await until(page, "document.querySelectorAll('#messages .message').length === 1");
  await press("b");
  await told("There is nothing to bring back");
});

test("reading in the past marks nothing as read, and a draft of then is only shown", async () => {
  await goTo(then);
  await page.locator("#list .row a", { hasText: "A draft" }).click();
  await page.locator("#messages .text").waitFor();
  assert.equal(await page.locator("dialog[open]").count(), 0);
  assert.equal(await page.getByRole("button", { name: "Edit draft" }).count(), 0);
  /** @type {string[]} */
  const names = [];
  await opened.context.route("**/jmap/api", (route) => {
    names.push(...JSON.parse(String(route.request().postData())).methodCalls.map((/** @type {any} */ call) => call[0]));
    return route.fallback();
  });
  await page.clock.install();
  await page.locator("#list .row a", { hasText: "Lost since" }).click();
  await page.locator("#messages .unread .text").waitFor();
  await page.clock.runFor(5000);
  // Requests there and back: time enough for what was sent before them.
  for (let count = 0; count < 5; count += 1)
    await page.evaluate(() => fetch("/.well-known/jmap").then(() => 0));
  assert.ok(names.includes("Email/get"));
  assert.ok(!names.includes("Email/set"), names.join(" "));
});

test("a reply from the past goes into the drafts of today", async () => {
  await goTo(then);
  await page.locator("#list .row a", { hasText: "Moved since" }).click();
  await page.locator("#messages .text").waitFor();
  await press("r");
  await page.locator("#compose textarea").waitFor();
  await page.keyboard.type("Yes.");
  await page.keyboard.press("Escape");
  await page.locator("#compose").waitFor({ state: "hidden" });
  await eventually(() => assert.equal(mailbox.files("Drafts").length, 2));
  assert.match(mailbox.texts("Drafts").join(""), /In-Reply-To: <moved@example.org>/);
});

test("a moment before the first backup says which is the first", async () => {
  await goTo("2001-01-01T00:00Z");
  await page.locator("#list .note", { hasText: "There is no backup from then or earlier. The first one is of" }).waitFor();
  await banner().getByRole("button", { name: "Other time" }).click();
  const dialog = page.getByRole("dialog", { name: "Show the mail as of" });
  await dialog.getByText("The first backup is of").waitFor();
  await dialog.getByLabel("Date and time").evaluate((field) => field.removeAttribute("min"));
  await dialog.getByLabel("Date and time").fill("2002-02-02T02:02");
  await dialog.getByRole("button", { name: "Show", exact: true }).click();
  await dialog.getByRole("alert").getByText("There is no backup from then").waitFor();
  await press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await banner().getByRole("button", { name: "Back to today" }).click();
  await until(page, "document.querySelector('#list .subject')?.textContent === 'New since'");
});

test("the banner leads to the backup before", async () => {
  mailbox.put("INBOX", { id: "later", subject: "Later", date: date(9), flags: "S" });
  await until(page, "document.querySelector('#list .subject')?.textContent === 'Later'");
  // A second backup of another second.
  await eventually(() => assert.notEqual(new Date().toISOString().slice(0, 19), then.slice(0, 19)));
  mailbox.run("archive", "backup");
  const now = new Date(Date.now() + 60_000).toISOString();
  await goTo(`${now.slice(0, 16)}Z`);
  await until(page, "document.querySelector('#list .subject')?.textContent === 'Later'");
  await banner().getByRole("button", { name: "Earlier backup" }).click();
  await until(page, "document.querySelector('#list .subject')?.textContent === 'Re: Lost since'");
  assert.match(page.url(), /\/at\/[^/]+:\d\dZ$/);
});

test("who has no backup is told so", async () => {
  await opened.close();
  await mailbox.stop();
  fs.rmSync(`${mailbox.directory}/password`);
  opened = await open(await mailbox.serve(mailbox.port));
  page = opened.page;
  await listReady(page);
  await page.locator("#mailboxes button", { hasText: "As of" }).click();
  const dialog = page.getByRole("dialog", { name: "Show the mail as of" });
  await dialog.getByRole("alert").getByText("No backup can be read:").waitFor();
  await press("Escape");
  await goTo(then);
  await page.locator("#list .note", { hasText: "No backup can be read:" }).waitFor();
});
