// What one does with conversations: marking, moving, deleting, and taking it back. Asks the server, and
// changes the rows of the list at once. Knows no keys.

import { ask, pick, tell } from "./ask.js";
import { html } from "./html.js";
import { number, say } from "./i18n.js";
import { icon } from "./icons.js";
import { Refused, inParts, request } from "./jmap.js";
import { cursor, refresh, rows, selected, total } from "./list.js";
import { nameOf } from "./mailboxes.js";
import { keywordOf, tagOf } from "./text.js";
import { ALL, closeMessage, mailboxes, route } from "./store.js";
import { attempt, inTurn, offer, tellUndone, traced, undo, undoActions } from "./undo.js";

/**
 * @typedef {import("./rows.js").Row} Row
 * @typedef {{ id: string, mailboxIds: Record<string, boolean>, keywords: Record<string, boolean> }} Email
 * @typedef {Record<string, unknown>} Patch
 * @typedef {{ [id: string]: Patch | null }} Update A patch for each email; null destroys it.
 */

/** How many ids one query gives. */
const QUERY_MAX = 10_000;
/** Stands for all rows in a selection, also those that are not there. */
export const EVERY = "*";
/** What mailboxes with these roles are called that the page creates. */
const NAMES = { archive: "Archive", trash: "Trash", drafts: "Drafts", sent: "Sent", junk: "Junk" };

/** The mailbox of the list, if it has one. */
function here() {
  const { mailbox, search } = route.peek();
  return search || mailbox === ALL ? "" : mailbox;
}

/** Returns the ids of the rows that keys act on. */
export function targets() {
  if (selected.value.size > 0) return [...selected.value];
  const id = route.peek().message || rows()?.at(cursor.peek())?.id;
  return id ? [id] : [];
}

/** Returns those rows that are there. @param {string[]} ids */
function rowsOf(ids) {
  const all = [...(rows()?.windows.values() ?? [])].flatMap((window) => window.rows.filter(Boolean));
  return ids.includes(EVERY) ? all : all.filter((row) => ids.includes(row.id));
}

/**
 * Returns the mailbox with a role, and creates it if there is none.
 * @param {keyof typeof NAMES} role
 * @returns {Promise<string>}
 */
export async function mailboxOf(role) {
  const known = (await mailboxesOfToday()).find((each) => each.role === role);
  if (known) return known.id;
  const [answer] = await request([["Mailbox/set", { create: { m: { name: NAMES[role] } } }]]);
  refuse(Object.values(answer.notCreated ?? {}));
  return answer.created.m.id;
}

/**
 * Returns the mailboxes that there are, whatever is shown.
 * @returns {Promise<import("./store.js").Mailbox[]>}
 */
export async function mailboxesOfToday() {
  const known = mailboxes.peek();
  if (known && !route.peek().at) return known;
  const properties = ["id", "name", "role", "parentId", "sortOrder"];
  const [answer] = await request([["Mailbox/get", { ids: null, properties }]]);
  return answer.list;
}

/** @param {{ type: string, description?: string }[]} errors */
export function refuse([error]) {
  if (error) throw new Refused(error.type, error.description ?? "");
}

/**
 * Changes emails. Returns the ids of those that were changed, and why others were not.
 * @param {Update} update
 */
async function change(update) {
  const answers = await inParts(Object.entries(update), (part) => [
    "Email/set",
    {
      update: Object.fromEntries(part.filter(([, patch]) => patch)),
      destroy: part.flatMap(([id, patch]) => (patch ? [] : [id])),
    },
  ]);
  const ids = answers.flatMap((each) => [...Object.keys(each.updated ?? {}), ...(each.destroyed ?? [])]);
  const errors = answers.flatMap((each) => Object.values({ ...each.notUpdated, ...each.notDestroyed }));
  return { ids, errors };
}

/**
 * Returns the emails of the conversations of rows, or all emails of the list.
 * @param {string[]} ids
 * @param {Record<string, unknown> | null} filter
 * @returns {Promise<Email[]>}
 */
async function emailsOf(ids, filter) {
  /** @type {string[]} */
  const all = [];
  if (ids.includes(EVERY)) {
    for (let position = 0; all.length === position; position += QUERY_MAX) {
      const [answer] = await request([["Email/query", { filter, position, limit: QUERY_MAX }]]);
      all.push(...answer.ids);
    }
  } else {
    const properties = ["conversationId"];
    const emails = await inParts(ids, (part) => ["Email/get", { ids: part, properties }]);
    const idOf = (/** @type {any} */ email) => email.conversationId;
    const conversations = [...new Set(emails.flatMap(({ list }) => list.map(idOf)))];
    const found = await inParts(conversations, (part) => ["Conversation/get", { ids: part }]);
    all.push(...found.flatMap(({ list }) => list.flatMap((/** @type {any} */ one) => one.emailIds)));
  }
  const properties = ["mailboxIds", "keywords"];
  const answers = await inParts(all, (part) => ["Email/get", { ids: part, properties }]);
  return answers.flatMap(({ list }) => list);
}

/**
 * Does something: changes rows, asks the server, and offers to take it back. What the server refuses is shown
 * as it was again.
 * @param {string[]} ids
 * @param {string} what What is told of it.
 * @param {(email: Email, isRow: boolean) => Patch | null | undefined} patchOf A patch; null destroys it.
 * @param {(row: Row) => Row | null} changed Makes the new row; without one, it leaves the list.
 */
function act(ids, what, patchOf, changed) {
  const list = rows();
  if (!list || ids.length === 0) return;
  const isMeant = (/** @type {string} */ id) => ids.includes(EVERY) || ids.includes(id);
  const count = ids.includes(EVERY) ? (total.peek() ?? 0) : ids.length;
  const text = say("acted", { count, what });
  const restore = list.edit((row) => isMeant(row.id), changed);
  selected.value = new Set();
  const work = async () => {
    /** @type {Update} */
    const update = {};
    /** @type {Update} */
    const inverse = {};
    try {
      for (const email of await emailsOf(ids, list.filter)) {
        const patch = patchOf(email, isMeant(email.id));
        if (patch === undefined) continue;
        update[email.id] = patch;
        if (patch) inverse[email.id] = opposite(email, patch);
      }
      const isAction = Object.values(update).some((patch) => Object.keys(patch ?? {}).some(ofFiles));
      const [{ ids: all, errors }, actions] = isAction
        ? await traced(
            () => change(update),
            () => 1,
          )
        : [await change(update), []];
      const back = Object.fromEntries(Object.entries(inverse).filter(([id]) => all.includes(id)));
      if (Object.keys(back).length > 0) offerBack(text, back, actions);
      else if (errors.length === 0) tell(text);
      refuse(errors);
    } catch (error) {
      restore();
      throw error;
    } finally {
      refresh();
    }
  };
  return attempt(() => inTurn(work));
}

/**
 * Offers to take back what was done. What is kept for that is what is given here, and no rows.
 * @param {string} text
 * @param {Update} inverse
 * @param {string[]} actions
 */
function offerBack(text, inverse, actions) {
  offer(text, () => takeBack(inverse, actions), actions);
}

/**
 * Takes back what was done. If it was one action of the server, and nothing was done since, that action is
 * undone: all files are then as they were, with their names, and nothing is left of both. Else the emails get
 * what they had, which is a new action. Tags are no action.
 * @param {Update} inverse
 * @param {string[]} actions
 */
function takeBack(inverse, actions) {
  return inTurn(async () => {
    const left = actions.length > 0 ? await undoActions(actions) : null;
    const { errors } = left === null ? await change(inverse) : { errors: [] };
    refresh();
    refuse(errors);
    tellUndone(left ?? 0);
  });
}

/** Returns whether a part of a patch changes files. @param {string} key */
function ofFiles(key) {
  return /^(mailboxIds\b|keywords\/\$(seen|flagged)$)/.test(key);
}

/** Returns what undoes a patch of an email. @param {Email} email @param {Patch} patch @returns {Patch} */
function opposite({ mailboxIds }, patch) {
  const entries = Object.entries(patch).map(([key, value]) =>
    key.startsWith("mailboxIds") ? ["mailboxIds", mailboxIds] : [key, value ? null : true],
  );
  return Object.fromEntries(entries);
}

/** Closes the conversation that an action is about. @param {string[]} ids */
function leave(ids) {
  if (ids.includes(route.peek().message)) closeMessage();
}

/**
 * Moves the emails of conversations out of the open mailbox. In a search, sent mail stays where it is.
 * @param {string[]} ids
 * @param {string} to
 * @param {string} phrase
 */
function move(ids, to, phrase) {
  const at = here();
  if (!to || to === at) return;
  const kept = (mailboxes.peek() ?? []).filter(({ role }) => /sent|drafts|trash/.test(role ?? ""));
  leave(ids);
  const name = nameOf(mailboxes.peek()?.find((each) => each.id === to));
  return act(
    ids,
    say(phrase, { name }),
    ({ mailboxIds }, isRow) => {
      if (at ? !mailboxIds[at] : !isRow && kept.some(({ id }) => mailboxIds[id])) return undefined;
      return at ? { [`mailboxIds/${at}`]: null, [`mailboxIds/${to}`]: true } : { mailboxIds: { [to]: true } };
    },
    (row) => (at ? null : row),
  );
}

/**
 * Sets a keyword or removes it.
 * @param {string[]} ids
 * @param {string} keyword
 * @param {boolean} isOn
 * @param {string} phrase
 * @param {boolean} isRowOnly Whether the other emails of a conversation stay as they are.
 * @param {Partial<Row> | ((row: Row) => Partial<Row>)} changed
 */
function mark(ids, keyword, isOn, phrase, isRowOnly, changed) {
  const pointer = `keywords/${keyword.replace(/~/g, "~0").replace(/\//g, "~1")}`;
  return act(
    ids,
    say(phrase, { name: tagOf(keyword) }),
    ({ keywords }, isRow) =>
      Boolean(keywords[keyword]) === isOn || (isRowOnly && !isRow)
        ? undefined
        : { [pointer]: isOn ? true : null },
    (row) => ({ ...row, ...(typeof changed === "function" ? changed(row) : changed) }),
  );
}

/** @param {string[]} ids @param {keyof typeof NAMES} role @param {string} phrase */
function moveToRole(ids, role, phrase) {
  return attempt(async () => move(ids, await mailboxOf(role), phrase));
}

/** @param {string[]} ids */
async function remove(ids) {
  const isTrash = mailboxes.peek()?.find(({ id }) => id === here())?.role === "trash";
  if (!isTrash) return moveToRole(ids, "trash", "trashed");
  const at = here();
  const count = ids.includes(EVERY) ? (total.peek() ?? 0) : ids.length;
  if (count === 0 || !(await ask(say("destroyAsk", { count }), say("destroy")))) return;
  leave(ids);
  return act(
    ids,
    say("destroyed"),
    ({ mailboxIds }) => (mailboxIds[at] ? null : undefined),
    () => null,
  );
}

/** @param {string[]} ids */
async function moveBy(ids) {
  if (ids.length === 0) return;
  const all = (mailboxes.peek() ?? []).filter(({ id }) => id !== here());
  const choices = all.map((each) => ({ id: each.id, name: pathOf(each) }));
  await move(ids, await pick(say("moveTo"), choices), "moved");
}

/**
 * Returns the name of a mailbox with those above it.
 * @param {import("./store.js").Mailbox} mailbox
 * @returns {string}
 */
export function pathOf(mailbox) {
  const above = mailboxes.peek()?.find(({ id }) => id === mailbox.parentId);
  return above ? `${pathOf(above)}/${nameOf(mailbox)}` : nameOf(mailbox);
}

/** @param {string[]} ids */
async function tag(ids) {
  if (ids.length === 0) return;
  const meant = rowsOf(ids);
  const isOn = (/** @type {string} */ id) => meant.length > 0 && meant.every((row) => row.tags.includes(id));
  const known = [...new Set(rowsOf([EVERY]).flatMap((row) => row.tags))].sort();
  const choices = known.map((id) => ({ id, name: tagOf(id), isOn: isOn(id) }));
  const chosen = await pick(say("tag"), choices, say("tagNew"));
  const keyword = chosen.startsWith("+") ? keywordOf(chosen.slice(1)) : chosen;
  if (!keyword) return;
  const isNew = !isOn(keyword);
  await mark(ids, keyword, isNew, isNew ? "tagged" : "untagged", false, ({ tags }) => ({
    tags: [...tags.filter((each) => each !== keyword), ...(isNew ? [keyword] : [])],
  }));
}

/** @param {string[]} ids */
function flag(ids) {
  const meant = rowsOf(ids);
  const isFlagged = !(meant.length > 0 && meant.every((row) => row.isFlagged));
  return mark(ids, "$flagged", isFlagged, isFlagged ? "flagged" : "unflagged", isFlagged, { isFlagged });
}

/** @param {string[]} ids @param {boolean} isUnread */
function setUnread(ids, isUnread) {
  if (isUnread) leave(ids);
  return mark(ids, "$seen", !isUnread, isUnread ? "markedUnread" : "markedRead", isUnread, { isUnread });
}

/** What can be done, by its name: key, drawing, and how it is done. */
const TOOLS = /** @type {const} */ ({
  toArchive: ["e", "archive", (/** @type {string[]} */ ids) => moveToRole(ids, "archive", "archived")],
  toTrash: ["#", "trash", remove],
  toJunk: ["!", "junk", (/** @type {string[]} */ ids) => hasJunk() && moveToRole(ids, "junk", "junked")],
  markUnread: ["U", "unread", (/** @type {string[]} */ ids) => setUnread(ids, true)],
  markRead: ["I", "read", (/** @type {string[]} */ ids) => setUnread(ids, false)],
  flag: ["s", "flag", flag],
  moveTo: ["v", "folder", moveBy],
  tag: ["l", "tag", tag],
});

function hasJunk() {
  return mailboxes.value?.some(({ role }) => role === "junk");
}

/** Does what a key stands for. Returns whether it stands for something. @param {string} key */
export function onKey(key) {
  const found = Object.values(TOOLS).find((each) => each[0] === key);
  if (found) void found[2](targets());
  if (key === "z") void undo();
  return found !== undefined || key === "z";
}

/** @param {string[]} names @param {string[]} ids */
function buttons(names, ids) {
  return names.map((name) => {
    const [key, picture, work] = TOOLS[/** @type {keyof typeof TOOLS} */ (name)];
    return html`<button type="button" class="plain tool" aria-label=${say(name)} title=${`${say(name)} (${key})`}
      onClick=${() => void work(ids)}>${icon(picture)}</button>`;
  });
}

/** @param {string[]} ids */
function allButtons(ids) {
  const isUnread = rowsOf(ids).some((row) => row.isUnread);
  const names = [
    "toArchive",
    "toTrash",
    ...(hasJunk() ? ["toJunk"] : []),
    isUnread ? "markRead" : "markUnread",
  ];
  return buttons([...names, "flag", "moveTo", "tag"], ids);
}

/** Draws the buttons of a row. @param {Row} row */
export function drawRow(row) {
  const names = ["toArchive", "toTrash", row.isUnread ? "markRead" : "markUnread", "flag"];
  return html`<span class="row-tools">${buttons(names, [row.id])}</span>`;
}

/** Draws the buttons of the open conversation. */
export function drawOpen() {
  return html`<div class="tools" role="toolbar" aria-label=${say("actions")}>${allButtons([route.value.message])}</div>`;
}

/** Draws what can be done with the selection, if there is one. */
export const drawSelection = () => drawSelected(allButtons);

/** @param {(ids: string[]) => unknown} tools */
export function drawSelected(tools) {
  const { size } = selected.value;
  if (size === 0) return null;
  const all = total.value ?? 0;
  const isEvery = selected.value.has(EVERY);
  const every = () => {
    selected.value = new Set([EVERY]);
  };
  return html`<div class="tools" role="toolbar" aria-label=${say("actions")}>
    <button type="button" class="plain tool" aria-label=${say("selectNone")} title=${say("selectNone")} onClick=${() => {
      selected.value = new Set();
    }}>${icon("close")}</button>
    <h1 class="count"><span role="status">${say("selected", { count: isEvery ? all : size })}</span></h1>
    ${tools([...selected.value])}
    ${
      !isEvery &&
      size < all &&
      html`<button type="button" class="more" onClick=${every}>${say("selectAll", { all: number(all) })}</button>`
    }</div>`;
}
