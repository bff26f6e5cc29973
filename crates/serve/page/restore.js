// Bringing messages back that no file has any more, and what is said of them. Asks the server. Is loaded when
// it is needed: see elsewhere.js. Knows no keys but its own.

import "./phrases-elsewhere.js";
import { pick, tell } from "./ask.js";
import { EVERY, drawSelected, mailboxesOfToday, pathOf, targets } from "./actions.js";
import { refresh as refreshConversation } from "./conversation.js";
import { ago, long } from "./dates.js";
import { html } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { inParts, request } from "./jmap.js";
import { refresh, rows, selected } from "./list.js";
import { nameOf } from "./mailboxes.js";
import { EXTENSIONS, conversationsOf, goneOf } from "./members.js";
import { GONE, now, replace, route, where } from "./store.js";
import { attempt, inTurn, offer, tellUndone, traced, undoActions } from "./undo.js";

/**
 * @typedef {import("./message.js").Message} Message
 * @typedef {import("./message.js").Body} Body
 * @typedef {{ restored: Record<string, { mailboxIds: Record<string, boolean> }>,
 *   notRestored: Record<string, { type: string, description?: string }> }} Answer
 */

/** Keys that change mail of today. */
const OF_TODAY = "e#!UIsvl";
const QUERY_MAX = 10_000;

/** Does what a key stands for. Returns whether it stands for something. @param {string} key */
export function onKey(key) {
  const isOwn = key === "b";
  if (isOwn) void restoreRows(targets());
  else if (!OF_TODAY.includes(key)) return false;
  else if (route.peek().mailbox === GONE) tell(say("notGone"), say("restore"), () => void restoreRows(targets()));
  else tell(say("notThen"), say("today"), () => replace({ at: "" }));
  return true;
}

/**
 * Brings back what is gone of the conversations of rows.
 * @param {string[]} ids
 */
function restoreRows(ids) {
  return ids.length > 0 ? restore(async () => goneOf(await idsOf(ids))) : undefined;
}

/** @param {string[]} ids @returns {Promise<string[]>} */
async function idsOf(ids) {
  if (!ids.includes(EVERY)) {
    const properties = ["id", "conversationId", "messageId"];
    const answers = await inParts(ids, (part) => ["Email/get", { ids: part, properties }], EXTENSIONS);
    const conversations = await conversationsOf(
      answers.flatMap(({ list }) => list),
      where(),
    );
    return conversations.flatMap(({ emailIds }) => emailIds);
  }
  /** @type {string[]} */
  const all = [];
  const filter = rows()?.filter ?? null;
  for (let position = 0; all.length === position; position += QUERY_MAX) {
    const args = { filter, position, limit: QUERY_MAX, ...where() };
    const [answer] = await request([["Email/query", args]], null, EXTENSIONS);
    all.push(...answer.ids);
  }
  return all;
}

/**
 * Brings messages back, asks for a mailbox where the server needs one, and tells what came of it.
 * @param {() => Promise<string[]>} which
 */
function restore(which) {
  selected.value = new Set();
  return attempt(() =>
    inTurn(async () => {
      tell(say("restoring"));
      const ids = await which();
      if (ids.length === 0) return tell(say("restoreNothing"));
      const [answers, made] = await traced(
        () => restoreInto(ids),
        (all) => all.filter(({ restored }) => Object.keys(restored).length > 0).length,
      );
      await report(answers, made);
      refresh();
      refreshConversation();
    }),
  );
}

/** @param {string[]} ids @returns {Promise<Answer[]>} */
async function restoreInto(ids) {
  const call = (/** @type {string[]} */ part, more = {}) =>
    /** @type {import("./jmap.js").Call} */ (["Email/restore", { ids: part, ...more }]);
  /** @type {Answer[]} */
  const answers = await inParts(ids, (part) => call(part), ["archive"]);
  const isHomeless = (/** @type {{ type: string }} */ { type }) => type === "invalidProperties";
  const homeless = answers.flatMap(({ notRestored }) =>
    Object.entries(notRestored).flatMap(([id, error]) => (isHomeless(error) ? [id] : [])),
  );
  if (homeless.length === 0) return answers;
  const choices = (await mailboxesOfToday()).map((each) => ({ id: each.id, name: pathOf(each) }));
  const mailboxId = await pick(say("restoreTo", { count: homeless.length }), choices);
  if (!mailboxId) return answers;
  for (const { notRestored } of answers) for (const id of homeless) delete notRestored[id];
  return [...answers, ...(await inParts(homeless, (part) => call(part, { mailboxId }), ["archive"]))];
}

/**
 * Tells what is back and what is not, and offers to undo it.
 * @param {Answer[]} answers
 * @param {string[]} made The actions that it was.
 */
async function report(answers, made) {
  const back = answers.flatMap(({ restored }) => Object.values(restored));
  const errors = answers.flatMap(({ notRestored }) => Object.values(notRestored));
  const places = [...new Set(back.flatMap(({ mailboxIds }) => Object.keys(mailboxIds)))];
  const mailbox = (await mailboxesOfToday()).find(({ id }) => id === places[0]);
  const count = back.length;
  const name = places.length === 1 && mailbox ? nameOf(mailbox) : "";
  const texts = count === 0 ? [] : [name ? say("restoredTo", { count, name }) : say("restored", { count })];
  const kinds = new Map(errors.map(({ type, description = type }) => [type, description]));
  for (const [type, reason] of kinds) {
    const failed = errors.filter((each) => each.type === type).length;
    const phrase = { notFound: "restoreMissing", alreadyExists: "restoreThere" }[type] ?? "restoreFailed";
    texts.push(say(phrase, { count: failed, reason }));
  }
  const text = texts.join(" ");
  if (made.length === 0) return tell(text);
  offer(text, () => inTurn(() => takeBack(made)), made);
}

/** Removes again what was brought back: the archive has it. @param {string[]} actions */
async function takeBack(actions) {
  const left = await undoActions(actions);
  refresh();
  refreshConversation();
  if (left === null) tell(say("undoOther"));
  else tellUndone(left);
}

/** @param {() => unknown} work */
function button(work) {
  return html`<button type="button" class="plain tool" aria-label=${say("restore")} title=${`${say("restore")} (b)`}
    onClick=${() => void work()}>${icon("restore")}</button>`;
}

/** Draws what can be done with the selection, if there is one. */
export const drawSelection = () => drawSelected((ids) => button(() => restoreRows(ids)));

/** Draws the button of a row. Of a moment, only the server knows what is gone since. @param {import("./rows.js").Row} row */
export function drawRow(row) {
  if (route.value.mailbox !== GONE) return null;
  return html`<span class="row-tools">${button(() => restoreRows([row.id]))}</span>`;
}

/** Draws the button of the open conversation. */
export function drawOpen() {
  const { message } = route.value;
  return html`<div class="tools" role="toolbar" aria-label=${say("actions")}>${button(() => restoreRows([message]))}</div>`;
}

/**
 * Says of a message that it is gone, since when, and whether the archive has it.
 * @param {Message} message
 * @param {Body | undefined} body
 */
export function drawRemark({ id, isDeleted, deletedAt }, body) {
  const why = body?.notRead && notRead(body.notRead);
  if (!isDeleted) return why ? html`<p class="gone">${why}</p>` : null;
  const since = deletedAt
    ? say("goneSince", { date: long(deletedAt), ago: ago(deletedAt, now.value) })
    : say("isGone");
  const held = body && !body.notRead && { true: "held", false: "notHeld" }[String(body.inArchive)];
  return html`<div class="gone">${icon("gone")}<p>${since} ${held && say(held)}${why && html`<span class="why">${why}</span>`}</p>
    ${
      body?.inArchive !== false &&
      html`<button type="button" class="button" onClick=${() => void restore(async () => [id])}>${say("restore")}</button>`
    }</div>`;
}

/** @param {{ type: string, description?: string }} error */
function notRead({ type, description = type }) {
  return type === "notFound" ? say("notHeld") : say("archiveNot", { reason: description });
}
