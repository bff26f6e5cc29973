// What begins a message: buttons, keys, drafts. Loads what writing needs when it is first asked for, which most
// visits to the page never do. Touches nothing but the place of the dialog.

import { effect } from "./vendor/signals-core.mjs";
import { html, place } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { later } from "./later.js";
import { DRAFTS, draftWanted } from "./store.js";
import { attempt } from "./undo.js";

/** @typedef {import("./compose-model.js").Kind} Kind @typedef {typeof import("./compose.js")} Composer */

const load = later(async () => {
  const loaded = await import("./compose.js");
  place("compose", loaded.draw);
  effect(loaded.followDraft);
  return loaded;
}, "/compose.css");

/** @param {(composer: Composer) => unknown} use */
const withComposer = (use) => attempt(async () => use(await load()));

/** Begins a new message. */
export const composeNew = () => withComposer((loaded) => loaded.composeNew());
/** Answers or forwards an email. @param {Kind} kind @param {string} id */
export const composeAnswer = (kind, id) => withComposer((loaded) => loaded.composeAnswer(kind, id));
/** Opens a stored draft. @param {string} id */
const composeStored = (id) => withComposer((loaded) => loaded.composeStored(id));

/** Offers drafts that were left when the browser or the server ended. */
export function recover() {
  if (Object.keys(localStorage).some((key) => key.startsWith(DRAFTS)))
    void withComposer((loaded) => loaded.recover());
}

/** Opens the draft that the list was asked for. */
export function followWanted() {
  const id = draftWanted.value;
  if (id) queueMicrotask(() => void composeStored(id));
  draftWanted.value = "";
}

/**
 * Draws the buttons that answer a message, or go on with a draft.
 * @param {() => string} idOf
 * @param {string} draftId
 */
export function drawAnswers(idOf, draftId) {
  const button = (/** @type {Kind} */ kind, /** @type {string} */ phrase) =>
    html`<button type="button" class="button" onClick=${() => void composeAnswer(kind, idOf())}>${icon(
      kind === "all" ? "replyAll" : kind,
    )}${say(phrase)}</button>`;
  if (draftId)
    return html`<div class="answers"><button type="button" class="button main"
      onClick=${() => void composeStored(draftId)}>${icon("drafts")}${say("editDraft")}</button></div>`;
  return html`<div class="answers">${button("reply", "reply")}${button("all", "replyAll")}${button("forward", "forward")}</div>`;
}
