// Steps that several tests begin with: the server with its mail, a page that is logged in, an open folder or
// message.

import { write } from "./mail.js";
import { Mailbox, closeBrowser, listReady, open, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

/** A server of the mail in mail.js. Each login link works once, so that a new page may need a new server. */
export class Fixture {
  constructor() {
    this.mailbox = new Mailbox();
    this.link = "";
    this.begin = async () => {
      write(this.mailbox);
      this.mailbox.index();
      this.link = await this.mailbox.serve();
    };
    this.end = async () => {
      await closeBrowser();
      await this.mailbox.remove();
    };
    /** Opens the page, and waits for its list. @param {import("playwright-core").BrowserContextOptions} [options] */
    this.start = async (options) => {
      if (!this.link) {
        await this.mailbox.stop();
        this.link = await this.mailbox.serve(this.mailbox.port);
      }
      const opened = await open(this.link, options);
      this.link = "";
      await listReady(opened.page);
      return opened;
    };
  }
}

/** Opens a folder. @param {Page} page @param {string} name */
export async function folder(page, name) {
  await page.locator("#mailboxes a").filter({ hasText: name }).first().click();
  await until(page, `document.querySelector('.list-head h1').textContent === '${name}'`);
  await listReady(page);
}

/** Opens the row with a subject. @param {Page} page @param {string} subject */
export async function openRow(page, subject) {
  await page.locator("#list .row a").filter({ hasText: subject }).click();
  await page.locator("#messages .message.unfolded :is(.text, .sheet)").first().waitFor();
}
