// Numbers of all mail, or of what is searched for: how much, when, where, and from whom. Touches its place.
// Asks the server. Is loaded when it is needed: see elsewhere.js. Knows no rows.

import "./phrases-elsewhere.js";
import { signal, untracked } from "./vendor/signals-core.mjs";
import { html } from "./html.js";
import { locale, number, say } from "./i18n.js";
import { icon } from "./icons.js";
import { Refused, Unreachable, onChange, request, session } from "./jmap.js";
import { filterOf } from "./list.js";
import { nameOf, openMailbox } from "./mailboxes.js";
import { drawn, plot, table } from "./plots.js";
import { line } from "./text.js";
import { ALL, address, announcement, go, mailboxes, route } from "./store.js";

/**
 * @typedef {{ emails: number, bytes: number, threads: number }} Figures
 * @typedef {{ count: number, medianSeconds: number | null }} Replies
 * @typedef {{ total: Figures & { ownReplies: Replies, otherReplies: Replies },
 *   byMonth: (Figures & { month: string | null })[], byWeekday: (Figures & { weekday: number | null })[],
 *   byHour: (Figures & { hour: number | null })[], byMailbox: (Figures & { mailboxId: string | null })[],
 *   bySender: (Figures & { address: string, name: string })[], senderCount: number }} Answer
 * @typedef {{ filter: string, answer: Answer | null, isWaiting: boolean, failure: string }} State
 * @typedef {{ key: string, label: unknown, href: string, open?: () => void, value: number }} Bar
 */

/** An answer that took longer is not asked for again without need. */
const QUICK_MS = 500;
/** How many bars are shown at first. */
const BARS = 10;
const SENDERS_MAX = 50;
/** Plots side by side are this wide at least. */
const SIDE_MIN = 380;
const PADDING = 24;
const WIDTH_MAX = 1040;
const HEIGHT = 200;

const UNITS = /** @type {const} */ ([
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
]);

/** @type {import("./vendor/signals-core.mjs").Signal<State | null>} */
const current = signal(null);
/** Whether the mail has changed since it was counted. */
const isStale = signal(false);
/** Lists that are shown whole. @type {import("./vendor/signals-core.mjs").Signal<Set<string>>} */
const whole = signal(new Set());
const width = signal(0);
let abort = new AbortController();
let tookMs = 0;
/** What was counted when the view was opened. @type {string | null} */
let counted = null;

const place = /** @type {HTMLElement} */ (document.getElementById("statistics"));
place.setAttribute("aria-label", say("statistics"));
new ResizeObserver(() => {
  width.value = place.clientWidth;
}).observe(place);

onChange(() => {
  if (!route.peek().view || counted === null) return;
  if (tookMs < QUICK_MS || current.peek()?.isWaiting) void load();
  else isStale.value = true;
});

/** Counts what the address says, once the server is there. */
export function follow() {
  const { view } = route.value;
  const isThere = session.value !== null;
  untracked(() => {
    if (!view) counted = null;
    else if (isThere && counted !== JSON.stringify(shownFilter())) void load();
  });
}

/** Returns what is counted. */
function shownFilter() {
  return filterOf(ALL, route.peek());
}

async function load() {
  abort.abort();
  abort = new AbortController();
  const { signal: signalled } = abort;
  const asked = shownFilter();
  const filter = JSON.stringify(asked);
  counted = filter;
  isStale.value = false;
  const before = current.peek();
  const known = before?.filter === filter ? before.answer : null;
  current.value = { filter, answer: known, isWaiting: true, failure: "" };
  const begin = performance.now();
  const args = { filter: asked, utcOffset: -new Date().getTimezoneOffset(), maxSenders: SENDERS_MAX };
  try {
    const [answer] = await request([["Statistics/get", args]], signalled, ["statistics", "query"]);
    if (signalled.aborted) return;
    tookMs = performance.now() - begin;
    current.value = { filter, answer, isWaiting: false, failure: "" };
    announcement.value = `${say("statistics")}: ${say("messages", { count: answer.total.emails })}`;
  } catch (error) {
    if (signalled.aborted || error instanceof Unreachable) return;
    if (!(error instanceof Refused)) throw error;
    current.value = { filter, answer: null, isWaiting: false, failure: say("failed", { reason: error.message }) };
  }
}

/** Draws the view. */
export function draw() {
  const { view, search } = route.value;
  if (!view) return null;
  const state = current.value;
  const leave = (/** @type {MouseEvent} */ event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go({});
  };
  return html`<div class="figures" aria-busy=${String(state?.isWaiting ?? true)}>
    <header><div><h1>${say("statistics")}</h1>
    <p class="count" dir="auto">${search ? say("resultsFor", { words: search }) : say("all")}</p></div>
    <a class="button" href=${address({})} onClick=${leave}>${icon("back")}${say("leaveFigures")}</a></header>
    ${
      isStale.value &&
      html`<p class="stale" role="status">${say("figuresStale")}
      <button type="button" class="button" onClick=${() => void load()}>${say("countAgain")}</button></p>`
    }
    ${inner(state)}</div>`;
}

/** @param {State | null} state */
function inner(state) {
  if (state?.failure) return html`<div class="note"><p role="alert">${state.failure}</p></div>`;
  if (!state?.answer)
    return html`<div class="note"><p role="status">${say("counting")}</p></div>`;
  const { total } = state.answer;
  if (total.emails === 0) return html`<div class="note">${icon("statistics")}<p>${say("emptySearch")}</p></div>`;
  const room = Math.min(WIDTH_MAX, width.value - 2 * PADDING);
  if (room <= 0) return null;
  const isWide = room >= 2 * SIDE_MIN + PADDING;
  const side = isWide ? (room - PADDING) / 2 : room;
  return [
    totals(total),
    byMonth(state.answer, room),
    html`<div class="side-by-side">${byWeekday(state.answer, side)}${byHour(state.answer, side)}</div>`,
    html`<div class="side-by-side">${byMailbox(state.answer)}${bySender(state.answer)}</div>`,
  ];
}

/** @param {Answer["total"]} total */
function totals({ emails, threads, bytes, ownReplies, otherReplies }) {
  const entries = [
    [say("figuresEmails"), number(emails)],
    [say("list"), number(threads)],
    [say("figuresSize"), sizeOf(bytes)],
    ...(ownReplies.medianSeconds === null ? [] : [[say("ownReplies"), duration(ownReplies.medianSeconds), say("replies", { count: ownReplies.count })]]),
    ...(otherReplies.medianSeconds === null ? [] : [[say("otherReplies"), duration(otherReplies.medianSeconds), say("replies", { count: otherReplies.count })]]),
  ];
  return html`<dl class="totals">${entries.map(
    ([name, value, more]) => html`<div><dt>${name}</dt><dd>${value}${more && html` <span class="count">${more}</span>`}</dd></div>`,
  )}</dl>`;
}

/** @param {Answer} answer @param {number} room */
function byMonth({ byMonth: groups }, room) {
  const { groups: months, left, isInYears } = drawn(groups);
  const first = months[0]?.month ?? "";
  const title = say(isInYears ? "byYear" : "byMonth");
  const isShort = months.length <= 24;
  const columns = months.map(({ month, emails }) => {
    const isYear = isInYears || String(month).endsWith("-01");
    const label = isShort && !isInYears ? monthName(month, isYear || month === first ? "2-digit" : undefined, "short") : isYear ? String(month).slice(0, 4) : "";
    return { label, title: `${timeName(month)}: ${say("messages", { count: emails })}`, value: emails };
  });
  const most = months.reduce((best, each) => (each.emails > best.emails ? each : best), months[0] ?? NONE);
  const values = { first: timeName(first), last: timeName(months.at(-1)?.month ?? ""), most: timeName(most.month), count: most.emails };
  const about = `${title}. ${months.length > 0 ? say("monthsAbout", values) : ""}`;
  const rows = months.filter(({ emails }) => emails > 0).map((each) => row(monthLink(each.month), each));
  const strays = left.map((each) => row(each.month === null ? say("noDate") : monthLink(each.month), each));
  const without = left.reduce((sum, { emails }) => sum + emails, 0);
  return figure(title, plot(about, columns, { width: room, height: HEIGHT + 30 }), [
    without > 0 && html`<p class="count">${say("notDrawn", { count: without })}</p>`,
    asTable(say(isInYears ? "year" : "month"), [...rows, ...strays]),
  ]);
}

const NONE = { month: "", emails: 0, bytes: 0, threads: 0 };

/** @param {Answer} answer @param {number} room */
function byWeekday({ byWeekday: groups }, room) {
  const all = Array.from({ length: 7 }, (_, index) => groups.find(({ weekday }) => weekday === index + 1) ?? NONE);
  const long = all.map((_, index) => weekdayName(index, "long"));
  const columns = all.map(({ emails }, index) => ({
    label: weekdayName(index, "short"),
    title: `${long[index]}: ${say("messages", { count: emails })}`,
    value: emails,
  }));
  const rows = all.map((each, index) => row(long[index], each));
  return figure(say("byWeekday"), plot(mostly(say("byWeekday"), columns), columns, { width: room, height: HEIGHT }), [
    asTable(say("weekday"), rows),
  ]);
}

/** @param {Answer} answer @param {number} room */
function byHour({ byHour: groups }, room) {
  const all = Array.from({ length: 24 }, (_, index) => groups.find(({ hour }) => hour === index) ?? NONE);
  const columns = all.map(({ emails }, hour) => ({
    label: String(hour),
    title: `${say("hourOf", { hour: String(hour) })}: ${say("messages", { count: emails })}`,
    value: emails,
  }));
  const rows = all.map((each, hour) => row(say("hourOf", { hour: String(hour) }), each));
  return figure(say("byHour"), plot(mostly(say("byHour"), columns), columns, { width: room, height: HEIGHT }), [
    asTable(say("hour"), rows),
  ]);
}

/** Returns what a screen reader says of a plot. @param {string} title @param {import("./plots.js").Column[]} columns */
function mostly(title, columns) {
  const [first] = [...columns].sort((a, b) => b.value - a.value);
  return `${title}. ${say("mostly", { what: first?.title ?? "" })}`;
}

/** @param {Answer} answer */
function byMailbox({ byMailbox: groups }) {
  const list = groups.flatMap(({ mailboxId, emails }) => {
    const mailbox = mailboxes.value?.find(({ id }) => id === mailboxId);
    if (!mailbox) return [];
    const href = address({ mailbox: mailbox.id, search: "", message: "" });
    return [{ key: mailbox.id, label: nameOf(mailbox), href, open: () => openMailbox(mailbox.id), value: emails }];
  });
  return bars(say("byMailbox"), "mailboxes", list.sort((a, b) => b.value - a.value));
}

/** @param {Answer} answer */
function bySender({ bySender: groups, senderCount }) {
  const list = groups.map(({ address: from, name, emails }) => {
    const search = narrowed(`from:"${from.replace(/["\\]/g, "\\$&")}"`);
    const label = name && line(name) !== line(from) ? html`${line(name)} <span class="count">${line(from)}</span>` : line(from);
    return { key: from, label, href: address({ mailbox: ALL, search, message: "" }), value: emails };
  });
  return bars(say("bySender"), "senders", list, senderCount);
}

/** Returns a query that finds less than what is searched for. @param {string} query */
function narrowed(query) {
  const { search } = route.value;
  return search ? `(${search}) ${query}` : query;
}

/**
 * Draws numbers as bars, each of which leads somewhere.
 * @param {string} title
 * @param {string} key
 * @param {Bar[]} list The largest first.
 * @param {number} [count] How many there are, if not all of them are known.
 */
function bars(title, key, list, count = list.length) {
  const shown = whole.value.has(key) ? list : list.slice(0, BARS);
  const most = Math.max(...list.map(({ value }) => value), 1);
  const more = () => {
    whole.value = new Set(whole.peek()).add(key);
  };
  return html`<figure><figcaption><h2>${title}</h2></figcaption><ol class="bars" role="list">${shown.map(
    ({ key: id, label, href, open, value }) => {
      const click = (/** @type {MouseEvent} */ event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || !open) return;
        event.preventDefault();
        open();
      };
      return html`<li key=${id}><a href=${href} onClick=${click}><bdi>${label}</bdi>
        <span class="value">${number(value)}</span>
        <span class="bar" aria-hidden="true" style=${{ width: `${Math.max(0.5, (value / most) * 100)}%` }}></span></a></li>`;
    },
  )}</ol>${
    shown.length < list.length &&
    html`<button type="button" class="more" onClick=${more}>${say("showAll", { count: list.length })}</button>`
  }${
    count > list.length && shown.length === list.length && html`<p class="count">${say("ofAll", { count })}</p>`
  }</figure>`;
}

/** @param {string} title @param {unknown} drawing @param {unknown[]} below */
function figure(title, drawing, below) {
  return html`<figure><figcaption><h2>${title}</h2></figcaption>${drawing}${below}</figure>`;
}

/** @param {unknown} head @param {Figures} figures */
function row(head, { emails, threads, bytes }) {
  return [head, emails, threads, sizeOf(bytes)];
}

/** @param {string} head @param {unknown[][]} rows */
function asTable(head, rows) {
  const heads = [head, say("figuresEmails"), say("list"), say("figuresSize")];
  return html`<details><summary>${say("asTable")}</summary><div class="table" tabindex="0" role="region" aria-label=${head}>${table(heads, rows)}</div></details>`;
}

/** @param {string | null} month */
function monthLink(month) {
  const search = narrowed(`date:${month}`);
  return html`<a href=${address({ mailbox: ALL, search, message: "" })}>${timeName(month)}</a>`;
}

/** Returns the name of a month, or a year as it is. @param {string | null} time */
function timeName(time) {
  return String(time).includes("-") ? monthName(time, "numeric", "long") : String(time);
}

/**
 * @param {string | null} month
 * @param {"numeric" | "2-digit" | undefined} year
 * @param {"long" | "short"} style
 */
function monthName(month, year, style) {
  const format = new Intl.DateTimeFormat(locale, { month: style, ...(year ? { year } : {}), timeZone: "UTC" });
  return format.format(new Date(`${month}-15T12:00:00Z`));
}

/** @param {number} index From 0 for Monday. @param {"long" | "short"} style */
function weekdayName(index, style) {
  const format = new Intl.DateTimeFormat(locale, { weekday: style, timeZone: "UTC" });
  return format.format(new Date(Date.UTC(2024, 0, 1 + index)));
}

/** @param {number} bytes */
function sizeOf(bytes) {
  const units = /** @type {const} */ (["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"]);
  const index = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** index;
  return unit(value, String(units[index]), "short");
}

/** @param {number} seconds */
function duration(seconds) {
  const [name, length] = UNITS.find(([, each]) => seconds >= each) ?? ["minute", 60];
  return unit(seconds / length, name, "long");
}

/** @param {number} value @param {string} name @param {"short" | "long"} unitDisplay */
function unit(value, name, unitDisplay) {
  const digits = value < 10 ? 1 : 0;
  const style = { style: "unit", unit: name, unitDisplay, maximumFractionDigits: digits };
  return new Intl.NumberFormat(locale, /** @type {Intl.NumberFormatOptions} */ (style)).format(value);
}
