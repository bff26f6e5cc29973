// Saved searches and tags at the side, and the star in the search field, as they look. Touches nothing. Is
// loaded when there are any: see saved.js. The dialog is loaded when it is first asked for.

import { effect, signal } from "./vendor/signals-core.mjs";
import { attempt } from "./undo.js";
import { html, place } from "./html.js";
import "./i18n-search.js";
import { number, say } from "./i18n.js";
import { icon } from "./icons.js";
import { later } from "./later.js";
import { queryFor } from "./queries.js";
import { savedQueries, standsFor, tags } from "./saved.js";
import { line } from "./text.js";
import { address, go, isMenuOpen, route } from "./store.js";

/**
 * @typedef {import("./saved.js").SavedQuery} SavedQuery
 * @typedef {import("./saved.js").Tag} Tag
 * @typedef {typeof import("./saved-dialog.js")} Dialog
 */

/** Of more tags, the first are shown until one wants to see all. */
const TAGS_MAX = 40;

/** The sections that are folded. @type {import("./vendor/signals-core.mjs").Signal<Set<string>>} */
const folded = signal(new Set());
const areAllTagsShown = signal(false);

const loadDialog = later(async () => {
  const loaded = await import("./saved-dialog.js");
  place("saved", loaded.draw);
  effect(loaded.followDialog);
  return loaded;
}, "/search.css");

/** @param {(dialog: Dialog) => unknown} use */
function withDialog(use) {
  return attempt(async () => use(await loadDialog()));
}

/** Returns the saved query that is shown. */
function shownQuery() {
  return savedQueries.value.find((each) => standsFor(each) === route.value.search);
}

/** Draws the button in the search field that saves what is shown, or changes it. */
export function drawStar() {
  const shown = shownQuery();
  const label = shown ? say("savedEdit", { name: shown.name }) : say("searchSave");
  const open = () => withDialog((loaded) => (shown ? loaded.change(shown) : loaded.saveAs(route.peek().search)));
  return html`<button type="button" class=${`plain star${shown ? " on" : ""}`} aria-label=${label} title=${label}
    aria-haspopup="dialog" onClick=${open}>${icon("star")}</button>`;
}

/** Draws what is at the side. */
export function draw() {
  const all = tags.value;
  const shown = areAllTagsShown.value ? all : all.slice(0, TAGS_MAX);
  const showAll = () => {
    areAllTagsShown.value = true;
  };
  const rest =
    all.length > shown.length &&
    html`<li key="" class="rest"><button type="button" class="more" onClick=${showAll}
    >${say("showAll", { count: all.length })}</button></li>`;
  return [
    section("saved", say("savedSearches"), savedQueries.value.map(queryLine)),
    section("tags", say("tags"), [...shown.map(tagLine), rest].filter(Boolean)),
  ];
}

/** @param {string} id @param {string} title @param {unknown[]} lines */
function section(id, title, lines) {
  if (lines.length === 0) return null;
  const isFolded = folded.value.has(id);
  const toggle = () => {
    const next = new Set(folded.peek());
    if (!next.delete(id)) next.add(id);
    folded.value = next;
  };
  return html`<section class="side" key=${id} aria-labelledby=${`side-${id}`}>
    <h2><button type="button" class=${`fold${isFolded ? "" : " unfolded"}`} aria-expanded=${String(!isFolded)}
      onClick=${toggle}>${icon("chevron")}<span id=${`side-${id}`}>${title}</span></button></h2>
    ${!isFolded && html`<ul role="list">${lines}</ul>`}</section>`;
}

/** @param {SavedQuery} saved */
function queryLine(saved) {
  const label = say("savedEdit", { name: saved.name });
  const link = sideLink(standsFor(saved), saved.name, line(saved.query), icon("star"));
  return html`<li key=${saved.id} class="side-line">${link}<button type="button" class="plain" aria-label=${label}
    title=${label} aria-haspopup="dialog" onClick=${() => withDialog((loaded) => loaded.change(saved))}
    >${icon("drafts")}</button></li>`;
}

/** @param {Tag} tag */
function tagLine({ id, name, total }) {
  const count = say("messages", { count: total });
  const label = line(name);
  const counted = html`<span class="badge" title=${count}><span aria-hidden="true">${number(total)}</span
    ><span class="unseen">${count}</span></span>`;
  return html`<li key=${id} class="side-line">${sideLink(queryFor("tag", name), label, label, icon("tag"), counted)}</li>`;
}

/**
 * Draws what opens a search.
 * @param {string} search
 * @param {string} name
 * @param {string} title
 * @param {unknown} before
 * @param {unknown} [behind]
 */
function sideLink(search, name, title, before, behind) {
  const isOpen = route.value.search === search;
  const open = (/** @type {MouseEvent} */ event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    isMenuOpen.value = false;
    go({ search, message: "" });
  };
  return html`<a class=${`mailbox${isOpen ? " open" : ""}`} href=${address({ search, message: "" })} title=${title}
    aria-current=${isOpen ? "page" : undefined} onClick=${open}>${before}<bdi class="name">${name}</bdi>${behind}</a>`;
}
