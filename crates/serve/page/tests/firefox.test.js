// The page in Firefox: what browsers do differently. Steps and mail are those of the tests in Chromium.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, test } from "node:test";
import { closeFirefox, downloaded, openFirefox } from "./firefox.js";
import { HOSTILE } from "./html-mail.js";
import { HOSTILE as HOSTILE_TEXT } from "./mail.js";
import { RichFixture, frameReady, inFrame, openRich, untilInFrame } from "./rich.js";
import { IS_LONG, folder, openRow, rowsFill } from "./steps.js";
import { eventually, focused, listReady, subjects, until } from "./support.js";

/** @typedef {typeof import("./support.js").open} Open */

const fixture = new RichFixture(/** @type {Open} */ (/** @type {unknown} */ (openFirefox)), closeFirefox);
const { mailbox, start } = fixture;
mailbox.send("Bo Berg <bo@example.org>");
mailbox.put("Drafts", {
  id: "draft",
  subject: "A draft",
  date: "Sat, 1 Mar 2025 08:00:00 +0000",
  flags: "S",
});

before(fixture.begin);
after(fixture.end);

const NARROW = { viewport: { width: 800, height: 700 } };

test("a link logs in, once, and the inbox is shown", async () => {
  const { link } = fixture;
  const { page, close } = await start();
  assert.match(page.url(), /#\/mailbox\/F[0-9a-f]+$/);
  assert.equal((await subjects(page))[0], "The newest one");
  assert.equal(await page.locator(".list-head .count").textContent(), "7 conversations, 3 unread");
  assert.equal(await page.locator("#list .row time").nth(5).textContent(), "7 Mar 2025");
  await close();
  const again = await openFirefox(link);
  assert.doesNotMatch(await again.page.evaluate("document.body.textContent"), /The newest one/);
  await again.close();
});

test("5,000 rows scroll without gaps, by the scroll bar, the wheel and keys", async () => {
  const { page, close } = await start();
  await folder(page, "Long");
  const pane = page.locator("#scroller");
  const height = Number(await pane.evaluate((element) => element.scrollHeight));
  for (const fraction of [0.5, 0.93, 0.3, 0.31, 1, 0.66]) {
    await pane.evaluate((element, top) => {
      element.scrollTop = top;
    }, fraction * height);
    await rowsFill(page, IS_LONG);
  }
  const before = Number(await pane.evaluate((element) => element.scrollTop));
  await pane.hover();
  await page.mouse.wheel(0, 800);
  await until(page, `document.getElementById("scroller").scrollTop > ${before} + 200`);
  await rowsFill(page, IS_LONG);
  await page.locator("#list .row a").nth(9).focus();
  await page.keyboard.press("End");
  await until(page, "document.activeElement.querySelector('.subject')?.textContent === 'Number 0 harbour'");
  await page.keyboard.press("Home");
  await until(
    page,
    "document.activeElement.querySelector('.subject')?.textContent.startsWith('Number 4999 ')",
  );
  assert.ok((await page.locator("#list .row").count()) < 200);
  await close();
});

test("a conversation is read from the oldest message on, and quotes are folded", async () => {
  const { page, close } = await start();
  await openRow(page, "Re: The plan");
  assert.equal(await page.locator("#reader h2").textContent(), "The plan");
  assert.deepEqual(await page.locator("#messages .message-from bdi").allTextContents(), [
    "Ana Ito",
    "Bo Berg",
    "Ana Ito",
  ]);
  assert.equal(await focused(page), "Ana Ito");
  await page.getByRole("button", { name: "Bo Berg" }).click();
  await page.locator(".quote-fold").click();
  assert.match(
    String(await page.locator("blockquote").nth(0).textContent()),
    /^> Here is the plan\.\n> It has three/,
  );
  await page.keyboard.press("n");
  await until(page, "document.activeElement === document.querySelectorAll('.message')[2]");
  await page.keyboard.press("o");
  await until(page, "!document.querySelectorAll('.message')[2].classList.contains('unfolded')");
  await close();
});

test("words are searched as they are typed, and going back leaves the search", async () => {
  const { page, close } = await start();
  await page.keyboard.press("/");
  await page.keyboard.type("harbour lantern");
  await until(page, "location.hash.endsWith('/search/harbour%20lantern')");
  await until(page, "document.querySelector('.list-head .count').textContent === '2 results'");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["The newest one", "Re: The plan"]);
  assert.deepEqual(await page.locator("#list .row .preview").first().locator("mark").allTextContents(), [
    "harbour",
    "lantern",
  ]);
  assert.match(page.url(), /\/search\/harbour%20lantern$/);
  await page.keyboard.press("Enter");
  await until(page, "document.activeElement.querySelector('.subject')?.textContent === 'The newest one'");
  await page.goBack();
  await until(page, "document.getElementById('search').value === ''");
  await until(page, "document.querySelector('.list-head h1').textContent === 'Inbox'");
  await close();
});

test("keys move, open, close, explain themselves, and leave fields alone", async () => {
  const { page, close } = await start(NARROW);
  const press = (/** @type {string} */ key) => page.keyboard.press(key);
  await press("j");
  await press("ArrowDown");
  await until(page, "document.activeElement.querySelector('.subject')?.textContent === 'With a file'");
  await press("k");
  await press("k");
  await press("o");
  await until(page, "document.querySelector('#reader h2')?.textContent === 'The newest one'");
  await press("j");
  await until(page, "document.querySelector('#reader h2')?.textContent.startsWith('A very long')");
  await press("u");
  await until(
    page,
    "document.activeElement.querySelector('.subject')?.textContent.startsWith('A very long')",
  );
  await press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await press("Escape");
  await page.locator("#help").waitFor({ state: "hidden" });
  await press("/");
  await page.keyboard.type("jk'?gi");
  assert.equal(await page.locator("#search").inputValue(), "jk'?gi");
  await press("Escape");
  assert.equal(await page.locator("#search").inputValue(), "");
  await close();
});

test("flagging, deleting and taking back reach the files", async () => {
  const { page, close } = await start();
  const has = (/** @type {string} */ name, /** @type {string} */ file) =>
    eventually(() => assert.ok(mailbox.files(name).includes(file), String(mailbox.files(name))));
  await page.locator("#list .row a").filter({ hasText: "The oldest" }).focus();
  await page.keyboard.press("s");
  await has("INBOX", "oldest:FS");
  await page.keyboard.press("#");
  await page.locator("#told").filter({ hasText: "1 conversation deleted" }).waitFor();
  await has("Trash", "oldest:FS");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator("#told").filter({ hasText: "Undone" }).waitFor();
  await has("INBOX", "oldest:FS");
  await page.keyboard.press("z");
  await has("INBOX", "oldest:S");
  await until(page, "document.querySelectorAll('#list .row').length === 7");
  await close();
});

test("boxes select by pointer, with Shift a range, from the box and from its edge", async () => {
  const { page, close } = await start();
  const box = (/** @type {number} */ index) => page.locator("#list .row").nth(index).locator(".box");
  await box(0).locator("input").click();
  await box(2)
    .locator("input")
    .click({ modifiers: ["Shift"] });
  await page.getByText("3 selected").waitFor();
  await box(4).click({ modifiers: ["Shift"] });
  await page.getByText("5 selected").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#list .selected").count(), 0);
  await close();
});

test("nothing of hostile HTML runs, and nothing is asked of another host", async () => {
  const { page, close } = await start();
  fixture.reset();
  await openRich(page, "Hostile", "script");
  for (const [name] of HOSTILE) {
    await until(page, `document.querySelector('#reader h2')?.textContent === '${name}'`);
    await frameReady(page);
    await untilInFrame(page, `found.getElementById('mark')?.textContent === '${name} is shown'`);
    await inFrame(page, "found.getElementById('go')?.click()");
    await page.keyboard.press("j");
  }
  assert.equal(await page.evaluate("window.ran"), undefined);
  assert.deepEqual(fixture.heard, []);
  assert.equal(fixture.connections, 0);
  await close();
});

test("mail that tries to run something is text", async () => {
  const { page, close } = await start();
  await openRow(page, "window.ran");
  const shown = HOSTILE_TEXT.body.replace(/[\u0007\u202e]/g, "\ufffd");
  assert.equal(await page.locator("#messages .text").textContent(), shown);
  assert.equal(await page.evaluate("window.ran"), undefined);
  await close();
});

test("pictures of the network are loaded if the user wants it, and from their hosts alone", async () => {
  const { page, close, wrong } = await start();
  fixture.reset();
  await openRich(page, "Styled", "Two hosts");
  assert.equal(await inFrame(page, "found.querySelectorAll('img[src]').length"), 0);
  assert.equal(fixture.connections, 0);
  await page.getByRole("button", { name: "Load images" }).click();
  await until(page, "document.querySelector('.blocked') === null");
  await frameReady(page);
  await untilInFrame(page, "[...found.images].filter((each) => each.naturalWidth > 0).length === 2");
  const heard = () => fixture.heard.map(({ url, host }) => `${url} ${host.split(".")[0]}`).sort();
  await eventually(() => assert.deepEqual(heard(), ["/away.png first", "/one.png first", "/two.png second"]));
  assert.ok(fixture.heard.every((each) => each.referer === undefined));
  // The redirection to a third host is refused.
  assert.deepEqual(
    wrong.filter((each) => !/a request to http:..(first|second)[.]example|arrived[.]png/.test(each)),
    [],
  );
  wrong.length = 0;
  await close();
});

test("a frame is as high as its message, the wheel over it scrolls, and it has the keys of the page", async () => {
  const { page, close } = await start(NARROW);
  await openRich(page, "Styled", "A long one");
  assert.ok(Number(await page.locator(".sheet").evaluate((element) => element.clientHeight)) > 4000);
  assert.equal(
    await inFrame(page, "found.documentElement.scrollHeight - found.documentElement.clientHeight"),
    0,
  );
  await page.locator("#messages").hover();
  await page.mouse.wheel(0, 600);
  await until(page, "document.getElementById('messages').scrollTop > 300");
  await page.evaluate("document.querySelector('.sheet').contentWindow.focus()");
  await page.keyboard.press("k");
  await until(page, "document.querySelector('#reader h2')?.textContent === 'Grows with the frame'");
  await frameReady(page);
  await page.evaluate("document.querySelector('.sheet').contentWindow.focus()");
  await page.keyboard.press("u");
  await until(page, "document.body.dataset.view === 'list'");
  await close();
});

test("a wide table does not widen the page at 450 pixels", async () => {
  const { page, close } = await start({ viewport: { width: 450, height: 640 } });
  await page.getByRole("button", { name: "Show mailboxes" }).click();
  await openRich(page, "Styled", "A wide table");
  assert.equal(
    await page.evaluate("document.documentElement.scrollWidth"),
    await page.evaluate("innerWidth"),
  );
  const right = Number(
    await page.locator(".sheet").evaluate((element) => element.getBoundingClientRect().right),
  );
  assert.ok(right <= 450, `${right}`);
  assert.equal(await inFrame(page, "found.documentElement.style.zoom"), "0.5");
  await close();
});

test("text from right to left is, and in the dark mail lies on a light sheet", async () => {
  const { page, close } = await start({ colorScheme: "dark" });
  await openRich(page, "Styled", "\u05e9\u05dc\u05d5\u05dd");
  assert.equal(await inFrame(page, "getComputedStyle(found.getElementById('mark')).direction"), "rtl");
  const isRight = `(() => {
    const range = found.createRange();
    range.selectNodeContents(found.getElementById("mark"));
    const at = range.getBoundingClientRect();
    return at.left > found.documentElement.clientWidth - at.right;
  })()`;
  assert.equal(await inFrame(page, isRight), true);
  assert.equal(
    await page.evaluate("getComputedStyle(document.querySelector('#reader h2')).direction"),
    "rtl",
  );
  assert.equal(
    await inFrame(page, "getComputedStyle(found.documentElement).backgroundColor"),
    "rgb(255, 255, 255)",
  );
  assert.equal(
    await inFrame(page, "getComputedStyle(found.getElementById('mark')).color"),
    "rgb(27, 31, 36)",
  );
  assert.equal(
    await page.evaluate("getComputedStyle(document.getElementById('reader')).color"),
    "rgb(221, 226, 232)",
  );
  await close();
});

test("a message is written, stored as a draft, and sent", async () => {
  const { page, close } = await start();
  await page.keyboard.press("c");
  await page.getByRole("dialog").waitFor();
  assert.equal(await page.evaluate("document.activeElement.id"), "to-to");
  await page.keyboard.type("ana@example.org,");
  await page.locator("#subject").fill("Dinner");
  await page.locator("#compose textarea").fill("Come at six.");
  await until(page, "document.querySelector('#compose .count').textContent === 'Saved'");
  const drafts = () => mailbox.texts("Drafts").filter((text) => /^Subject: Dinner/m.test(text));
  assert.match(String(drafts()[0]), /Come at six\./);
  await page.keyboard.press("Escape");
  await page.locator("#compose").waitFor({ state: "hidden" });
  await page.locator("#mailboxes a").filter({ hasText: "Drafts" }).click();
  await page.locator("#list .row a").filter({ hasText: "Dinner" }).click();
  await page.getByRole("dialog").waitFor();
  assert.equal(await page.locator("#compose textarea").inputValue(), "Come at six.");
  await page.locator("#compose textarea").focus();
  await page.keyboard.press("Control+Enter");
  await page.locator("#told").filter({ hasText: "Message sent" }).waitFor();
  assert.deepEqual(
    mailbox.sent().map(({ args }) => args),
    [["ana@example.org"]],
  );
  await eventually(() => assert.deepEqual(drafts(), []));
  await close();
});

test("an attachment is stored", async () => {
  const { page, close } = await start();
  await openRow(page, "With a file");
  await page.locator(".attachments a").click();
  assert.deepEqual([...(await downloaded("notes.bin"))], [0, 1, 2, 3, 4]);
  assert.match(page.url(), /message/);
  await close();
});

test("going back keeps the place and the focus, by key and by the browser's button", async () => {
  const { page, close } = await start(NARROW);
  await folder(page, "Long");
  const pane = page.locator("#scroller");
  await pane.evaluate((element) => {
    element.scrollTop = 100_000;
  });
  await rowsFill(page, IS_LONG);
  for (const back of [
    () => page.keyboard.press("u"),
    () => page.goBack(),
    () => page.keyboard.press("Escape"),
  ]) {
    const top = await pane.evaluate((element) => element.scrollTop);
    assert.ok(Number(top) > 99_000, `${top}`);
    const row = page.locator("#list .row").filter({ hasText: "Number 3745 " });
    await row.locator("a").click();
    await page.locator("#messages .message.unfolded .text").waitFor();
    assert.equal(await page.locator("#list").isVisible(), false);
    await back();
    await until(
      page,
      "document.activeElement.querySelector('.subject')?.textContent.startsWith('Number 3745 ')",
    );
    assert.equal(await pane.evaluate((element) => element.scrollTop), top);
  }
  await close();
});

test("mail that comes and goes is shown, and a server that was lost is found again", async () => {
  const { page, close } = await start();
  const file = mailbox.put("INBOX", {
    id: "late",
    subject: "It came late",
    date: "Thu, 13 Mar 2025 09:00:00 +0000",
  });
  await until(page, "document.querySelector('#list .row .subject')?.textContent === 'It came late'");
  fs.renameSync(file, `${file}S`);
  await until(page, "!document.querySelector('#list .row').classList.contains('unread')");
  fs.rmSync(`${file}S`);
  await until(page, "document.querySelector('#list .row .subject')?.textContent === 'The newest one'");
  await mailbox.stop();
  await page.getByText("The server cannot be reached.").waitFor();
  const again = await mailbox.serve(mailbox.port);
  await page.getByText("You are not logged in.").waitFor();
  await page.goto(again);
  await listReady(page);
  await until(page, "!document.querySelector('.notice')");
  await close();
});
