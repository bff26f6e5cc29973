// The dialog that saves a search under a name, and changes or removes a saved one. Touches its dialog. Asks the
// server. Is loaded when it is first asked for: see saved.js.

import { signal } from "./vendor/signals-core.mjs";
import { ask, tell } from "./ask.js";
import { showDialog } from "./dialog.js";
import { html } from "./html.js";
import "./i18n-search.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { Refused, Unreachable, request } from "./jmap.js";
import { refresh } from "./list.js";
import { drawMarks, drawProblem, scrollMarks } from "./query-problem.js";
import { problemIn } from "./queries.js";
import { fetchSaved, savedQueries, standsFor } from "./saved.js";
import { visible } from "./text.js";
import { go, route } from "./store.js";

/**
 * @typedef {import("./saved.js").SavedQuery} SavedQuery
 * @typedef {import("./queries.js").Problem} Problem
 * @typedef {{ saved: SavedQuery | null, name: string, query: string, problem: Problem | null, where: "name" | "query" | "" }} Form
 *   `saved` is the one that is changed; without one, a new one is made.
 */

/** The longest name. */
const NAME_LENGTH_MAX = 64;

/** @type {import("./vendor/signals-core.mjs").Signal<Form | null>} */
const form = signal(null);
let isBusy = false;

/** Begins to save a search. @param {string} query */
export function saveAs(query) {
  form.value = { saved: null, name: "", query, problem: null, where: "" };
}

/** Begins to change a saved search. @param {SavedQuery} saved */
export function change(saved) {
  form.value = { saved, name: saved.name, query: saved.query, problem: null, where: "" };
}

/** Opens and closes the dialog. */
export function followDialog() {
  if (!showDialog("saved", form.value !== null, close)) return;
  const field = document.querySelector("#saved input");
  if (!(field instanceof HTMLInputElement)) return;
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

function close() {
  form.value = null;
}

/** @param {Partial<Form>} more */
function edit(more) {
  const before = form.peek();
  if (before) form.value = { ...before, problem: null, where: "", ...more };
}

/** Says what is wrong. @param {"name" | "query" | ""} where @param {string} what @param {any} [details] */
function complain(where, what, details = {}) {
  edit({ where, problem: problemIn(form.peek()?.query ?? "", what, details) });
  document.getElementById(where === "name" ? "saved-name" : "saved-query")?.focus();
}

/** Does something, and says in the dialog what stands against it. @param {() => Promise<unknown>} work */
async function attempt(work) {
  if (isBusy) return;
  isBusy = true;
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
    explain(error);
  } finally {
    isBusy = false;
  }
}

/** @param {Refused | Unreachable} error */
function explain(error) {
  if (error instanceof Unreachable) return complain("", say("notDone", { reason: error.message }));
  const { properties = [], position, neededBy } = error.details;
  if (properties.includes("name")) return complain("name", say("nameWrong"));
  if (properties.includes("query")) {
    const pneuQuery = form.peek()?.query.trim();
    return complain("query", error.message, { pneuQuery, position });
  }
  if (neededBy) {
    const names = savedQueries.peek().flatMap(({ id, name }) => (neededBy.includes(id) ? [`“${name}”`] : []));
    return complain("", say("neededBy", { names: names.join(", ") }));
  }
  if (error.type === "notFound") return complain("", say("savedGone"));
  complain("", say("notDone", { reason: error.message }));
}

/** Changes saved searches at the server. @param {Record<string, unknown>} change */
async function set(change) {
  const [answer] = await request([["SavedQuery/set", change]]);
  const [error] = Object.values({ ...answer.notCreated, ...answer.notUpdated, ...answer.notDestroyed });
  if (error) throw new Refused(error.type, error.description ?? "", error);
}

/** Returns a saved search as the server has it now. @param {string} id @returns {Promise<SavedQuery | undefined>} */
async function newest(id) {
  const [{ list }] = await request([["SavedQuery/get", { ids: [id] }]]);
  return list[0];
}

async function save() {
  const draft = form.peek();
  if (!draft) return;
  const { saved } = draft;
  const query = draft.query.trim();
  const name = draft.name.trim();
  if (!query) return complain("query", say("queryEmpty"));
  if (saved) {
    // Another program may have changed it since.
    const now = await newest(saved.id);
    if (now && now.query !== saved.query && now.query !== query && !(await mayReplace(now))) return;
    await set({ update: { [saved.id]: { query } } });
  } else if (!(await create(name, query))) return;
  await done(say("savedAs", { name }));
  if (saved && route.peek().search === standsFor(saved)) refresh();
}

/**
 * Saves a new one. If there is one of that name, it asks before that one is replaced.
 * @param {string} name
 * @param {string} query
 */
async function create(name, query) {
  try {
    await set({ create: { new: { name, query } } });
    return true;
  } catch (error) {
    if (!(error instanceof Refused) || error.type !== "alreadyExists") throw error;
    const other = await newest(error.details.existingId);
    if (!other || !(await mayReplace(other))) return false;
    await set({ update: { [other.id]: { query } } });
    return true;
  }
}

/** @param {SavedQuery} other */
function mayReplace({ name, query }) {
  return ask(say("replaceAsk", { name, query: visible(query) }), say("replace"));
}

/** @param {SavedQuery} saved */
async function remove(saved) {
  if (!(await ask(say("removeAsk", { name: saved.name, query: visible(saved.query) }), say("removeSaved")))) return;
  await set({ destroy: [saved.id] });
  if (route.peek().search === standsFor(saved)) go({ search: "", message: "" });
  await done(say("savedRemoved", { name: saved.name }));
}

/** @param {string} text */
async function done(text) {
  close();
  tell(text);
  await fetchSaved();
}

/** Draws the dialog. */
export function draw() {
  const draft = form.value;
  if (!draft) return null;
  const { saved, name, query, problem, where } = draft;
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void attempt(save);
  };
  const title = saved ? say("savedEdit", { name: saved.name }) : say("searchSave");
  return html`<form class="saved-form" onSubmit=${submit}><header><h2 id="saved-title">${title}</h2>
    <button type="button" class="plain" aria-label=${say("close")} title=${say("close")} onClick=${close}>${icon("close")}</button></header>
    ${!saved && html`<label for="saved-name">${say("name")}</label>${field("name", name, where)}`}
    <label for="saved-query">${say("searchText")}</label>${field("query", query, where, problem?.at)}
    <div role="alert">${problem && drawProblem(problem, "saved-problem")}</div>
    <p class="hint">${say("savedHint", { name: name.trim() || "…" })}</p>
    <p class="buttons">${
      saved &&
      html`<button type="button" class="button remove" onClick=${() => void attempt(() => remove(saved))}>${say("removeSaved")}</button>`
    }<button type="button" class="button" onClick=${close}>${say("cancel")}</button>
    <button class="button main">${say("save")}</button></p></form>`;
}

/**
 * Draws a field, with marks below the part of its text that is wrong.
 * @param {"name" | "query"} id
 * @param {string} value
 * @param {string} where
 * @param {import("./queries.js").Place | null} [at]
 */
function field(id, value, where, at) {
  const type = (/** @type {Event} */ event) =>
    edit({ [id]: /** @type {HTMLInputElement} */ (event.currentTarget).value });
  const scroll = (/** @type {Event} */ event) => scrollMarks(/** @type {Element} */ (event.currentTarget));
  const isWrong = where === id;
  return html`<div class="field marked">${drawMarks(at, `saved-${id}`)}
    <input id=${`saved-${id}`} maxlength=${id === "name" ? NAME_LENGTH_MAX : undefined} autocomplete="off" autocapitalize="off"
      spellcheck=${false} dir="auto" value=${value} onInput=${type} onScroll=${scroll} aria-invalid=${isWrong ? "true" : undefined}
      aria-describedby=${isWrong ? "saved-problem" : undefined} /></div>`;
}
