// What makes the page fast, as far as it can be counted: how often it asks. How long that takes, speed/
// measures.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { Fixture } from "./steps.js";
import { pageDirectory } from "./support.js";

const fixture = new Fixture();
const { start } = fixture;

before(fixture.begin);
after(fixture.end);

/** Returns a script and all that it imports when it is loaded. @param {string} name @returns {string[]} */
function withImports(name, known = new Set([name])) {
  const source = fs.readFileSync(path.join(pageDirectory, name), "utf8");
  for (const [, from = ""] of source.matchAll(/^(?:import|export)\b[^;]*? from "(\.[^"]+)";/gm)) {
    const imported = path.join(path.dirname(name), from);
    if (known.has(imported)) continue;
    known.add(imported);
    withImports(imported, known);
  }
  return [...known];
}

test("the page names all scripts that it begins with, so that none waits for another", () => {
  const source = fs.readFileSync(path.join(pageDirectory, "index.html"), "utf8");
  const named = [...source.matchAll(/<link rel="modulepreload" href="\/([^"]+)">/g)].map(([, name]) => name);
  assert.deepEqual(
    named.sort(),
    withImports("app.js")
      .filter((name) => name !== "app.js")
      .sort(),
  );
});

test("one request opens a conversation, and more do if it is longer than what the server gives at once", async () => {
  const { page, context, close } = await start();
  /** @type {string[][]} */
  const requests = [];
  let isLong = false;
  await context.route("**/jmap/api", async (route) => {
    const { methodCalls } = JSON.parse(String(route.request().postData()));
    // The list may be fetched again meanwhile: its rows, and who else wrote in their conversations.
    const [[name, args]] = methodCalls;
    const isOfList = name !== "Email/get" || args.properties?.join() === "id,from,keywords";
    if (!isOfList) requests.push(methodCalls.map((/** @type {string[]} */ call) => call[0]));
    if (isOfList || !isLong || methodCalls.length < 3) return route.fallback();
    const reply = await (await route.fetch()).json();
    reply.methodResponses[2] = ["error", { type: "requestTooLarge" }, "c2"];
    return route.fulfill({ json: reply });
  });
  const opened = (/** @type {string} */ body) =>
    page.locator("#messages .message.unfolded .text", { hasText: body }).waitFor();
  await page.locator("#list .row a", { hasText: "Re: The plan" }).focus();
  await page.keyboard.press("o");
  await opened("Good.");
  assert.deepEqual(requests, [["Email/get", "Conversation/get", "Email/get", "Email/get"]]);
  assert.equal(await page.locator("#messages .message").count(), 3);
  isLong = true;
  await page.keyboard.press("j");
  await opened("The oldest one");
  await page.keyboard.press("k");
  await opened("Good.");
  assert.equal(await page.locator("#messages .message").count(), 3);
  await close();
});
