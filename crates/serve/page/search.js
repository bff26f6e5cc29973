// Searching as one types: words become an address, after a short rest. Touches its field. Knows neither rows
// nor requests.

import { signal } from "./vendor/signals-core.mjs";
import { html } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { go, replace, route } from "./store.js";

/** After this time without typing, the words are searched for. */
const REST_MS = 180;

/** What is in the field. */
const typed = signal(route.peek().search);
let timer = 0;

/** The field shows what was searched for, after going back too. */
export function followAddress() {
  const { search } = route.value;
  if (search !== typed.peek().trim()) typed.value = search;
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
  apply();
  return true;
}

function element() {
  return /** @type {HTMLInputElement | null} */ (document.getElementById("search"));
}

/** Searches for what is in the field, now. One search is one step back, however many letters it had. */
export function apply() {
  clearTimeout(timer);
  const words = typed.peek().trim();
  const before = route.peek();
  if (words === before.search) return;
  // Numbers stay, of what is searched for then.
  const to = { view: before.view, search: words, message: "" };
  if (before.search && words) replace(to);
  else go(to);
}

/**
 * Draws the field.
 * @param {boolean} isWaiting
 */
export function draw(isWaiting) {
  const type = (/** @type {Event} */ event) => {
    typed.value = /** @type {HTMLInputElement} */ (event.currentTarget).value;
    clearTimeout(timer);
    timer = window.setTimeout(apply, REST_MS);
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    apply();
  };
  const clear = () => {
    clearSearch();
    element()?.focus();
  };
  return html`<form role="search" class=${`search${isWaiting ? " waiting" : ""}`} onSubmit=${submit}>
    ${icon("search")}
    <input id="search" type="search" value=${typed.value} onInput=${type} placeholder=${say("search")}
      aria-label=${say("search")} autocomplete="off" autocapitalize="off" spellcheck=${false} enterkeyhint="search" dir="auto" />
    ${
      typed.value
        ? html`<button type="button" class="plain" aria-label=${say("searchClear")} title=${say("searchClear")}
      onClick=${clear}>${icon("close")}</button>`
        : html`<kbd aria-hidden="true">/</kbd>`
    }
  </form>`;
}
