// The rows of one list, in windows that are fetched when they are wanted. Asks the server. Knows no elements.

import { batch, signal } from "./vendor/signals-core.mjs";
import { Refused, from, request, session } from "./jmap.js";
import { extensionsOf, momentOf } from "./store.js";
import { found, line } from "./text.js";

/**
 * @typedef {{ name: string | null, email: string }} Person
 * @typedef {{ id: string, subject: string[], from: Person[], to: Person[], receivedAt: string,
 *   preview: string[], isUnread: boolean, isFlagged: boolean, isAnswered: boolean, hasAttachment: boolean,
 *   isDraft: boolean, tags: string[], emailIds: string[] }} Row
 *   `subject` and `preview` have what was found at each odd index.
 * @typedef {{ rows: Row[], state: string }} Window
 * @typedef {import("./store.js").Where} Where
 */

/** How many rows are fetched at once, how many requests may be under way, and how many windows are kept. */
export const WINDOW = 50;
const REQUESTS_MAX = 2;
const WINDOWS_MAX = 200;
/** Of longer conversations, only the newest messages tell who wrote and what is unread. */
const MESSAGES_MAX = 100;

const PROPERTIES = [
  "id",
  "conversationId",
  "subject",
  "from",
  "to",
  "receivedAt",
  "preview",
  "keywords",
  "hasAttachment",
];

export class Rows {
  /** @param {Record<string, unknown> | null} filter @param {Where} [where] */
  constructor(filter, where = {}) {
    this.filter = filter;
    /** Which mail it is, if not that of today. */
    this.where = where;
    /**
     * How many rows there are, or null while nobody knows.
     * @type {import("./vendor/signals-core.mjs").Signal<number | null>}
     */
    this.total = signal(null);
    /** Counts changes of rows. */
    this.version = signal(0);
    /** Why there is no answer. @type {import("./vendor/signals-core.mjs").Signal<Refused | null>} */
    this.failure = signal(null);
    /** The same in words, where they are others than of the mail of today. */
    this.why = "";
    /** @type {Map<number, Window>} */
    this.windows = new Map();
    /** @type {Map<number, AbortController>} */
    this.requests = new Map();
    /** @type {[number, number]} */
    this.wanted = [0, 1];
    /** The state of the rows that came last, and the one that the server told last. */
    this.state = "";
    this.told = "";
  }

  /** @param {number} index */
  at(index) {
    return this.windows.get(Math.floor(index / WINDOW))?.rows[index % WINDOW];
  }

  /**
   * Returns where a message is, among the rows that are there, or -1.
   * @param {string} id
   */
  indexOf(id) {
    for (const [number, window] of this.windows) {
      const index = window.rows.findIndex((row) => row?.id === id);
      if (index >= 0) return number * WINDOW + index;
    }
    return -1;
  }

  /**
   * Says which rows are seen: they are fetched, and requests for others are given up.
   * @param {number} first
   * @param {number} end
   */
  want(first, end) {
    this.wanted = [Math.floor(first / WINDOW), Math.max(1, Math.ceil(end / WINDOW))];
    for (const [number, abort] of this.requests) {
      if (number < this.wanted[0] || number >= this.wanted[1]) {
        abort.abort();
        this.requests.delete(number);
      }
    }
    this.fetchWanted();
  }

  /**
   * Changes rows at once, before the server has. Without a new row, one is gone. Returns what takes it back.
   * @param {(row: Row) => boolean} isMeant
   * @param {(row: Row) => Row | null} change
   */
  edit(isMeant, change) {
    this.stop();
    const before = { windows: this.windows, count: this.total.peek() };
    /** @type {Map<number, Window>} */
    const windows = new Map();
    let gone = 0;
    for (const [number, window] of [...this.windows].sort(([a], [b]) => a - b)) {
      window.rows.forEach((row, offset) => {
        const next = isMeant(row) ? change(row) : row;
        const index = number * WINDOW + offset - gone;
        if (!next) gone += 1;
        else {
          const at = Math.floor(index / WINDOW);
          // What is known so far stays until the change is done: then all is fetched again.
          const into = windows.get(at) ?? { rows: [], state: this.state };
          into.rows[index % WINDOW] = next;
          windows.set(at, into);
        }
      });
    }
    const show = (/** @type {typeof before} */ { windows: shown, count }) => {
      this.windows = shown;
      this.total.value = count;
      this.version.value += 1;
    };
    show({ windows, count: before.count === null ? null : before.count - gone });
    return () => show(before);
  }

  /**
   * Returns the ids of rows, also of those that are not there.
   * @param {number} first
   * @param {number} end
   * @returns {Promise<string[]>}
   */
  async idsOf(first, end) {
    const known = Array.from({ length: end - first }, (_, index) => this.at(first + index)?.id ?? "");
    if (known.every(Boolean)) return known;
    const [answer] = await request([query(this, first, end - first)], null, extensionsOf(this.where));
    return answer.ids;
  }

  /** Fetches again what is seen. The old rows stay until the new ones are there. */
  refresh() {
    this.state = "";
    for (const abort of this.requests.values()) abort.abort();
    this.requests.clear();
    this.fetchWanted();
  }

  /**
   * Fetches again what is seen, unless it is of the state that the server tells. What is under way may be.
   * @param {string} state
   */
  follow(state) {
    this.told = state;
    if (this.state !== state) this.state = "";
    this.fetchWanted();
  }

  /** Gives up all requests. */
  stop() {
    for (const abort of this.requests.values()) abort.abort();
    this.requests.clear();
  }

  /** Gives up all requests, and all rows but those that were wanted last. */
  rest() {
    this.stop();
    for (const number of this.windows.keys()) {
      if (number < this.wanted[0] || number >= this.wanted[1]) this.windows.delete(number);
    }
  }

  /**
   * Asks what others ask from now on, if both have the same rows. They stay as they are. Returns whether it
   * was so.
   * @param {Rows} others
   */
  becomes(others) {
    const [mine, theirs] = [this, others].map((each) =>
      [each.total.peek(), each.windows.get(0)?.rows.map((row) => row.id)].join(),
    );
    if (mine !== theirs) return false;
    this.stop();
    this.filter = others.filter;
    // Rows that are not compared are fetched again when they are seen.
    for (const [number, window] of this.windows) if (number > 0) window.state = "";
    this.fetchWanted();
    return true;
  }

  fetchWanted() {
    for (let number = this.wanted[0]; number < this.wanted[1]; number += 1) {
      if (this.requests.size >= REQUESTS_MAX) return;
      const window = this.windows.get(number);
      const isNew = window && this.state !== "" && window.state === this.state;
      if (!isNew && !this.requests.has(number)) void this.fetch(number);
    }
  }

  /** Fetches the first rows before they are seen. Ends when they are there, or cannot be. @returns {Promise<void>} */
  first() {
    return new Promise((done) => void this.fetch(0, done).then(done));
  }

  /** @param {number} number @param {() => void} [kept] */
  async fetch(number, kept) {
    const abort = new AbortController();
    const { told } = this;
    this.requests.set(number, abort);
    try {
      const answer = await fetchWindow(this, number * WINDOW, abort.signal);
      if (abort.signal.aborted) return;
      // Where there are rows, the new ones come when they are whole: names must not go and come back.
      const first = this.windows.has(number) ? null : this.keep(number, answer);
      kept?.();
      await addOthers(answer.rows, abort.signal, this.where);
      if (abort.signal.aborted) return;
      // Given up before, it is asked for again; and so it is if it has changed since it was asked for.
      const isNewest = this.told === told || this.told === answer.state;
      const window = first ?? this.keep(number, answer, isNewest);
      if (isNewest) window.state = answer.state;
      this.version.value += 1;
    } catch (error) {
      if (abort.signal.aborted) return;
      if (error instanceof Refused) {
        this.why = await reason(error, this.where);
        this.failure.value = error;
      }
      this.requests.delete(number);
      return;
    }
    this.requests.delete(number);
    this.fetchWanted();
  }

  /**
   * @param {number} number
   * @param {{ rows: Row[], state: string, total: number }} answer
   * @param {boolean} [isNewest] Whether no other answer can have told more since.
   */
  keep(number, answer, isNewest = true) {
    // Rows of another state are shown until they were fetched again.
    if (isNewest) this.state = answer.state;
    this.windows.delete(number);
    const window = { rows: answer.rows, state: "" };
    this.windows.set(number, window);
    for (const old of this.windows.keys()) {
      if (this.windows.size <= WINDOWS_MAX) break;
      this.windows.delete(old);
    }
    if (!isNewest) return window;
    for (const old of this.windows.keys()) {
      // That nothing was found is an answer, too.
      if (old > 0 && old * WINDOW >= answer.total) this.windows.delete(old);
    }
    // What changes together is drawn once.
    batch(() => {
      this.failure.value = null;
      this.total.value = answer.total;
      this.version.value += 1;
    });
    return window;
  }
}

/** Says why there is no answer about other mail than that of today. @param {Refused} error @param {Where} where */
async function reason(error, where) {
  return extensionsOf(where).length === 0 ? "" : (await import("./members.js")).whyNot(error);
}

/**
 * @param {{ filter: Record<string, unknown> | null, where: Where }} list
 * @param {number} position
 * @param {number} limit
 * @returns {import("./jmap.js").Call}
 */
function query({ filter, where }, position, limit) {
  const sort = [{ property: "receivedAt", isAscending: false }];
  const which = { filter, position, limit, ...where };
  return ["Email/query", { ...which, collapseConversations: true, calculateTotal: true, sort }];
}

/**
 * @param {{ filter: Record<string, unknown> | null, where: Where }} list
 * @param {number} position
 * @param {AbortSignal} abort
 */
async function fetchWindow(list, position, abort) {
  const { filter, where } = list;
  const ids = { "#ids": from(0, "Email/query", "/ids"), ...momentOf(where) };
  const extensions = extensionsOf(where);
  const properties = extensions.length > 0 ? [...PROPERTIES, "messageId"] : PROPERTIES;
  /** @type {import("./jmap.js").Call[]} */
  const calls = [
    query(list, position, WINDOW),
    ["Email/get", { ...ids, properties }],
    ["Conversation/get", { "#ids": from(1, "Email/get", "/list/*/conversationId") }],
  ];
  if (filter?.["pneuQuery"])
    calls.push(["SearchSnippet/get", { filter, "#emailIds": from(0, "Email/query", "/ids") }]);
  const [answer, emails, conversations, snippets] = await request(calls, abort, extensions);
  // Of messages that are gone nobody knows whether they were read.
  if (where.archived) for (const email of emails.list) email.keywords.$seen = true;
  if (extensions.length > 0)
    conversations.list = await (await import("./members.js")).conversationsOf(emails.list, where, abort);
  const byId = new Map(emails.list.map((/** @type {any} */ email) => [email.id, email]));
  const idsOf = new Map(conversations.list.map((/** @type {any} */ each) => [each.id, each.emailIds]));
  const foundIn = new Map((snippets?.list ?? []).map((/** @type {any} */ each) => [each.emailId, each]));
  const rows = answer.ids.map((/** @type {string} */ id) => byId.get(id)).filter(Boolean);
  return {
    rows: rows.map((/** @type {any} */ email) =>
      rowOf(email, idsOf.get(email.conversationId), foundIn.get(email.id)),
    ),
    state: String(answer.queryState),
    total: Number(answer.total),
  };
}

/**
 * @param {any} email
 * @param {string[] | undefined} emailIds
 * @param {{ subject: string | null, preview: string | null } | undefined} snippet
 * @returns {Row}
 */
function rowOf(email, emailIds, snippet) {
  return {
    id: email.id,
    subject: snippet?.subject ? found(snippet.subject) : [line(email.subject)],
    from: email.from ?? [],
    to: email.to ?? [],
    receivedAt: email.receivedAt,
    preview: snippet?.preview ? found(snippet.preview) : [line(email.preview)],
    isUnread: !email.keywords.$seen,
    isFlagged: Boolean(email.keywords.$flagged),
    isAnswered: Boolean(email.keywords.$answered),
    hasAttachment: Boolean(email.hasAttachment),
    isDraft: Boolean(email.keywords.$draft),
    tags: Object.keys(email.keywords).filter((keyword) => !keyword.startsWith("$")),
    emailIds: emailIds ?? [email.id],
  };
}

/**
 * Adds who else wrote in the conversations, and whether one of their messages is unread.
 * @param {Row[]} rows
 * @param {AbortSignal} abort
 * @param {Where} where
 */
async function addOthers(rows, abort, where) {
  const others = rows.flatMap((row) => row.emailIds.slice(-MESSAGES_MAX).filter((id) => id !== row.id));
  const max = session.peek()?.idsMax ?? 500;
  const emails = new Map();
  for (let start = 0; start < others.length; start += max) {
    const ids = others.slice(start, start + max);
    const args = { ids, properties: ["id", "from", "keywords"], ...momentOf(where) };
    const [answer] = await request([["Email/get", args]], abort, extensionsOf(where));
    for (const email of answer.list) emails.set(email.id, email);
  }
  for (const row of rows) {
    const people = [];
    for (const id of row.emailIds.slice(-MESSAGES_MAX)) {
      if (id === row.id) people.push(...row.from);
      const email = emails.get(id);
      if (!email) continue;
      people.push(...(email.from ?? []));
      row.isUnread ||= !email.keywords.$seen && !where.archived;
      row.isFlagged ||= Boolean(email.keywords.$flagged);
    }
    const seen = new Set();
    const isNew = (/** @type {Person} */ person) => !seen.has(person.email) && seen.add(person.email);
    if (people.length > 0) row.from = people.filter(isNew);
  }
}
