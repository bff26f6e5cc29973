// Firefox, driven over WebDriver BiDi. Its pages have the part of Playwright's interface that the steps use:
// steps.js, rich.js and support.js serve both browsers. Playwright drives no Firefox but its own.
//
// FIREFOX is the browser (else /usr/bin/firefox-esr).

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import puppeteer from "puppeteer-core";
import { PATIENCE_MS, fileOf } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */
/**
 * @typedef {{ css?: string, text?: string, nth?: number, name?: string, exact?: boolean }} Step
 * @typedef {{ colorScheme?: "light" | "dark", locale?: string,
 *   viewport?: { width: number, height: number } }} Options
 */

/** Names that the tests use: they lead to this machine, and what is asked for there, a test can hear. */
const HOSTS = ["first", "second", "third", "elsewhere", "link"].map((name) => `${name}.example`);

/**
 * Browsers that run, by what cannot be changed while they do.
 * @type {Map<string, import("puppeteer-core").Browser>}
 */
const browsers = new Map();
/** Where files are stored that are downloaded. */
const downloads = path.join(os.tmpdir(), `pneu-firefox-${process.pid}`);

/** @param {"light" | "dark"} colorScheme @param {string} locale */
async function browserOf(colorScheme, locale) {
  const key = `${colorScheme} ${locale}`;
  const known = browsers.get(key);
  if (known) return known;
  fs.mkdirSync(downloads, { recursive: true });
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: process.env["FIREFOX"] ?? "/usr/bin/firefox-esr",
    env: { ...process.env, TZ: "Europe/Berlin", HOME: downloads },
    extraPrefsFirefox: {
      "network.dns.localDomains": HOSTS.join(","),
      "layout.css.prefers-color-scheme.content-override": colorScheme === "dark" ? 0 : 1,
      "intl.accept_languages": locale,
      "browser.download.folderList": 2,
      "browser.download.dir": downloads,
      "browser.download.useDownloadDir": true,
      "browser.download.always_ask_before_handling_new_types": false,
    },
  });
  browsers.set(key, browser);
  return browser;
}

export async function closeFirefox() {
  await Promise.all([...browsers.values()].map((each) => each.close()));
  browsers.clear();
  fs.rmSync(downloads, { recursive: true, force: true });
}

/**
 * Opens the page, logged in, as `open` does in Chromium. Each request to another host and each error of the
 * page is noted, and `close` fails if there was one.
 * @param {string} link
 * @param {Options} [options]
 */
export async function openFirefox(link, options = {}) {
  const browser = await browserOf(options.colorScheme ?? "light", options.locale ?? "en-GB");
  const context = await browser.createBrowserContext();
  const driven = await context.newPage();
  await driven.setViewport(options.viewport ?? { width: 1280, height: 800 });
  const { origin } = new URL(link);
  /** @type {string[]} */
  const wrong = [];
  /** @type {string[]} */
  const requests = [];
  const isFromDisk = process.env["PAGE_FROM_DISK"] === "1";
  if (isFromDisk) await driven.setRequestInterception(true);
  driven.on("request", (request) => {
    const url = new URL(request.url());
    requests.push(url.href);
    if (url.origin !== origin && url.protocol !== "data:") wrong.push(`a request to ${url.href}`);
    if (!isFromDisk || request.isInterceptResolutionHandled()) return;
    const file = url.origin === origin ? fileOf(url) : null;
    void (file ? request.respond(file) : request.continue()).catch(() => {});
  });
  driven.on("pageerror", (error) => {
    // The browser asks for an icon of a page that names none.
    if (!/favicon[.]ico/.test(String(error))) wrong.push(`an error: ${/** @type {Error} */ (error).stack}`);
  });
  driven.on("dialog", (dialog) => {
    wrong.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  driven.on("console", (message) => {
    if (/Content.Security.Policy|TrustedHTML/.test(message.text())) wrong.push(message.text());
  });
  const page = /** @type {Page} */ (/** @type {unknown} */ (new FirefoxPage(driven)));
  await driven.goto(link);
  const close = async () => {
    await context.close();
    assert.deepEqual(wrong, []);
  };
  return { page, context, close, requests, wrong };
}

/** Waits for a file that was downloaded, and returns its bytes. @param {string} name */
export async function downloaded(name) {
  const file = path.join(downloads, name);
  for (const end = Date.now() + PATIENCE_MS; ;) {
    // Firefox writes into a file beside it, and an empty one of this name keeps its place.
    if (fs.existsSync(file) && fs.statSync(file).size > 0 && !fs.existsSync(`${file}.part`)) break;
    assert.ok(Date.now() < end, `${name} was not stored; there is ${fs.readdirSync(downloads)}`);
    await pause();
  }
  return fs.readFileSync(file);
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** The part of Playwright's page that the steps use. */
class FirefoxPage {
  /** @param {import("puppeteer-core").Page} driven */
  constructor(driven) {
    this.driven = driven;
    const { keyboard } = driven;
    this.keyboard = {
      /** @param {string} keys One key, after those that are held with it and plus signs. */
      async press(keys) {
        const all = /** @type {import("puppeteer-core").KeyInput[]} */ (
          keys === "+" ? ["+"] : keys.split("+")
        );
        const last = /** @type {import("puppeteer-core").KeyInput} */ (all.pop());
        for (const each of all) await keyboard.down(each);
        await keyboard.press(last);
        for (const each of all.reverse()) await keyboard.up(each);
      },
      /** @param {string} text */
      type: (text) => keyboard.type(text),
    };
    this.mouse = {
      wheel: (/** @type {number} */ deltaX, /** @type {number} */ deltaY) =>
        driven.mouse.wheel({ deltaX, deltaY }),
    };
  }

  /** @param {any} what A function, or an expression. @param {unknown[]} args */
  evaluate(what, ...args) {
    return this.driven.evaluate(what, ...args);
  }

  /** @param {string} css */
  locator(css) {
    return new Found(this, [{ css }]);
  }

  /** @param {string} text */
  getByText(text) {
    // The innermost element with it.
    return new Found(this, [{ css: "body *" }, { text, exact: true }]);
  }

  /** @param {"button" | "dialog"} role @param {{ name?: string }} [options] */
  getByRole(role, { name = "" } = {}) {
    const css = role === "dialog" ? "dialog[open]" : "button";
    return new Found(this, [{ css, name }]);
  }

  url() {
    return this.driven.url();
  }

  title() {
    return this.driven.title();
  }

  /** Goes back as its button does. It does not wait: the step may be to the same document. */
  async goBack() {
    await this.driven.evaluate("history.back()");
  }

  reload() {
    return this.driven.reload();
  }

  /** @param {string} url */
  goto(url) {
    return this.driven.goto(url);
  }
}

/** Elements, as a Playwright locator: looked up each time, and waited for. */
class Found {
  /** @param {FirefoxPage} page @param {Step[]} steps */
  constructor(page, steps) {
    this.page = page;
    this.steps = steps;
  }

  /** @param {Step} step */
  with(step) {
    return new Found(this.page, [...this.steps, step]);
  }

  /** @param {{ hasText: string }} options */
  filter({ hasText }) {
    return this.with({ text: hasText });
  }

  first() {
    return this.nth(0);
  }

  last() {
    return this.nth(-1);
  }

  /** @param {number} nth */
  nth(nth) {
    return this.with({ nth });
  }

  /** @param {string} css */
  locator(css) {
    return this.with({ css });
  }

  /**
   * Calls a function with all elements. It runs in the page.
   * @template Answer
   * @param {(all: any[], argument: any) => Answer} use
   * @param {unknown} [argument]
   * @returns {Promise<Answer>}
   */
  evaluateAll(use, argument) {
    const source = `(${find})(${JSON.stringify(this.steps)})`;
    return /** @type {Promise<Answer>} */ (
      this.page.evaluate(`(${use})(${source}, ${JSON.stringify(argument ?? null)})`)
    );
  }

  count() {
    return this.evaluateAll((all) => all.length);
  }

  allTextContents() {
    return this.evaluateAll((all) => all.map((each) => each.textContent));
  }

  async isVisible() {
    return this.evaluateAll((all) => all.some((each) => each.checkVisibility({ visibilityProperty: true })));
  }

  /** @param {{ state?: "visible" | "hidden" }} [options] */
  async waitFor({ state = "visible" } = {}) {
    for (const end = Date.now() + PATIENCE_MS; (await this.isVisible()) !== (state === "visible");) {
      if (Date.now() > end) throw new Error(`${JSON.stringify(this.steps)} did not become ${state}`);
      await pause();
    }
  }

  /** @param {(element: any, argument: any) => unknown} use @param {unknown} [argument] */
  async evaluate(use, argument) {
    await this.waitFor();
    return this.first().evaluateAll(
      /** @type {any} */ (`(all, argument) => (${use})(all[0], argument)`),
      argument,
    );
  }

  textContent() {
    return this.evaluate((element) => element.textContent);
  }

  /** @param {string} name */
  getAttribute(name) {
    return this.evaluate((element, wanted) => element.getAttribute(wanted), name);
  }

  inputValue() {
    return this.evaluate((element) => element.value);
  }

  async handle() {
    await this.waitFor();
    const handle = await this.page.driven.evaluateHandle(`(${find})(${JSON.stringify(this.steps)})[0]`);
    return /** @type {import("puppeteer-core").ElementHandle<Element>} */ (handle.asElement());
  }

  async hover() {
    await (await this.handle()).hover();
  }

  async focus() {
    await (await this.handle()).focus();
  }

  /** @param {{ modifiers?: ("Shift" | "Control")[] }} [options] */
  async click({ modifiers = [] } = {}) {
    const handle = await this.handle();
    for (const each of modifiers) await this.page.driven.keyboard.down(each);
    await handle.click();
    for (const each of modifiers) await this.page.driven.keyboard.up(each);
  }

  /** @param {string} text */
  async fill(text) {
    await this.focus();
    await this.evaluate((element) => element.select());
    await this.page.driven.keyboard.type(text);
  }
}

/** Finds elements by steps; runs in the page. @param {Step[]} steps */
function find(steps) {
  /** @type {any[]} */
  let found = [document];
  const clean = (/** @type {string} */ text) => text.replace(/\s+/g, " ").trim();
  for (const { css, text, nth, name, exact } of steps) {
    if (css !== undefined) found = found.flatMap((each) => [...each.querySelectorAll(css)]);
    if (text !== undefined)
      found = found.filter((each) =>
        exact
          ? clean(each.textContent).includes(text) &&
            ![...each.children].some((inner) => inner.textContent.includes(text))
          : clean(each.textContent).toLowerCase().includes(text.toLowerCase()),
      );
    if (name) {
      const labelOf = (/** @type {any} */ each) =>
        each.ariaLabel ??
        document.getElementById(each.getAttribute("aria-labelledby") ?? "")?.textContent ??
        each.textContent;
      found = found.filter((each) => labelOf(each).includes(name));
    }
    if (nth !== undefined) found = [found.at(nth)].filter(Boolean);
  }
  return found;
}
