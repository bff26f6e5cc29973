// What is below the search field: what can be typed there, and what is wrong with the query; and the marks in
// the field. Touches the field. Asks the server. Is loaded when the field is used: see search.js.

import { computed, effect, signal } from "./vendor/signals-core.mjs";
import { html } from "./html.js";
import "./i18n-search.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { Refused, Unreachable, request } from "./jmap.js";
import { failure } from "./list.js";
import { isUnfinished, problemIn } from "./queries.js";
import { drawMarks as marksOf, drawProblem, scrollMarks, spoken } from "./query-problem.js";
import { element, isTyping, put, refused, typed } from "./search.js";
import { line } from "./text.js";
import { announcement, route } from "./store.js";

/**
 * @typedef {{ kind: string, label: string, about: string, text: string, start: number, end: number }} Suggestion
 */

/** How many suggestions there are while one types, and where one chooses: so many that most lists are whole. */
const TYPING_MAX = 6;
const CHOOSING_MAX = 40;
/** After this time without typing, mistakes are marked: what is half typed is often wrong. */
const MISTAKE_REST_MS = 300;

/** What each kind of suggestion looks like, and is called. @type {Record<string, [import("./icons.js").Icon, string]>} */
const KINDS = {
  field: ["filter", "kindField"],
  flag: ["flag", "kindFlag"],
  person: ["person", "kindPerson"],
  folder: ["folder", "kindFolder"],
  tag: ["tag", "kindTag"],
  savedQuery: ["star", "kindSaved"],
  date: ["date", "kindDate"],
  value: ["check", "kindValue"],
};

/** What is suggested, for which text, and which of it is chosen; -1 is none. */
const shown = signal({ text: "", list: /** @type {Suggestion[]} */ ([]), at: -1 });
/** What is to be asked for next. @type {{ text: string, position: number, limit: number } | null} */
let wanted = null;
let isAsking = false;
/** Counts the times that suggestions were closed: an answer to an earlier question comes too late. */
let closings = 0;
/** Whether nothing was typed for a while, or what was typed is meant as it is. */
const isResting = signal(true);
let restTimer = 0;

/** What is wrong with the query in the field. */
export const problem = computed(() => {
  const text = typed.value;
  const words = text.trim();
  const isShown = words === route.value.search;
  const error = refused.value.text === words ? refused.value.error : isShown ? failure.value : null;
  if (!error || !words || !isResting.value) return null;
  const found = problemIn(text, error.message, error.details);
  return isTyping.value && found.at && isUnfinished(found.at) ? null : found;
});

effect(() => {
  if (problem.value) announcement.value = spoken(problem.value);
});

/** Whether there are suggestions. */
export function isOpen() {
  return shown.value.list.length > 0;
}

/** Returns the element that is chosen. */
export function optionId() {
  return shown.value.at >= 0 ? `search-option-${shown.value.at}` : undefined;
}

/** Closes the suggestions. */
export function close() {
  closings += 1;
  wanted = null;
  shown.value = { text: "", list: [], at: -1 };
}

/** Suggests what can be typed, after each letter, and marks mistakes once no more come. */
export function followTyping() {
  clearTimeout(restTimer);
  isResting.value = false;
  restTimer = window.setTimeout(() => {
    isResting.value = true;
  }, MISTAKE_REST_MS);
  suggest();
}

/** Nobody types any more. */
export function rest() {
  clearTimeout(restTimer);
  isResting.value = true;
  close();
}

/**
 * Asks what can be typed where the cursor is. There is one request at a time, and the last question counts.
 * @param {boolean} [isAsked]
 */
export function suggest(isAsked = false) {
  const field = element();
  if (!field || document.activeElement !== field) return;
  const { value } = field;
  const position = field.selectionEnd ?? value.length;
  const limit = isAsked || value[position - 1] === ":" ? CHOOSING_MAX : TYPING_MAX;
  wanted = { text: value, position, limit };
  // What was chosen for another text is not taken. The list stays until there is a new one.
  if (isOpen()) choose(-1);
  if (!isAsking) void askAll();
}

async function askAll() {
  isAsking = true;
  while (wanted) {
    const asked = wanted;
    const before = closings;
    wanted = null;
    const list = await ask(asked);
    if (!wanted && before === closings && typed.peek() === asked.text)
      shown.value = { text: asked.text, list, at: -1 };
  }
  isAsking = false;
}

/** @param {{ text: string, position: number, limit: number }} asked @returns {Promise<Suggestion[]>} */
async function ask({ text, position, limit }) {
  try {
    const [answer] = await request([["Suggestion/query", { text, position, limit: limit + 1 }]]);
    /** @type {Suggestion[]} */
    const list = answer.list;
    // What would change nothing is only in the way.
    return list.filter((each) => each.text !== text.slice(each.start, each.end)).slice(0, limit);
  } catch (error) {
    if (error instanceof Refused || error instanceof Unreachable) return [];
    throw error;
  }
}

/** Takes a suggestion. @param {Suggestion} one */
function take(one) {
  const text = typed.peek();
  if (text !== shown.peek().text) return;
  const isField = one.text.endsWith(":");
  close();
  put(text.slice(0, one.start) + one.text + text.slice(one.end), one.start + one.text.length);
  // Now the values of the field can be typed.
  if (isField) suggest();
}

/** Does what a key in the field stands for, if it is about suggestions. @param {KeyboardEvent} event */
export function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.isComposing) return;
  const { list, at } = shown.peek();
  const chosen = list[at];
  if (event.altKey && event.key === "ArrowDown") suggest(true);
  else if (event.altKey || list.length === 0) return;
  else if (event.key === "ArrowDown") choose(at + 1 < list.length ? at + 1 : -1);
  else if (event.key === "ArrowUp") choose(at < 0 ? list.length - 1 : at - 1);
  else if (event.key === "Escape") close();
  else if (/^(Enter|Tab)$/.test(event.key) && !event.shiftKey && chosen) take(chosen);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** @param {number} at */
function choose(at) {
  shown.value = { ...shown.peek(), at };
  document.getElementById(String(optionId()))?.scrollIntoView({ block: "nearest" });
}

/** Draws marks behind the text of the field. */
export function drawMarks() {
  return marksOf(problem.value?.at, "search");
}

/** Keeps the marks behind their text. */
export function followScroll() {
  scrollMarks(element());
}

/** Draws what is below the field. */
export function draw() {
  const { list, at } = shown.value;
  const wrong = problem.value;
  // Over a list it is not in the way of those who have left the field.
  const stays = route.value.search !== "" && route.value.search === typed.value.trim();
  // A press here, on its scroll bar too, leaves the focus in the field.
  const stay = (/** @type {Event} */ event) => event.preventDefault();
  return html`<div class=${`search-panel${stays ? " stays" : ""}`} hidden=${list.length === 0 && !wrong} onMouseDown=${stay}>
    ${wrong && drawProblem(wrong, "search-problem")}
    <ul id="search-list" role="listbox" aria-label=${say("suggestions")} hidden=${list.length === 0}
      >${list.map((one, index) => option(one, index, index === at))}</ul></div>`;
}

/** @param {Suggestion} one @param {number} index @param {boolean} isChosen */
function option(one, index, isChosen) {
  const [picture, kind] = KINDS[one.kind] ?? ["check", "kindValue"];
  // A person without a name is called as the address is.
  const about = one.about !== one.label && line(one.about);
  return html`<li id=${`search-option-${index}`} role="option" aria-selected=${String(isChosen)}
    onClick=${() => take(one)}
    >${icon(/** @type {import("./icons.js").Icon} */ (picture))}<span class="unseen">${say(String(kind))}: </span
    ><bdi class="name">${line(one.label)}</bdi>${about && html` <bdi class="about">${about}</bdi>`}</li>`;
}
