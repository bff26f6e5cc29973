// Using the page: keys, languages, narrow windows, colours, screen readers, and a list of a million rows.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import fs from "node:fs";
import { after, before, test } from "node:test";
import { MILLION, million } from "./million.js";
import { Fixture, folder, openRow, rowsFill } from "./steps.js";
import { focused, listReady, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const fixture = new Fixture();
const start = fixture.start;

before(fixture.begin);
after(fixture.end);

/** @param {Page} page @param {string} start */
async function untilFocused(page, start) {
  await until(
    page,
    `(document.activeElement.querySelector('.subject')?.textContent ?? '').startsWith('${start}')`,
  );
}

test("keys move in the list, open and close conversations, and search", async () => {
  const { page, close } = await start({ viewport: { width: 800, height: 700 } });
  const press = (/** @type {string} */ key) => page.keyboard.press(key);
  await press("j");
  await untilFocused(page, "A very long subject");
  await press("ArrowDown");
  await untilFocused(page, "With a file");
  await press("ArrowUp");
  await press("k");
  await untilFocused(page, "The newest one");
  await press("k");
  await untilFocused(page, "The newest one");
  for (const [open, shut] of [
    ["o", "u"],
    ["Enter", "Escape"],
  ]) {
    await press(String(open));
    await until(page, "document.querySelector('#reader h2')?.textContent === 'The newest one'");
    await press(String(shut));
    await untilFocused(page, "The newest one");
  }
  // In a conversation, j and k open the next one and the previous one.
  await press("o");
  await until(page, "document.querySelector('#reader h2')?.textContent === 'The newest one'");
  await press("j");
  await until(page, "document.querySelector('#reader h2')?.textContent.startsWith('A very long')");
  await press("k");
  await until(page, "document.querySelector('#reader h2')?.textContent === 'The newest one'");
  await press("j");
  await until(page, "document.querySelector('#reader h2')?.textContent.startsWith('A very long')");
  await press("u");
  await untilFocused(page, "A very long");
  await press("k");
  await press("/");
  assert.equal(await focused(page), "Search all mail");
  await page.keyboard.type("jk?gi");
  assert.equal(await page.inputValue("#search"), "jk?gi");
  await press("Escape");
  assert.equal(await page.inputValue("#search"), "");
  await until(page, "!document.querySelector('.list-head h1').textContent.includes('jk')");
  await page.fill("#search", "plan");
  await press("Enter");
  await untilFocused(page, "Re: The plan");
  await press("Escape");
  await until(page, "document.querySelector('.list-head h1').textContent === 'Inbox'");
  await folder(page, "Long");
  await press("g");
  await press("i");
  await until(page, "document.querySelector('.list-head h1').textContent === 'Inbox'");
  await close();
});

test("n and p go through a conversation, o folds a message", async () => {
  const { page, close } = await start();
  await openRow(page, "Re: The plan");
  const at = () =>
    page.evaluate(() =>
      [...document.querySelectorAll(".message")].indexOf(
        /** @type {Element} */ (document.activeElement?.closest(".message")),
      ),
    );
  const unfolded = () =>
    page.locator(".message").evaluateAll((all) => all.map((each) => each.classList.contains("unfolded")));
  assert.equal(await at(), 2);
  assert.deepEqual(await unfolded(), [false, false, true]);
  await page.keyboard.press("p");
  await until(page, "document.activeElement === document.querySelectorAll('.message')[1]");
  assert.deepEqual(await unfolded(), [false, true, true]);
  await page.keyboard.press("p");
  await page.keyboard.press("p");
  await until(page, "document.activeElement === document.querySelectorAll('.message')[0]");
  await page.keyboard.press("n");
  await until(page, "document.activeElement === document.querySelectorAll('.message')[1]");
  await page.keyboard.press("o");
  assert.deepEqual(await unfolded(), [true, false, true]);
  await page.keyboard.press("Enter");
  assert.deepEqual(await unfolded(), [true, true, true]);
  await close();
});

test("a question mark lists all keys, in a dialog", async () => {
  const { page, close } = await start();
  await page.keyboard.press("j");
  const before = await focused(page);
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.waitFor();
  const listed = new Set(await dialog.locator("kbd").allTextContents());
  assert.deepEqual([...listed].sort(), [..."/?#!abcdefgijklnoprstuvxzIUXZ↑↓", "Alt+↓", "Enter", "Esc"].sort());
  await page.keyboard.press("j");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  assert.equal(await focused(page), before);
  await close();
});

test("the page speaks German to those who do", async () => {
  const { page, close } = await start({ locale: "de-DE" });
  assert.equal(await page.getAttribute("html", "lang"), "de");
  assert.equal(await page.locator(".list-head h1").textContent(), "Posteingang");
  assert.equal(await page.locator(".list-head .count").textContent(), "7 Unterhaltungen, 3 ungelesen");
  assert.equal(await page.locator("#list .row time").nth(5).textContent(), "7. März 2025");
  await folder(page, "Long");
  assert.equal(await page.locator(".list-head .count").textContent(), "5.000 Unterhaltungen");
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Tastenkürzel" }).waitFor();
  await close();
});

test("at 320 pixels nothing is wider than the window", async () => {
  const { page, close } = await start({ viewport: { width: 320, height: 640 } });
  const check = async (/** @type {string} */ where) => {
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll("body, body *")]
        .filter((each) => {
          const at = each.getBoundingClientRect();
          const isCut = each.closest(".row, .mailbox, .unseen, nav") && !each.matches(".row, nav");
          return (
            !isCut &&
            at.width > 0 &&
            (at.right > 320.5 ||
              (each.scrollWidth > each.clientWidth + 1 &&
                each.clientWidth > 0 &&
                getComputedStyle(each).overflowX !== "hidden" &&
                getComputedStyle(each).display !== "inline"))
          );
        })
        .map((each) => `${each.tagName}.${each.className}`),
    );
    assert.deepEqual(wide, [], where);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, where);
  };
  await check("list");
  await openRow(page, "A very long");
  await check("conversation");
  await page.keyboard.press("u");
  await openRow(page, "Re: The plan");
  await check("several messages");
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await check("keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("u");
  await page.fill("#search", "plan");
  await until(page, "document.querySelector('.list-head h1').textContent.includes('plan')");
  await listReady(page);
  await check("search");
  // The mailboxes open over the list, and close when one is chosen.
  assert.equal(await page.locator("#mailboxes").isVisible(), false);
  await page.getByRole("button", { name: "Show mailboxes" }).click();
  await page.locator("#mailboxes a", { hasText: "Long" }).click();
  await until(page, "document.querySelector('.list-head h1').textContent === 'Long'");
  await page.locator("#mailboxes").waitFor({ state: "hidden" });
  await close();
});

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test(`axe finds nothing wrong, ${colorScheme}`, async () => {
    const { page, close } = await start({ colorScheme, reducedMotion: "reduce" });
    const check = async (/** @type {string} */ where) => {
      const found = await page.evaluate(`${axe}; axe.run({ resultTypes: ["violations"] })`);
      const violations = /** @type {any} */ (found).violations.map(
        (/** @type {any} */ each) =>
          `${each.id}: ${each.nodes.map((/** @type {any} */ node) => `${node.html} ${node.failureSummary}`).join("\n")}`,
      );
      assert.deepEqual(violations, [], where);
    };
    await check("list");
    await openRow(page, "Re: The plan");
    await page.keyboard.press("p");
    await page.locator(".quote-fold").waitFor();
    await check("conversation");
    await openRow(page, "With a file");
    await check("attachment");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await check("keys");
    await page.keyboard.press("Escape");
    await page.fill("#search", "harbour");
    await until(page, "document.querySelector('#list mark')");
    await check("search");
    await page.fill("#search", "thereisnosuchword");
    await page.getByText("Nothing found").waitFor();
    await check("nothing found");
    await page.setViewportSize({ width: 360, height: 700 });
    await page.getByRole("button", { name: "Show mailboxes" }).click();
    await check("menu");
    await fixture.mailbox.stop();
    await page.getByText("The server cannot be reached.").waitFor();
    await check("lost");
    await close();
  });
}

test("a million rows scroll from end to end", async () => {
  const { page, context, close } = await start();
  await context.route("**/jmap/api", async (route) => {
    const { methodCalls } = JSON.parse(String(route.request().postData()));
    const query = methodCalls.find((/** @type {any} */ call) => call[0] === "Email/query");
    if (!query?.[1].filter?.inMailbox) return route.fallback();
    return route.fulfill({ json: { methodResponses: million(query[1]), sessionState: "1" } });
  });
  await page.locator("#mailboxes a", { hasText: "Long" }).click();
  await until(page, "document.querySelector('.list-head .count').textContent === '1,000,000 conversations'");
  const pane = page.locator("#scroller");
  const height = await pane.evaluate((element) => element.scrollHeight);
  assert.ok(height <= 8_000_000, `${height}`);
  const seen = async () => {
    await rowsFill(page, "subject === `Row ${index}`");
    return page.evaluate(() => {
      const top = /** @type {Element} */ (document.getElementById("scroller")).getBoundingClientRect().top;
      const rows = [...document.querySelectorAll("#list .row")].filter(
        (row) => row.getBoundingClientRect().bottom > top + 1,
      );
      return Math.min(...rows.map((row) => Number(/** @type {HTMLElement} */ (row).dataset["index"])));
    });
  };
  await pane.evaluate((element) => {
    element.scrollTop = element.scrollHeight / 2;
  });
  const middle = await seen();
  assert.ok(Math.abs(middle - MILLION / 2) < 1000, `${middle}`);
  // A small step is as small as in a short list.
  await pane.hover();
  await page.mouse.wheel(0, 800);
  await until(
    page,
    `document.querySelector('#list [data-index="${middle + 6}"]').getBoundingClientRect().top <
    document.getElementById("scroller").getBoundingClientRect().top`,
  );
  const next = await seen();
  assert.ok(next > middle && next <= middle + 11, `${middle} ${next}`);
  await pane.evaluate((element) => {
    element.scrollTop = element.scrollHeight;
  });
  await seen();
  assert.equal(await page.locator(`#list [data-index="${MILLION - 1}"]`).count(), 1);
  await page.locator("#list .row a").last().focus();
  await page.keyboard.press("Home");
  await untilFocused(page, "Row 0");
  await page.keyboard.press("j");
  await untilFocused(page, "Row 1");
  await page.keyboard.press("End");
  await untilFocused(page, `Row ${MILLION - 1}`);
  assert.ok((await page.locator("#list .row").count()) < 200);
  await close();
});
