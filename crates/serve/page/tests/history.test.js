// What was done: listed, and undone in turn, whoever did it. What came of it is looked up on disk.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, afterEach, beforeEach, test } from "node:test";
import { ask } from "./elsewhere.js";
import { Mailbox, closeBrowser, eventually, listReady, open, until } from "./support.js";

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
const dialog = () => page.getByRole("dialog", { name: "What was done" });
const said = (/** @type {string} */ text) => dialog().getByRole("status").getByText(text).waitFor();
const entries = () => dialog().locator("li .did").allTextContents();
const onDisk = (/** @type {string} */ folder, /** @type {string[]} */ wanted) =>
  eventually(() => assert.deepEqual(mailbox.files(folder), wanted));
const listed = async (/** @type {string[]} */ wanted) => {
  await until(page, `document.querySelectorAll('#history li').length === ${wanted.length}`);
  assert.deepEqual(await entries(), wanted);
};

after(closeBrowser);
beforeEach(async () => {
  mailbox = new Mailbox();
  for (let index = 0; index < 4; index += 1)
    mailbox.put("INBOX", { id: `m${index}`, subject: `Letter ${index}`, date: date(index + 1), flags: "S" });
  for (const folder of ["Archive", "Trash", "Lists/rust"])
    mailbox.put(folder, { id: `in-${folder.replace("/", "-")}`, subject: `In ${folder}`, date: date(1), flags: "S" });
  mailbox.index();
  opened = await open(await mailbox.serve());
  page = opened.page;
  await listReady(page);
});

afterEach(async () => {
  await opened.close();
  await mailbox.remove();
});

test("Z lists what this page and commands did, and undoes one after the other", async () => {
  await press("s");
  await told("1 conversation flagged");
  mailbox.run("move", "subject:Letter", "Lists/rust");
  await onDisk("INBOX", []);
  await press("Z");
  await dialog().waitFor();
  await listed(["4 files moved", "Flags of 1 file changed"]);
  assert.match(String(await dialog().locator("li .where").first().textContent()), /Inbox → Lists\/rust, (this minute|\d+ minutes? ago)/);
  assert.equal(await dialog().getByRole("button", { name: "Undo" }).count(), 1);
  await dialog().getByRole("button", { name: "Undo" }).click();
  await said("Undone: 4 files are as they were.");
  await onDisk("INBOX", ["m0:S", "m1:S", "m2:S", "m3:FS"]);
  await listed(["Flags of 1 file changed"]);
  // The next one has the focus.
  await until(page, "document.activeElement.matches('#history .undo')");
  await press("Enter");
  await said("Undone: 1 file is as it was.");
  await onDisk("INBOX", ["m0:S", "m1:S", "m2:S", "m3:S"]);
  await dialog().getByText("There is nothing to undo.").waitFor();
  await press("Escape");
  await dialog().waitFor({ state: "hidden" });
  await until(page, "document.querySelectorAll('#list .row').length === 4 && !document.querySelector('#list .flag')");
  // What was undone here is not offered again.
  await press("z");
  await told("Nothing to undo");
});

test("the dialog follows what others do while it is open", async () => {
  await page.locator("#mailboxes button", { hasText: "What was done" }).click();
  await dialog().getByText("There is nothing to undo.").waitFor();
  mailbox.run("flag", "+F", "--", "subject:Letter");
  await listed(["Flags of 4 files changed"]);
});

test("what was left alone is told in words", async () => {
  mailbox.run("move", "subject:Letter", "Lists/rust");
  // One is flagged since by another program, and so has another name.
  const folder = path.join(mailbox.directory, "mail/Lists/rust/cur");
  const name = fs.readdirSync(folder).find((each) => each.startsWith("m1"));
  fs.rmSync(path.join(folder, String(name)));
  await press("Z");
  await dialog().getByRole("button", { name: "Undo" }).click();
  await said("Undone: 3 files are as they were.");
  await said("1 file in Lists/rust was left alone: moved, changed or removed since.");
  await onDisk("INBOX", ["m0:S", "m2:S", "m3:S"]);
});

test("an import is undone only by those who want to lose what it stored", async () => {
  const box = path.join(mailbox.directory, "old.mbox");
  fs.writeFileSync(
    box,
    "From x Sat Mar  1 09:00:00 2025\nFrom: Ana Ito <ana@example.org>\nSubject: Imported\n" +
      "Date: Sat, 1 Mar 2025 09:00:00 +0000\nMessage-ID: <imported@example.org>\n\nText\n",
  );
  mailbox.run("import", "/Archive", box);
  await eventually(() => assert.equal(mailbox.files("Archive").length, 2));
  await press("Z");
  await listed(["1 message imported or brought back"]);
  await dialog().getByRole("button", { name: "Undo" }).click();
  const question = page.getByRole("dialog", { name: "This removes the 1 message that it stored, for good." });
  await question.waitFor();
  await press("Escape");
  await question.waitFor({ state: "hidden" });
  assert.equal(mailbox.files("Archive").length, 2);
  await dialog().getByRole("button", { name: "Undo" }).click();
  await question.getByRole("button", { name: "Undo" }).click();
  await said("Undone: 1 message was removed again.");
  await onDisk("Archive", ["in-Archive:S"]);
});

test("what was removed for good is passed over", async () => {
  mailbox.run("flag", "+F", "--", "subject:Letter");
  mailbox.run("delete", "--for-good", "--yes", "subject:Letter");
  await press("Z");
  await listed(["4 files removed for good", "Flags of 4 files changed"]);
  await dialog().getByRole("button", { name: "Pass over" }).click();
  await said("Nothing brings these back.");
  await listed(["Flags of 4 files changed"]);
});

test("who is late undoes nothing, and sees what was done meanwhile", async () => {
  await press("s");
  await told("1 conversation flagged");
  await press("Z");
  await listed(["Flags of 1 file changed"]);
  // The server is asked for the list again only after the button was pressed.
  let isHeld = true;
  await opened.context.route("**/jmap/api", async (route) => {
    const [[name]] = JSON.parse(String(route.request().postData())).methodCalls;
    if (name === "Action/undo") isHeld = false;
    if (name === "Action/get" && isHeld) return route.abort();
    return route.fallback();
  });
  mailbox.run("move", "subject:Letter", "Lists/rust");
  await onDisk("INBOX", []);
  await dialog().getByRole("button", { name: "Undo" }).click();
  await said("Something else was done meanwhile, and nothing was undone.");
  await listed(["4 files moved", "Flags of 1 file changed"]);
  assert.equal(mailbox.files("INBOX").length, 0);
});

test("undo on the page leaves nothing behind: the action of the server is undone", async () => {
  const before = mailbox.files("INBOX");
  await press("x");
  await press("j");
  await press("x");
  await press("e");
  await told("2 conversations archived");
  await onDisk("Archive", ["in-Archive:S", "m2:S", "m3:S"]);
  const [made] = await ask(mailbox, [["Action/get", { ids: null }]]);
  assert.equal(made.list.length, 1);
  await press("z");
  await told("Undone");
  await onDisk("INBOX", before);
  const [left] = await ask(mailbox, [["Action/get", { ids: null }]]);
  assert.deepEqual(left.list, []);
});

test("undo on the page takes back its own, though another did something since", async () => {
  await press("e");
  await told("1 conversation archived");
  await onDisk("Archive", ["in-Archive:S", "m3:S"]);
  mailbox.run("flag", "+F", "--", "subject:Letter 1");
  await onDisk("INBOX", ["m0:S", "m1:FS", "m2:S"]);
  await press("z");
  await told("Undone");
  await onDisk("INBOX", ["m0:S", "m1:FS", "m2:S", "m3:S"]);
  await press("Z");
  await dialog().waitFor();
  await until(page, "document.querySelectorAll('#history li').length === 3");
  assert.equal((await entries())[1], "Flags of 1 file changed");
});

test("tags are no action of the server, and are taken back all the same", async () => {
  await press("l");
  await page.getByRole("dialog", { name: "Tag" }).waitFor();
  await page.keyboard.type("work");
  await press("Enter");
  await told("1 conversation tagged work");
  mailbox.run("move", "subject:Letter 0", "Lists/rust");
  await onDisk("INBOX", ["m1:S", "m2:S", "m3:S"]);
  await press("z");
  await told("Undone");
  assert.throws(() => mailbox.run("find", "tag:work"));
  assert.equal(mailbox.files("INBOX").length, 3);
});
