// The user of the soak run: presses keys at random in a real browser. Touches the page.

import { WORDS } from "./mail.js";

/** @typedef {import("playwright-core").Page} Page @typedef {import("./random.js").Random} Random */

/** What is done, and how often. What is not told in `step` is a key. */
const WEIGHTS = {
  j: 20,
  k: 10,
  o: 8,
  u: 4,
  Escape: 4,
  x: 5,
  X: 2,
  e: 3,
  "#": 3,
  s: 5,
  I: 3,
  U: 2,
  "!": 1,
  z: 5,
  n: 2,
  p: 2,
  ArrowDown: 3,
  End: 1,
  Home: 1,
  search: 3,
  mailbox: 4,
  move: 2,
  inbox: 2,
  help: 1,
  back: 1,
  box: 2,
};
const PAUSE_MS_MAX = 200;

export class User {
  /** @param {Page} page @param {Random} random */
  constructor(page, random) {
    this.page = page;
    this.random = random;
    this.count = 0;
    this.isResting = false;
    /** What was done last, for those who look for the reason of a failure. @type {string[]} */
    this.last = [];
  }

  /** Works until it is to rest. */
  async work() {
    this.isResting = false;
    while (!this.isResting) {
      await this.step();
      await new Promise((resolve) => setTimeout(resolve, this.random.below(PAUSE_MS_MAX)));
    }
  }

  async step() {
    const what = this.random.weighted(WEIGHTS);
    this.count += 1;
    this.last = [...this.last.slice(-19), what];
    const { keyboard } = this.page;
    if (what === "search") await this.search();
    else if (what === "mailbox") await this.click("#mailboxes a.mailbox");
    else if (what === "box") await this.click("#list .row .box");
    else if (what === "move") await this.move();
    else if (what === "inbox") await this.press("g", "i");
    else if (what === "help") await this.press("?", "Escape");
    else if (what === "back") await this.page.evaluate("history.state?.depth > 0 && history.back()");
    else await keyboard.press(what);
    if (what === "#") await this.answer();
  }

  /** @param {string[]} keys */
  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  async search() {
    await this.press("/");
    await this.page.keyboard.type(this.random.pick(WORDS), { delay: this.random.below(60) });
    await this.press(this.random.pick(["Enter", "ArrowDown", "Escape"]));
    // Without results, the keys stay with the field.
    if (await this.page.evaluate("document.activeElement.id === 'search'")) await this.press("Escape");
  }

  /** Clicks on one of the elements that are seen. @param {string} css */
  async click(css) {
    const seen = await this.page.evaluate((wanted) => {
      const boxes = [...document.querySelectorAll(wanted)].map((each) => each.getBoundingClientRect());
      const isSeen = (/** @type {DOMRect} */ box) =>
        box.top > 100 && box.bottom < innerHeight && box.width > 0;
      return boxes.filter(isSeen).map(({ x, y, width, height }) => ({ x, y, width, height }));
    }, css);
    if (seen.length === 0) return;
    const { x, y, width, height } = this.random.pick(seen);
    await this.page.mouse.click(x + width / 2, y + height / 2);
  }

  async move() {
    await this.press("v");
    if (!(await this.isAsked())) return;
    await this.page.keyboard.type(this.random.pick(["arch", "rust", "mail", "inb", "nothing"]));
    await this.press("Enter", "Escape");
  }

  /** In the trash, deleting asks first. */
  async answer() {
    if (await this.isAsked())
      await this.press(...this.random.pick([["Escape"], ["Tab", "Enter"], ["Enter"]]));
    if (await this.isAsked()) await this.press("Escape");
  }

  /** @returns {Promise<boolean>} */
  isAsked() {
    return this.page.evaluate("document.querySelector('dialog[open]') !== null");
  }

  /** Lets it end after the step that it is at. */
  rest() {
    this.isResting = true;
  }
}
