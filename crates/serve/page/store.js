// What is shown: the address and the state that more than one part reads. Touches the address. Knows no
// server.
//
// The address says what is shown, and nothing else does: going back shows what was shown.
//   #/mailbox/ID   with /at/MOMENT, /search/WORDS and /message/ID after it, as many of them as are wanted.
//   #/statistics   with the same after it: what is shown again when one leaves the numbers.
// But whether a search was still being typed is known to the history alone: an address that is opened has
// whole words.

import { computed, signal } from "./vendor/signals-core.mjs";

/**
 * @typedef {{ view: string, mailbox: string, at: string, search: string, message: string,
 *   endsInPrefix: boolean }} Route `view` is empty or "statistics"; `at` is a moment in the past, in UTC, or
 *   empty. If a search `endsInPrefix`, its last word may go on.
 * @typedef {{ archived?: "only", moment?: string }} Where Arguments that ask for other mail than that of today.
 * @typedef {{ id: string, name: string, role: string | null, parentId: string | null, sortOrder: number,
 *   totalThreads: number, unreadThreads: number, unreadEmails: number }} Mailbox
 */

/** The mailbox that stands for all mail. */
export const ALL = "all";

/** The mailbox that stands for messages that no file has any more. */
export const GONE = "gone";

/** What a moment looks like in an address. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/;

/** @type {import("./vendor/signals-core.mjs").Signal<Route>} */
export const route = signal(routeOf(location.hash));

/** The step of the history that was read last. */
let read = step();

/**
 * The mailboxes, or null until the server has told them.
 * @type {import("./vendor/signals-core.mjs").Signal<Mailbox[] | null>}
 */
export const mailboxes = signal(null);

/**
 * The times of the backups that show the moment, the newest first.
 * @type {import("./vendor/signals-core.mjs").Signal<string[]>}
 */
export const asOf = signal([]);

/** Whether the mailboxes are open, where there is no place for them at the side. */
export const isMenuOpen = signal(false);

/** Whether the keys are explained. */
export const isHelpOpen = signal(false);

/** What drafts are called in the browser's storage, before their keys. */
export const DRAFTS = "pneu-draft/";

/** A draft that is to be opened. */
export const draftWanted = signal("");

/** The time in steps of a minute, so that dates stay true. */
export const now = signal(Date.now());

/** What a screen reader says next. */
export const announcement = signal("");

/** Whether what is shown is there now, so that it can be changed. */
export const isToday = computed(() => route.value.mailbox !== GONE && route.value.at === "");

/** Which mail is shown, if not that of today. @returns {Where} */
export function where() {
  const { mailbox: id, at } = route.peek();
  if (id === GONE) return { archived: "only" };
  return at ? { moment: new Date(at).toISOString().replace(".000", "") } : {};
}

/** Returns what a call says besides to read emails of a place. @param {Where} place */
export const momentOf = ({ moment }) => (moment ? { moment } : {});

/** Returns the extensions that reading of a place needs. @param {Where} place */
export const extensionsOf = (place) => (Object.keys(place).length > 0 ? ["archive", "moment", "query"] : []);

/** The open mailbox, or undefined for all mail. */
export const mailbox = computed(() => mailboxes.value?.find((each) => each.id === route.value.mailbox));

/**
 * @param {string} hash
 * @returns {Route}
 */
export function routeOf(hash) {
  const endsInPrefix = history.state?.endsInPrefix === true;
  const found = { view: "", mailbox: "", at: "", search: "", message: "", endsInPrefix };
  const steps = hash.replace(/^#\/?/, "").split("/");
  if (steps[0] === "statistics") found.view = String(steps.shift());
  for (let index = 0; index + 1 < steps.length; index += 2) {
    const name = String(steps[index]);
    if (name === "mailbox" || name === "at" || name === "search" || name === "message")
      found[name] = decoded(String(steps[index + 1]));
  }
  const isMoment = MOMENT.test(found.at) && !Number.isNaN(Date.parse(found.at));
  // What is gone, and numbers, are those of today.
  if (!isMoment || found.view || found.mailbox === GONE) found.at = "";
  return found;
}

/** @param {string} text */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns the address of what is shown, with some of it changed. It is that of mail, unless a view is named.
 * @param {Partial<Route>} change
 */
export function address(change) {
  const to = { ...route.peek(), view: "", ...change };
  const steps = [to.view ? `#/${to.view}` : "#"];
  if (!to.view || to.mailbox) steps.push(`/mailbox/${encodeURIComponent(to.mailbox || ALL)}`);
  if (to.at && !to.view && to.mailbox !== GONE) steps.push(`/at/${to.at}`);
  if (to.search) steps.push(`/search/${encodeURIComponent(to.search)}`);
  if (to.message) steps.push(`/message/${encodeURIComponent(to.message)}`);
  return steps.join("");
}

/**
 * Shows something else, as a step that going back takes back.
 * @param {Partial<Route>} change
 */
export function go(change) {
  const to = address(change);
  if (to !== location.hash) history.pushState(stateOf(change, depth() + 1), "", to);
  else {
    // Who goes to where they are is there again.
    history.replaceState(stateOf(change, depth()), "", to);
    read = "";
  }
  readAddress();
}

/**
 * Shows something else in the place of what is shown.
 * @param {Partial<Route>} change
 */
export function replace(change) {
  history.replaceState(stateOf(change, depth()), "", address(change));
  readAddress();
}

/**
 * Returns what the history keeps of a step. A search that is named has whole words, unless it says otherwise.
 * @param {Partial<Route>} change
 * @param {number} depth
 */
function stateOf(change, depth) {
  const { endsInPrefix = false } = change.search === undefined ? route.peek() : change;
  return { depth, endsInPrefix };
}

/**
 * Opens a message. If one is open, this one takes its place, so that closing it shows the list.
 * @param {string} id
 */
export function openMessage(id) {
  if (route.peek().message) replace({ message: id });
  else go({ message: id });
}

/** Closes the message. This is going back, if the list was shown before. */
export function closeMessage() {
  if (!route.peek().message) return;
  if (depth() > 0) history.back();
  else replace({ message: "" });
}

/** Takes over what the address says. Browsers tell of some changes twice. */
export function readAddress() {
  if (step() === read) return;
  read = step();
  route.value = routeOf(location.hash);
}

/** Returns what tells a step of the history from others: what the address and the history say of it. */
function step() {
  return `${history.state?.endsInPrefix === true} ${location.hash}`;
}

/** Returns how many steps back the page was opened. @returns {number} */
function depth() {
  return history.state?.depth ?? 0;
}
