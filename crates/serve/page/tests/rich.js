// Steps of the tests of HTML: a server that hears what is loaded from elsewhere, and frames.

import http from "node:http";
import { write } from "./html-mail.js";
import { GIF } from "./html-mail.js";
import { Fixture, folder } from "./steps.js";
import { until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

/** A server of mail with HTML, and one beside it that hears requests. All names in `example` lead there. */
export class RichFixture extends Fixture {
  /** @param {ConstructorParameters<typeof Fixture>} browser */
  constructor(...browser) {
    super(...browser);
    /** What the other server heard. @type {{ url: string, host: string, referer: string | undefined }[]} */
    this.heard = [];
    /** How many connections there were to it, whoever made them. */
    this.connections = 0;
    this.server = http.createServer((request, response) => {
      const { url = "", headers } = request;
      this.heard.push({ url, host: String(headers.host), referer: headers.referer });
      const port = String(headers.host).split(":")[1];
      if (url === "/away.png") {
        response.writeHead(302, { location: `http://third.example:${port}/arrived.png` }).end();
      } else if (url.endsWith(".png")) {
        response.writeHead(200, { "content-type": "image/gif" }).end(Buffer.from(GIF, "base64"));
      } else {
        response.writeHead(200, { "content-type": "text/html" }).end("<p>arrived</p>");
      }
    });
    this.server.on("connection", () => {
      this.connections += 1;
    });
    const { begin, end } = this;
    this.begin = async () => {
      await new Promise((resolve) => this.server.listen(0, "127.0.0.1", () => resolve(undefined)));
      write(this.mailbox, this.origin);
      await begin();
    };
    this.end = async () => {
      await end();
      this.server.closeAllConnections();
      this.server.close();
    };
  }

  get origin() {
    const address = /** @type {import("node:net").AddressInfo} */ (this.server.address());
    return `http://first.example:${address.port}`;
  }

  /** Forgets what was heard. */
  reset() {
    this.heard = [];
    this.connections = 0;
  }
}

/** Lets the browser reach the other server. @param {import("playwright-core").BrowserContext} context */
export async function letThrough(context) {
  await context.route(/^http:\/\/\w+\.example:/, (route) => route.continue());
}

/** Opens a message of a folder by its subject. @param {Page} page @param {string} name @param {string} subject */
export async function openRich(page, name, subject) {
  await folder(page, name);
  await page.locator("#list .row a").filter({ hasText: subject }).first().click();
  await frameReady(page);
}

/** Waits until the frame of the only open message is there and measured. @param {Page} page */
export async function frameReady(page) {
  await until(
    page,
    `(() => { const all = [...document.querySelectorAll(".sheet")];
      return all.length > 0 && all.every((each) => each.style.height && each.contentDocument?.querySelector("meta[name=hosts]")); })()`,
  );
}

/** Asks something of the document in the frame. @param {Page} page @param {string} expression */
export async function inFrame(page, expression) {
  return page.evaluate(`((found) => (${expression}))(document.querySelector(".sheet").contentDocument)`);
}

/** Waits for an answer to be true. @param {Page} page @param {string} expression */
export async function untilInFrame(page, expression) {
  await until(page, `((found) => (${expression}))(document.querySelector(".sheet").contentDocument)`);
}

/** Chooses an entry of the open message's menu, by keys. @param {Page} page @param {string} name */
export async function choose(page, name) {
  await page.locator(".menu-of summary").focus();
  await page.keyboard.press("Enter");
  const entry = page.locator(".menu-of").getByText(name, { exact: true });
  await entry.waitFor();
  while (!(await entry.evaluate((element) => element === document.activeElement)))
    await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
}
