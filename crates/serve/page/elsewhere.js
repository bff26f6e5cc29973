// What leads away from the mail of today: to messages that are gone, a moment in the past, what was done, and
// numbers. Loads what they need when one of them is first asked for, which most visits to the page never do.
// Touches nothing. Knows only where each begins.

import { signal } from "./vendor/signals-core.mjs";
import { html } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { later } from "./later.js";
import { openMailbox } from "./mailboxes.js";
import { GONE, address, go, isMenuOpen, isToday, route } from "./store.js";
import { attempt } from "./undo.js";

/** @typedef {typeof import("./elsewhere-parts.js")} Parts */

/** All of it, once it is loaded. @type {import("./vendor/signals-core.mjs").Signal<Parts | null>} */
export const parts = signal(null);

const load = later(() => import("./elsewhere-parts.js"), "/elsewhere.css");

/** @param {(parts: Parts) => unknown} use */
const using = (use) =>
  attempt(async () => {
    const loaded = await load();
    parts.value = loaded;
    return use(loaded);
  });

/** Loads what the address needs. */
export function followPlace() {
  if (!isToday.value || route.value.view) void using(() => {});
}

/** What opens each of them, by its phrase. */
const OPEN = {
  gone: () => openMailbox(GONE),
  moment: () => using(({ openMoment }) => openMoment()),
  history: () => using(({ openHistory }) => openHistory()),
  statistics: () => go({ view: "statistics" }),
};

/** The same, by the key that stands for it; after g, but for one. @type {Record<string, keyof typeof OPEN>} */
const KEYS = { d: "gone", t: "moment", Z: "history", s: "statistics" };

/** Opens what a key stands for. Returns whether it stands for something. @param {string} key */
export function openBy(key) {
  const name = KEYS[key];
  if (name) void OPEN[name]();
  return name !== undefined;
}

/** Draws what leads there, for the side. */
export function drawSide() {
  const { mailbox, view, at } = route.value;
  return html`<h2>${say("further")}</h2><ul role="list">
    ${entry("gone", mailbox === GONE && !view, address({ mailbox: GONE, search: "", message: "" }))}
    ${entry("moment", at !== "")}${entry("history", false)}
    ${entry("statistics", view !== "", address({ view: "statistics" }))}</ul>`;
}

/** @param {keyof typeof OPEN} name @param {boolean} isOpen @param {string} [href] Without one, it is a dialog. */
function entry(name, isOpen, href) {
  const open = (/** @type {MouseEvent} */ event) => {
    if (href && (event.metaKey || event.ctrlKey || event.shiftKey)) return;
    event.preventDefault();
    isMenuOpen.value = false;
    void OPEN[name]();
  };
  const names = `mailbox${isOpen ? " open" : ""}`;
  const inner = html`${icon(name)}<span class="name">${say(name)}</span>`;
  return href
    ? html`<li><a class=${names} href=${href} aria-current=${isOpen ? "page" : undefined} onClick=${open}>${inner}</a></li>`
    : html`<li><button type="button" class=${names} onClick=${open}>${inner}</button></li>`;
}
