// An open conversation: all its messages, oldest first. Touches its element. Asks the server. Knows no list.

import { batch, computed, signal } from "./vendor/signals-core.mjs";
import { ahead } from "./ahead.js";
import { html } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { Refused, Unreachable, from, request, session } from "./jmap.js";
import { draw as drawMessage, forget } from "./message.js";
import { line } from "./text.js";
import { GONE, closeMessage, extensionsOf, isToday, momentOf, route, where } from "./store.js";

/**
 * @typedef {import("./message.js").Message} Message
 * @typedef {"loading" | "ready" | "missing" | "failed"} Status
 * @typedef {{ id: string, status: Status, reason: string, messages: Message[] }} Conversation
 * @typedef {{ messages: Message[], opened?: import("./message.js").Body | undefined, state?: string }} Answer
 *   The messages of a conversation, the body of the one that is opened, and the state of both.
 */

/** Longer texts are cut: a browser would take long to lay them out. */
const TEXT_BYTES_MAX = 512 * 1024;
/** How many messages are asked for at once, and how many bodies. */
const BODIES_MAX = 10;

const PROPERTIES = [
  "id",
  "blobId",
  "subject",
  "from",
  "to",
  "cc",
  "receivedAt",
  "preview",
  "keywords",
  "hasAttachment",
  "messageId",
];
const BODY_PROPERTIES = ["id", "textBody", "htmlBody", "bodyValues", "attachments"];
const PART_PROPERTIES = ["partId", "blobId", "type", "name", "size"];

/** After this time, an open message has been read. */
const READ_MS = 1000;

/** @type {import("./vendor/signals-core.mjs").Signal<Conversation | null>} */
const current = signal(null);
/** @type {import("./vendor/signals-core.mjs").Signal<Set<string>>} */
const unfolded = signal(new Set());
/** @type {import("./vendor/signals-core.mjs").Signal<Map<string, import("./message.js").Body>>} */
const bodies = signal(new Map());
/** The message that keys act on. */
let at = "";
/** The message to put at the top when it is drawn. */
let awaited = "";
/** Where the messages were scrolled to by the program. */
let scrollSet = 0;
let abort = new AbortController();
let readTimer = 0;
/** Which mail the open conversation is of. */
let place = "";
/** Its state, or none while it is fetched, and the one that the server told last. */
let state = "";
let told = "";
/** Conversations beside it, as they are opened. */
const beside = ahead((id, signalled) => fetchConversation(id, true, signalled));

/** The subject of the open conversation. */
export function subject() {
  const first = current.value?.messages[0];
  return first ? line(first.subject) || say("noSubject") : "";
}

/** The conversation that is read, once it is there. That of another time has no other beside it. */
export const read = computed(() => {
  const isRead = current.value?.status === "ready" && isToday.value;
  return isRead ? current.value : null;
});

/**
 * Fetches conversations that may be opened next.
 * @param {string} id The one that is open.
 * @param {string[]} ids
 */
export function fetchBeside(id, ids) {
  beside.want(ids, id);
}

/**
 * Opens the conversation of a message; none closes it.
 * @param {string} id
 */
export function open(id) {
  const { mailbox, at: moment } = route.peek();
  const before = place;
  place = mailbox === GONE ? GONE : moment;
  if (current.peek()?.id === id && place === before) return;
  abort.abort();
  if (!id) {
    current.value = null;
    return;
  }
  const shown = place === before ? current.peek() : null;
  if (shown?.messages.some((message) => message.id === id)) {
    current.value = { ...shown, id };
    point(id);
    return;
  }
  abort = new AbortController();
  // What changes together is drawn once.
  batch(() => {
    forget();
    unfolded.value = new Set();
    bodies.value = new Map();
    current.value = { id, status: "loading", reason: "", messages: [] };
  });
  void load(id, true);
}

/**
 * Fetches it again, unless it is of the state that the server tells, or what is under way may be. What is open
 * stays open.
 * @param {string} [now]
 */
export function refresh(now) {
  // What was fetched before it was opened may have changed.
  if (now !== told) beside.want([]);
  if (now) told = now;
  const shown = current.peek();
  if (!shown || (now && (state === now || shown.status === "loading"))) return;
  abort.abort();
  abort = new AbortController();
  void load(shown.id, shown.status !== "ready");
}

/**
 * @param {string} id
 * @param {boolean} isFirst
 */
async function load(id, isFirst) {
  const signalled = abort.signal;
  const before = told;
  state = "";
  try {
    const isNow = isToday.peek();
    const fetch = () => (isNow ? fetchConversation(id, isFirst, signalled) : fetchElsewhere(id, signalled));
    const isBeside = isFirst && isNow;
    const answer = (isBeside && (await beside.get(id))) || (await fetch());
    if (signalled.aborted) return;
    // What was asked for before the last event may be old.
    if (isBeside && told === before) beside.hold(id, answer);
    const { messages, opened } = answer;
    state = answer.state ?? "";
    if (messages.length === 0) {
      current.value = { id, status: "missing", reason: "", messages: [] };
      return;
    }
    batch(() => {
      if (opened) bodies.value = new Map(bodies.peek()).set(id, opened);
      current.value = { id, status: "ready", reason: "", messages };
      if (isFirst) unfoldFirst(id, messages);
    });
    void fetchBodies();
    // It may have changed since it was asked for.
    if (told !== before) refresh(told);
  } catch (error) {
    if (signalled.aborted || !(error instanceof Refused)) return;
    current.value = { id, status: "failed", reason: error.message, messages: [] };
  }
}

/**
 * Returns the messages of a conversation, oldest first, and the body of the one that is opened: with one
 * request, unless there are more messages than the server gives at once.
 * @param {string} id
 * @param {boolean} isFirst
 * @param {AbortSignal} signalled
 * @returns {Promise<Answer>}
 */
async function fetchConversation(id, isFirst, signalled) {
  /** @type {import("./jmap.js").Call[]} */
  const known = [
    ["Email/get", { ids: [id], properties: ["conversationId"] }],
    ["Conversation/get", { "#ids": from(0, "Email/get", "/list/*/conversationId") }],
  ];
  /** @type {import("./jmap.js").Call} */
  const members = ["Email/get", { "#ids": from(1, "Conversation/get", "/list/*/emailIds"), properties: PROPERTIES }];
  try {
    const calls = [...known, members, ...(isFirst ? [bodiesOf([id])] : [])];
    const [, conversations, emails, opened] = await request(calls, signalled);
    const ids = conversations.list.flatMap((/** @type {{ emailIds: string[] }} */ each) => each.emailIds);
    return { messages: inOrder(ids, emails.list), opened: opened?.list[0], state: emails.state };
  } catch (error) {
    if (!(error instanceof Refused) || error.type !== "requestTooLarge") throw error;
    const [emails, conversations] = await request(known, signalled);
    return { messages: await fetchMessages(conversations.list[0].emailIds, signalled), state: emails.state };
  }
}

/**
 * Returns the same of messages that are gone, or of a moment in the past, without a body.
 * @param {string} id
 * @param {AbortSignal} signalled
 * @returns {Promise<Answer>}
 */
async function fetchElsewhere(id, signalled) {
  const ids = await (await import("./members.js")).idsWith(id, where(), signalled);
  return { messages: await fetchMessages(ids, signalled) };
}

/** @param {string[]} ids @param {Message[]} emails */
function inOrder(ids, emails) {
  const byId = new Map(emails.map((email) => [email.id, email]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** @param {string[]} ids @returns {import("./jmap.js").Call} */
function bodiesOf(ids) {
  const args = {
    ids,
    properties: isToday.peek() ? BODY_PROPERTIES : [...BODY_PROPERTIES, "inArchive"],
    bodyProperties: PART_PROPERTIES,
    fetchTextBodyValues: true,
    maxBodyValueBytes: TEXT_BYTES_MAX,
    ...momentOf(where()),
  };
  return ["Email/get", args];
}

/**
 * @param {string[]} ids
 * @param {AbortSignal} signalled
 * @returns {Promise<Message[]>}
 */
async function fetchMessages(ids, signalled) {
  const max = session.peek()?.idsMax ?? 500;
  /** @type {Message[]} */
  const all = [];
  for (let start = 0; start < ids.length; start += max) {
    const properties = isToday.peek() ? PROPERTIES : [...PROPERTIES, "isDeleted", "deletedAt"];
    const args = { ids: ids.slice(start, start + max), properties, ...momentOf(where()) };
    const [answer] = await request([["Email/get", args]], signalled, extensionsOf(where()));
    for (const email of answer.list) {
      // Of messages that are gone nobody knows whether they were read.
      if (email.isDeleted && place === GONE) email.keywords.$seen = true;
      all.push(email);
    }
  }
  return inOrder(ids, all);
}

/**
 * Unfolds the message that was opened, what is unread, and the newest one; shows the first of the unread
 * ones, or else the one that was opened.
 * @param {string} id
 * @param {Message[]} messages
 */
function unfoldFirst(id, messages) {
  const unread = messages.filter((message) => !message.keywords["$seen"]).slice(0, BODIES_MAX);
  const newest = messages.at(-1);
  unfolded.value = new Set([id, ...unread.map((message) => message.id), ...(newest ? [newest.id] : [])]);
  point(id);
}

/** Fetches the bodies of open messages that are not there yet. */
async function fetchBodies() {
  const signalled = abort.signal;
  const known = new Set(current.peek()?.messages.map((message) => message.id));
  const ids = [...unfolded.peek()]
    .filter((id) => known.has(id) && !bodies.peek().has(id))
    .slice(0, BODIES_MAX);
  if (ids.length === 0) return;
  try {
    const [answer] = await request([bodiesOf(ids)], signalled, extensionsOf(where()));
    if (signalled.aborted) return;
    const next = new Map(bodies.peek());
    for (const email of answer.list) next.set(email.id, { ...readable(email), notRead: answer.notRead?.[email.id] });
    bodies.value = next;
    requestAnimationFrame(scrollAgain);
    if (answer.list.length > 0) await fetchBodies();
  } catch (error) {
    if (signalled.aborted || !(error instanceof Refused)) return;
    const shown = current.peek();
    if (shown) current.value = { ...shown, status: "failed", reason: error.message };
  }
}

/** Returns a body, empty if it could not be read. @param {any} email */
function readable(email) {
  const known = Object.entries(email).filter(([, value]) => value !== null);
  return { textBody: [], htmlBody: [], attachments: [], bodyValues: {}, ...Object.fromEntries(known) };
}

/** Marks messages that are open for a while as read, if the server lets one. */
export function followReading() {
  clearTimeout(readTimer);
  const messages = current.value?.messages ?? [];
  if (session.value?.isReadOnly !== false || !isToday.value) return;
  const isRead = (/** @type {Message} */ { id }) => unfolded.value.has(id) && bodies.value.has(id);
  const ids = messages.filter((each) => !each.keywords["$seen"] && isRead(each)).map((each) => each.id);
  if (ids.length > 0) readTimer = window.setTimeout(() => void markRead(ids), READ_MS);
}

/** @param {string[]} ids */
async function markRead(ids) {
  const update = Object.fromEntries(ids.map((id) => [id, { "keywords/$seen": true }]));
  try {
    const [answer] = await request([["Email/set", { update }]]);
    const shown = current.peek();
    if (!shown) return;
    const isDone = (/** @type {string} */ id) => Object.hasOwn(answer.updated ?? {}, id);
    const messages = shown.messages.map((each) =>
      isDone(each.id) ? { ...each, keywords: { ...each.keywords, $seen: true } } : each,
    );
    current.value = { ...shown, messages };
  } catch (error) {
    // It stays unread, as the page shows it.
    if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
  }
}

/**
 * Folds or unfolds a message.
 * @param {string} id
 */
export function toggle(id) {
  const next = new Set(unfolded.peek());
  if (!next.delete(id)) next.add(id);
  at = id;
  unfolded.value = next;
  void fetchBodies();
}

/** Folds or unfolds the message that has the focus. */
export function toggleAt() {
  if (current.peek()?.messages.some((message) => message.id === at)) toggle(at);
}

/**
 * Goes to the next message of the conversation, or to the previous one.
 * @param {1 | -1} step
 */
export function move(step) {
  const messages = current.peek()?.messages ?? [];
  const index = messages.findIndex((message) => message.id === at) + step;
  const next = messages[Math.min(Math.max(0, index), messages.length - 1)];
  if (!next) return;
  if (!unfolded.peek().has(next.id)) toggle(next.id);
  point(next.id);
}

/** Shows a message and focuses it, as soon as it is drawn. @param {string} id */
function point(id) {
  at = id;
  awaited = id;
  requestAnimationFrame(() => {
    if (awaited !== id) return;
    awaited = "";
    const element = document.querySelector(`[data-message="${CSS.escape(id)}"]`);
    const pane = document.getElementById("messages");
    if (!(element instanceof HTMLElement) || !pane) return;
    // Who has gone on to search keeps the focus there.
    if (!document.activeElement?.matches("input")) element.focus({ preventScroll: true });
    scrollToMessage(pane, element);
  });
}

/**
 * @param {HTMLElement} pane
 * @param {HTMLElement} element
 */
function scrollToMessage(pane, element) {
  const isFirst = element === pane.querySelector("[data-message]");
  pane.scrollTop = isFirst ? 0 : element.offsetTop - 12;
  scrollSet = pane.scrollTop;
}

/** Shows the message again that was shown when its text was not there yet, unless the user has scrolled. */
function scrollAgain() {
  const element = document.querySelector(`[data-message="${CSS.escape(at)}"]`);
  const pane = document.getElementById("messages");
  if (!(element instanceof HTMLElement) || !pane) return;
  if (Math.abs(pane.scrollTop - scrollSet) < 1) scrollToMessage(pane, element);
}

/**
 * Draws it.
 * @param {(() => import("./html.js").Drawing) | undefined} tools
 * @param {(idOf: () => string, draftId: string) => import("./html.js").Drawing} answers
 * @param {import("./message.js").Remark} [remark]
 */
export function draw(tools, answers, remark = () => null) {
  const shown = current.value;
  if (!shown) {
    return route.value.message
      ? null
      : html`<div class="note">${icon("all")}<p>${say("nothingOpen")}</p>
      <p>${say("nothingOpenHint")}</p></div>`;
  }
  return html`<div class="reader-head">
      <button type="button" class="plain back" aria-label=${say("back")} title=${say("back")}
        onClick=${closeMessage}>${icon("back")}</button>
      ${tools?.()}
      <h2 dir="auto">${shown.messages.length > 0 ? subject() : ""}</h2>
      ${shown.messages.length > 1 && html`<span class="count">${say("messages", { count: shown.messages.length })}</span>`}
    </div>
    <div id="messages" tabindex="-1">${inner(shown, remark)}${shown.status === "ready" && answers(idAt, draftId(shown))}</div>`;
}

/** Returns the message that keys act on; without one, the newest. */
export function idAt() {
  const messages = current.peek()?.messages ?? [];
  return (messages.find(({ id }) => id === at) ?? messages.at(-1))?.id ?? "";
}

/** Returns the newest message, if it is a draft. @param {Conversation} shown */
function draftId({ messages }) {
  const last = messages.at(-1);
  return last?.keywords["$draft"] && isToday.value ? last.id : "";
}

/** @param {Conversation} shown @param {import("./message.js").Remark} remark */
function inner(shown, remark) {
  if (shown.status === "missing") return html`<div class="note"><p>${say("missing")}</p></div>`;
  const failed =
    shown.status === "failed" &&
    html`<div class="note"><p role="alert">${say("failed", { reason: shown.reason })}</p></div>`;
  if (shown.status === "loading")
    return html`<div class="message ghost"><span class="ghost-line"></span></div>`;
  return [
    failed,
    shown.messages.map((message) =>
      drawMessage(
        message,
        bodies.value.get(message.id),
        unfolded.value.has(message.id),
        () => toggle(message.id),
        remark,
      ),
    ),
  ];
}
