// Talks with the server: the session, calls, and events. Touches the network. Knows nothing of what is shown.

import { signal } from "./vendor/signals-core.mjs";

/**
 * @typedef {{ accountId: string, apiUrl: string, downloadUrl: string, eventSourceUrl: string, isReadOnly: boolean,
 *   idsMax: number, uploadUrl: string }} Session
 * @typedef {[name: string, args: Record<string, unknown>]} Call
 * @typedef {"starting" | "online" | "lost" | "login"} Connection
 * @typedef {Record<string, string>} States The states of types, as the server told them.
 */

const CORE = "urn:ietf:params:jmap:core";
const MAIL = "urn:ietf:params:jmap:mail";
const SUBMISSION = "urn:ietf:params:jmap:submission";
/** What extensions of pneu begin with, as docs/jmap-extensions.md describes them. */
const EXTENSION = "urn:pneu:params:jmap:";
/** Those that every request names; it names others that it needs. */
const OWN = ["conversations", "query", "search"];
/** How many calls a request has at most. */
const CALLS_MAX = 16;
/** How often the server shows that it is there, and after how long a silence it is taken as lost. */
const PING_SECONDS = 20;
const SILENCE_MS = 50_000;
/** The pauses between attempts to reach it. The last one repeats. */
const PAUSES_MS = [500, 1000, 2000, 4000, 8000];

/** The server could not be reached, or refuses everything until the user logs in. */
export class Unreachable extends Error {}

/** The server refused a call. */
export class Refused extends Error {
  /**
   * @param {string} type
   * @param {string} description
   * @param {any} [details] All that the server says of it.
   */
  constructor(type, description, details = {}) {
    super(description || type);
    this.type = type;
    this.details = details;
  }
}

/** Whether the server is there. @type {import("./vendor/signals-core.mjs").Signal<Connection>} */
export const connection = signal("starting");

/** @type {import("./vendor/signals-core.mjs").Signal<Session | null>} */
export const session = signal(null);

/** @type {Set<(states: States | null) => void>} */
const listeners = new Set();
/** @type {EventSource | null} */
let events = null;
let attempts = 0;
let retryTimer = 0;
let silenceTimer = 0;

/**
 * Calls back whenever something may have changed: the server tells its states, or it was not heard for a
 * while, and there are none.
 * @param {(states: States | null) => void} listener
 */
export function onChange(listener) {
  listeners.add(listener);
}

/** Reaches the server, now, and keeps to it. */
export async function connect() {
  clearTimeout(retryTimer);
  closeEvents();
  try {
    session.value = await getSession();
    // All is fetched now, so that it is there at once. The first event says whether it has changed since.
    tell(null);
    openEvents(session.value);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
  }
}

/**
 * Makes calls in one request. Returns the answer to each; the first one that is refused is thrown.
 * @param {Call[]} calls
 * @param {AbortSignal | null} [abort]
 * @param {string[]} [extensions] The names of those that are used.
 * @returns {Promise<any[]>}
 */
export async function request(calls, abort, extensions = []) {
  const at = session.value;
  if (!at) throw new Unreachable("there is no session yet");
  const methodCalls = calls.map(([name, args], index) => [
    name,
    { accountId: at.accountId, ...args },
    `c${index}`,
  ]);
  const named = [...new Set([...OWN, ...extensions])].map((name) => EXTENSION + name);
  const body = JSON.stringify({ using: [CORE, MAIL, SUBMISSION, ...named], methodCalls });
  const headers = { "Content-Type": "application/json" };
  const reply = await ask(at.apiUrl, { method: "POST", headers, body, ...(abort ? { signal: abort } : {}) });
  const answers = /** @type {[string, any, string][]} */ (reply.methodResponses);
  return calls.map((_, index) => {
    const answer = answers.find(([, , id]) => id === `c${index}`);
    if (!answer) throw new Refused("serverFail", "the server left a call without an answer");
    if (answer[0] === "error") throw new Refused(answer[1].type, answer[1].description, answer[1]);
    return answer[1];
  });
}

/**
 * Makes a call for each part of a list: as much as the server takes at once.
 * @template Item
 * @param {Item[]} items
 * @param {(part: Item[]) => Call} call
 * @param {string[]} [extensions]
 */
export async function inParts(items, call, extensions = []) {
  const calls = parts(items, session.peek()?.idsMax ?? 500).map(call);
  const answers = [];
  for (const part of parts(calls, CALLS_MAX)) answers.push(...(await request(part, null, extensions)));
  return answers;
}

/** @template Item @param {Item[]} items @param {number} length */
function parts(items, length) {
  const count = Math.ceil(items.length / length);
  return Array.from({ length: count }, (_, index) => items.slice(index * length, (index + 1) * length));
}

/**
 * Uploads a file.
 * @param {Blob} file
 * @returns {Promise<{ blobId: string, type: string, size: number }>}
 */
export function upload(file) {
  const { uploadUrl = "", accountId = "" } = session.peek() ?? {};
  return ask(uploadUrl.replace("{accountId}", accountId), {
    method: "POST",
    headers: { "Content-Type": file.type || "application/octet-stream" },
    body: file,
  });
}

/**
 * Returns an argument that is taken from the answer to an earlier call of the same request.
 * @param {number} index
 * @param {string} name
 * @param {string} path
 */
export function from(index, name, path) {
  return { resultOf: `c${index}`, name, path };
}

/**
 * Returns the address of a blob, as a file.
 * @param {string} blobId
 * @param {string} name
 * @param {string} type
 */
export function blobUrl(blobId, name, type) {
  /** @type {Record<string, string>} */
  const values = { accountId: session.value?.accountId ?? "", blobId, name, type };
  const template = session.value?.downloadUrl ?? "";
  return template.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(values[key] ?? ""));
}

/** @returns {Promise<Session>} */
async function getSession() {
  const found = await ask("/.well-known/jmap", {});
  const accountId = found.primaryAccounts[MAIL];
  const { apiUrl, downloadUrl, uploadUrl, eventSourceUrl } = found;
  const { maxObjectsInGet, maxObjectsInSet } = found.capabilities[CORE];
  const idsMax = Math.min(maxObjectsInGet, maxObjectsInSet);
  return {
    accountId,
    apiUrl,
    downloadUrl,
    uploadUrl,
    eventSourceUrl,
    idsMax,
    isReadOnly: found.accounts[accountId].isReadOnly,
  };
}

/**
 * @param {string} url
 * @param {RequestInit} init
 * @returns {Promise<any>}
 */
async function ask(url, init) {
  let reply;
  try {
    reply = await fetch(url, { credentials: "same-origin", cache: "no-store", ...init });
    if (reply.ok) return await reply.json();
  } catch (error) {
    if (init.signal?.aborted) throw error;
    lose("lost");
    throw new Unreachable("the server cannot be reached");
  }
  if (reply.status === 401) {
    lose("login");
    throw new Unreachable("nobody is logged in");
  }
  if (reply.status >= 500) {
    lose("lost");
    throw new Unreachable("the server cannot answer now");
  }
  const problem = await reply.json().catch(() => ({}));
  throw new Refused(problem.type ?? "", problem.detail ?? `${reply.status} ${reply.statusText}`);
}

/** @param {Session} at */
function openEvents(at) {
  closeEvents();
  const url = at.eventSourceUrl
    .replace("{types}", "*")
    .replace("{closeafter}", "no")
    .replace("{ping}", String(PING_SECONDS));
  // Without the id of an event that is known, the first one tells the states that there are.
  events = new EventSource(`${url}&lastEventId=`);
  events.onopen = () => {
    attempts = 0;
    connection.value = "online";
    awaitSign();
  };
  events.onerror = () => lose("lost");
  events.addEventListener("ping", awaitSign);
  events.addEventListener("state", (event) => {
    awaitSign();
    tell(JSON.parse(event.data).changed[at.accountId]);
  });
}

function closeEvents() {
  clearTimeout(silenceTimer);
  events?.close();
  events = null;
}

/** Waits for the next sign of life. */
function awaitSign() {
  clearTimeout(silenceTimer);
  silenceTimer = window.setTimeout(() => lose("lost"), SILENCE_MS);
}

/** @param {"lost" | "login"} why */
function lose(why) {
  closeEvents();
  connection.value = why;
  clearTimeout(retryTimer);
  const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)];
  attempts += 1;
  retryTimer = window.setTimeout(connect, pause);
}

/** @param {States | null} states */
function tell(states) {
  for (const listener of listeners) listener(states);
}

/**
 * Returns what fetches something, unless it is of the states that the server tells. What is under way may be.
 * Without states it is fetched in any case.
 * @param {string[]} types Those whose states it has.
 * @param {() => Promise<string[]>} fetch Returns their states.
 */
export function follower(types, fetch) {
  let has = "";
  /** @type {Promise<unknown> | null} */
  let fetching = null;
  return async (/** @type {States | null} */ states) => {
    while (states && fetching) await fetching.catch(() => {});
    if (states && types.map((type) => states[type]).join() === has) return;
    has = "";
    const fetched = fetch();
    fetching = fetched;
    try {
      has = (await fetched).join();
    } finally {
      if (fetching === fetched) fetching = null;
    }
  };
}
