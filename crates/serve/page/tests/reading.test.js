// Reading mail: the list, conversations, searching, and what the page says when the server is lost.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, test } from "node:test";
import { HOSTILE, LONG } from "./mail.js";
import { Fixture, IS_LONG, folder, openRow, rowsFill } from "./steps.js";
import { eventually, focused, listReady, open, subjects, until } from "./support.js";

const fixture = new Fixture();
const { mailbox } = fixture;
const start = fixture.start;

before(fixture.begin);
after(fixture.end);

test("the inbox is shown first, newest first, with who wrote, what, when, and how many", async () => {
  const { page, close } = await start();
  assert.match(page.url(), /#\/mailbox\/F[0-9a-f]+$/);
  const shown = await subjects(page);
  assert.deepEqual(
    shown.map((each) => each.slice(0, 14)),
    [
      "The newest one",
      "A very long su",
      "With a file",
      "Only HTML",
      HOSTILE.subject.slice(0, 14),
      "Re: The plan",
      "The oldest one",
    ],
  );
  assert.equal(await page.locator(".list-head .count").textContent(), "7 conversations, 3 unread");
  const plan = page.locator("#list .row").filter({ hasText: "Re: The plan" });
  assert.equal(await plan.locator(".who").textContent(), "Ana, Bo");
  assert.equal(await plan.locator(".many").textContent(), "3");
  assert.equal(await plan.locator("time").textContent(), "7 Mar 2025");
  assert.match(
    String(await plan.locator("time").getAttribute("title")),
    /Friday,? 7 March 2025.*10:00 \(.*ago\)/,
  );
  assert.equal(await plan.getAttribute("aria-setsize"), "7");
  assert.equal(await plan.getAttribute("aria-posinset"), "6");
  const file = page.locator("#list .row").filter({ hasText: "With a file" });
  assert.deepEqual(await file.getByRole("img").evaluateAll((all) => all.map((each) => each.ariaLabel)), [
    "Has attachment",
    "Flagged",
  ]);
  await close();
});

test("5,000 rows scroll without gaps, and few of them are in the page", async () => {
  const { page, close } = await start();
  await folder(page, "Long");
  const height = await page.locator("#scroller").evaluate((element) => element.scrollHeight);
  let rowsMax = 0;
  for (const fraction of [0, 0.5, 0.1, 0.93, 0.3, 0.31, 0.32, 1, 0.66]) {
    await page.locator("#scroller").evaluate((element, top) => {
      element.scrollTop = top;
    }, fraction * height);
    await rowsFill(page, IS_LONG);
    rowsMax = Math.max(rowsMax, await page.locator("#list .row").count());
  }
  assert.ok(rowsMax < 200, `${rowsMax} rows`);
  assert.ok((await page.evaluate(() => document.querySelectorAll("#list *").length)) < 2000);
  await page.keyboard.press("Escape");
  await page.locator("#list .row a").nth(3).focus();
  await page.keyboard.press("End");
  await until(page, "document.activeElement.querySelector('.subject')?.textContent === 'Number 0 harbour'");
  await page.keyboard.press("Home");
  await until(
    page,
    `document.activeElement.querySelector('.subject')?.textContent.startsWith('Number ${LONG - 1} ')`,
  );
  await close();
});

test("a conversation has its messages oldest first, with those that were sent", async () => {
  const { page, close } = await start();
  await openRow(page, "Re: The plan");
  assert.equal(await page.locator("#reader h2").textContent(), "The plan");
  assert.deepEqual(await page.locator("#messages .message-from bdi").allTextContents(), [
    "Ana Ito",
    "Bo Berg",
    "Ana Ito",
  ]);
  const last = page.locator("#messages .message").nth(2);
  assert.equal(await focused(page), "Ana Ito");
  assert.ok(await last.evaluate((element) => element === document.activeElement));
  assert.deepEqual(await last.locator(".block").allTextContents(), [
    "> I agree with the first part.",
    "Good.",
    "-- \nAna Ito\nHarbour office",
  ]);
  // What is quoted at the end is folded.
  await page.getByRole("button", { name: "Bo Berg" }).click();
  const sent = page.locator("#messages .message").nth(1);
  await sent.locator(".quote-fold").waitFor();
  assert.equal(await sent.locator("blockquote").count(), 0);
  assert.equal(await sent.locator(".quote-fold").textContent(), "Show quoted text (5 lines)");
  await sent.locator(".quote-fold").click();
  assert.match(
    String(await sent.locator("blockquote").textContent()),
    /^> Here is the plan\.\n> It has three/,
  );
  await close();
});

test("the message that was opened is at the top, and shows the first of many receivers", async () => {
  const { page, close } = await start();
  await folder(page, "Talk");
  await openRow(page, "A long talk");
  await until(
    page,
    `(() => { const last = [...document.querySelectorAll(".message")].at(-1).getBoundingClientRect();
      return Math.abs(last.top - document.getElementById("messages").getBoundingClientRect().top) < 20; })()`,
  );
  const last = page.locator(".message").nth(11);
  assert.match(
    String(await last.locator(".people").textContent()),
    /^To Person 0, Person 1, Person 2 and 7 more$/,
  );
  await last.getByRole("button", { name: "and 7 more" }).click();
  assert.match(String(await last.locator(".people").textContent()), /Person 8, Person 9$/);
  await close();
});

test("going back keeps the place and the focus, by key and by the browser's button", async () => {
  const { page, close } = await start({ viewport: { width: 800, height: 700 } });
  await folder(page, "Long");
  await page.locator("#scroller").evaluate((element) => {
    element.scrollTop = 100_000;
  });
  await until(
    page,
    "document.getElementById('scroller').scrollTop > 99000 && !document.querySelector('#list .row.ghost')",
  );
  for (const back of [
    () => page.keyboard.press("u"),
    () => page.goBack(),
    () => page.keyboard.press("Escape"),
  ]) {
    const row = page
      .locator("#list .row")
      .filter({ hasText: /Number 37\d\d / })
      .nth(11);
    const subject = await row.locator(".subject").textContent();
    const top = await page.locator("#scroller").evaluate((element) => element.scrollTop);
    await row.locator("a").click();
    await page.locator("#messages .message.unfolded .text").waitFor();
    assert.equal(await page.locator("#list").isVisible(), false);
    await back();
    await until(page, "document.querySelector('#list').offsetHeight > 0");
    await until(page, `document.activeElement.querySelector('.subject')?.textContent === '${subject}'`);
    assert.equal(await page.locator("#scroller").evaluate((element) => element.scrollTop), top);
  }
  await close();
});

test("an address opens its conversation, and going back from it shows the list", async () => {
  const { page, close } = await start();
  await openRow(page, "The newest one");
  const url = page.url();
  assert.match(url, /#\/mailbox\/F\w+\/message\/M\w+$/);
  await page.reload();
  await page.locator("#messages .message.unfolded .text").waitFor();
  assert.equal(page.url(), url);
  await page.keyboard.press("u");
  await until(page, "!location.hash.includes('message')");
  await page.goto(url.replace(/M\w+$/, "M00"));
  await page.getByText("This message is no longer there.").waitFor();
  await close();
});

test("words are searched as they are typed, old answers are dropped, and clearing shows the mailbox", async () => {
  const { page, context, close } = await start();
  let held = 0;
  let release = () => {};
  const released = new Promise((done) => {
    release = () => done(undefined);
  });
  await context.route("**/jmap/api", async (route) => {
    if (!String(route.request().postData()).includes('"pneuQuery":"harb"')) return route.fallback();
    // The answer to the first letters comes late.
    held += 1;
    await released;
    return route.fallback().catch(() => {});
  });
  await page.keyboard.press("/");
  await page.keyboard.type("harb");
  await eventually(() => assert.equal(held, 1));
  await until(page, "document.querySelector('.search.waiting')");
  await page.keyboard.type("our lantern");
  await until(page, "location.hash.endsWith('/search/harbour%20lantern')");
  await until(page, "document.querySelector('.list-head .count').textContent === '2 results'");
  await listReady(page);
  release();
  assert.equal(held, 1);
  assert.deepEqual(await subjects(page), ["The newest one", "Re: The plan"]);
  assert.deepEqual(await page.locator("#list .row .preview").first().locator("mark").allTextContents(), [
    "harbour",
    "lantern",
  ]);
  await until(page, "document.getElementById('announcement').textContent === '2 results'");
  await page.getByRole("button", { name: "Clear search" }).click();
  await until(page, "document.querySelector('.list-head h1').textContent === 'Inbox'");
  assert.equal((await subjects(page)).length, 7);
  // One search is one step, and going back to it fills the field again.
  await page.goBack();
  await until(page, "document.getElementById('search').value === 'harbour lantern'");
  await page.goBack();
  await until(page, "document.getElementById('search').value === ''");
  await page.fill("#search", "thereisnosuchword");
  await page.getByText("Nothing found").waitFor();
  await page.fill("#search", "from:(");
  await page.keyboard.press("Enter");
  await page.locator("#search[aria-invalid=true]").waitFor();
  await page.keyboard.press("Escape");
  await until(page, "document.querySelector('.list-head h1').textContent === 'Inbox'");
  await close();
});

test("mailboxes show how much is unread, and follow the mail", async () => {
  const { page, close } = await start();
  const badge = page.locator("#mailboxes a").filter({ hasText: "Inbox" }).locator(".badge");
  // Tests before this one may have read one of three.
  const count = Number(await badge.textContent());
  assert.ok(count === 2 || count === 3, `${count}`);
  assert.ok((await page.title()).startsWith(`(${count}) Inbox`));
  assert.equal(await page.locator("#list .row.unread").count(), count);
  await page.keyboard.press("j");
  const subject = await focused(page);
  const file = mailbox.put("INBOX", {
    id: "late",
    subject: "It came late",
    date: "Thu, 13 Mar 2025 09:00:00 +0000",
  });
  await until(page, "document.querySelector('#list .row .subject')?.textContent === 'It came late'");
  await until(page, `document.querySelector('#mailboxes .badge').textContent === '${count + 1}'`);
  // The row with the focus is still the same.
  assert.equal(await focused(page), subject);
  fs.renameSync(file, `${file}S`);
  await until(page, `document.querySelector('#mailboxes .badge').textContent === '${count}'`);
  await until(page, "!document.querySelector('#list .row').classList.contains('unread')");
  fs.rmSync(`${file}S`);
  await until(page, "document.querySelectorAll('#list .row').length === 7");
  await close();
});

test("mail that tries to run or to load something is text", async () => {
  const { page, close, requests, wrong } = await start();
  const shown = (/** @type {string} */ text) => text.replace(/[\u0007\u202e]/g, "\ufffd");
  assert.equal((await subjects(page))[4], shown(HOSTILE.subject));
  await openRow(page, "window.ran");
  assert.equal(await page.locator("#reader h2").textContent(), shown(HOSTILE.subject));
  assert.match(
    String(await page.locator(".message-from bdi").textContent()),
    /^�.?<b onmouseover=alert\(1\)>Mallory<\/b>$/,
  );
  assert.equal(await page.locator("#messages .text").textContent(), shown(HOSTILE.body));
  const found = await page
    .locator("#messages .text a")
    .evaluateAll((all) =>
      all.map((each) => [each.getAttribute("href"), each.getAttribute("rel"), each.getAttribute("target")]),
    );
  assert.deepEqual(
    found.map(([href]) => href),
    ["http://elsewhere.example/pixel.png", "https://link.example/a_(b)?x=1&y=2"],
  );
  assert.deepEqual(found[0]?.slice(1), ["noopener noreferrer", "_blank"]);
  await page.keyboard.press("u");
  await openRow(page, "Only HTML");
  await page.locator(".menu-of summary").click();
  await page.getByText("Show as text").click();
  await page.locator("#messages .text").waitFor();
  assert.equal(
    await page.locator("#messages .text").textContent(),
    "First paragraph & more.\n\n• one\n• two",
  );
  assert.equal(
    await page
      .locator("script, img, iframe, [onerror], [onload], [style*=url]")
      .evaluateAll((all) => all.filter((each) => !each.getAttribute("src")?.endsWith("/app.js")).length),
    0,
  );
  assert.equal(await page.evaluate("window.ran"), undefined);
  assert.deepEqual(wrong, []);
  assert.ok(requests.length > 5);
  await close();
});

test("what was open for a second is marked as read, if the server lets one", async () => {
  for (const isReadOnly of [true, false]) {
    const { page, context, close } = await start();
    /** @type {unknown[]} */
    const sets = [];
    await context.route("**/.well-known/jmap", async (route) => {
      const reply = await route.fetch();
      const session = await reply.json();
      session.accounts.mail.isReadOnly = isReadOnly;
      return route.fulfill({ response: reply, json: session });
    });
    await context.route("**/jmap/api", async (route) => {
      const { methodCalls } = JSON.parse(String(route.request().postData()));
      if (methodCalls[0][0] !== "Email/set") return route.fallback();
      sets.push(methodCalls[0][1].update);
      const updated = Object.fromEntries(Object.keys(methodCalls[0][1].update).map((id) => [id, null]));
      return route.fulfill({
        json: { methodResponses: [["Email/set", { updated }, "c0"]], sessionState: "1" },
      });
    });
    await page.reload();
    await listReady(page);
    await openRow(page, "The newest one");
    const message = page.locator(".message.unread");
    const id = await page.locator(".message").getAttribute("data-message");
    assert.equal(await message.count(), 1);
    if (isReadOnly) {
      // Nothing is sent, however long one reads.
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1500)));
      assert.equal(await message.count(), 1);
      assert.deepEqual(sets, []);
    } else {
      await until(page, "!document.querySelector('.message.unread')");
      assert.deepEqual(sets, [{ [String(id)]: { "keywords/$seen": true } }]);
    }
    await close();
  }
});

test("an attachment is listed and can be stored", async () => {
  const { page, close } = await start();
  await openRow(page, "With a file");
  const file = page.locator(".attachments a");
  assert.equal(await file.locator(".name").textContent(), "notes.bin");
  const [download] = await Promise.all([page.waitForEvent("download"), file.click()]);
  assert.equal(download.suggestedFilename(), "notes.bin");
  assert.deepEqual([...fs.readFileSync(await download.path())], [0, 1, 2, 3, 4]);
  await close();
});

test("who is not logged in is told how to log in", async () => {
  const { page, close } = await open(`${mailbox.origin}/`);
  await page.getByText("Open the link that “pneu serve --link” prints").waitFor();
  assert.equal(await page.locator("#list .row").count(), 0);
  await close();
});

test("a lost server is told and found again, with what changed meanwhile", async () => {
  const { page, close } = await start();
  const { port } = mailbox;
  await mailbox.stop();
  await page.getByText("The server cannot be reached.").waitFor();
  // Without the server, what was there is still there.
  assert.equal((await subjects(page)).length, 7);
  mailbox.put("INBOX", {
    id: "meanwhile",
    subject: "Came meanwhile",
    date: "Fri, 14 Mar 2025 09:00:00 +0000",
    flags: "S",
  });
  // The new server knows no cookies of the old one.
  const again = await mailbox.serve(port);
  await page.getByText("You are not logged in.").waitFor();
  const other = await page.context().newPage();
  await other.goto(again);
  await other.close();
  await until(page, "document.querySelector('#list .row .subject')?.textContent === 'Came meanwhile'");
  await until(page, "!document.querySelector('.notice')");
  await close();
});
