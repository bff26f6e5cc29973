// Messages that are deleted for good: found, read and brought back, by key and by pointer. What came of it is
// looked up on disk.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
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

const date = (/** @type {number} */ day) => new Date(Date.UTC(2025, 2, day, 9)).toUTCString();
const press = (/** @type {string} */ key) => page.keyboard.press(key);
const told = (/** @type {string} */ text) => page.locator("#told", { hasText: text }).waitFor();
const onDisk = (/** @type {string} */ folder, /** @type {string[]} */ wanted) =>
  eventually(() => assert.deepEqual(mailbox.files(folder), wanted));

after(closeBrowser);
beforeEach(async () => {
  mailbox = new Mailbox();
  withArchive(mailbox);
  mailbox.put("INBOX", { id: "keep", subject: "Kept", date: date(9), flags: "S" });
  mailbox.put("INBOX", { id: "talk2", inReplyTo: "talk1", subject: "Re: Talk", date: date(3), flags: "S" });
  const lost = [
    mailbox.put("INBOX", { id: "talk1", subject: "Talk", date: date(2), flags: "S", body: "The harbour." }),
    mailbox.put("Lists/rust", { id: "talk3", inReplyTo: "talk2", subject: "Re: Talk", date: date(4), flags: "FS" }),
    mailbox.put("INBOX", { id: "html", subject: "In HTML", date: date(5), type: "text/html", body: "<p>A <b>lantern</b></p>" }),
  ];
  mailbox.index();
  mailbox.run("archive", "backup");
  // This one was never backed up.
  lost.push(mailbox.put("INBOX", { id: "late", subject: "Too late", date: date(6), flags: "S" }));
  mailbox.index();
  for (const file of lost) fs.rmSync(file);
  mailbox.run("index", "--accept-loss");
  opened = await open(await mailbox.serve());
  page = opened.page;
  await listReady(page);
});

afterEach(async () => {
  await opened.close();
  await mailbox.remove();
});

/** Opens what is gone. */
async function openGone() {
  await press("g");
  await press("d");
  await until(page, "document.querySelector('.list-head h1').textContent === 'Deleted for good'");
  await listReady(page);
}

/** @param {string} subject */
async function openRow(subject) {
  await page.locator("#list .row a").filter({ hasText: subject }).first().click();
  await page.locator("#messages .gone").first().waitFor();
}

test("what is gone is listed at the side's entry, newest first, and searched there", async () => {
  await page.locator("#mailboxes a", { hasText: "Deleted for good" }).click();
  await until(page, "document.querySelectorAll('#list .row').length === 3");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["Too late", "In HTML", "Re: Talk"]);
  assert.match(page.url(), /#\/mailbox\/gone$/);
  // Of the conversation, two messages are gone; nobody knows what was read.
  assert.equal(await page.locator("#list .row .many").textContent(), "2");
  assert.equal(await page.locator("#list .unread").count(), 0);
  assert.equal(await page.locator("#mailboxes [aria-current=page]").textContent(), "Deleted for good");
  await press("/");
  await page.keyboard.type("harbour");
  await until(page, "location.hash.endsWith('/search/harbour')");
  await until(page, "document.querySelectorAll('#list .row').length === 1");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["Talk"]);
  assert.match(page.url(), /#\/mailbox\/gone\/search\/harbour$/);
  assert.equal(await page.locator("#mailboxes [aria-current=page]").textContent(), "Deleted for good");
  // What is there is not among it.
  await page.locator("#search").fill("kept");
  await page.getByText("Nothing found").waitFor();
});

test("a message that is gone is read from the backup, and says since when it is gone", async () => {
  await openGone();
  await openRow("In HTML");
  const remark = page.locator("#messages .gone");
  await page.locator("#messages .gone", { hasText: "The backup has it." }).waitFor();
  assert.match(String(await remark.textContent()), /This message was deleted\. No file had it .* 20\d\d/);
  await page.frameLocator("#messages iframe").getByText("lantern").waitFor();
  assert.equal(await page.locator("#messages .message.unread").count(), 0);
  // A conversation is shown whole: what is there says nothing of it.
  await openRow("Re: Talk");
  await until(page, "document.querySelectorAll('#messages .message').length === 3");
  await press("p");
  await press("p");
  await page.locator("#messages .text", { hasText: "The harbour." }).waitFor();
  assert.equal(await page.locator("#messages .unfolded").count(), 3);
  assert.equal(await page.locator("#messages .gone").count(), 2);
});

test("what no backup has is said to be lost, and cannot be brought back", async () => {
  await openGone();
  await openRow("Too late");
  await page.locator("#messages .gone", { hasText: "The backup does not have it" }).waitFor();
  assert.equal(await page.locator("#messages .gone button").count(), 0);
  await press("b");
  await told("The backup does not have 1 message.");
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0);
});

test("one message is brought back by its button, and undo takes it away again", async () => {
  await openGone();
  await openRow("In HTML");
  await page.locator("#messages .gone").getByRole("button", { name: "Bring back" }).click();
  await told("1 message brought back to Inbox.");
  await onDisk("INBOX", ["html:", "keep:S", "talk2:S"]);
  await until(page, "document.querySelectorAll('#list .row').length === 2");
  await page.locator("#messages .gone").waitFor({ state: "detached" });
  await press("z");
  await told("Undone");
  await onDisk("INBOX", ["keep:S", "talk2:S"]);
  await until(page, "document.querySelectorAll('#list .row').length === 3");
});

test("b brings back all that is gone of a conversation, each message to where it was", async () => {
  await openGone();
  await press("j");
  await press("j");
  await press("b");
  await told("2 messages brought back.");
  await onDisk("INBOX", ["keep:S", "talk1:S", "talk2:S"]);
  await onDisk("Lists/rust", ["talk3:FS"]);
  await until(page, "document.querySelectorAll('#list .row').length === 2");
  const [list] = await ask(mailbox, [["Action/get", { ids: null }]]);
  assert.equal(list.list[0].text, "2 messages imported");
});

test("selected rows and whole lists are brought back by the bar", async () => {
  await openGone();
  await press("x");
  await press("j");
  await press("x");
  await page.getByText("2 selected").waitFor();
  const bar = page.locator(".list-head");
  assert.deepEqual(
    await bar.getByRole("button").evaluateAll((all) => all.map((each) => each.getAttribute("aria-label") ?? each.textContent)),
    ["Clear selection", "Bring back", "Select all 3"],
  );
  await bar.getByRole("button", { name: "Select all 3" }).click();
  await bar.getByRole("button", { name: "Bring back" }).click();
  await told("3 messages brought back. The backup does not have 1 message.");
  await onDisk("INBOX", ["html:", "keep:S", "talk1:S", "talk2:S"]);
  await onDisk("Lists/rust", ["talk3:FS"]);
});

test("keys that change mail say that it is gone, and offer to bring it back", async () => {
  await openGone();
  await press("j");
  for (const key of ["e", "#", "s", "v", "l", "U"]) {
    await press(key);
    await told("This message is gone: it has to be brought back first.");
    await page.locator("#told").getByRole("button", { name: "Close" }).click();
    assert.equal(await page.locator("dialog[open]").count(), 0);
  }
  assert.equal(await page.locator("#list .row-tools .tool").count(), 3);
  await press("s");
  await page.locator("#told").getByRole("button", { name: "Bring back" }).click();
  await told("1 message brought back to Inbox.");
  await onDisk("INBOX", ["html:", "keep:S", "talk2:S"]);
});

test("a message whose place is not indexed asks for a mailbox", async () => {
  /** @type {any} */
  let asked = null;
  await opened.context.route("**/jmap/api", async (route) => {
    const { methodCalls } = JSON.parse(String(route.request().postData()));
    if (methodCalls[0][0] !== "Email/restore" || methodCalls[0][1].mailboxId) {
      if (methodCalls[0][0] === "Email/restore") asked = methodCalls[0][1];
      return route.fallback();
    }
    const notRestored = Object.fromEntries(
      methodCalls[0][1].ids.map((/** @type {string} */ id) => [id, { type: "invalidProperties" }]),
    );
    return route.fulfill({
      json: { methodResponses: [["Email/restore", { restored: {}, notRestored }, "c0"]], sessionState: "1" },
    });
  });
  await openGone();
  await press("j");
  await press("b");
  const dialog = page.getByRole("dialog", { name: "outside of the mail that is indexed" });
  await dialog.waitFor();
  await page.keyboard.type("rust");
  await press("Enter");
  await told("1 message brought back to Lists/rust.");
  await onDisk("Lists/rust", ["html:"]);
  assert.equal(asked.ids.length, 1);
});

test("without a backup that can be read, it says why in place of the text", async () => {
  await opened.close();
  await mailbox.stop();
  fs.rmSync(path.join(mailbox.directory, "password"));
  opened = await open(await mailbox.serve(mailbox.port));
  page = opened.page;
  await listReady(page);
  await openGone();
  await openRow("In HTML");
  await page.locator("#messages .gone", { hasText: "No backup can be read:" }).waitFor();
  // What the index knows is shown.
  assert.match(String(await page.locator("#messages .message-from").textContent()), /Ana Ito/);
  await press("b");
  await told("This was not done: the archive cannot be");
  // No reply quotes what cannot be read.
  await press("r");
  await told("This was not done");
  assert.equal(await page.locator("dialog[open]").count(), 0);
});

test("a reply to a message that is gone quotes it from the backup", async () => {
  await openGone();
  await openRow("Re: Talk");
  await press("r");
  await page.locator("#compose textarea").waitFor();
  assert.match(await page.locator("#compose textarea").inputValue(), /Ana Ito wrote:\n> Re: Talk/);
});
