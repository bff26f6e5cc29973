// What the page tells in a bar, and asks in a dialog. Touches its dialog. Knows no mail.

import { signal } from "./vendor/signals-core.mjs";
import { showDialog } from "./dialog.js";
import { html } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";

/**
 * @typedef {{ id: string, name: string, isOn?: boolean }} Choice
 * @typedef {{ title: string, choices: Choice[] | null, extra: string, done: (id: string) => void }} Question
 *   Without choices it is answered by yes or no; `extra` is what a new choice, or yes, is called.
 */

/** How long the bar stays. */
const TOLD_MS = 10_000;

/**
 * What the bar tells.
 * @type {import("./vendor/signals-core.mjs").Signal<{ text: string, label: string, act: () => void } | null>}
 */
const told = signal(null);
/** @type {import("./vendor/signals-core.mjs").Signal<Question | null>} */
const question = signal(null);
const typed = signal("");
const at = signal(0);
let timer = 0;

/**
 * Tells something, with a button if it has a label.
 * @param {string} text
 * @param {string} [label]
 * @param {() => void} [act]
 */
export function tell(text, label = "", act = () => {}) {
  clearTimeout(timer);
  told.value = text ? { text, label, act } : null;
  timer = window.setTimeout(() => {
    told.value = null;
  }, TOLD_MS);
}

/** Draws the bar. */
export function drawTold() {
  if (!told.value) return null;
  const { text, label, act } = told.value;
  const close = () => tell("");
  return html`<p class="told"><bdi>${text}</bdi>
    ${label && html`<button type="button" onClick=${() => (close(), act())}>${label}</button>`}
    <button type="button" class="plain" aria-label=${say("close")} onClick=${close}>${icon("close")}</button></p>`;
}

/**
 * Lets one choose by typing. Returns the id, or nothing. What is new is returned after a plus sign.
 * @param {string} title
 * @param {Choice[] | null} choices
 * @param {string} extra
 * @returns {Promise<string>}
 */
export function pick(title, choices, extra = "") {
  typed.value = "";
  at.value = 0;
  return new Promise((done) => {
    question.value = { title, choices, extra, done };
  });
}

/** Asks for yes or no. @param {string} text @param {string} yes */
export async function ask(text, yes) {
  return (await pick(text, null, yes)) !== "";
}

/** Opens and closes the dialog. */
export function followQuestion() {
  showDialog("ask", question.value !== null, () => answer(""));
}

/** @param {string} id */
function answer(id) {
  const asked = question.peek();
  question.value = null;
  asked?.done(id);
}

/** Draws the dialog. */
export function drawQuestion() {
  const asked = question.value;
  if (!asked) return null;
  const title = html`<h2 id="ask-title">${asked.title}</h2>`;
  if (asked.choices) return html`<div class="ask">${title}${list(asked, asked.choices)}</div>`;
  return html`<div class="ask">${title}<p class="buttons">
    <button type="button" class="button" onClick=${() => answer("")}>${say("cancel")}</button>
    <button type="button" class="button main" onClick=${() => answer("yes")}>${asked.extra}</button></p></div>`;
}

/** @param {Question} asked @param {Choice[]} choices */
function list(asked, choices) {
  const words = typed.value.trim();
  const shown = choices.filter(({ name }) => name.toLowerCase().includes(words.toLowerCase()));
  const isNew = asked.extra && words && !choices.some(({ name }) => name === words);
  if (isNew) shown.push({ id: `+${words}`, name: `${asked.extra} “${words}”` });
  const key = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) at.value = Math.min(Math.max(0, at.value + step), shown.length - 1);
    else if (event.key === "Enter" && shown[at.value]) answer(String(shown[at.value]?.id));
    else return;
    event.preventDefault();
    document.getElementById(`choice-${at.value}`)?.scrollIntoView({ block: "nearest" });
  };
  const type = (/** @type {Event} */ event) => {
    typed.value = /** @type {HTMLInputElement} */ (event.currentTarget).value;
    at.value = 0;
  };
  return html`<input class="field" autofocus role="combobox" aria-expanded="true" aria-controls="choices" dir="auto"
    aria-label=${asked.title} aria-activedescendant=${shown.length > 0 ? `choice-${at.value}` : undefined}
    autocomplete="off" value=${typed.value} onInput=${type} onKeyDown=${key} />
    <ul id="choices" role="listbox" aria-label=${asked.title}>${shown.map(
      ({ id, name, isOn }, index) =>
        html`<li id=${`choice-${index}`} role="option" aria-selected=${String(index === at.value)}
        class=${isOn ? "on" : ""} onClick=${() => answer(id)}><bdi>${name}</bdi>${isOn && icon("check")}</li>`,
    )}</ul>`;
}
