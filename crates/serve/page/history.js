// What was done to mail, by this page, by commands and by other programs, and its undo. Touches its dialog.
// Asks the server. Is loaded when it is needed: see elsewhere.js. Knows no messages.

import { showDialog } from "./dialog.js";
import "./phrases-elsewhere.js";
import { signal } from "./vendor/signals-core.mjs";
import { ask } from "./ask.js";
import { ago, long } from "./dates.js";
import { html } from "./html.js";
import { number, say } from "./i18n.js";
import { icon } from "./icons.js";
import { Refused, Unreachable, onChange, request } from "./jmap.js";
import { refresh } from "./list.js";
import { nameOf } from "./mailboxes.js";
import { line } from "./text.js";
import { mailboxes, now } from "./store.js";
import { forgetAction } from "./undo.js";

/**
 * @typedef {{ id: string, at: string, kind: string, counts: Record<string, number>, text: string,
 *   fromMailboxIds: string[], toMailboxIds: string[] }} Action
 * @typedef {{ why: string, count: number, mailboxId: string | null }} Left
 */

/** Of more mailboxes, only the first are named. */
const NAMES_MAX = 2;
/** What was done, by its kind. Of a kind that this page does not know, the server's own text is shown. @type {Record<string, string>} */
const KINDS = {
  flag: "didFlag",
  move: "didMove",
  copy: "didCopy",
  delete: "didDelete",
  unfile: "didUnfile",
  rename: "didRename",
  import: "didImport",
  remove: "didRemove",
};
/** Why a file was left alone, in the server's words, and the phrases for it. @type {Record<string, string>} */
const REASONS = {
  "it was moved, changed or removed since": "leftChanged",
  "it was renamed, moved or removed since": "leftChanged",
  "it changed just now; try again": "leftNow",
  "it was removed for good": "leftRemoved",
  "it is another message now": "leftOther",
  "it is in no folder": "leftFolder",
  "it is gone": "leftGone",
  "the file that it was copied from is gone, so it stays": "leftCopy",
};

const isOpen = signal(false);
/** The actions, or null until they are known. @type {import("./vendor/signals-core.mjs").Signal<Action[] | null>} */
const actions = signal(null);
/** What came of the last undo, or why there is no answer. @type {import("./vendor/signals-core.mjs").Signal<string[]>} */
const told = signal([]);
const isBusy = signal(false);

const element = () => /** @type {HTMLDialogElement} */ (document.getElementById("history"));

onChange(() => {
  if (isOpen.peek()) void load();
});

/** Opens the dialog. */
export async function open() {
  told.value = [];
  actions.value = null;
  isOpen.value = true;
  await load();
}

/** Opens and closes the dialog as the state says. */
export function follow() {
  showDialog("history", isOpen.value, close);
}

function close() {
  isOpen.value = false;
}

async function load() {
  await guarded(async () => {
    const [answer] = await request([["Action/get", { ids: null }]], null, ["actions"]);
    actions.value = answer.list;
  });
}

/** Does something, and tells why if it cannot be done. @param {() => Promise<void>} work */
async function guarded(work) {
  try {
    await work();
  } catch (error) {
    if (error instanceof Unreachable) told.value = [say("lost")];
    else if (!(error instanceof Refused)) throw error;
    else if (error.type === "stateMismatch") told.value = [say("historyOther")];
    else if (error.type === "serverUnavailable") told.value = [say("historyBusy")];
    else told.value = [say("notDone", { reason: error.message })];
  }
}

/** Undoes the newest action, if it is still the newest. @param {Action} action */
async function undo(action) {
  const count = countOf(action);
  if (action.kind === "import" && !(await ask(say("undoImportAsk", { count }), say("undo")))) return;
  isBusy.value = true;
  told.value = [];
  await guarded(async () => {
    const [{ undone }] = await request([["Action/undo", { id: action.id }]], null, ["actions"]);
    const { restored, left } = /** @type {{ restored: number, left: Left[] }} */ (undone);
    const phrase = { remove: "passedOver", import: "undoneImport" }[action.kind] ?? "undoneFiles";
    told.value = [say(phrase, { count: restored }), ...left.map(leftText)];
    forgetAction(action.id);
    refresh();
  });
  isBusy.value = false;
  await load();
  focusFirst();
}

function focusFirst() {
  requestAnimationFrame(() => {
    const button = element().querySelector(".undo") ?? element().querySelector(".plain");
    if (button instanceof HTMLElement) button.focus();
  });
}

/** @param {Action} action */
function countOf({ counts }) {
  return Object.values(counts)[0] ?? 0;
}

/** @param {Left} left */
function leftText({ why, count, mailboxId }) {
  const phrase = REASONS[why];
  const reason = phrase ? say(phrase) : line(why);
  const name = mailboxId ? namesOf([mailboxId]) : "";
  return name ? say("leftIn", { count, name, reason }) : say("left", { count, reason });
}

/** Returns the names of mailboxes. @param {string[]} ids */
function namesOf(ids) {
  const found = ids.flatMap((id) => mailboxes.value?.find((each) => each.id === id) ?? []);
  const names = found.slice(0, NAMES_MAX).map(nameOf);
  const more = found.length - names.length;
  return more > 0 ? `${names.join(", ")} + ${number(more)}` : names.join(", ");
}

/** Returns what was done, in words. @param {Action} action */
function textOf(action) {
  const phrase = KINDS[action.kind];
  return phrase ? say(phrase, { count: countOf(action) }) : line(action.text);
}

/** Draws the dialog. */
export function draw() {
  if (!isOpen.value) return null;
  return html`<div class="help history"><header><h2 id="history-title">${say("history")}</h2>
    <button type="button" class="plain" aria-label=${say("close")} title=${say("close")} onClick=${close}>${icon("close")}</button></header>
    <p class="about">${say("historyAbout")}</p>
    <div class="history-told" role="status">${told.value.map((text) => html`<p>${text}</p>`)}</div>
    ${list()}</div>`;
}

function list() {
  const all = actions.value;
  if (!all) return html`<div class="ghost" role="img" aria-label=${say("loading")}><span class="ghost-line"></span><span class="ghost-line"></span></div>`;
  if (all.length === 0) return html`<p class="history-empty">${say("historyEmpty")}</p>`;
  return html`<ol role="list" aria-label=${say("history")}>${all.map((action, index) => entry(action, index === 0))}</ol>`;
}

/** @param {Action} action @param {boolean} isNewest */
function entry(action, isNewest) {
  const [from, to] = [namesOf(action.fromMailboxIds), namesOf(action.toMailboxIds)];
  const places = from && to && from !== to ? `${from} → ${to}` : to || from;
  const phrase = action.kind === "remove" ? "passOver" : "undo";
  return html`<li key=${action.id}><div><span class="did">${textOf(action)}</span>
    <span class="where">${places && html`<bdi>${places}</bdi>, `}<time dateTime=${action.at} title=${long(action.at)}>${ago(action.at, now.value)}</time></span></div>
    ${
      isNewest &&
      html`<button type="button" class="button undo" disabled=${isBusy.value} onClick=${() => void undo(action)}>${say(phrase)}</button>`
    }</li>`;
}
