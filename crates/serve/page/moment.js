// A moment in the past: the dialog that asks for it, and the line that says which one is shown. Touches its
// dialog. Is loaded when it is needed: see elsewhere.js. Knows no messages.

import { showDialog } from "./dialog.js";
import "./phrases-elsewhere.js";
import { signal } from "./vendor/signals-core.mjs";
import { ago, long } from "./dates.js";
import { html } from "./html.js";
import { locale, say } from "./i18n.js";
import { icon } from "./icons.js";
import { Refused, Unreachable } from "./jmap.js";
import { firstMoment, whyNot } from "./members.js";
import { ALL, GONE, asOf, go, now, replace, route } from "./store.js";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Moments that are offered, by how many days ago they are. */
const AGO = /** @type {const} */ ([
  ["yesterday", 1],
  ["weekAgo", 7],
  ["monthAgo", 30],
  ["yearAgo", 365],
]);

const brief = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });

const isOpen = signal(false);
/** What is in the field, in the time of the browser. */
const typed = signal("");
/** Why it cannot be shown. */
const problem = signal("");
/** The first backup: unknown, none, or its time. @type {import("./vendor/signals-core.mjs").Signal<string | null | undefined>} */
const first = signal(undefined);

/** Asks for a moment. */
export async function open() {
  const { at } = route.peek();
  typed.value = local(at ? Date.parse(at) : Date.now());
  problem.value = "";
  first.value = undefined;
  isOpen.value = true;
  try {
    first.value = await firstMoment();
    if (first.value === null) problem.value = say("noBackup");
  } catch (error) {
    if (error instanceof Refused) problem.value = whyNot(error);
    else if (error instanceof Unreachable) problem.value = say("lost");
    else throw error;
  }
}

/** Opens and closes the dialog as the state says. */
export function follow() {
  showDialog("moment", isOpen.value, close);
}

function close() {
  isOpen.value = false;
}

/** Returns a time as the field has it. @param {number} timeMs */
function local(timeMs) {
  const offset = new Date(timeMs).getTimezoneOffset() * MINUTE_MS;
  return new Date(timeMs - offset).toISOString().slice(0, 16);
}

/** Returns a time as the address has it; seconds, where they count. @param {number} timeMs */
function written(timeMs) {
  const text = new Date(timeMs).toISOString();
  return text.slice(17, 19) === "00" ? `${text.slice(0, 16)}Z` : `${text.slice(0, 19)}Z`;
}

/** Shows a moment. @param {number} timeMs */
function show(timeMs) {
  const begin = first.peek();
  if (Number.isNaN(timeMs)) problem.value = say("noMoment");
  else if (begin && timeMs < Date.parse(begin)) problem.value = say("tooEarly", { date: long(begin) });
  else {
    const { mailbox } = route.peek();
    close();
    const at = written(timeMs);
    go({ at, message: "", mailbox: mailbox === GONE ? ALL : mailbox });
  }
}

/** Shows the mail of today again. */
function leave() {
  close();
  go({ at: "" });
}

/** Draws the dialog. */
export function drawDialog() {
  if (!isOpen.value) return null;
  const begin = first.value;
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    show(Date.parse(typed.peek()));
  };
  const type = (/** @type {Event} */ event) => {
    typed.value = /** @type {HTMLInputElement} */ (event.currentTarget).value;
    problem.value = "";
  };
  const offered = AGO.map(([phrase, days]) => ({ phrase, timeMs: now.value - days * DAY_MS }));
  const possible = begin ? offered.filter(({ timeMs }) => timeMs >= Date.parse(begin)) : [];
  return html`<form class="ask moment" onSubmit=${submit}>
    <h2 id="moment-title">${say("momentTitle")}</h2>
    <p id="moment-about">${say("momentAbout")}${begin && ` ${say("firstBackup", { date: long(begin) })}`}</p>
    <input class="field" type="datetime-local" aria-label=${say("momentField")} aria-describedby="moment-about moment-problem"
      value=${typed.value} max=${local(now.value)} min=${begin ? local(Date.parse(begin) + MINUTE_MS - 1) : undefined} onInput=${type}
      autofocus />
    <p id="moment-problem" class="problem" role="alert">${problem.value}</p>
    ${
      possible.length > 0 &&
      html`<p class="offers">${possible.map(
        ({ phrase, timeMs }) =>
          html`<button type="button" class="button" onClick=${() => show(timeMs)}>${say(phrase)}</button>`,
      )}</p>`
    }
    <p class="buttons">${
      route.value.at
        ? html`<button type="button" class="button" onClick=${leave}>${say("today")}</button>`
        : html`<button type="button" class="button" onClick=${close}>${say("cancel")}</button>`
    }<button type="submit" class="button main">${say("momentShow")}</button></p></form>`;
}

/** Draws the line that says which moment is shown, and from which backup. */
export function drawNotice() {
  const { at } = route.value;
  const [newest] = asOf.value;
  const earlier = () => replace({ at: written(Date.parse(String(newest)) - 1000), message: "" });
  const backups = asOf.value.map((each) => brief.format(new Date(each))).join("; ");
  return html`<div class="notice past">${icon("moment")}
    <p><strong>${say("isPast", { date: brief.format(new Date(at)) })}</strong>${" "}
    ${newest && html`<span title=${ago(newest, now.value)}>${say("fromBackup", { count: asOf.value.length, date: backups })}</span>`}</p>
    <span class="past-buttons">${newest && html`<button type="button" onClick=${earlier}>${say("earlier")}</button>`}
    <button type="button" onClick=${() => void open()}>${say("otherMoment")}</button>
    <button type="button" onClick=${leave}>${say("today")}</button></span></div>`;
}
