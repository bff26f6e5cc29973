// Numbers with their plots: what they say, what they lead to, and how they look.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { withArchive } from "./elsewhere.js";
import { drawn, lines } from "../plots.js";
import { Mailbox, closeBrowser, listReady, open, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const mailbox = new Mailbox();
const HOSTILE = '<img src=x onerror="window.ran = 1">\u202e';

before(() => {
  withArchive(mailbox);
  const put = (/** @type {string} */ folder, /** @type {string} */ id, /** @type {Date} */ date, mail = {}) =>
    mailbox.put(folder, { id, subject: `Letter ${id}`, date: date.toUTCString(), flags: "S", ...mail });
  // Mondays at ten in Berlin, in three months, with two empty ones between them.
  for (let index = 0; index < 12; index += 1) put("INBOX", `a${index}`, new Date(Date.UTC(2025, 1, 3, 9, index)));
  for (let index = 0; index < 4; index += 1)
    put("Lists/rust", `b${index}`, new Date(Date.UTC(2025, 4, 12, 8, index)), { from: "Cy <cy@example.org>" });
  put("INBOX", "hostile", new Date(Date.UTC(2025, 4, 12, 8)), {
    from: `=?utf-8?B?${Buffer.from(HOSTILE).toString("base64")}?= <mallory@example.org>`,
  });
  // An answer of the user after two hours.
  put("Sent", "reply", new Date(Date.UTC(2025, 1, 3, 11, 0)), { from: "Bo Berg <bo@example.org>", to: "ana@example.org", inReplyTo: "a0" });
  mailbox.index();
});

after(async () => {
  await closeBrowser();
  await mailbox.remove();
});

/** Opens the page with a new server, because each login link works once. @param {import("playwright-core").BrowserContextOptions} [options] */
async function start(options = {}) {
  await mailbox.stop();
  const opened = await open(await mailbox.serve(mailbox.port), { reducedMotion: "reduce", ...options });
  await listReady(opened.page);
  return opened;
}

/** Opens the numbers. @param {Page} page */
async function figures(page) {
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.locator("#statistics .plot").first().waitFor();
}

/** Returns the plot with a title. @param {Page} page @param {string} title */
const plotOf = (page, title) => page.locator("figure", { has: page.getByRole("heading", { name: title }) });

/** Returns what the columns of a plot say. @param {Page} page @param {string} title */
const said = (page, title) => plotOf(page, title).locator("svg title").allTextContents();

/** Returns a table below a plot. @param {Page} page @param {string} title */
async function tableOf(page, title) {
  await plotOf(page, title).locator("summary").click();
  const rows = await plotOf(page, title).locator("tbody tr").all();
  return Promise.all(rows.map(async (row) => (await row.locator("th, td").allTextContents()).slice(0, 3)));
}

test("totals, months with gaps, weekdays and hours of the browser are drawn and told", async () => {
  const { page, close } = await start();
  await page.locator("#mailboxes a", { hasText: "Statistics" }).click();
  await page.locator("#statistics .plot").first().waitFor();
  assert.match(page.url(), /#\/statistics/);
  assert.equal(await page.title(), "Statistics – pneu");
  const totals = await page.locator(".totals dd").allTextContents();
  assert.deepEqual(totals.slice(0, 2), ["18", "17"]);
  assert.match(String(await page.locator(".totals").textContent()), /You answer after2 hours median of 1 reply/);
  assert.deepEqual(await said(page, "Messages by month"), [
    "February 2025: 13 messages",
    "March 2025: 0 messages",
    "April 2025: 0 messages",
    "May 2025: 5 messages",
  ]);
  const about = await plotOf(page, "Messages by month").getByRole("img").getAttribute("aria-label");
  assert.equal(about, "Messages by month. From February 2025 to May 2025, most in February 2025: 13.");
  // A month without mail is as high as nothing, and others as their numbers.
  const heights = await plotOf(page, "Messages by month").locator("rect:not(.reach)").evaluateAll((all) => all.map((each) => Number(each.getAttribute("height"))));
  assert.deepEqual([heights[1], heights[2]], [0, 0]);
  assert.ok(Math.abs(Number(heights[0]) / Number(heights[3]) - 13 / 5) < 0.05, String(heights));
  assert.deepEqual(await tableOf(page, "Messages by month"), [["February 2025", "13", "12"], ["May 2025", "5", "5"]]);
  assert.equal((await said(page, "Messages by weekday"))[0], "Monday: 18 messages");
  // Nine in UTC is ten in Berlin in winter; the offset is that of today.
  const hours = await said(page, "Messages by hour of the day");
  assert.equal(hours.length, 24);
  const ahead = await page.evaluate(() => -new Date().getTimezoneOffset() / 60);
  assert.equal(hours[9 + ahead], `${9 + ahead}:00 to ${9 + ahead}:59: 12 messages`);
  assert.equal((await tableOf(page, "Messages by weekday")).length, 7);
  await close();
});

test("they are those of the search, which may be changed, and back shows its list where it was", async () => {
  const { page, close } = await start();
  await page.keyboard.press("/");
  await page.keyboard.type("letter");
  await until(page, "location.hash.endsWith('search/letter')");
  await listReady(page);
  await page.keyboard.press("Enter");
  await until(page, "document.activeElement?.closest('#list')");
  for (let count = 0; count < 9; count += 1) await page.keyboard.press("j");
  const at = await page.locator("#list .row.at").getAttribute("data-index");
  await figures(page);
  assert.match(page.url(), /#\/statistics\/.*search\/letter/);
  await page.locator("#statistics").getByText("Results for “letter”").waitFor();
  await page.getByRole("link", { name: "Back to the mail" }).click();
  await until(page, "document.body.dataset.view === 'list'");
  await listReady(page);
  assert.equal(await page.locator("#list .row.at").getAttribute("data-index"), at);
  await until(page, "document.activeElement?.closest('#list .row.at')");
  await figures(page);
  await page.locator("#search").fill("b1");
  await page.keyboard.press("Enter");
  await until(page, "document.querySelector('.totals dd')?.textContent === '1'");
  assert.match(page.url(), /#\/statistics\/.*search\/b1/);
  await page.locator("#search").fill("nothing of it");
  await page.locator("#statistics").getByText("Nothing found").waitFor();
  await page.locator("#search").fill("letter");
  await until(page, "document.querySelector('.totals dd')?.textContent === '18'");
  await close();
});

test("mailboxes and senders lead to their mail, and names from mail are text", async () => {
  const { page, close, wrong } = await start();
  await figures(page);
  const senders = plotOf(page, "Most frequent senders").getByRole("listitem");
  assert.deepEqual(await senders.locator(".value").allTextContents(), ["12", "4", "1", "1"]);
  assert.match((await senders.locator("bdi").allTextContents()).join(), /<img src=x onerror="window.ran = 1">\ufffd mallory@example.org/);
  assert.equal(await page.evaluate("window.ran"), undefined);
  await senders.filter({ hasText: "cy@example.org" }).getByRole("link").click();
  await until(page, "document.body.dataset.view === 'list'");
  assert.equal(decodeURIComponent(page.url().split("#")[1] ?? ""), '/mailbox/all/search/from:"cy@example.org"');
  assert.equal(await page.locator("#search").inputValue(), 'from:"cy@example.org"');
  await page.goBack();
  await page.locator("#statistics .plot").first().waitFor();
  await plotOf(page, "Largest mailboxes").getByRole("link", { name: "rust" }).click();
  await until(page, "document.querySelectorAll('#list .row').length === 4");
  assert.equal(await page.locator(".list-head h1").textContent(), "Lists/rust");
  await page.goBack();
  await page.locator("#statistics .plot").first().waitFor();
  await plotOf(page, "Messages by month").locator("summary").click();
  await plotOf(page, "Messages by month").getByRole("link", { name: "May 2025" }).click();
  await until(page, "location.hash.endsWith('search/date%3A2025-05')");
  assert.deepEqual(wrong, []);
  await close();
});

test("keys that act on rows do nothing there, and Escape leads back", async () => {
  const { page, close } = await start();
  await figures(page);
  for (const key of ["e", "#", "s", "x", "j", "r"]) await page.keyboard.press(key);
  assert.equal(await page.locator("dialog[open]").count(), 0);
  assert.equal(await page.locator("#told .told").count(), 0);
  await page.keyboard.press("Escape");
  await until(page, "document.body.dataset.view === 'list'");
  assert.equal(await page.locator("#list .selected").count(), 0);
  assert.equal(mailbox.files("INBOX").length, 13);
  await figures(page);
  await page.keyboard.press("u");
  await until(page, "document.body.dataset.view === 'list'");
  await close();
});

test("Escape leaves the search field, though there is no row to go to", async () => {
  const { page, close } = await start();
  await figures(page);
  await page.keyboard.press("/");
  await until(page, "document.activeElement.id === 'search'");
  await page.keyboard.press("Escape");
  await until(page, "document.activeElement.id !== 'search'");
  await page.keyboard.press("Escape");
  await page.locator("#list .row").first().waitFor();
  await close();
});

test("it waits for a slow answer, and says that the mail has changed since", async () => {
  const { page, context, close } = await start();
  /** @type {() => void} */
  let release = () => {};
  const gate = new Promise((done) => {
    release = () => done(undefined);
  });
  let count = 0;
  await context.route("**/jmap/api", async (route) => {
    const [[name]] = JSON.parse(String(route.request().postData())).methodCalls;
    if (name === "Statistics/get" && (count += 1) === 1) await gate;
    return route.fallback();
  });
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.locator("#statistics [role=status]", { hasText: "Counting…" }).waitFor();
  assert.equal(await page.locator(".figures").getAttribute("aria-busy"), "true");
  // The clock of the page runs on while it waits: this is a slow answer.
  await page.evaluate(() => {
    const real = performance.now.bind(performance);
    performance.now = () => real() + 10_000;
  });
  release();
  await page.locator("#statistics .plot").first().waitFor();
  assert.equal(await page.locator(".figures").getAttribute("aria-busy"), "false");
  const file = mailbox.put("INBOX", { id: "more", subject: "One more", date: new Date(Date.UTC(2025, 4, 13)).toUTCString(), flags: "S" });
  await page.getByText("The mail has changed since it was counted.").waitFor();
  assert.equal(await page.locator(".totals dd").first().textContent(), "18");
  await page.getByRole("button", { name: "Count again" }).click();
  await until(page, "document.querySelector('.totals dd')?.textContent === '19'");
  // This answer was quick: changes are counted at once.
  fs.rmSync(file);
  await until(page, "document.querySelector('.totals dd')?.textContent === '18'");
  await close();
});

test("lines are round numbers, and time that is drawn leaves wrong dates out", () => {
  assert.deepEqual(lines(0), [0, 1]);
  assert.deepEqual(lines(3), [0, 1, 2, 3]);
  assert.deepEqual(lines(1370), [0, 500, 1000, 1500]);
  assert.deepEqual(lines(99), [0, 50, 100]);
  const month = (/** @type {string | null} */ name, emails = 1) => ({ month: name, emails, bytes: emails, threads: emails });
  const of = (/** @type {import("../plots.js").Month[]} */ ...groups) => {
    const { groups: all, left, isInYears } = drawn(groups);
    return [all.map((each) => `${each.month} ${each.emails}`), left.map((each) => each.month), isInYears];
  };
  assert.deepEqual(of(), [[], [], false]);
  assert.deepEqual(of(month("2025-11"), month("2026-02", 3), month(null)), [
    ["2025-11 1", "2025-12 0", "2026-01 0", "2026-02 3"],
    [null],
    false,
  ]);
  const many = [month("2025-01", 500), month("2025-02", 500)];
  assert.deepEqual(of(month("1970-01"), ...many, month("2038-01")), [
    ["2025-01 500", "2025-02 500"],
    ["1970-01", "2038-01"],
    false,
  ]);
  // Few months in all are no wrong dates.
  assert.equal(/** @type {string[]} */ (of(month("2001-01"), month("2025-01"))[0]).length, 289);
  const [years, , isInYears] = of(month("1950-06"), month("1950-07", 2), month("2020-01"));
  assert.deepEqual([isInYears, /** @type {string[]} */ (years).length, /** @type {string[]} */ (years)[0]], [true, 71, "1950 3"]);
  const [far, lost] = of(month("0001-01"), month("9999-01"));
  assert.ok(/** @type {string[]} */ (far).length <= 481, "a hostile date draws no thousands of columns");
  assert.deepEqual(lost, ["0001-01"]);
});

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  for (const width of [320, 900, 1440]) {
    test(`nothing is wrong for axe with numbers, dialogs and the past, ${colorScheme}, ${width} pixels wide`, async () => {
      if (colorScheme === "light" && width === 320) mailbox.run("archive", "backup");
      const { page, close } = await start({ colorScheme, viewport: { width, height: 800 } });
      const check = async (/** @type {string} */ where) => {
        const found = /** @type {any} */ (await page.evaluate(`${axe}; axe.run({ resultTypes: ["violations"] })`));
        const violations = found.violations.map(
          (/** @type {any} */ each) =>
            `${each.id}: ${each.nodes.map((/** @type {any} */ node) => `${node.html} ${node.failureSummary}`).join("\n")}`,
        );
        assert.deepEqual(violations, [], where);
        const wide = await page.evaluate(() =>
          [...document.querySelectorAll("#statistics *, #notice *, dialog[open] *")]
            .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5 && !each.closest(".table, svg, .bars bdi"))
            .map((each) => `${each.tagName}.${each.className}`),
        );
        assert.deepEqual(wide, [], where);
      };
      await figures(page);
      for (const each of await page.locator("#statistics summary").all()) await each.click();
      await check("numbers");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Z");
      await page.getByRole("dialog", { name: "What was done" }).getByText("There is nothing to undo.").waitFor();
      await check("history");
      await page.keyboard.press("Escape");
      await page.keyboard.press("g");
      await page.keyboard.press("t");
      await page.getByRole("dialog").getByText("The first backup is of").waitFor();
      await check("dialog of the moment");
      await page.keyboard.press("Escape");
      await page.evaluate(() => {
        location.hash = `#/mailbox/all/at/${new Date(Date.now() + 60_000).toISOString().slice(0, 16)}Z`;
      });
      await page.locator(".notice.past", { hasText: "from the backup of" }).waitFor();
      await listReady(page);
      await check("past");
      await close();
    });
  }
}

test("numbers and the past speak German", async () => {
  const { page, close } = await start({ locale: "de-DE" });
  await figures(page);
  await page.getByRole("heading", { name: "Nachrichten nach Wochentag" }).waitFor();
  assert.equal((await said(page, "Nachrichten nach Monat"))[0], "Februar 2025: 13 Nachrichten");
  await page.keyboard.press("u");
  await page.keyboard.press("Z");
  await page.getByRole("dialog", { name: "Was getan wurde" }).getByText("Nichts ist rückgängig zu machen.").waitFor();
  await close();
});
