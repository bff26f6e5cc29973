// How acting and writing look: narrow windows, German, screen readers, the focus. With SHOTS, a folder gets
// pictures of it.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { Mailbox, closeBrowser, focused, listReady, open, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const shots = process.env["SHOTS"];
const mailbox = new Mailbox();

before(() => {
  mailbox.send("Bo Berg <bo@example.org>", "Bo Berg <bo@work.example>");
  const names = ["Ana Ito", "Cy Young", "Di Marco", "Eva Lang", "Finn Ø.", "Greta Sund", "Hugo Weiss"];
  const subjects = [
    "The plan",
    "Dinner on Friday",
    "Minutes of Monday",
    "Invoice 2025-113",
    "Photos",
    "Re: Travel",
    "Lists",
  ];
  for (const [index, name] of names.entries())
    mailbox.put("INBOX", {
      id: `m${index}`,
      from: `${name} <${name.split(" ")[0]?.toLowerCase()}@example.org>`,
      to: "Bo Berg <bo@example.org>, Cy Young <cy@example.org>",
      subject: String(subjects[index]),
      body: "Hello Bo,\n\nhere is what we spoke about. The harbour office opens at nine.\n\nBest wishes\n",
      date: new Date(Date.UTC(2025, 2, 12 - index, 9)).toUTCString(),
      flags: index % 3 === 0 ? "" : index === 4 ? "FS" : "S",
    });
  for (const folder of ["Archive", "Drafts", "Sent", "Trash", "Spam", "Lists/rust", "Lists/jmap"])
    mailbox.put(folder, {
      id: `in-${folder.replace("/", "-")}`,
      subject: `In ${folder}`,
      date: "Sat, 1 Mar 2025 08:00:00 +0000",
      flags: "S",
    });
  mailbox.index();
});

after(async () => {
  await closeBrowser();
  await mailbox.remove();
});

/** Opens the page with a new server, because each login link works once. @param {import("playwright-core").BrowserContextOptions} options */
async function start(options) {
  await mailbox.stop();
  const opened = await open(await mailbox.serve(mailbox.port), { reducedMotion: "reduce", ...options });
  await listReady(opened.page);
  return opened;
}

/** @param {Page} page @param {string} name */
async function shot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}

/** Fills the composer. @param {Page} page */
async function compose(page) {
  await page.keyboard.press("a");
  await page.locator("#compose textarea").waitFor();
  await page.keyboard.type("Yes, at nine. The list is attached.");
  await page
    .locator(".composer input[type=file]")
    .setInputFiles({ name: "List of 2025.pdf", mimeType: "application/pdf", buffer: Buffer.alloc(184_320) });
  await page.locator(".files .chip").waitFor();
}

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  for (const width of [360, 900, 1440]) {
    test(`nothing is wrong for axe, ${colorScheme}, ${width} pixels wide`, async () => {
      const { page, close } = await start({
        colorScheme,
        viewport: { width, height: width === 360 ? 740 : 900 },
      });
      const check = async (/** @type {string} */ where) => {
        await shot(page, `${where}-${width}-${colorScheme}`);
        const found = /** @type {any} */ (
          await page.evaluate(`${axe}; axe.run({ resultTypes: ["violations"] })`)
        );
        const violations = found.violations.map(
          (/** @type {any} */ each) =>
            `${each.id}: ${each.nodes.map((/** @type {any} */ node) => `${node.html} ${node.failureSummary}`).join("\n")}`,
        );
        assert.deepEqual(violations, [], where);
      };
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.getByText("2 selected").waitFor();
      await check("selection");
      await page.keyboard.press("v");
      await page.getByRole("dialog").waitFor();
      await check("move");
      await page.keyboard.type("archive");
      await page.keyboard.press("Enter");
      await page.locator(".told").waitFor();
      await check("told");
      await page.keyboard.press("z");
      await page.locator(".told", { hasText: "Undone" }).waitFor();
      await page.locator("#list .row a", { hasText: "Dinner" }).click();
      await page.locator("#messages .text").first().waitFor();
      await page.locator(".told").getByRole("button", { name: "Close" }).click();
      await check("conversation");
      await compose(page);
      await check("composer");
      await page.locator("#to-to").focus();
      await page.keyboard.type("gre");
      await page.getByRole("option", { name: "Greta Sund" }).waitFor();
      await check("people");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Discard draft" }).click();
      await page.getByRole("dialog", { name: "Discard this draft?" }).waitFor();
      await check("question");
      await page.getByRole("button", { name: "Discard draft" }).last().click();
      await page.locator("#compose").waitFor({ state: "hidden" });
      await close();
    });
  }
}

test("at 320 pixels the composer fills the window, and nothing is wider than it", async () => {
  const { page, close } = await start({ viewport: { width: 320, height: 560 } });
  const wide = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("dialog[open], dialog[open] *, .tools, .tools *, #told *")]
        .filter((each) => each.getBoundingClientRect().right > 320.5 && !each.closest(".unseen"))
        .map((each) => `${each.tagName}.${each.className}`),
    );
  await page.keyboard.press("x");
  assert.deepEqual(await wide(), [], "selection");
  await page.keyboard.press("Escape");
  await compose(page);
  assert.deepEqual(await wide(), [], "composer");
  const at = await page.locator("#compose").boundingBox();
  assert.deepEqual(at, { x: 0, y: 0, width: 320, height: 560 });
  // What sends is seen, however small the window is.
  await page.getByRole("button", { name: "Send", exact: true }).click({ trial: true });
  await page.keyboard.press("Escape");
  await page.locator("#compose").waitFor({ state: "hidden" });
  await close();
});

test("the focus goes into a dialog and back, and stays in it", async () => {
  const { page, close } = await start({});
  await page.keyboard.press("j");
  const before = await focused(page);
  for (const [key, id] of [
    ["c", "compose"],
    ["v", "ask"],
    ["l", "ask"],
  ]) {
    await page.keyboard.press(String(key));
    await until(page, `document.getElementById('${id}').contains(document.activeElement)`);
    for (let count = 0; count < 12; count += 1) {
      await page.keyboard.press("Tab");
      const where = await page.evaluate(
        () => document.activeElement?.closest("#list, #mailboxes, #bar, #reader") === null,
      );
      assert.equal(where, true, `Tab ${count} of ${key}`);
    }
    await page.keyboard.press("Escape");
    await until(page, "!document.querySelector('dialog[open]')");
    assert.equal(await focused(page), before, key);
  }
  await close();
});

test("acting and writing speak German", async () => {
  const { page, close } = await start({ locale: "de-DE" });
  await page.keyboard.press("s");
  await page.locator("#told", { hasText: "1 Unterhaltung markiert" }).waitFor();
  await page.keyboard.press("z");
  await page.locator("#told", { hasText: "Rückgängig gemacht" }).waitFor();
  await page.keyboard.press("r");
  await page.getByRole("dialog").waitFor();
  assert.match(
    await page.getByLabel("Text", { exact: true }).inputValue(),
    /Ana Ito schrieb am .*2025.*:\n> Hello Bo,/,
  );
  await page.getByRole("button", { name: "Senden" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#compose").waitFor({ state: "hidden" });
  await close();
});
