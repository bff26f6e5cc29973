// Conversations of messages that are gone, or of a moment in the past: which messages they have there. Asks
// the server. Is loaded when it is needed: see rows.js. Knows neither rows nor elements.

import "./phrases-elsewhere.js";
import { long } from "./dates.js";
import { say } from "./i18n.js";
import { inParts, request } from "./jmap.js";
import { momentOf } from "./store.js";

/**
 * @typedef {import("./store.js").Where} Where
 * @typedef {{ id: string, conversationId: string, messageId: string[] | null }} Email
 * @typedef {{ id: string, emailIds: string[] }} Conversation
 */

export const EXTENSIONS = ["archive", "moment", "query"];
/** How many conversations one query names, and how many messages it finds at most. */
const NAMED_MAX = 50;
const FOUND_MAX = 10_000;

/** Returns what finds the conversation of a message. @param {Email} email */
function named({ messageId }) {
  // Every character may be in it: those that would end the quotation are made plain.
  return messageId?.[0] ? [`thread:"${messageId[0].replace(/["\\]/g, "\\$&")}"`] : [];
}

/**
 * Returns the conversations of emails, each with its emails in a place, oldest first.
 * @param {Email[]} emails
 * @param {Where} where
 * @param {AbortSignal | null} [abort]
 * @returns {Promise<Conversation[]>}
 */
export async function conversationsOf(emails, where, abort = null) {
  /** @type {Map<string, Set<string>>} */
  const all = new Map();
  const add = (/** @type {Email} */ { id, conversationId }) => {
    all.set(conversationId, (all.get(conversationId) ?? new Set()).add(id));
  };
  for (let start = 0; start < emails.length; start += NAMED_MAX) {
    const names = emails.slice(start, start + NAMED_MAX).flatMap(named);
    const ids = names.length > 0 ? await found(names.join(" or "), where, abort) : [];
    const properties = ["id", "conversationId"];
    const get = (/** @type {string[]} */ part) =>
      /** @type {import("./jmap.js").Call} */ (["Email/get", { ids: part, properties, ...momentOf(where) }]);
    for (const { list } of await inParts(ids, get, EXTENSIONS)) list.forEach(add);
  }
  // A message without a name is alone.
  emails.forEach(add);
  return [...all].map(([id, ids]) => ({ id, emailIds: [...ids] }));
}

/**
 * Returns the emails of the conversation of one, oldest first; none if it is not in that place.
 * @param {string} id
 * @param {Where} where
 * @param {AbortSignal} abort
 * @returns {Promise<string[]>}
 */
export async function idsWith(id, where, abort) {
  const args = { ids: [id], properties: ["id", "conversationId", "messageId"], ...momentOf(where) };
  // What was not there at a moment is not found, unless messages that are gone are asked for.
  const extensions = where.archived ? ["archive"] : ["moment"];
  const [{ list }] = await request([["Email/get", args]], abort, extensions);
  const [email] = list;
  if (!email) return [];
  const ids = await found(named(email).join(), where.archived ? { archived: "with" } : where, abort);
  return ids.includes(id) ? ids : [id];
}

/**
 * @param {string} pneuQuery
 * @param {Where | { archived: "with" }} where
 * @param {AbortSignal | null} abort
 * @returns {Promise<string[]>}
 */
async function found(pneuQuery, where, abort) {
  if (!pneuQuery) return [];
  const sort = [{ property: "receivedAt", isAscending: true }];
  const args = { filter: { pneuQuery }, limit: FOUND_MAX, sort, ...where };
  const [answer] = await request([["Email/query", args]], abort, EXTENSIONS);
  return answer.ids;
}

/**
 * Returns those emails that no file has today.
 * @param {string[]} ids
 * @returns {Promise<string[]>}
 */
export async function goneOf(ids) {
  const get = (/** @type {string[]} */ part) =>
    /** @type {import("./jmap.js").Call} */ (["Email/get", { ids: part, properties: ["id", "isDeleted"] }]);
  const answers = await inParts(ids, get, EXTENSIONS);
  const emails = answers.flatMap(({ list }) => list);
  return emails.filter(({ isDeleted }) => isDeleted).map((each) => each.id);
}

/** Returns the time of the first backup, or null; throws if no backup can be read. */
export async function firstMoment() {
  const answer = await request([["Email/query", { moment: "1970-01-01T00:00:00Z", limit: 1 }]], null, ["moment"])
    .then(() => "1970-01-01T00:00:00Z")
    .catch((error) => {
      if (error.details?.["arguments"]?.[0] !== "moment") throw error;
      return error.details["firstMoment"];
    });
  return /** @type {string | null} */ (answer ?? null);
}

/**
 * Says why there is no mail of a place.
 * @param {import("./jmap.js").Refused} error
 */
export function whyNot(error) {
  const { details } = error;
  const isEarly = Array.isArray(details["arguments"]) && details["arguments"][0] === "moment";
  const first = details["firstMoment"];
  if (isEarly && typeof first === "string") return say("tooEarly", { date: long(first) });
  if (isEarly) return say("noBackup");
  if (error.type === "archiveUnavailable") return say("archiveNot", { reason: error.message });
  return say("failed", { reason: error.message });
}
