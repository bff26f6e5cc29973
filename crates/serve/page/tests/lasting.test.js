// Attachments, and addresses that last.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import fs from "node:fs";
import { after, before, test } from "node:test";
import { FILES, ODD_ID } from "./html-mail.js";
import { RichFixture, choose, frameReady, openRich } from "./rich.js";
import { folder } from "./steps.js";
import { listReady, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const fixture = new RichFixture();
const start = fixture.start;

before(fixture.begin);
after(fixture.end);

/** @param {Page} page @param {string} subject */
async function openText(page, subject) {
  await folder(page, "Styled");
  await page.locator("#list .row a").filter({ hasText: subject }).click();
  await page.locator(".message .text").waitFor();
}

/** @param {Page} page @param {string} text */
async function heading(page, text) {
  await until(page, `document.querySelector('#reader h2')?.textContent === ${JSON.stringify(text)}`);
}

test("attachments have a name, a type and a size, and pictures are seen", async () => {
  const { page, close } = await start();
  await openText(page, "Files");
  assert.equal(await page.locator(".attachments h3").evaluate((element) => element.firstChild?.textContent?.trim()), "4 attachments");
  assert.deepEqual(await page.locator(".attachments .name").allTextContents(), Object.keys(FILES));
  assert.match(String(await page.locator(".attachments .size").first().textContent()), /^image\/png, 0\.1\s?kB$/);
  // Of four files one is a picture; HTML and SVG are files.
  await until(page, "document.querySelector('.attachments img')?.naturalWidth === 1");
  assert.equal(await page.locator(".attachments img").count(), 1);
  await close();
});

test("an attached picture that cannot be shown has the sign of a file", async () => {
  const { page, close } = await start();
  await page.route("**/jmap/download/**", (route) => route.fulfill({ contentType: "image/png", body: "none" }));
  await openText(page, "Files");
  await until(page, "document.querySelectorAll('.attachments li svg').length === 4");
  assert.equal(await page.locator(".attachments img").count(), 0);
  await close();
});

test("an attachment is stored with its name and its bytes, whatever its type", async () => {
  const { page, close } = await start();
  await openText(page, "Files");
  for (const [name, bytes] of Object.entries(FILES)) {
    const link = page.locator(".attachments a").filter({ hasText: name });
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    assert.equal(download.suggestedFilename(), name);
    assert.ok(fs.readFileSync(await download.path()).equals(bytes), name);
    const url = String(await link.getAttribute("href"));
    const type = await page.evaluate(`fetch(${JSON.stringify(url)}).then((each) => each.headers.get("content-type"))`);
    const isActive = /html|svg/.test(name);
    assert.equal(type === "application/octet-stream", isActive, `${name} ${type}`);
  }
  assert.equal(await page.evaluate("window.ran"), undefined);
  await close();
});

test("all attachments are stored by one press", async () => {
  const { page, close } = await start();
  await openText(page, "Files");
  /** @type {import("playwright-core").Download[]} */
  const downloads = [];
  page.on("download", (each) => downloads.push(each));
  await page.getByRole("button", { name: "Save all" }).focus();
  await page.keyboard.press("Enter");
  while (downloads.length < 4) await page.waitForEvent("download");
  for (const download of downloads) {
    const bytes = FILES[download.suggestedFilename()];
    assert.ok(bytes && fs.readFileSync(await download.path()).equals(bytes), download.suggestedFilename());
  }
  assert.deepEqual(downloads.map((each) => each.suggestedFilename()).sort(), Object.keys(FILES).sort());
  await close();
});

test("the whole message is stored from its menu", async () => {
  const { page, close } = await start();
  await openText(page, "An odd one");
  const [download] = await Promise.all([page.waitForEvent("download"), choose(page, "Download the whole message")]);
  assert.equal(download.suggestedFilename(), "message.eml");
  assert.match(fs.readFileSync(await download.path(), "utf8"), /An odd address\.\n$/);
  await close();
});

test("a menu is opened and left by keys, and closes when the focus goes elsewhere", async () => {
  const { page, close } = await start();
  await openText(page, "Files");
  const menu = page.locator(".menu-of");
  await menu.locator("summary").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.equal(await menu.evaluate((element) => /** @type {HTMLDetailsElement} */ (element).open), true);
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Copy address");
  await page.keyboard.press("Escape");
  assert.equal(await menu.evaluate((element) => /** @type {HTMLDetailsElement} */ (element).open), false);
  assert.equal(await page.evaluate("document.activeElement.tagName"), "SUMMARY");
  await heading(page, "Files");
  await page.keyboard.press("Enter");
  await page.locator("#messages h3").first().click();
  await until(page, "!document.querySelector('.menu-of').open");
  // The message stays open.
  assert.equal(await page.locator(".message.unfolded").count(), 1);
  await close();
});

test("the address of a message is copied, opens it, and going back from it works", async () => {
  const { page, context, close } = await start({ permissions: ["clipboard-read", "clipboard-write"] });
  await openText(page, "An odd one");
  await choose(page, "Copy address");
  await until(page, "document.getElementById('announcement').textContent === 'The address was copied.'");
  const address = String(await page.evaluate("navigator.clipboard.readText()"));
  assert.equal(address, `${fixture.mailbox.origin}/m/${encodeURIComponent(ODD_ID)}`);
  const other = await context.newPage();
  await other.goto(`${fixture.mailbox.origin}/q/lantern`);
  await listReady(other);
  await other.goto(address);
  await heading(other, "An odd one");
  assert.match(other.url(), /:\d+\/#\/mailbox\/all\/message\/M\w+$/);
  await other.goBack();
  await until(other, "document.getElementById('search')?.value === 'lantern'");
  await listReady(other);
  await other.close();
  await close();
});

test("an address of a message with HTML shows it, and what is opened from there can be gone back to", async () => {
  const { page, close } = await start({ viewport: { width: 800, height: 700 } });
  await page.goto(`${fixture.mailbox.origin}/m/both%40example.org`);
  await heading(page, "Both forms");
  await frameReady(page);
  await page.keyboard.press("u");
  await until(page, "!location.hash.includes('message') && document.querySelector('#list').offsetHeight > 0");
  await listReady(page);
  await close();
});

test("an address of a message that is not there says so", async () => {
  const { page, close } = await start();
  await page.goto(`${fixture.mailbox.origin}/m/nobody%40example.org`);
  await page.getByText("This message is no longer there.").waitFor();
  assert.equal(new URL(page.url()).pathname, "/");
  await close();
});

test("an address of a search shows what it finds", async () => {
  const { page, close } = await start();
  await page.goto(`${fixture.mailbox.origin}/q/odd%20address`);
  await until(page, "document.querySelector('.list-head .count')?.textContent === '1 result'");
  assert.equal(await page.inputValue("#search"), "odd address");
  assert.equal(await page.locator("#list .subject").textContent(), "An odd one");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await heading(page, "An odd one");
  await close();
});

test("an address waits for the login", async () => {
  const { page, context, close } = await start();
  await context.clearCookies();
  const { mailbox } = fixture;
  await page.goto(`${mailbox.origin}/m/files%40example.org`);
  await page.getByText("You are not logged in.").waitFor();
  assert.equal(new URL(page.url()).pathname, "/m/files%40example.org");
  await mailbox.stop();
  const link = await mailbox.serve(mailbox.port);
  const other = await context.newPage();
  await other.goto(link);
  await other.close();
  await heading(page, "Files");
  await close();
});

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test(`axe finds nothing wrong with a message in HTML, ${colorScheme}`, async () => {
    const { page, close } = await start({ colorScheme, reducedMotion: "reduce" });
    const check = async (/** @type {string} */ where) => {
      const found = await page.evaluate(`${axe}; axe.run({ resultTypes: ["violations"], iframes: false })`);
      const violations = /** @type {any} */ (found).violations.map(
        (/** @type {any} */ each) =>
          `${each.id}: ${each.nodes.map((/** @type {any} */ node) => `${node.html} ${node.failureSummary}`).join("\n")}`,
      );
      assert.deepEqual(violations, [], where);
    };
    await openRich(page, "Styled", "Two hosts");
    await page.locator(".blocked").waitFor();
    await check("HTML");
    await page.locator(".menu-of summary").click();
    await check("menu");
    await page.keyboard.press("Escape");
    await openText(page, "Files");
    await check("attachments");
    await close();
  });
}
