// A field for receivers: addresses as chips, and people that are suggested. Asks the server for them. Knows
// no drafts.

import { signal } from "./vendor/signals-core.mjs";
import { readPeople, without, written } from "./compose-model.js";
import { html } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { request } from "./jmap.js";
import { fullName } from "./people.js";
import { line } from "./text.js";

/** @typedef {import("./rows.js").Person} Person */

const REST_MS = 150;
const SHOWN_MAX = 6;

/** The people that are suggested, for which field, and which one is chosen. */
const suggested = signal({ field: "", list: /** @type {Person[]} */ ([]), at: 0 });
let timer = 0;
/** Counts questions and closings: an answer to an earlier question comes too late. */
let turns = 0;

/**
 * Returns people of the mail whose names or addresses have words in them, those first that the user is most
 * likely to mean.
 * @param {string} text
 * @param {number} limit
 * @returns {Promise<Person[]>}
 */
async function people(text, limit) {
  const query = `to:"${text.replace(/["\\]/g, "\\$&")}`;
  const [{ list }] = await request([["Suggestion/query", { text: query, limit }]]);
  const found = list.filter((/** @type {any} */ { kind }) => kind === "person");
  const all = found.map((/** @type {any} */ { label, about }) => ({
    name: label === about ? null : label,
    email: about,
  }));
  return all.filter((/** @type {Person} */ person) => readPeople(written(person))[0].length === 1);
}

/**
 * Draws a field.
 * @param {string} field
 * @param {Person[]} chosen
 * @param {string} rest What is typed and no address yet.
 * @param {(people: Person[], rest: string) => void} change
 */
export function draw(field, chosen, rest, change) {
  const { list, at } = suggested.value.field === field ? suggested.value : { list: [], at: 0 };
  const close = () => {
    clearTimeout(timer);
    turns += 1;
    suggested.value = { field: "", list: [], at: 0 };
  };
  const add = (/** @type {Person[]} */ more, left = "") => {
    close();
    change(without([...chosen, ...more]), left);
  };
  const take = (/** @type {string} */ text) => add(...readPeople(text));
  const type = (/** @type {Event} */ event) => {
    const text = /** @type {HTMLInputElement} */ (event.currentTarget).value;
    if (/[,;\n]/.test(text.replace(/"[^"]*("|$)/g, ""))) return take(text);
    change(chosen, text);
    clearTimeout(timer);
    timer = window.setTimeout(() => void suggest(text.trim()), text.trim() ? REST_MS : 0);
  };
  const suggest = async (/** @type {string} */ text) => {
    turns += 1;
    const turn = turns;
    const all = text ? await people(text, SHOWN_MAX + chosen.length).catch(() => []) : [];
    if (turn === turns) suggested.value = { field, list: without(all, chosen).slice(0, SHOWN_MAX), at: 0 };
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && list.length > 0)
      suggested.value = { field, list, at: (at + step + list.length) % list.length };
    else if (event.key === "Escape" && list.length > 0) close();
    else if (/^(Enter|Tab)$/.test(event.key) && list[at] && rest.trim()) add([list[at]]);
    else if (event.key === "Enter") take(rest);
    else if (event.key === "Backspace" && !rest) change(chosen.slice(0, -1), "");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const chips = chosen.map(
    (
      person,
    ) => html`<span class="chip" title=${line(person.email)}><bdi>${fullName(person)}</bdi><button type="button"
      aria-label=${say("remove", { name: fullName(person) })}
      onClick=${() =>
        change(
          chosen.filter((each) => each !== person),
          rest,
        )}>${icon("close")}</button></span>`,
  );
  const id = `people-${field}`;
  return html`<div class="receiver"><label for=${`to-${field}`}>${say(field)}</label><div class="chips">${chips}
    <input id=${`to-${field}`} role="combobox" aria-autocomplete="list" aria-expanded=${String(list.length > 0)}
      aria-controls=${id} aria-activedescendant=${list.length > 0 ? `${id}-${at}` : undefined} autocomplete="off"
      inputmode="email" autocapitalize="off" spellcheck=${false} value=${rest} onInput=${type} onKeyDown=${key}
      onBlur=${() => take(rest)} /></div>
    <ul id=${id} role="listbox" aria-label=${say("suggestions")} hidden=${list.length === 0}>${list.map(
      (person, index) => html`<li id=${`${id}-${index}`} role="option" aria-selected=${String(index === at)}
        onMouseDown=${(/** @type {Event} */ event) => (event.preventDefault(), add([person]))}><bdi
        >${fullName(person)}</bdi>${person.name && html` <bdi class="address">${line(person.email)}</bdi>`}</li>`,
    )}</ul></div>`;
}
