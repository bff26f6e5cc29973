// The page on a slow machine: what is done before the page has drawn what was done before.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Fixture, openRow } from "./steps.js";
import { until } from "./support.js";

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
