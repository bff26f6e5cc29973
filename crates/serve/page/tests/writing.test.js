// Writing messages by key and by pointer. What came of it is looked up on disk, and in what the command that
// sends mail has got.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, afterEach, beforeEach, test } from "node:test";
import { Mailbox, closeBrowser, eventually, listReady, open, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

/** The drafts that the browser has kept. */
const DRAFTS_KEPT = "Object.keys(localStorage).filter((key) => key.startsWith('pneu-draft/'))";

/** @type {Mailbox} */
let mailbox;
/** @type {Awaited<ReturnType<typeof open>>} */
let opened;
/** @type {Page} */
let page;

after(closeBrowser);

beforeEach(async () => {
  mailbox = new Mailbox();
  mailbox.send("Bo Berg <bo@example.org>", "Bo at work <bo@work.example>");
  const date = "Sat, 1 Mar 2025 08:00:00 +0000";
  const to = "Bo at work <bo@work.example>, Cy <cy@example.org>";
  mailbox.put("INBOX", {
    id: "plan",
    subject: "The plan",
    to,
    date,
    flags: "S",
    body: "Here it is.\n\n-- \nAna",
  });
  mailbox.put("INBOX", {
    id: "file",
    subject: "A file",
    date: "Fri, 28 Feb 2025 08:00:00 +0000",
    flags: "S",
    raw: withFile(),
  });
  for (const folder of ["Drafts", "Sent"])
    mailbox.put(folder, { id: `in${folder}`, subject: `In ${folder}`, date, flags: "S" });
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
const type = (/** @type {string} */ text) => page.keyboard.type(text);
const dialog = () => page.getByRole("dialog");
const told = (/** @type {string} */ text) => page.locator("#told", { hasText: text }).waitFor();

function withFile() {
  return (
    "From: Ana Ito <ana@example.org>\nTo: Bo Berg <bo@example.org>\nSubject: A file\nMessage-ID: <file@example.org>\n" +
    "Date: Fri, 28 Feb 2025 08:00:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n" +
    "--b\nContent-Type: text/plain\n\nSee there.\n--b\nContent-Type: application/octet-stream; name=notes.bin\n" +
    "Content-Disposition: attachment; filename=notes.bin\nContent-Transfer-Encoding: base64\n\nAAECAwQ=\n--b--\n"
  );
}

/** Waits until as many messages were sent, and returns them. @param {number} count */
async function sent(count) {
  await eventually(() => assert.equal(mailbox.sent().length, count));
  return mailbox.sent();
}

/** Returns the text of the only draft that was made. */
function draft() {
  const texts = mailbox.texts("Drafts").filter((text) => !/^Subject: In Drafts$/m.test(text));
  assert.equal(texts.length, 1, texts.join("\n=====\n"));
  return String(texts[0]);
}

/** Writes a message, and leaves the focus in its text. */
async function write(text = "Come at six.") {
  await press("c");
  await dialog().waitFor();
  await type("Ana Ito <ana@example.org>,");
  await page.getByLabel("Subject").fill("Dinner");
  await page.getByLabel("Text", { exact: true }).focus();
  await type(text);
}

test("c begins a message, which is sent as it was written, and stored as sent", async () => {
  await press("c");
  await dialog().waitFor();
  assert.equal(await page.evaluate("document.activeElement.id"), "to-to");
  await type('ana@example.org, "Ito, Di" <di@example.org>,');
  assert.deepEqual(await page.locator(".chip bdi").allTextContents(), ["ana@example.org", "Ito, Di"]);
  await page.getByRole("button", { name: "Cc/Bcc" }).click();
  await page.getByLabel("Bcc").fill("secret@example.org");
  await page.getByLabel("Subject").fill("Größe");
  await page.getByLabel("Text", { exact: true }).fill("Zwölf.\n.\nFrom me");
  await press("Control+Enter");
  await told("Sending…");
  const [mail] = await sent(1);
  assert.deepEqual(mail?.args, ["ana@example.org", "di@example.org", "secret@example.org"]);
  const { message } = mail ?? { message: "" };
  assert.match(message, /^From: "Bo Berg" <bo@example.org>\r?$/m);
  assert.match(message, /^To: <ana@example.org>, "Ito, Di" <di@example.org>\r?$/m);
  assert.doesNotMatch(message, /secret/);
  await told("Message sent");
  await eventually(() => assert.equal(mailbox.texts("Sent").length, 2));
  assert.ok(mailbox.files("Sent").every((each) => !each.split(":")[1]?.includes("D")));
  assert.equal(mailbox.texts("Drafts").length, 1);
  assert.equal(mailbox.run("find", "subject:größe").split("\n").length, 2);
  assert.deepEqual(await page.evaluate(DRAFTS_KEPT), []);
});

test("r replies to who wrote, from the address that got the mail, and the mail is answered", async () => {
  await press("r");
  await dialog().waitFor();
  assert.deepEqual(await page.locator(".chip bdi").allTextContents(), ["Ana Ito"]);
  assert.equal(
    await page.getByLabel("From").locator("option:checked").textContent(),
    "Bo at work <bo@work.example>",
  );
  await type("Thanks.");
  const text = await page.getByLabel("Text", { exact: true }).inputValue();
  assert.match(text, /^Thanks\.\n\nOn .*2025.*, Ana Ito wrote:\n> Here it is\.\n$/);
  await press("Control+Enter");
  const [mail] = await sent(1);
  assert.deepEqual(mail?.args, ["ana@example.org"]);
  assert.match(String(mail?.message), /^From: "Bo at work" <bo@work.example>\r?$/m);
  assert.match(String(mail?.message), /^Subject: Re: The plan\r?$/m);
  assert.match(String(mail?.message), /^In-Reply-To: <plan@example.org>\r?$/m);
  assert.match(String(mail?.message), /^References: <plan@example.org>\r?$/m);
  await eventually(() => assert.ok(mailbox.files("INBOX").includes("plan:RS")));
});

test("a replies to all but oneself, in an open conversation too", async () => {
  await press("o");
  await page.locator("#messages .text").waitFor();
  await page.getByRole("button", { name: "Reply all" }).waitFor();
  await press("a");
  await dialog().waitFor();
  assert.deepEqual(await page.locator(".chip bdi").allTextContents(), ["Ana Ito", "Cy"]);
  // Untouched, it leaves nothing.
  await press("Escape");
  await dialog().waitFor({ state: "hidden" });
  assert.equal(mailbox.texts("Drafts").length, 1);
});

test("f forwards the text with its attachments, and marks it so", async () => {
  await press("j");
  await press("f");
  await dialog().waitFor();
  await type("cy@example.org,");
  assert.equal(await page.locator(".files .chip bdi").textContent(), "notes.bin");
  await page.getByRole("button", { name: "Send" }).click();
  const [mail] = await sent(1);
  assert.match(String(mail?.message), /Forwarded message[^]*See there\./);
  assert.match(String(mail?.message), /filename="?notes\.bin"?[^]*AAECAwQ=/);
  await eventually(() => assert.ok(mailbox.files("INBOX").includes("file:PS")));
});

test("files come by the button, by drop and by paste, and can be taken out", async () => {
  await write("The report is attached.");
  await page.locator(".composer input[type=file]").setInputFiles([
    { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("first") },
    { name: "b.txt", mimeType: "text/plain", buffer: Buffer.from("second") },
  ]);
  for (const [kind, name] of [
    ["drop", "c.txt"],
    ["paste", "d.txt"],
  ])
    await page.locator(".composer").evaluate(
      (form, [event, file]) => {
        const data = new DataTransfer();
        data.items.add(new File([`from ${event}`], String(file), { type: "text/plain" }));
        const init = { bubbles: true, cancelable: true };
        form
          .querySelector("textarea")
          ?.dispatchEvent(
            event === "drop"
              ? new DragEvent("drop", { ...init, dataTransfer: data })
              : new ClipboardEvent("paste", { ...init, clipboardData: data }),
          );
      },
      [kind, name],
    );
  await until(page, "document.querySelectorAll('.files .chip').length === 4");
  await page.getByRole("button", { name: "Remove b.txt" }).click();
  // A file that the server does not take is told in the dialog.
  const refusal = { status: 413, json: { type: "about:blank", detail: "the file is too large" } };
  await opened.context.route("**/jmap/upload/**", (route) => route.fulfill(refusal));
  const large = { name: "large.txt", mimeType: "text/plain", buffer: Buffer.from("large") };
  await page.locator(".composer input[type=file]").setInputFiles(large);
  await page.getByRole("alert").filter({ hasText: "the file is too large" }).waitFor();
  assert.equal(await page.locator(".files .chip").count(), 3);
  // The draft that is stored has them, and what is sent has them still.
  await page.getByText("Saved", { exact: true }).waitFor();
  assert.match(draft(), /a\.txt[^]*c\.txt[^]*d\.txt/);
  await press("Control+Enter");
  const [mail] = await sent(1);
  for (const text of ["first", "from drop", "from paste"])
    assert.ok(mail?.message.includes(text) || mail?.message.includes(btoa(text)), text);
  assert.doesNotMatch(String(mail?.message), /b\.txt/);
});

test("what is typed is stored as one draft, and opening the draft goes on with it", async () => {
  await write("First");
  await page.getByText("Saved", { exact: true }).waitFor();
  assert.match(draft(), /First/);
  await type(" second.");
  await until(page, "document.querySelector('.composer .count').textContent === 'Not saved yet'");
  await until(page, "document.querySelector('.composer .count').textContent === 'Saved'");
  await eventually(() => assert.match(draft(), /First second\./));
  await press("Escape");
  await dialog().waitFor({ state: "hidden" });
  await page.locator("#mailboxes a", { hasText: "Drafts" }).click();
  const row = page.locator("#list .row a", { hasText: "Dinner" });
  await row.click();
  await dialog().waitFor();
  assert.equal(await page.getByLabel("Text", { exact: true }).inputValue(), "First second.");
  assert.deepEqual(await page.locator(".chip bdi").allTextContents(), ["Ana Ito"]);
  await press("Control+Enter");
  const [mail] = await sent(1);
  assert.match(String(mail?.message), /First second\./);
  await eventually(() => assert.equal(mailbox.texts("Drafts").length, 1));
});

test("a draft survives the end of the tab and of the server, to the last letter", async () => {
  const { context } = opened;
  await write("Saved part.");
  await page.getByText("Saved", { exact: true }).waitFor();
  const { port } = mailbox;
  mailbox.process?.kill("SIGKILL");
  await page
    .getByText("Saved part.")
    .waitFor()
    .catch(() => {});
  await type(" And more, never sent.");
  await page.close({ runBeforeUnload: false });
  await mailbox.stop();
  const link = await mailbox.serve(port);
  page = await context.newPage();
  await context.request.get(link);
  await page.goto(`${mailbox.origin}/`);
  await told("A draft was recovered");
  await eventually(() => assert.match(draft(), /Saved part\. And more, never sent\./));
  await page.getByRole("button", { name: "Open" }).click();
  await dialog().waitFor();
  assert.equal(
    await page.getByLabel("Text", { exact: true }).inputValue(),
    "Saved part. And more, never sent.",
  );
  await press("Escape");
  await dialog().waitFor({ state: "hidden" });
});

test("a message that is about to be sent can be taken back, by button and by key", async () => {
  await write();
  await press("Control+Enter");
  await dialog().waitFor({ state: "hidden" });
  await page.locator("#told").getByRole("button", { name: "Undo" }).click();
  await dialog().waitFor();
  assert.equal(await page.getByLabel("Text", { exact: true }).inputValue(), "Come at six.");
  await press("Control+Enter");
  await dialog().waitFor({ state: "hidden" });
  await press("z");
  await dialog().waitFor();
  await page
    .getByText("Saved", { exact: true })
    .waitFor()
    .catch(() => {});
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 6000)));
  assert.deepEqual(mailbox.sent(), []);
  await press("Escape");
  await dialog().waitFor({ state: "hidden" });
  assert.match(draft(), /Come at six\./);
});

test("a message that cannot be sent says why, and stays a draft that can be sent later", async () => {
  mailbox.fail("the relay is down");
  await write();
  await press("Control+Enter");
  await page.getByRole("alert").filter({ hasText: "The message was not sent" }).waitFor();
  assert.match(String(await page.getByRole("alert").textContent()), /relay is down/);
  assert.match(draft(), /Come at six\./);
  assert.equal(mailbox.texts("Sent").length, 1);
  mailbox.fail("");
  await press("Control+Enter");
  await sent(1);
  await eventually(() => assert.equal(mailbox.texts("Drafts").length, 1));
  await eventually(() => assert.equal(mailbox.texts("Sent").length, 2));
});

test("who forgot the file is asked, and who names no receiver is told", async () => {
  await press("c");
  await dialog().waitFor();
  await page.getByLabel("Text", { exact: true }).fill("Anbei die Liste.");
  await press("Control+Enter");
  await page.getByRole("alert").filter({ hasText: "Add a receiver first." }).waitFor();
  await page.getByLabel("To", { exact: true }).fill("nobody");
  await press("Control+Enter");
  await page.getByRole("alert").filter({ hasText: "“nobody” is not an address." }).waitFor();
  await page.getByLabel("To", { exact: true }).fill("cy@example.org");
  await press("Control+Enter");
  const question = page.getByRole("dialog", { name: "The text mentions an attachment" });
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Send" }).click();
  await question.getByRole("button", { name: "Send anyway" }).click();
  const [mail] = await sent(1);
  assert.deepEqual(mail?.args, ["cy@example.org"]);
});

test("people are suggested by name, chosen by key, and removed by Backspace", async () => {
  await press("c");
  await dialog().waitFor();
  await type("ito");
  await page.getByRole("option", { name: "Ana Ito" }).waitFor();
  await press("Enter");
  assert.deepEqual(await page.locator(".chip").allTextContents(), ["Ana Ito"]);
  await type("work.ex");
  await press("Backspace");
  for (let count = 0; count < 7; count += 1) await press("Backspace");
  assert.equal(await page.locator(".chip").count(), 0);
  await press("Escape");
  await dialog().waitFor({ state: "hidden" });
});

test("a draft that is discarded is gone, after a question", async () => {
  await write();
  await page.getByText("Saved", { exact: true }).waitFor();
  assert.match(draft(), /Come at six/);
  // While the page asks, it stores what was typed just now.
  await page.getByLabel("Text", { exact: true }).focus();
  await type(" Or at seven.");
  await page.getByRole("button", { name: "Discard draft" }).click();
  await eventually(() => assert.match(draft(), /seven/));
  await page
    .getByRole("dialog", { name: "Discard this draft?" })
    .getByRole("button", { name: "Discard draft" })
    .click();
  await page.locator("#compose").waitFor({ state: "hidden" });
  await eventually(() => assert.equal(mailbox.texts("Drafts").length, 1));
  assert.deepEqual(await page.evaluate(DRAFTS_KEPT), []);
});

test("closing without a server asks first, and the browser keeps the draft", async () => {
  await write();
  await page.getByText("Saved", { exact: true }).waitFor();
  await opened.context.route("**/jmap/api", (route) => route.abort());
  await type(" Or at seven.");
  await press("Escape");
  const question = page.getByRole("dialog", { name: "The draft is not saved on the server." });
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "hidden" });
  assert.equal(await page.locator("#compose").isVisible(), true);
  await press("Escape");
  await question.getByRole("button", { name: "Close" }).click();
  await page.locator("#compose").waitFor({ state: "hidden" });
  assert.match(
    fs.readFileSync(
      path.join(
        mailbox.directory,
        "mail",
        "Drafts",
        "cur",
        String(
          fs
            .readdirSync(path.join(mailbox.directory, "mail", "Drafts", "cur"))
            .find((each) => !each.startsWith("in")),
        ),
      ),
      "utf8",
    ),
    /six\.\s*$/,
  );
  const kept = await page.evaluate("Object.values(localStorage).join('')");
  assert.match(String(kept), /Or at seven\./);
});
