// The list: as many rows as are seen, whatever its length. Touches its element. Knows no requests.

import { computed, signal } from "./vendor/signals-core.mjs";
import { ago, long, short } from "./dates.js";
import { elementHeight, placeAt, rowsSeen, scrolled, topShowing } from "./geometry.js";
import { html } from "./html.js";
import { number, say } from "./i18n.js";
import { icon } from "./icons.js";
import { connection } from "./jmap.js";
import { nameOf } from "./mailboxes.js";
import { writers } from "./people.js";
import { Rows } from "./rows.js";
import { tagOf } from "./text.js";
import { ALL, GONE, address, draftWanted, isToday, mailbox, mailboxes, now } from "./store.js";
import { openMessage, route, where } from "./store.js";

/**
 * @typedef {import("./html.js").Drawing} Drawing
 * @typedef {import("./rows.js").Row} Row
 * @typedef {Pick<import("./store.js").Route, "search" | "endsInPrefix">} Search
 * @typedef {{ key: string, search: string, rows: Rows, top: number, cursor: number, isOld: boolean }} List
 *   `isOld` says that it has to be fetched again when it is shown.
 */

/** Rows that are drawn above and below those that are seen. */
const MARGIN = 8;
/** After this time without scrolling, the scroll bar is put where it belongs. */
const REST_MS = 150;
/** Lists that are kept, so that going back shows them at once. */
const LISTS_MAX = 8;

/** @type {Map<string, List>} */
const lists = new Map();
/** A list that is fetched before it is shown. @type {List | null} */
let prepared = null;
/** Height of a row, and of what is seen. */
const measure = signal({ row: 76, view: 600 });
const place = signal({ top: 0, scroll: 0 });
/** Rows beyond those that are seen are drawn when these are on the screen. */
const margin = signal(0);
/** The row that keys act on. */
export const cursor = signal(0);
/** @type {import("./vendor/signals-core.mjs").Signal<List | null>} */
const current = signal(null);
let restTimer = 0;
/** Whether the focus goes to the list as soon as there are rows. */
let isFocusAwaited = false;
/** The scroll position that was set by the program, and so is no scrolling. */
let scrollSet = -1;

const size = computed(() => ({ count: current.value?.rows.total.value ?? 0, ...measure.value }));

/** The words that were searched for, and whether their answer is still to come. */
export const isWaiting = computed(
  () => current.value?.rows.total.value === null && !current.value.rows.failure.value,
);

/**
 * The ids of rows that are selected.
 * @type {import("./vendor/signals-core.mjs").Signal<Set<string>>}
 */
export const selected = signal(new Set());
/** The row that was selected last. */
let anchor = 0;

/** A selection with a star is all rows. @param {string} id */
function isSelected(id) {
  return selected.value.has(id) || selected.value.has("*");
}

/** Returns the rows that are shown. */
export const rows = () => current.peek()?.rows;

/**
 * Selects a row or not, or all up to the one that was selected last.
 * @param {number} index
 * @param {boolean} isRange
 */
export async function select(index, isRange) {
  const list = current.peek();
  if (!list) return;
  const [first, end] = isRange ? [Math.min(anchor, index), Math.max(anchor, index)] : [index, index];
  anchor = index;
  const ids = await list.rows.idsOf(first, end + 1);
  if (current.peek() !== list) return;
  const next = new Set(selected.peek());
  next.delete("*");
  for (const id of ids) if (isRange || !next.delete(id)) next.add(id);
  selected.value = next;
}

/** The number of rows, or null. */
export const total = computed(() => current.value?.rows.total.value ?? null);

/** Why the list that is shown cannot be had. */
export const failure = computed(() => current.value?.rows.failure.value ?? null);

/** @param {string} mailboxId @param {Search} search @returns {List} */
function listOf(mailboxId, search) {
  const rows = new Rows(filterOf(mailboxId, search), where());
  return { key: keyOf(mailboxId, search), search: search.search, rows, top: 0, cursor: 0, isOld: false };
}

/** @param {string} mailboxId @param {Search} search */
function keyOf(mailboxId, { search, endsInPrefix }) {
  const { archived, moment = "" } = where();
  return `${moment}${archived ? GONE : ""}/${search ? `${endsInPrefix ? "*" : "?"}${search}` : mailboxId}`;
}

/**
 * Returns what is listed of a mailbox or a search.
 * @param {string} mailboxId
 * @param {Search} search
 */
export function filterOf(mailboxId, { search, endsInPrefix }) {
  if (search) return { pneuQuery: search, ...(endsInPrefix && { endsInPrefix }) };
  return mailboxId === ALL || mailboxId === GONE ? null : { inMailbox: mailboxId };
}

/**
 * Fetches a list before it is shown: until then, and if it cannot be answered, all stays as it is. Returns
 * whether this is still the one that was wanted, and why it cannot be answered.
 * @param {Search} search
 * @param {string} [mailboxId]
 */
export async function prepare(search, mailboxId = ALL) {
  giveUp();
  const list = listOf(mailboxId, search);
  prepared = list;
  await list.rows.first();
  return { isWanted: prepared === list, failure: list.rows.failure.peek() };
}

/** Wants no search any more. */
export function giveUp() {
  prepared?.rows.stop();
  prepared = null;
}

/**
 * Shows the list of a mailbox or a search.
 * @param {string} mailboxId
 * @param {Search} search
 */
export function show(mailboxId, search) {
  const key = keyOf(mailboxId, search);
  const before = current.peek();
  if (before?.key === key) return;
  const isPrepared = prepared?.key === key;
  const list = (isPrepared ? prepared : lists.get(key)) ?? listOf(mailboxId, search);
  if (before && isPrepared && before.search) {
    // One types on: the history has forgotten what was shown.
    lists.delete(before.key);
    if (before.search === list.search && before.rows.becomes(list.rows)) {
      lists.set(key, Object.assign(before, { key }));
      giveUp();
      return;
    }
  }
  leave(before);
  selected.value = new Set();
  if (isPrepared) prepared = null;
  giveUp();
  lists.delete(key);
  lists.set(key, list);
  for (const old of lists.keys()) {
    if (lists.size > LISTS_MAX) lists.delete(old);
  }
  current.value = list;
  cursor.value = list.cursor;
  moveTo(list.top);
  if (list.isOld) refresh();
  list.isOld = true;
  wantSeen();
}

/** Keeps of a list that is shown no longer what shows it at once again. @param {List | null} list */
function leave(list) {
  isFocusAwaited = false;
  if (!list) return;
  Object.assign(list, { top: place.peek().top, cursor: cursor.peek() });
  list.rows.rest();
}

/**
 * Fetches the list again, unless it is of the state that the server tells. The row under the cursor stays
 * under it, wherever it is then.
 * @param {string} [state]
 */
export function refresh(state) {
  const list = current.peek();
  if (state) prepared?.rows.follow(state);
  else if (prepared) prepared.isOld = true;
  if (!list) return;
  if (state && list.rows.state === state) {
    list.rows.follow(state);
    return;
  }
  const id = list.rows.at(cursor.peek())?.id;
  const index = cursor.peek();
  const known = list.rows.version.peek();
  const stop = list.rows.version.subscribe((version) => {
    if (version === known) return;
    queueMicrotask(() => stop());
    if (current.peek() !== list || !id || cursor.peek() !== index) return;
    const moved = list.rows.indexOf(id);
    if (moved < 0 || moved === index || list.rows.at(index)?.id === id) return;
    const hasFocus = document.activeElement?.closest("#list .row") != null;
    cursor.value = moved;
    if (hasFocus) queueMicrotask(focusCursor);
    if (place.peek().top > 0) moveTo(place.peek().top + (moved - index) * measure.peek().row);
  });
  if (state) list.rows.follow(state);
  else list.rows.refresh();
}

/**
 * Moves the cursor, and shows and focuses the row there.
 * @param {number} index
 */
export function moveCursor(index) {
  const count = size.peek().count;
  if (count === 0) return;
  cursor.value = Math.min(Math.max(0, index), count - 1);
  moveTo(topShowing(size.peek(), place.peek().top, cursor.peek()));
  focusCursor();
}

/** Focuses the row under the cursor. */
export function focusCursor() {
  /** @type {HTMLElement | null} */
  const row = document.querySelector(`#list [data-index="${cursor.peek()}"] a`);
  row?.focus({ preventScroll: true });
}

/** Focuses the list: its row under the cursor, as soon as there is one. */
export function focusList() {
  isFocusAwaited = total.peek() === null;
  moveCursor(cursor.peek());
}

/** Fetches rows that are seen because there are more of them, and does what was awaited when rows come. */
export function followTotal() {
  if (total.value === null) return;
  queueMicrotask(wantSeen);
  if (margin.peek() === 0) requestAnimationFrame(() => setTimeout(() => (margin.value = MARGIN)));
  if (!isFocusAwaited) return;
  isFocusAwaited = false;
  queueMicrotask(() => moveCursor(cursor.peek()));
}

/** Opens the conversation under the cursor. */
export function openCursor() {
  const row = rows()?.at(cursor.peek());
  if (row) openRow(row);
}

/** Opens the conversation of a row, or goes on with a draft. @param {Row} row */
function openRow(row) {
  if (row.isDraft && isToday.peek()) draftWanted.value = row.id;
  else openMessage(row.id);
}

/** Puts the cursor on a message, if its row is known. @param {string} id */
export function pointAt(id) {
  const list = current.peek();
  if (!list || list.rows.at(cursor.peek())?.id === id) return;
  const index = list.rows.indexOf(id);
  if (index >= 0) cursor.value = index;
}

/** Shows the list from another place. @param {number} top */
function moveTo(top) {
  const to = placeAt(size.peek(), top);
  if (to.top !== place.peek().top || to.scroll !== place.peek().scroll) place.value = to;
  applyScroll();
  wantSeen();
}

/** Puts the scroll bar where the place says. */
export function applyScroll() {
  const element = scroller();
  if (!element || element.clientHeight === 0) return;
  const { scroll } = place.peek();
  if (Math.abs(element.scrollTop - scroll) < 1) return;
  element.scrollTop = scroll;
  scrollSet = element.scrollTop;
}

function scroller() {
  return document.getElementById("scroller");
}

/** @param {Event} event */
function onScroll(event) {
  const element = /** @type {HTMLElement} */ (event.currentTarget);
  if (element.clientHeight === 0) return;
  if (Math.abs(element.scrollTop - scrollSet) < 1) {
    scrollSet = -1;
    return;
  }
  scrollSet = -1;
  place.value = scrolled(size.peek(), place.peek(), element.scrollTop);
  wantSeen();
  clearTimeout(restTimer);
  restTimer = window.setTimeout(() => moveTo(place.peek().top), REST_MS);
}

/** Fetches the rows that are seen. */
function wantSeen() {
  const list = current.peek();
  if (!list) return;
  const isKnown = list.rows.total.peek() !== null;
  const [first, end] = isKnown ? rowsSeen(size.peek(), place.peek().top, MARGIN) : [0, 1];
  list.rows.want(first, end);
}

/** Watches the height of the list and of a row: both depend on the window and on the size of letters. */
export function watchSize() {
  const element = scroller();
  const probe = document.getElementById("row-height");
  if (!element || !probe) return;
  const observer = new ResizeObserver(() => {
    const next = { row: probe.offsetHeight, view: element.clientHeight };
    if (next.view === 0 || next.row === 0) return;
    const { row, view } = measure.peek();
    if (next.row !== row || next.view !== view) measure.value = next;
    moveTo((place.peek().top / row) * next.row);
  });
  observer.observe(element);
  observer.observe(probe);
}

/**
 * Draws the list.
 * @param {() => Drawing} [head] What stands in the place of the heading, if anything does.
 * @param {(row: Row) => Drawing} [tools]
 */
export function draw(head = () => null, tools = () => null) {
  const list = current.value;
  const count = size.value.count;
  return html`
    <div class="list-head">${head() ?? heading()}</div>
    <div id="scroller" class="scroller" onScroll=${onScroll} tabindex=${count === 0 ? 0 : -1}>
      <div id="row-height" aria-hidden="true"></div>
      ${list ? content(list, count, tools) : unknown()}
    </div>`;
}

function heading() {
  const { search } = route.value;
  const count = total.value;
  const unread = mailbox.value?.unreadThreads ?? 0;
  const title = search ? say("resultsFor", { words: search }) : mailboxes.value ? nameOf(mailbox.value) : "";
  const counted = count === null ? "" : say(search ? "results" : "conversations", { count });
  const isGone = search !== "" && route.value.mailbox === GONE;
  if (isGone) return html`<h1 dir="auto">${title}</h1><p class="count">${say("gone")}, ${counted}</p>`;
  const detail = search || unread === 0 ? counted : `${counted}, ${say("unread", { count: unread })}`;
  return html`<h1 dir="auto">${title || (connection.value === "login" ? "pneu" : say("loading"))}</h1><p class="count">${detail}</p>`;
}

/** Draws the list while nobody knows it. Who must log in first waits for nothing. */
function unknown() {
  if (connection.value === "login") return null;

  const ghosts = Array.from(
    { length: 8 },
    (_, index) => html`<li key=${index} class="row ghost"
    style=${{ transform: `translateY(${index * measure.value.row}px)` }}>${ghost()}</li>`,
  );
  return html`<ul class="rows" role="list" aria-label=${say("loading")}>${ghosts}</ul>`;
}

/**
 * @param {List} list
 * @param {number} count
 * @param {(row: Row) => Drawing} tools
 */
function content(list, count, tools) {
  if (list.rows.failure.value) {
    const { message, details } = list.rows.failure.value;
    const why = list.rows.why || say(details.position ? "searchWrong" : "failed", { reason: message });
    return html`<div class="note"><p>${why}</p></div>`;
  }
  if (list.rows.total.value === null) return unknown();
  if (count === 0) return nothing();
  void list.rows.version.value;
  const { top, scroll } = place.value;
  const [first, end] = rowsSeen(size.value, top, margin.value);
  const indexes = Array.from({ length: end - first }, (_, index) => first + index);
  // The row with the focus stays, however far away it is.
  const at = cursor.value;
  if (at < first) indexes.unshift(at);
  else if (at >= end && at < count) indexes.push(at);
  const drawn = indexes.map((index) => {
    const shift =
      index === at && (at < first || at >= end) ? -2 * size.value.row : index * size.value.row - top + scroll;
    return drawRow(list.rows.at(index), index, [count, shift], tools);
  });
  const height = elementHeight(size.value);
  return html`<ul class="rows" role="list" aria-label=${say("list")} style=${{ height: `${height}px` }}>${drawn}</ul>`;
}

function nothing() {
  const isGone = route.value.mailbox === GONE;
  if (!route.value.search)
    return html`<div class="note">${icon(isGone ? "gone" : "inbox")}<p>${say("empty")}</p></div>`;
  return html`<div class="note">${icon("search")}<p>${say("emptySearch")}</p><p>${say("emptySearchHint")}</p></div>`;
}

/**
 * @param {Row | undefined} row
 * @param {number} index
 * @param {[count: number, shift: number]} at
 * @param {(row: Row) => Drawing} tools
 */
function drawRow(row, index, [count, shift], tools) {
  const isAt = index === cursor.value;
  const isOpen = row !== undefined && isAt && route.value.message !== "";
  const names = [
    "row",
    row ? "" : "ghost",
    row?.isUnread ? "unread" : "",
    isAt ? "at" : "",
    isOpen ? "open" : "",
    row && isSelected(row.id) ? "selected" : "",
  ];
  return html`<li key=${index} class=${names.filter(Boolean).join(" ")} data-index=${index} aria-posinset=${index + 1}
    aria-setsize=${count} style=${{ transform: `translateY(${shift}px)` }}>
    ${row ? [box(row, index), link(row, index, isAt, isOpen), tools(row)] : ghost()}</li>`;
}

/** @param {Row} row @param {number} index */
function box(row, index) {
  // The label has no default: some browsers pass no click with Shift on to the box.
  const click = (/** @type {MouseEvent} */ event) => {
    if (!(event.target instanceof HTMLInputElement)) event.preventDefault();
    void select(index, event.shiftKey);
  };
  return html`<label class="box" onClick=${click}><input type="checkbox" tabindex="-1" checked=${isSelected(row.id)}
    aria-label=${say("select")} /></label>`;
}

function ghost() {
  return html`<span class="ghost-line"></span><span class="ghost-line"></span><span class="ghost-line"></span>`;
}

/**
 * @param {Row} row
 * @param {number} index
 * @param {boolean} isAt
 * @param {boolean} isOpen
 */
function link(row, index, isAt, isOpen) {
  const open = (/** @type {MouseEvent} */ event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    cursor.value = index;
    openRow(row);
  };
  const marks = [
    row.isAnswered &&
      html`<span class="mark" role="img" aria-label=${say("isAnswered")}>${icon("reply")}</span>`,
    row.hasAttachment &&
      html`<span class="mark" role="img" aria-label=${say("hasAttachment")}>${icon("clip")}</span>`,
    row.isFlagged &&
      html`<span class="mark flag" role="img" aria-label=${say("isFlagged")}>${icon("flag")}</span>`,
  ];
  const many = row.emailIds.length;
  const subject = row.subject.join("") ? marked(row.subject) : say("noSubject");
  return html`<a href=${address({ message: row.id })} tabindex=${isAt ? 0 : -1} onClick=${open}
    aria-current=${isOpen ? "true" : undefined} onFocus=${() => {
      cursor.value = index;
    }}>
    <span class="line">
      ${row.isUnread && html`<span class="dot" role="img" aria-label=${say("isUnread")}></span>`}
      <bdi class="who">${writers(row.from)}</bdi>
      ${many > 1 && html`<span class="many" title=${say("messages", { count: many })}>${number(many)}</span>`}
      <time dateTime=${row.receivedAt} title=${`${long(row.receivedAt)} (${ago(row.receivedAt, now.value)})`}
        >${short(row.receivedAt, now.value)}</time>
    </span>
    <span class="line">${row.tags.map((tag) => html`<bdi class="tag">${tagOf(tag)}</bdi>`)}<bdi class="subject"
      >${row.isDraft && html`<em>${say("draft")}</em> `}${subject}</bdi>${marks}</span>
    <bdi class="preview">${marked(row.preview)}</bdi></a>`;
}

/** Draws a text of which each odd piece was found. @param {string[]} pieces */
function marked(pieces) {
  return pieces.map((text, index) => (index % 2 === 1 ? html`<mark>${text}</mark>` : text));
}
