// The page on a slow machine: what is done before the page has drawn what was done before.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Fixture, folder, openRow } from "./steps.js";
import { eventually, until } from "./support.js";

const fixture = new Fixture();
const { start } = fixture;

before(fixture.begin);
after(fixture.end);

test("who goes on to search before the list is drawn again keeps the focus in the field", async () => {
  const { page, close } = await start();
  await openRow(page, "Re: The plan");
  // No frame is drawn until it is let.
  await page.evaluate(() => {
    const { requestAnimationFrame: next } = window;
    /** @type {FrameRequestCallback[]} */
    const held = [];
    window.requestAnimationFrame = (callback) => held.push(callback);
    window.addEventListener("let", () => {
      window.requestAnimationFrame = next;
      for (const each of held) each(performance.now());
    });
  });
  await page.keyboard.press("u");
  await until(page, "!location.hash.includes('message')");
  await page.keyboard.press("/");
  await page.evaluate("dispatchEvent(new Event('let'))");
  await page.keyboard.type("harbour");
  assert.equal(await page.inputValue("#search"), "harbour");
  await until(page, "document.querySelector('.list-head h1').textContent.includes('“harbour”')");
  await close();
});

test("rows whose conversations were not asked to the end are asked for again", async () => {
  const { page, context, close } = await start();
  /** @type {() => void} */
  let release = () => {};
  const gate = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  let held = 0;
  await context.route("**/jmap/api", async (route) => {
    const [[name, args], ...more] = JSON.parse(String(route.request().postData())).methodCalls;
    const isOfThreads =
      more.length === 0 && name === "Email/get" && args.properties?.join() === "id,from,keywords";
    if (isOfThreads && (held += 1) === 1) await gate;
    return route.fallback();
  });
  await folder(page, "All mail");
  await eventually(() => assert.equal(held, 1));
  // The end of the list is shown meanwhile, so that the beginning is given up.
  await page.locator("#list .row a").first().focus();
  await page.keyboard.press("End");
  await page.locator("#list .row .subject", { hasText: /^Number 0 harbour/ }).waitFor();
  release();
  await page.keyboard.press("Home");
  const writers =
    "[...document.querySelectorAll('#list .row')].find((each) => /Re: The plan/.test(each.textContent))";
  await until(page, `${writers}?.querySelector('.who').textContent === 'Ana, Bo'`);
  await close();
});

test("rows that come into sight because others came before them are fetched", async () => {
  const { mailbox } = fixture;
  const put = (/** @type {number} */ first, /** @type {number} */ end) => {
    for (let number = first; number < end; number += 1) {
      const date = new Date(Date.UTC(2024, 0, 1, 0, number)).toUTCString();
      mailbox.put("Edge", { id: `edge${number}`, subject: `Edge ${number}`, date, flags: "S" });
    }
    mailbox.index();
  };
  // Rows are fetched in windows of 50.
  put(0, 49);
  const { page, close } = await start();
  await folder(page, "Edge");
  await page.locator("#list .row a").first().focus();
  await page.keyboard.press("End");
  await page.locator("#list .row .subject", { hasText: /^Edge 0$/ }).waitFor();
  put(49, 53);
  await page.locator("#list .row[aria-setsize='53']").first().waitFor();
  await page.locator("#list .row .subject", { hasText: /^Edge 0$/ }).waitFor();
  await until(page, "!document.querySelector('#list .row.ghost')");
  await close();
});
