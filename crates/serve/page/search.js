// Searching as one types: words become an address, once the server understands them. The word that is being
// typed may go on; Enter says that it is whole. Touches its field. Knows neither rows nor requests. What one
// sees below the field is loaded when the field is used: see search-panel.js.

import { signal } from "./vendor/signals-core.mjs";
import { html } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { later } from "./later.js";
import { failure, giveUp, isWaiting, prepare } from "./list.js";
import { loadSide, side } from "./saved.js";
import { go, replace, route } from "./store.js";

/** @typedef {typeof import("./search-panel.js")} Panel @typedef {import("./list.js").Search} Search */

/** After this time without typing, the words are searched for: letters that come together are one question. */
const REST_MS = 25;

/** What is in the field. */
export const typed = signal(route.peek().search);
/** Whether the cursor is where the query may still go on. */
export const isTyping = signal(false);
/** What is asked for, and is not shown yet. */
const asked = signal(/** @type {Search | null} */ (null));
/** A query that was not answered, and why. */
export const refused = signal({ text: "", error: /** @type {import("./jmap.js").Refused | null} */ (null) });
/** @type {import("./vendor/signals-core.mjs").Signal<Panel | null>} */
const panel = signal(null);
let timer = 0;
/** What the address said when the field last followed it, and whether the field changes it now. */
let followed = route.peek();
let isOwn = false;
/** @type {Promise<boolean>} */
let answer = Promise.resolve(true);

/** The field shows what was searched for, after going back too. Who opens a message leaves it as it is. */
export function followAddress() {
  const before = followed;
  const now = route.value;
  followed = now;
  const isFirst = !before.mailbox && before.search === now.search;
  const isMessage = now.message !== before.message && now.mailbox === before.mailbox && now.search === before.search;
  if (isOwn || isFirst || isMessage) return;
  forget();
  if (now.search !== typed.peek().trim()) typed.value = now.search;
}

/** Loads what is below the field and in it, as soon as there is something to say or to save. */
export function followSearch() {
  if (refused.value.error || (failure.value && route.value.search)) void loadPanel();
  if (route.value.search) void loadSide();
}

/** Forgets what was asked for. */
function forget() {
  clearTimeout(timer);
  giveUp();
  asked.value = null;
  refused.value = { text: "", error: null };
}

/** Puts the cursor into the field. */
export function focusSearch() {
  const field = element();
  field?.focus();
  field?.select();
}

/** Shows the mailbox again. Returns whether there was anything to clear. */
export function clearSearch() {
  if (!typed.peek() && !route.peek().search) return false;
  typed.value = "";
  void apply(whole());
  return true;
}

export function element() {
  return /** @type {HTMLInputElement | null} */ (document.getElementById("search"));
}

/** Searches for what is in the field, now, and tells all mistakes. Returns whether it is shown. */
export function submit() {
  stopTyping();
  return apply(whole());
}

/** Returns what is in the field as a search for whole words. @returns {Search} */
function whole() {
  return { search: typed.peek().trim(), endsInPrefix: false };
}

/** Returns the same while it is being typed: the word at the end may go on. @returns {Search} */
function unfinished() {
  return { search: typed.peek().trim(), endsInPrefix: isTyping.peek() && /\S$/.test(typed.peek()) };
}

/** @param {Search} one @param {Search | null} other */
function isSame(one, other) {
  return one.search === other?.search && one.endsInPrefix === other.endsInPrefix;
}

/**
 * Searches. Returns whether it is shown: not if the server does not understand it.
 * @param {Search} search
 * @returns {Promise<boolean>}
 */
function apply(search) {
  clearTimeout(timer);
  if (search.search && isSame(search, asked.peek())) return answer;
  forget();
  if (isSame(search, route.peek())) return Promise.resolve(true);
  if (!search.search) {
    show(search);
    return Promise.resolve(true);
  }
  asked.value = search;
  answer = ask(search);
  return answer;
}

/** @param {Search} search */
async function ask(search) {
  const { isWanted, failure: error } = await prepare(search);
  if (!isWanted) return false;
  asked.value = null;
  if (error) refused.value = { text: search.search, error };
  else show(search);
  return !error;
}

/** Makes a search the address. It is one step back, however many letters it had. @param {Search} search */
function show(search) {
  const before = route.peek();
  isOwn = true;
  // Numbers stay, of what is searched for then, and so does a message, if only the last word is whole now.
  const message = before.search === search.search ? before.message : "";
  const to = { view: before.view, ...search, message };
  if (before.search && search.search) replace(to);
  else go(to);
  isOwn = false;
}

/**
 * Puts a text of whole words into the field, with the cursor in it, and searches for it.
 * @param {string} text
 * @param {number} cursor
 */
export function put(text, cursor) {
  typed.value = text;
  element()?.setSelectionRange(cursor, cursor);
  isTyping.value = true;
  void apply(whole());
}

const load = later(() => import("./search-panel.js"), "/search.css");

/** Loads what is below the field. Without it one can search all the same; it is asked for again next time. */
async function loadPanel() {
  panel.value ??= await load().catch(() => null);
  return panel.value;
}

/** @param {Event} event */
function onInput(event) {
  const field = /** @type {HTMLInputElement} */ (event.currentTarget);
  typed.value = field.value;
  isTyping.value = field.selectionEnd === field.value.length;
  clearTimeout(timer);
  timer = window.setTimeout(() => void apply(unfinished()), REST_MS);
  void loadPanel().then((loaded) => loaded?.followTyping());
}

/** Who goes to another place of the query has typed what is at its end. @param {Event} event */
function onMove(event) {
  const field = /** @type {HTMLInputElement} */ (event.currentTarget);
  if (field.selectionEnd !== field.value.length) isTyping.value = false;
}

/** What is shown stays as it is. */
function stopTyping() {
  isTyping.value = false;
  panel.peek()?.rest();
}

/** Draws the field. */
export function draw() {
  const submitted = (/** @type {Event} */ event) => {
    event.preventDefault();
    void submit();
  };
  const clear = () => {
    clearSearch();
    element()?.focus();
  };
  const below = panel.value;
  const isWrong = Boolean(below?.problem.value);
  const isShown = route.value.search !== "" && route.value.search === typed.value.trim();
  const isAsked = asked.value !== null || (isWaiting.value && route.value.search !== "");
  return html`<form role="search" class=${`search${isAsked ? " waiting" : ""}`} onSubmit=${submitted}>
    ${icon("search")}
    <div class="search-text">${below?.drawMarks()}
    <input id="search" role="combobox" enterkeyhint="search" autocomplete="off" autocapitalize="off" spellcheck=${false}
      dir="auto" value=${typed.value} placeholder=${say("search")} aria-label=${say("search")} aria-autocomplete="list"
      aria-controls="search-list" aria-expanded=${String(below?.isOpen() ?? false)}
      aria-activedescendant=${below?.optionId()} aria-invalid=${isWrong ? "true" : undefined}
      aria-describedby=${isWrong ? "search-problem" : undefined} onInput=${onInput} onBlur=${stopTyping}
      onKeyUp=${onMove} onClick=${onMove} onFocus=${loadPanel} onKeyDown=${(/** @type {KeyboardEvent} */ event) => panel.peek()?.onKey(event)}
      onScroll=${() => panel.peek()?.followScroll()} /></div>
    ${isShown && side.value?.drawStar()}
    ${
      typed.value
        ? html`<button type="button" class="plain" aria-label=${say("searchClear")} title=${say("searchClear")}
      onClick=${clear}>${icon("close")}</button>`
        : html`<kbd aria-hidden="true">/</kbd>`
    }
    ${below?.draw()}
  </form>`;
}
