// Saved searches and tags at the side: shown, opened, made, changed and removed. With SHOTS, a folder gets
// pictures of them.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { Mailbox, closeBrowser, eventually, focused, listReady, open, subjects, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const shots = process.env["SHOTS"];
const mailbox = new Mailbox();

before(() => {
  for (const [index, word] of ["plan", "harbour", "lantern", "minutes"].entries())
    mailbox.put("INBOX", {
      id: word,
      subject: `The ${word}`,
      date: new Date(Date.UTC(2025, 2, 12 - index, 9)).toUTCString(),
      flags: index % 2 === 0 ? "S" : "",
    });
  mailbox.index();
});
after(async () => {
  await closeBrowser();
  await mailbox.remove();
});
beforeEach(() => mailbox.stop());

/** Returns the saved queries by their names. @returns {Record<string, string>} */
function saved() {
  try {
    const lines = mailbox.run("query").split("\n").filter(Boolean);
    return Object.fromEntries(lines.map((line) => line.split("\t")));
  } catch {
    // Without any, the program says so.
    return {};
  }
}

/** Saves these queries and no others. @param {Record<string, string>} queries */
function save(queries) {
  for (let names = Object.keys(saved()); names.length > 0; names = Object.keys(saved()))
    for (const name of names)
      try {
        mailbox.run("query", "--remove", name);
      } catch {
        // Another one names it, which is removed first.
      }
  for (const [name, query] of Object.entries(queries)) mailbox.run("query", name, query);
}

/** @param {import("playwright-core").BrowserContextOptions} [options] */
async function start(options) {
  const opened = await open(await mailbox.serve(mailbox.port), { reducedMotion: "reduce", ...options });
  await listReady(opened.page);
  return opened;
}

/** @param {Page} page @param {string} name */
const section = (page, name) => page.getByRole("region", { name });

/** @param {Page} page @param {string} name */
const names = (page, name) => section(page, name).locator(".mailbox .name").allTextContents();

/** Waits until the heading of the list has a text. @param {Page} page @param {string} text */
const heading = (page, text) =>
  until(page, `document.querySelector('.list-head h1').textContent.includes(${JSON.stringify(text)})`);

test("saved searches and tags are at the side, open, fold, and are left by going back", async () => {
  save({ unread: "flag:unread", "by.ana": "from:ana subject:plan" });
  mailbox.run("tag", "+board", "--", "subject:plan or subject:harbour");
  mailbox.run("tag", '+("odd"\\*)', "--", "subject:minutes");
  const { page, close } = await start();
  await section(page, "Tags").waitFor();
  assert.deepEqual(await names(page, "Saved searches"), ["by.ana", "unread"]);
  assert.deepEqual(await names(page, "Tags"), ['("odd"\\*)', "board"]);
  const board = section(page, "Tags").getByRole("link", { name: "board" });
  assert.equal(await board.locator(".badge [aria-hidden]").textContent(), "2");
  await section(page, "Saved searches").getByRole("link", { name: "by.ana" }).click();
  await heading(page, "query:by.ana");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["The plan"]);
  assert.equal(await page.inputValue("#search"), "query:by.ana");
  assert.equal(await page.locator("#mailboxes [aria-current]").textContent(), "by.ana");
  await board.focus();
  await page.keyboard.press("Enter");
  await heading(page, "tag:board");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["The plan", "The harbour"]);
  // A name that has signs of the language is written so that it means itself.
  await section(page, "Tags").getByRole("link", { name: "odd" }).click();
  await heading(page, "odd");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["The minutes"]);
  await page.goBack();
  await heading(page, "tag:board");
  await page.goBack();
  await page.goBack();
  await heading(page, "Inbox");
  assert.equal(await page.inputValue("#search"), "");
  const fold = section(page, "Tags").getByRole("button", { name: "Tags" });
  await fold.focus();
  await page.keyboard.press("Enter");
  assert.equal(await fold.getAttribute("aria-expanded"), "false");
  assert.equal(await section(page, "Tags").getByRole("link").count(), 0);
  await close();
});

test("without saved searches and tags nothing is shown of them, and they come and go as the server has them", async () => {
  save({});
  mailbox.run("tag", "-board", '-("odd"\\*)', "--", "*");
  const { page, requests, close } = await start();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.equal(await page.locator("#mailboxes .side").count(), 0);
  assert.deepEqual(
    requests.filter((url) => /saved-side|search\.css/.test(url)),
    [],
  );
  mailbox.run("query", "urgent", "subject:plan");
  mailbox.run("tag", "+trip", "--", "subject:plan");
  await section(page, "Tags").getByRole("link", { name: "trip" }).waitFor();
  assert.deepEqual(await names(page, "Saved searches"), ["urgent"]);
  mailbox.run("query", "--remove", "urgent");
  mailbox.run("tag", "-trip", "--", "*");
  await until(page, "!document.querySelector('#mailboxes .side')");
  await close();
});

test("the search that is shown is saved by its star, under a name that the server takes", async () => {
  save({});
  const { page, close } = await start();
  assert.equal(await page.locator(".star").count(), 0);
  await page.fill("#search", "flag:unread subject:harbour");
  await heading(page, "flag:unread");
  const star = page.getByRole("button", { name: "Save this search" });
  await star.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Save this search" });
  await dialog.waitFor();
  assert.equal(await page.evaluate("document.activeElement.id"), "saved-name");
  assert.equal(await dialog.getByLabel("Search for").inputValue(), "flag:unread subject:harbour");
  await page.keyboard.type("no spaces");
  await page.keyboard.press("Enter");
  await dialog.getByText("A name has letters, digits, dots, hyphens and underscores only.").waitFor();
  assert.equal(await dialog.getByLabel("Name").getAttribute("aria-invalid"), "true");
  assert.deepEqual(saved(), {});
  await dialog.getByLabel("Name").fill("new-harbour");
  await dialog.getByText("query:new-harbour stands for it").waitFor();
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "hidden" });
  await page.locator(".told", { hasText: "Saved as “new-harbour”" }).waitFor();
  assert.deepEqual(saved(), { "new-harbour": "flag:unread subject:harbour" });
  await section(page, "Saved searches").getByRole("link", { name: "new-harbour" }).click();
  await heading(page, "query:new-harbour");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["The harbour"]);
  // Now the star changes it.
  await page.locator(".star.on").click();
  await page.getByRole("dialog", { name: "Change the saved search “new-harbour”" }).waitFor();
  await page.keyboard.press("Escape");
  await until(page, "!document.querySelector('dialog[open]')");
  await close();
});

test("a saved search of the same name is replaced only after a question", async () => {
  save({ mine: "subject:plan" });
  const { page, close } = await start();
  const saveAs = async (/** @type {string} */ answer) => {
    await page.getByRole("button", { name: "Save this search" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("mine");
    await page.keyboard.press("Enter");
    const question = page.getByRole("dialog", { name: "There is a saved search “mine”" });
    await question.waitFor();
    assert.match(String(await question.textContent()), /It searches for: subject:plan\. Replace it\?/);
    await question.getByRole("button", { name: answer }).click();
    await question.waitFor({ state: "hidden" });
  };
  await page.fill("#search", "lantern");
  await heading(page, "lantern");
  await saveAs("Cancel");
  assert.deepEqual(saved(), { mine: "subject:plan" });
  await page.getByRole("dialog", { name: "Save this search" }).getByRole("button", { name: "Cancel" }).click();
  await until(page, "!document.querySelector('dialog[open]')");
  await saveAs("Replace");
  await eventually(() => assert.deepEqual(saved(), { mine: "lantern" }));
  await until(page, "!document.querySelector('dialog[open]')");
  await close();
});

test("a saved search is changed, with its mistakes marked, and what is shown follows", async () => {
  save({ mine: "subject:plan" });
  const { page, close } = await start();
  await section(page, "Saved searches").getByRole("link", { name: "mine" }).click();
  await heading(page, "query:mine");
  await section(page, "Saved searches").getByRole("button", { name: "Change the saved search “mine”" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  assert.equal(await page.evaluate("document.activeElement.id"), "saved-query");
  await page.keyboard.type(" form:ana");
  await page.keyboard.press("Enter");
  await dialog.locator("mark.wrong").waitFor();
  assert.equal(await dialog.locator("mark.wrong").textContent(), "form");
  assert.match(String(await dialog.getByRole("alert").textContent()), /^There is no field "form"; did you mean "from:"/);
  assert.equal(await dialog.getByLabel("Search for").getAttribute("aria-invalid"), "true");
  assert.deepEqual(saved(), { mine: "subject:plan" });
  // Another program changes it meanwhile.
  mailbox.run("query", "mine", "subject:minutes");
  await dialog.getByLabel("Search for").fill("subject:(plan or lantern)");
  await page.keyboard.press("Enter");
  const question = page.getByRole("dialog", { name: "There is a saved search “mine”" });
  assert.match(String(await question.textContent()), /It searches for: subject:minutes\./);
  await question.getByRole("button", { name: "Replace" }).click();
  await until(page, "!document.querySelector('dialog[open]')");
  assert.deepEqual(saved(), { mine: "subject:(plan or lantern)" });
  await until(page, "document.querySelector('.list-head .count').textContent === '2 results'");
  await listReady(page);
  assert.deepEqual(await subjects(page), ["The plan", "The lantern"]);
  await close();
});

test("a saved search is removed after a question, unless others use it", async () => {
  save({ mine: "subject:plan", both: "query:mine or subject:lantern" });
  const { page, close } = await start();
  const remove = async (/** @type {string} */ name) => {
    await section(page, "Saved searches").getByRole("button", { name: `“${name}”` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    const question = page.getByRole("dialog", { name: `Remove the saved search “${name}”?` });
    await question.getByRole("button", { name: "Remove" }).click();
    await question.waitFor({ state: "hidden" });
  };
  await remove("mine");
  await page.getByRole("dialog").getByText("Other saved searches use this one: “both”. Change them first.").waitFor();
  await page.keyboard.press("Escape");
  await until(page, "!document.querySelector('dialog[open]')");
  assert.deepEqual(Object.keys(saved()).sort(), ["both", "mine"]);
  await section(page, "Saved searches").getByRole("link", { name: "both" }).click();
  await heading(page, "query:both");
  await remove("both");
  // What is shown is gone, so that the mailbox is shown again.
  await heading(page, "Inbox");
  await eventually(() => assert.deepEqual(Object.keys(saved()), ["mine"]));
  await until(page, "document.querySelectorAll('#mailboxes .side .mailbox').length === 1");
  await close();
});

test("many tags are few at first, and German is spoken", async () => {
  save({ mine: "subject:plan" });
  const tags = Array.from({ length: 50 }, (_, index) => `tag${String(index).padStart(2, "0")}`);
  mailbox.run("tag", ...tags.map((tag) => `+${tag}`), "--", "subject:plan");
  const { page, close } = await start({ locale: "de-DE" });
  await section(page, "Gespeicherte Suchen").waitFor();
  assert.equal((await names(page, "Schlagwörter")).length, 40);
  await section(page, "Schlagwörter").getByRole("button", { name: "Alle 50 zeigen" }).click();
  assert.deepEqual(await names(page, "Schlagwörter"), tags);
  await page.getByRole("button", { name: "Gespeicherte Suche „mine“ ändern" }).click();
  const dialog = page.getByRole("dialog", { name: "Gespeicherte Suche „mine“ ändern" });
  await dialog.getByRole("button", { name: "Entfernen" }).click();
  await page.getByRole("dialog", { name: "Gespeicherte Suche „mine“ entfernen?" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await until(page, "!document.querySelector('dialog[open]')");
  await page.locator("#search").click();
  await page.keyboard.type("fla");
  await page.getByRole("option", { name: "Markierung: flagged" }).waitFor();
  mailbox.run("tag", ...tags.map((tag) => `-${tag}`), "--", "subject:plan");
  await close();
});

/** Returns from where on the end of a text is in its field: it is scrolled to its end where there is no room. @param {number} right @param {number} width */
const innerRight = (right, width) => (width < 400 ? right - 20 : 0);

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  for (const width of [320, 360, 900, 1440]) {
    test(`nothing is wrong for axe, and nothing too wide, ${colorScheme}, ${width} pixels wide`, async () => {
      save({ "a-name-that-is-rather-long-for-the-side": "subject:plan", unread: "flag:unread" });
      mailbox.run("tag", "+board", "+travel/2025", "--", "subject:plan or subject:harbour");
      const { page, close } = await start({ colorScheme, viewport: { width, height: width < 400 ? 740 : 860 } });
      const check = async (/** @type {string} */ where) => {
        if (shots) await page.screenshot({ path: path.join(shots, `${where}-${width}-${colorScheme}.png`) });
        const found = /** @type {any} */ (await page.evaluate(`${axe}; axe.run({ resultTypes: ["violations"] })`));
        const violations = found.violations.map(
          (/** @type {any} */ each) =>
            `${each.id}: ${each.nodes.map((/** @type {any} */ node) => `${node.html} ${node.failureSummary}`).join("\n")}`,
        );
        assert.deepEqual(violations, [], where);
        const wide = await page.evaluate(() =>
          [...document.querySelectorAll(".side *, .search, .search-panel, .search-panel *, #saved, #saved *")]
            .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5 && !each.closest(".unseen, .search-marks"))
            .map((each) => `${each.tagName}.${each.className}`),
        );
        assert.deepEqual(wide, [], where);
      };
      const isNarrow = width < 700;
      if (isNarrow) await page.getByRole("button", { name: "Show mailboxes" }).click();
      await section(page, "Tags").getByRole("link", { name: "board" }).hover();
      await check("side");
      await section(page, "Saved searches").getByRole("link", { name: "unread" }).click();
      await heading(page, "query:unread");
      await page.locator(".star.on").waitFor();
      await check("saved-shown");
      await page.locator("#search").click();
      await page.fill("#search", "harbour from:");
      await page.getByRole("option", { name: "Ana Ito" }).waitFor();
      await page.keyboard.press("ArrowDown");
      await check("suggestions");
      await page.fill("#search", "subject:plan form:ana harbour");
      await page.keyboard.press("Enter");
      await page.locator("#search-problem").waitFor();
      await check("problem");
      await page.fill("#search", "harbour");
      await page.keyboard.press("Enter");
      await heading(page, "harbour");
      await page.getByRole("button", { name: "Save this search" }).click();
      await page.getByRole("dialog").waitFor();
      await page.keyboard.type("harbour");
      await page.getByLabel("Search for").fill("subject:(harbour or lantern) flag:unraed");
      await page.keyboard.press("Enter");
      await page.locator("#saved mark.wrong").waitFor();
      // The mark is below its word, which is at the end.
      const places = await page.locator("#saved .marked:has(mark)").evaluate((each) => {
        const [field, mark] = ["input", "mark"].map((name) => each.querySelector(name)?.getBoundingClientRect().right);
        return [field, mark].map(Number);
      });
      assert.ok(Number(places[1]) <= Number(places[0]) && Number(places[1]) > innerRight(Number(places[0]), width), `${places}`);
      await check("dialog");
      await page.keyboard.press("Escape");
      await until(page, "!document.querySelector('dialog[open]')");
      assert.equal(await focused(page), "Save this search");
      await close();
    });
  }
}
