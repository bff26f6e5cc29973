// What the tests of the page need: a Maildir, `pneu serve` of it, and a browser that is logged in.
//
// PNEU is the program. CHROMIUM is the browser (else /usr/bin/chromium). With PAGE_FROM_DISK=1 the files of
// the page come from this folder instead of the program, so that one can work on them without building it.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ from?: string, to?: string, subject: string, body?: string, date: string, id: string, inReplyTo?: string,
 *   type?: string, flags?: string, raw?: string }} Mail */

/** How long something may take before a test fails. */
export const PATIENCE_MS = 20_000;

const program = process.env["PNEU"];
const isFromDisk = process.env["PAGE_FROM_DISK"] === "1";
export const pageDirectory = path.join(import.meta.dirname, "..");

/** The policy of the page. The program has the same one; a test compares them. */
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'";

/** Returns a script as the program sends it: without comments, types and indentation. @param {string} script */
export function withoutComments(script) {
  let isInside = false;
  const lines = script.split("\n").map((line) => {
    const text = line.trim();
    const isBlock = text.startsWith("/**") && (text.endsWith("*/") || !text.includes("*/"));
    const isComment = isInside || isBlock || text.startsWith("//");
    isInside = (isInside || isBlock) && !text.endsWith("*/");
    return isComment ? "" : line.replace(/^ +/, "").replace(/\/\*\* @type .*?\*\/ ?/g, "");
  });
  return lines.join("\n");
}

/** Mail in a directory of its own, and a server of it. */
export class Mailbox {
  constructor() {
    if (!program) throw new Error("PNEU says which program is tested");
    this.directory = fs.mkdtempSync(path.join(os.tmpdir(), "pneu-page-"));
    /** Where the program has its index and configuration. */
    this.home = path.join(this.directory, "home");
    /** @type {import("node:child_process").ChildProcess | null} */
    this.process = null;
    this.port = 0;
    this.isConfigured = false;
  }

  /**
   * Writes a message into a folder; `flags` are those of its file.
   * @param {string} folder
   * @param {Mail} mail
   */
  put(folder, mail) {
    const directory = path.join(this.directory, "mail", folder);
    for (const each of ["cur", "new", "tmp"]) fs.mkdirSync(path.join(directory, each), { recursive: true });
    const file = path.join(directory, "cur", `${mail.id}:2,${mail.flags ?? ""}`);
    fs.writeFileSync(path.join(directory, "tmp", mail.id), mail.raw ?? source(mail));
    fs.renameSync(path.join(directory, "tmp", mail.id), file);
    return file;
  }

  /** Returns the messages of a folder on disk, each as `id:flags`. @param {string} folder */
  files(folder) {
    const directory = path.join(this.directory, "mail", folder);
    const names = ["cur", "new"].flatMap((each) =>
      fs.existsSync(path.join(directory, each)) ? fs.readdirSync(path.join(directory, each)) : [],
    );
    return names.map((name) => name.replace(/(:2,|$)/, ":").replace(/:([A-Za-z]*):?$/, ":$1")).sort();
  }

  /** Returns the messages of a folder on disk, as texts. @param {string} folder */
  texts(folder) {
    const directory = path.join(this.directory, "mail", folder);
    const names = ["cur", "new"].flatMap((each) =>
      fs.existsSync(path.join(directory, each))
        ? fs.readdirSync(path.join(directory, each)).map((name) => path.join(each, name))
        : [],
    );
    return names.map((name) => fs.readFileSync(path.join(directory, name), "utf8"));
  }

  /** Lets mail be sent from these addresses, by a script that stores what it gets. @param {string[]} from */
  send(...from) {
    const script = path.join(this.directory, "sendmail");
    const out = path.join(this.directory, "sent");
    fs.mkdirSync(out, { recursive: true });
    const lines = [
      `test -s '${script}.fails' && { cat '${script}.fails' >&2; exit 1; }`,
      `n=$(ls '${out}' | wc -l)`,
      `for word; do echo "$word"; done > '${out}/'$n.args`,
      `cat > '${out}/'$n.part && mv '${out}/'$n.part '${out}/'$n.mail`,
    ];
    fs.writeFileSync(script, `${lines.join("\n")}\n`);
    const folder = path.join(this.environment().HOME, ".config", "pneu");
    fs.mkdirSync(folder, { recursive: true });
    const root = {
      name: "mail",
      path: path.join(this.directory, "mail"),
      from,
      sendmail: `sh '${script}' -i`,
    };
    const keys = Object.entries(root).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
    fs.writeFileSync(path.join(folder, "config.toml"), `[[root]]\n${keys.join("")}`);
    this.isConfigured = true;
  }

  /** Lets sending fail with a reason; without one, it works again. @param {string} reason */
  fail(reason) {
    fs.writeFileSync(path.join(this.directory, "sendmail.fails"), reason);
  }

  /** Returns what was sent: the receivers, and the message. */
  sent() {
    const out = path.join(this.directory, "sent");
    const mails = fs.readdirSync(out).filter((name) => name.endsWith(".mail"));
    return mails.map((name) => ({
      args: fs
        .readFileSync(path.join(out, name.replace(".mail", ".args")), "utf8")
        .split("\n")
        .filter((each) => each.includes("@")),
      message: fs.readFileSync(path.join(out, name), "utf8"),
    }));
  }

  /** Brings the index in step with the mail. */
  index() {
    if (this.isConfigured) this.run("index");
    else this.run("index", "--maildir", path.join(this.directory, "mail"));
  }

  /** @param {string[]} args */
  run(...args) {
    return execFileSync(String(program), args, { env: this.environment(), encoding: "utf8", stdio: "pipe" });
  }

  environment() {
    fs.mkdirSync(this.home, { recursive: true });
    return { PATH: process.env["PATH"], HOME: this.home };
  }

  /**
   * Starts the server. Returns the address that logs a browser in.
   * @param {number} [port]
   * @param {string[]} [more]
   * @returns {Promise<string>}
   */
  async serve(port = 0, more = []) {
    const child = spawn(String(program), ["serve", "--port", String(port), "--link", ...more], {
      env: this.environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process = child;
    let printed = "";
    let told = "";
    child.stderr.on("data", (data) => {
      told += data;
    });
    for await (const data of child.stdout) {
      printed += data;
      const link = /^http:\/\/\S+\/login\?token=\S+$/m.exec(printed);
      if (!link) continue;
      this.port = Number(new URL(link[0]).port);
      child.stdout.resume();
      return link[0];
    }
    throw new Error(`the server did not start: ${told}`);
  }

  async stop() {
    const child = this.process;
    this.process = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise((resolve) => {
      child.once("exit", resolve);
      child.kill("SIGTERM");
    });
  }

  async remove() {
    await this.stop();
    fs.rmSync(this.directory, { recursive: true, force: true });
  }

  get origin() {
    return `http://127.0.0.1:${this.port}`;
  }
}

/** @param {Mail} mail */
function source(mail) {
  const reply = mail.inReplyTo
    ? `In-Reply-To: <${mail.inReplyTo}@example.org>\nReferences: <${mail.inReplyTo}@example.org>\n`
    : "";
  return (
    `From: ${mail.from ?? "Ana Ito <ana@example.org>"}\nTo: ${mail.to ?? "Bo Berg <bo@example.org>"}\n` +
    `Subject: ${mail.subject}\nDate: ${mail.date}\nMessage-ID: <${mail.id}@example.org>\n${reply}` +
    `MIME-Version: 1.0\nContent-Type: ${mail.type ?? "text/plain"}; charset=utf-8\n\n${mail.body ?? mail.subject}\n`
  );
}

/** @type {import("playwright-core").Browser | null} */
let browser = null;

/**
 * Opens the page, logged in. Each request to another host, each error of the page and each violation of its
 * policy is noted, and `close` fails if there was one.
 * @param {string} link
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function open(link, options = {}) {
  const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  browser ??= await chromium.launch({
    executablePath,
    // Names that the tests use lead to this machine: what is asked for there, a test can hear.
    args: [
      "--host-resolver-rules=MAP *.example 127.0.0.1",
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
  });
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    ...options,
  });
  const { origin } = new URL(link);
  /** @type {string[]} */
  const wrong = [];
  /** @type {string[]} */
  const requests = [];
  await context.route("**", (route) => {
    const url = new URL(route.request().url());
    requests.push(url.href);
    if (url.origin === origin) return isFromDisk ? fromDisk(route, url) : route.continue();
    wrong.push(`a request to ${url.href}`);
    return route.abort();
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on("pageerror", (error) => wrong.push(`an error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    wrong.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedHTML/.test(message.text())) wrong.push(message.text());
  });
  // What a redirection leads to is not intercepted.
  if (isFromDisk) await context.request.get(link);
  await page.goto(isFromDisk ? `${origin}/` : link);
  const close = async () => {
    // A test may hold answers back that nobody waits for any more.
    await context.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
    assert.deepEqual(wrong, []);
  };
  return { page, context, close, requests, wrong };
}

export async function closeBrowser() {
  await browser?.close();
  browser = null;
}

const TYPES = /** @type {Record<string, string>} */ ({
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
});

/**
 * @param {import("playwright-core").Route} route
 * @param {URL} url
 */
async function fromDisk(route, url) {
  const file = fileOf(url);
  return file ? route.fulfill(file) : route.continue();
}

/** Returns a file of this folder as the program sends it, or null. @param {URL} url */
export function fileOf(url) {
  const file = path.join(pageDirectory, /^\/$|^\/[mq]\//.test(url.pathname) ? "index.html" : url.pathname);
  const type = TYPES[path.extname(file)];
  if (!type || !fs.existsSync(file)) return null;
  const headers = { "content-type": type, "content-security-policy": POLICY, "cache-control": "no-cache" };
  const isOwnScript = type.includes("javascript") && !url.pathname.startsWith("/vendor/");
  const body = isOwnScript ? withoutComments(fs.readFileSync(file, "utf8")) : fs.readFileSync(file);
  return { status: 200, body, headers };
}

/**
 * Returns the subjects of rows that are drawn, in order.
 * @param {Page} page
 */
export async function subjects(page) {
  return page.locator("#list .row .subject").allTextContents();
}

/**
 * Waits until a condition in the page is true. The page's policy forbids to evaluate it there again and
 * again.
 * @param {Page} page
 * @param {string} condition
 */
export async function until(page, condition, patienceMs = PATIENCE_MS) {
  const end = Date.now() + patienceMs;
  while (!(await page.evaluate(`Boolean(${condition})`))) {
    if (Date.now() > end) throw new Error(`this did not become true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until a check passes. @param {() => void} check */
export async function eventually(check) {
  for (const end = Date.now() + PATIENCE_MS; ;) {
    try {
      return check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until the list is there. @param {Page} page */
export async function listReady(page, patienceMs = PATIENCE_MS) {
  const isReady = "document.querySelector('#list .row a') && !document.querySelector('#list .row.ghost')";
  await until(page, isReady, patienceMs);
}

/** Returns what has the focus: the subject of a row, or else its id. @param {Page} page */
export async function focused(page) {
  return page.evaluate(
    () =>
      document.activeElement?.querySelector(".subject")?.textContent ??
      document.activeElement?.getAttribute("aria-label") ??
      document.activeElement?.id ??
      "",
  );
}
