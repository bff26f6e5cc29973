// Acting on conversations by key and by pointer. What came of it is looked up on disk.

import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { Mailbox, closeBrowser, eventually, listReady, open, subjects, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

/** How many messages the inbox has: more than the server takes in one call. */
const MANY = 620;

/** @type {Mailbox} */
let mailbox;
/** @type {Awaited<ReturnType<typeof open>>} */
let opened;
/** @type {Page} */
let page;

after(closeBrowser);
beforeEach(async () => {
  mailbox = new Mailbox();
  const date = (/** @type {number} */ minute) => new Date(Date.UTC(2025, 2, 1, 8, minute)).toUTCString();
  for (let index = 0; index < 6; index += 1)
    mailbox.put("INBOX", {
      id: `m${index}`,
      subject: `Letter ${index}`,
      date: date(index),
      flags: index > 2 ? "" : "S",
    });
  mailbox.put("INBOX", { id: "talk1", subject: "Talk", date: date(10), flags: "S" });
  mailbox.put("Sent", { id: "talk2", inReplyTo: "talk1", subject: "Re: Talk", date: date(11), flags: "S" });
  mailbox.put("INBOX", { id: "talk3", inReplyTo: "talk2", subject: "Re: Talk", date: date(12), flags: "S" });
  for (const folder of ["Archive", "Trash", "Spam", "Lists/rust"])
    mailbox.put(folder, {
      id: `in-${folder.replace("/", "-")}`,
      subject: `In ${folder}`,
      date: date(0),
      flags: "S",
    });
  mailbox.index();
  opened = await open(await mailbox.serve());
  page = opened.page;
  await listReady(page);
});

afterEach(async () => {
  await opened.close();
  await mailbox.remove();
});

const press = (/** @type {string} */ key) => page.keyboard.press(key);
const told = (/** @type {string} */ text) => page.locator("#told", { hasText: text }).waitFor();

/** Selects the rows with these subjects by their boxes. @param {string[]} names */
async function check(...names) {
  for (const name of names) {
    const row = page.locator("#list .row", { has: page.getByText(name, { exact: true }) });
    await row.hover();
    await row.locator("input").click();
  }
}

/** Waits until folders on disk have these messages, given as `id:flags`. @param {Record<string, string[]>} wanted */
async function onDisk(wanted) {
  const at = () => Object.fromEntries(Object.keys(wanted).map((folder) => [folder, mailbox.files(folder)]));
  const end = Date.now() + 10_000;
  while (JSON.stringify(at()) !== JSON.stringify(wanted) && Date.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(at(), wanted);
}

test("e archives the row under the cursor, and z takes it back", async () => {
  await press("j");
  await press("e");
  // The row is gone at once, and the next one has the cursor and the focus.
  assert.deepEqual((await subjects(page)).slice(0, 2), ["Re: Talk", "Letter 4"]);
  await told("1 conversation archived");
  await onDisk({ Archive: ["in-Archive:S", "m5:"] });
  assert.equal(await page.locator("#told").getAttribute("role"), "status");
  await until(page, "document.activeElement.querySelector('.subject')?.textContent === 'Letter 4'");
  await press("z");
  await told("Undone");
  await onDisk({ Archive: ["in-Archive:S"] });
  await until(page, "document.querySelectorAll('#list .subject')[1].textContent === 'Letter 5'");
});

test("archiving a conversation leaves what was sent where it is", async () => {
  await press("e");
  await told("1 conversation archived");
  await onDisk({ Archive: ["in-Archive:S", "talk1:S", "talk3:S"], Sent: ["talk2:S"] });
  await page.getByRole("button", { name: "Undo" }).click();
  await told("Undone");
  await onDisk({ Archive: ["in-Archive:S"], Sent: ["talk2:S"] });
  await until(page, "document.querySelector('#list .subject').textContent === 'Re: Talk'");
});

test("x selects, X selects a range, and the bar acts on all of them", async () => {
  await press("j");
  await press("x");
  await press("j");
  await press("j");
  await press("X");
  await page.getByText("3 selected").waitFor();
  await page.locator(".list-head").getByRole("button", { name: "Archive" }).click();
  await told("3 conversations archived");
  await onDisk({ Archive: ["in-Archive:S", "m3:", "m4:", "m5:"] });
  assert.equal(await page.locator("#list .selected").count(), 0);
  await press("z");
  await onDisk({ Archive: ["in-Archive:S"] });
});

test("boxes select by pointer, with Shift a range, and Escape selects nothing", async () => {
  await check("Letter 1");
  await page.locator("#list .row", { hasText: "Letter 4" }).hover();
  await page
    .locator("#list .row", { hasText: "Letter 4" })
    .locator("input")
    .click({ modifiers: ["Shift"] });
  await page.getByText("4 selected").waitFor();
  await page.locator("#list .row", { hasText: "Letter 2" }).locator("input").click();
  await page.getByText("3 selected").waitFor();
  await page.locator(".list-head").getByRole("button", { name: "Mark as read" }).click();
  await told("3 conversations marked as read");
  await until(page, "document.querySelectorAll('#list .row.unread').length === 1");
  const names = mailbox.files("INBOX").filter((each) => /^m/.test(each));
  assert.deepEqual(names, ["m0:S", "m1:S", "m2:S", "m3:S", "m4:S", "m5:"]);
  await check("Letter 0");
  await press("Escape");
  assert.equal(await page.locator("#list .selected").count(), 0);
});

test("U marks as unread, I as read, and both can be taken back", async () => {
  await check("Letter 0", "Letter 1");
  await press("U");
  await told("2 conversations marked as unread");
  await onDisk({ INBOX: ["m0:", "m1:", "m2:S", "m3:", "m4:", "m5:", "talk1:S", "talk3:S"] });
  await check("Letter 1", "Letter 3");
  await press("I");
  await told("2 conversations marked as read");
  await onDisk({ INBOX: ["m0:", "m1:S", "m2:S", "m3:S", "m4:", "m5:", "talk1:S", "talk3:S"] });
  await press("z");
  await press("z");
  await onDisk({ INBOX: ["m0:S", "m1:S", "m2:S", "m3:", "m4:", "m5:", "talk1:S", "talk3:S"] });
});

test("s flags the newest message of a conversation, and again removes all flags", async () => {
  await press("s");
  assert.equal(await page.locator("#list .row").first().locator(".flag").count(), 1);
  await told("1 conversation flagged");
  await onDisk({ INBOX: ["m0:S", "m1:S", "m2:S", "m3:", "m4:", "m5:", "talk1:S", "talk3:FS"] });
  await until(page, "document.querySelector('#list .row .flag')");
  await press("s");
  await told("no longer flagged");
  await onDisk({ INBOX: ["m0:S", "m1:S", "m2:S", "m3:", "m4:", "m5:", "talk1:S", "talk3:S"] });
});

test("# moves to the trash; there it asks, and then deletes for good", async () => {
  await press("j");
  await press("#");
  await told("1 conversation deleted");
  await onDisk({ Trash: ["in-Trash:S", "m5:"] });
  await page.locator("#mailboxes a", { hasText: "Trash" }).click();
  await until(page, "document.querySelector('.list-head h1').textContent === 'Trash'");
  await listReady(page);
  await press("#");
  const dialog = page.getByRole("dialog", { name: "Delete 1 conversation for good?" });
  await dialog.waitFor();
  await press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await onDisk({ Trash: ["in-Trash:S", "m5:"] });
  await press("#");
  await dialog.getByRole("button", { name: "Delete for good" }).click();
  await told("1 conversation deleted for good");
  await onDisk({ Trash: ["in-Trash:S"] });
  // What cannot be taken back is not offered.
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0);
});

test("! moves to spam, if there is such a mailbox", async () => {
  await press("j");
  await press("!");
  await told("1 conversation reported as spam");
  await onDisk({ Spam: ["in-Spam:S", "m5:"] });
});

test("v moves to the mailbox that is typed", async () => {
  await check("Letter 2", "Letter 3");
  await press("v");
  const dialog = page.getByRole("dialog", { name: "Move to" });
  await dialog.waitFor();
  await page.keyboard.type("rus");
  assert.deepEqual(await dialog.getByRole("option").allTextContents(), ["Lists/rust"]);
  await press("Enter");
  await told("2 conversations moved to");
  await onDisk({ "Lists/rust": ["in-Lists-rust:S", "m2:S", "m3:"] });
  await dialog.waitFor({ state: "hidden" });
  await press("z");
  await onDisk({ "Lists/rust": ["in-Lists-rust:S"] });
});

test("l tags with what is typed, shows it, and takes it off again", async () => {
  await press("j");
  await press("l");
  const dialog = page.getByRole("dialog", { name: "Tag" });
  await dialog.waitFor();
  await page.keyboard.type("Büro/a");
  await press("Enter");
  await told("1 conversation tagged büro/a");
  assert.equal(await page.locator("#list .row").nth(1).locator(".tag").textContent(), "büro/a");
  assert.match(mailbox.run("find", "tag:büro/a"), /Letter 5/);
  await press("l");
  await dialog.getByRole("option", { name: "büro/a", selected: true }).waitFor();
  await press("Enter");
  await told("no longer tagged");
  await until(page, "!document.querySelector('#list .tag')");
  assert.throws(() => mailbox.run("find", "tag:büro/a"));
});

test("the buttons of a row act on it alone, whatever is selected", async () => {
  await check("Letter 0");
  const row = page.locator("#list .row", { hasText: "Letter 5" });
  await row.hover();
  await row.getByRole("button", { name: "Delete" }).click();
  await told("1 conversation deleted");
  await onDisk({ Trash: ["in-Trash:S", "m5:"] });
});

test("what the server refuses is as it was, and told", async () => {
  await opened.context.route("**/jmap/api", async (route) => {
    const { methodCalls } = JSON.parse(String(route.request().postData()));
    if (methodCalls[0][0] !== "Email/set") return route.fallback();
    const ids = Object.keys(methodCalls[0][1].update);
    const notUpdated = Object.fromEntries(
      ids.map((id) => [id, { type: "forbidden", description: "the disk is full" }]),
    );
    return route.fulfill({
      json: { methodResponses: [["Email/set", { notUpdated }, "c0"]], sessionState: "1" },
    });
  });
  const before = await subjects(page);
  await press("e");
  await told("This was not done: the disk is full");
  assert.deepEqual(await subjects(page), before);
  await press("s");
  assert.equal(await page.locator("#list .flag").count(), 1);
  await until(page, "!document.querySelector('#list .flag')");
  await told("This was not done");
  await press("z");
  await told("Nothing to undo");
  // Without a server, nothing but the page itself can bring the row back.
  await opened.context.route("**/jmap/api", (route) => route.abort());
  await press("e");
  await told("This was not done: the server cannot be reached");
  assert.deepEqual(await subjects(page), before);
});

test("an open conversation is archived by its button, and the list is shown", async () => {
  await page.setViewportSize({ width: 800, height: 700 });
  await page.locator("#list .row a", { hasText: "Letter 1" }).click();
  await page.locator("#messages .text").waitFor();
  await page.locator("#reader").getByRole("button", { name: "Archive" }).click();
  await told("1 conversation archived");
  await onDisk({ Archive: ["in-Archive:S", "m1:S"] });
  await until(
    page,
    "document.body.dataset.view === 'list' && !document.querySelector('#list').textContent.includes('Letter 1')",
  );
});

test("a message that is open for a second is read, and U keeps it unread", async () => {
  await page.locator("#list .row a", { hasText: "Letter 4" }).click();
  await onDisk({ INBOX: ["m0:S", "m1:S", "m2:S", "m3:", "m4:S", "m5:", "talk1:S", "talk3:S"] });
  await press("U");
  await told("1 conversation marked as unread");
  await until(page, "location.hash.includes('message') === false");
  await onDisk({ INBOX: ["m0:S", "m1:S", "m2:S", "m3:", "m4:", "m5:", "talk1:S", "talk3:S"] });
});

test("all of a list is selected and moved, however long it is, and comes back", async () => {
  for (let index = 0; index < MANY; index += 1)
    mailbox.put("Many", {
      id: `many${index}`,
      subject: `Many ${index}`,
      date: "Sat, 1 Mar 2025 09:00:00 +0000",
      flags: "S",
    });
  await page.locator("#mailboxes a", { hasText: "Many" }).click();
  await until(page, `document.querySelector('.list-head .count')?.textContent === '${MANY} conversations'`);
  await listReady(page);
  await press("x");
  await page.getByRole("button", { name: `Select all ${MANY}` }).click();
  await page.getByText(`${MANY} selected`).waitFor();
  await press("e");
  await told(`${MANY} conversations archived`);
  assert.equal(mailbox.files("Archive").length, MANY + 1);
  assert.equal(mailbox.files("Many").length, 0);
  await press("z");
  await told("Undone");
  assert.equal(mailbox.files("Many").length, MANY);
  await until(page, `document.querySelector('.list-head .count')?.textContent === '${MANY} conversations'`);
});

test("a range may reach over rows that are not there yet", async () => {
  for (let index = 0; index < MANY; index += 1)
    mailbox.put("Many", {
      id: `many${index}`,
      subject: `Many ${index}`,
      date: "Sat, 1 Mar 2025 09:00:00 +0000",
      flags: "S",
    });
  await page.locator("#mailboxes a", { hasText: "Many" }).click();
  await until(page, `document.querySelector('.list-head .count')?.textContent === '${MANY} conversations'`);
  await listReady(page);
  await press("j");
  await press("Home");
  await press("x");
  await press("End");
  await press("X");
  await page.getByText(`${MANY} selected`).waitFor();
  await press("U");
  await told(`${MANY} conversations marked as unread`);
  assert.equal(mailbox.files("Many").filter((each) => each.endsWith(":")).length, MANY);
});

test("what is done while something is under way waits for it", async () => {
  /** @type {string[]} */
  const log = [];
  /** @type {() => void} */
  let release = () => {};
  const gate = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  await opened.context.route("**/jmap/api", async (route) => {
    const [[name, args]] = JSON.parse(String(route.request().postData())).methodCalls;
    if (name === "Email/set") {
      log.push(Object.keys(Object.values(args.update)[0] ?? {}).join());
      if (log.length === 1) await gate;
    }
    return route.fallback();
  });
  await press("s");
  await press("j");
  await press("s");
  await press("s");
  await until(page, "document.querySelectorAll('#list .flag').length === 1");
  await eventually(() => assert.equal(log.length, 1));
  // A request there and back: time enough for one that does not wait.
  for (let count = 0; count < 5; count += 1)
    await page.evaluate(() => fetch("/.well-known/jmap").then(() => 0));
  assert.deepEqual(log, ["keywords/$flagged"]);
  release();
  await eventually(() => assert.equal(log.length, 3));
  await onDisk({
    INBOX: ["m0:S", "m1:S", "m2:S", "m3:", "m4:", "m5:", "talk1:S", "talk3:FS"],
  });
});
