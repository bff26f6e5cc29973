// Taking back what was done: what the page itself did, and actions of the server. Does one thing after the
// other. Asks the server. Knows no emails.

import { tell } from "./ask.js";
import { say } from "./i18n.js";
import { Refused, Unreachable, request } from "./jmap.js";

/** How many things can be taken back. */
const DONE_MAX = 50;

/** What takes back what was done, the last one last. @type {(() => unknown)[]} */
const done = [];

/** The actions of the server that these are, as far as they are known. @type {WeakMap<() => unknown, string[]>} */
const actionsOf = new WeakMap();

/** The end of all that is under way. @type {Promise<unknown>} */
let queue = Promise.resolve();

/**
 * Does one thing after the other, so that each sees what came of the one before.
 * @param {() => Promise<unknown>} work
 */
export function inTurn(work) {
  const turn = queue.then(work);
  queue = turn.catch(() => {});
  return turn;
}

/**
 * Does something, and tells why if it cannot be done.
 * @param {() => unknown} work
 */
export async function attempt(work) {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
    tell(say("notDone", { reason: error.message }));
    return false;
  }
}

/**
 * Tells what was done, and offers to take it back, by the bar and by a key.
 * @param {string} text
 * @param {() => unknown} back
 * @param {string[]} [actions]
 */
export function offer(text, back, actions = []) {
  done.push(back);
  done.splice(0, done.length - DONE_MAX);
  actionsOf.set(back, actions);
  tell(text, say("undo"), () => void undo(back));
}

/** Takes back what was done last. */
export async function undo(back = done.at(-1)) {
  if (!back || !withdraw(back)) tell(say("undoNothing"));
  else if (!(await attempt(back))) done.push(back);
}

/** Returns the actions that can be undone, the newest first; null if nobody knows. @returns {Promise<string[] | null>} */
async function actionIds() {
  try {
    const [answer] = await request([["Action/get", { ids: null, properties: ["id"] }]], null, ["actions"]);
    return answer.list.map((/** @type {{ id: string }} */ { id }) => id);
  } catch (error) {
    if (error instanceof Refused || error instanceof Unreachable) return null;
    throw error;
  }
}

/**
 * Does what is one action, or several, for certain. Returns its answer and their ids, the newest first: none,
 * if others did something at the same time.
 * @template Answer
 * @param {() => Promise<Answer>} work
 * @param {(answer: Answer) => number} count How many actions it was.
 * @returns {Promise<[Answer, string[]]>}
 */
export async function traced(work, count) {
  const before = await actionIds();
  const answer = await work();
  const made = before && (await actionIds())?.filter((id) => !before.includes(id));
  return [answer, made && made.length === count(answer) ? made : []];
}

/**
 * Undoes actions, each if it is the newest one then. Returns how many files were left alone, or null if
 * something else was done since.
 * @param {string[]} ids
 */
export async function undoActions(ids) {
  let left = 0;
  for (const id of ids) {
    try {
      const [{ undone }] = await request([["Action/undo", { id }]], null, ["actions"]);
      for (const { count } of undone.left) left += count;
    } catch (error) {
      if (error instanceof Refused && error.type === "stateMismatch") return null;
      throw error;
    }
  }
  return left;
}

/** Offers no longer to undo actions that were undone elsewhere. @param {string} id */
export function forgetAction(id) {
  for (const back of done.filter((each) => actionsOf.get(each)?.includes(id))) withdraw(back);
}

/** Tells that something was undone. @param {number} left How many files were left alone. */
export function tellUndone(left) {
  tell(left > 0 ? say("undoneBut", { count: left }) : say("undone"));
}

/** Offers no longer to take something back. @param {() => unknown} back */
export function withdraw(back) {
  const index = done.indexOf(back);
  if (index >= 0) done.splice(index, 1);
  return index >= 0;
}
