// Conversations: threads that a late message joins are one row, one conversation, and one thing to act on.

import assert from "node:assert/strict";
import { after, beforeEach, afterEach, test } from "node:test";
import { Mailbox, closeBrowser, eventually, listReady, open, subjects, until } from "./support.js";

/** @type {Mailbox} */
let mailbox;
let link = "";

beforeEach(async () => {
  mailbox = new Mailbox();
  const put = (/** @type {string} */ id, /** @type {string} */ from, /** @type {number} */ day, flags = "S") =>
    mailbox.put("INBOX", { id, from, subject: `About the ${id}`, date: date(day), flags });
  put("apple", "Ana Ito <ana@example.org>", 1);
  put("pear", "Cy Young <cy@example.org>", 2);
  put("fig", "Eva Lang <eva@example.org>", 3);
  for (const id of ["apple", "pear"])
    mailbox.put("Sent", {
      id: `${id}2`,
      inReplyTo: id,
      from: "Bo Berg <bo@example.org>",
      subject: `Re: About the ${id}`,
      date: date(4),
      flags: "S",
    });
  mailbox.put("Archive", { id: "old", subject: "Something old", date: date(1), flags: "S" });
  mailbox.index();
  link = await mailbox.serve();
});
afterEach(() => mailbox.remove());
after(closeBrowser);

/** @param {number} day */
function date(day) {
  return new Date(Date.UTC(2025, 2, day, 9)).toUTCString();
}

/** A message comes that answers one of two threads and refers to both. */
function late() {
  mailbox.put("INBOX", {
    id: "late",
    subject: "",
    date: "",
    raw:
      `From: Di Marco <di@example.org>\nTo: bo@example.org\nSubject: Apples and pears\nDate: ${date(6)}\n` +
      "Message-ID: <late@example.org>\nReferences: <apple@example.org> <pear@example.org>\n" +
      "In-Reply-To: <pear@example.org>\n\nBoth of them.\n",
  });
}

test("threads that a late message joins are one row and one conversation, at once", async () => {
  const { page, close } = await open(link);
  await listReady(page);
  assert.deepEqual(await subjects(page), ["About the fig", "About the pear", "About the apple"]);
  await page.locator("#list .row a", { hasText: "About the apple" }).click();
  const authors = page.locator("#messages .message-from bdi");
  await until(page, "document.querySelectorAll('#messages .message').length === 2");
  await page.evaluate(`globalThis.shown = new Set(); new MutationObserver(() => {
    for (const each of document.querySelectorAll("#list .who")) globalThis.shown.add(each.textContent);
  }).observe(document.getElementById("list"), { subtree: true, childList: true, characterData: true });`);
  late();
  // The open conversation has the messages of both threads, also those that were sent.
  await until(page, "document.querySelectorAll('#messages .message').length === 5");
  assert.deepEqual(await authors.allTextContents(), ["Ana Ito", "Cy Young", "Bo Berg", "Bo Berg", "Di Marco"]);
  await until(page, "document.querySelectorAll('#list .row').length === 2");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["Apples and pears", "About the fig"]);
  const row = page.locator("#list .row").first();
  await until(page, "document.querySelector('#list .row .many')?.textContent === '5'");
  assert.equal(await row.locator(".who").textContent(), "Ana, … Bo, Di");
  // At no time the row told only who wrote last.
  assert.ok(!(await page.evaluate("[...globalThis.shown]")).includes("Di Marco"));
  assert.equal(await page.locator(".list-head .count").textContent(), "2 conversations, 1 unread");
  // Who opens any of its messages sees all of them.
  await page.goto(`${mailbox.origin}/m/pear%40example.org`);
  await until(page, "document.querySelectorAll('#messages .message').length === 5");
  await close();
});

test("what is done with a joined conversation is done with all its messages, and taken back", async () => {
  late();
  const { page, close } = await open(link);
  await until(page, "document.querySelector('#list .row .many')?.textContent === '5'");
  await page.locator("#list .row a", { hasText: "Apples and pears" }).focus();
  await page.keyboard.press("e");
  const inbox = () => mailbox.files("INBOX").map((name) => name.replace(/:.*/, ""));
  await eventually(() => assert.deepEqual(inbox(), ["fig"]));
  assert.deepEqual(mailbox.files("Archive").map((name) => name.replace(/:.*/, "")).sort(), [
    "apple",
    "late",
    "old",
    "pear",
  ]);
  await page.locator(".told", { hasText: "1 conversation archived" }).waitFor();
  await page.keyboard.press("z");
  await eventually(() => assert.deepEqual(inbox(), ["apple", "fig", "late", "pear"]));
  // A tag is for all of them, also for those that were sent.
  await until(page, "document.querySelector('#list .row .many')?.textContent === '5'");
  await page.locator("#list .row a", { hasText: "Apples and pears" }).focus();
  await page.keyboard.press("l");
  await page.keyboard.type("fruit");
  await page.keyboard.press("Enter");
  await page.locator(".told", { hasText: "tagged fruit" }).waitFor();
  assert.equal(mailbox.run("count", "tag:fruit").trim(), "5");
  await close();
});
