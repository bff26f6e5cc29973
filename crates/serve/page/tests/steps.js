// Steps that several tests begin with: the server with its mail, a page that is logged in, an open folder or
// message.

import { LONG, write } from "./mail.js";
import { Mailbox, closeBrowser, listReady, open, until } from "./support.js";

/** @typedef {import("playwright-core").Page} Page */

/** A server of the mail in mail.js. Each login link works once, so that a new page may need a new server. */
export class Fixture {
  /** @param {typeof open} opener Opens the page in a browser. @param {() => Promise<void>} closer Ends it. */
  constructor(opener = open, closer = closeBrowser) {
    this.mailbox = new Mailbox();
    this.link = "";
    this.begin = async () => {
      write(this.mailbox);
      this.mailbox.index();
      this.link = await this.mailbox.serve();
    };
    this.end = async () => {
      await closer();
      await this.mailbox.remove();
    };
    /** Opens the page, and waits for its list. @param {import("playwright-core").BrowserContextOptions} [options] */
    this.start = async (options) => {
      if (!this.link) {
        await this.mailbox.stop();
        this.link = await this.mailbox.serve(this.mailbox.port);
      }
      const opened = await opener(this.link, options);
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

/**
 * Waits until rows are seen from edge to edge, in order, each with its message. `isRight` is an expression in
 * the page that says whether the `subject` is that of the row with an `index`.
 * @param {Page} page
 * @param {string} isRight
 */
export async function rowsFill(page, isRight) {
  await until(
    page,
    `(() => {
      const pane = document.getElementById("scroller").getBoundingClientRect();
      const rows = [...document.querySelectorAll("#list .row")].map((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        const subject = row.querySelector(".subject")?.textContent ?? "";
        return { top, bottom, index: Number(row.dataset.index), subject };
      }).filter(({ top, bottom }) => bottom > pane.top && top < pane.bottom).sort((a, b) => a.top - b.top);
      const follows = ({ top, index }, before) =>
        !before || (Math.abs(top - before.bottom) < 1 && index === before.index + 1);
      return rows.length > 5 && rows[0].top <= pane.top + 1 && rows.at(-1).bottom >= pane.bottom - 1 &&
        rows.every((row, n) => follows(row, rows[n - 1])) && rows.every(({ subject, index }) => ${isRight});
    })()`,
  );
}

/** Says so in the long folder. */
export const IS_LONG = `subject.startsWith("Number " + (${LONG} - 1 - index) + " ")`;
