// What is fetched before it is opened: the conversations beside the one that is read. Holds that one and
// those, until they may have changed. Knows no requests.

/** How many are fetched: the next one and the previous one. */
const AHEAD_MAX = 2;

/**
 * Returns what holds answers that will be wanted.
 * @template Answer
 * @param {(id: string, abort: AbortSignal) => Promise<Answer>} fetch
 */
export function ahead(fetch) {
  /** @type {Map<string, { answer: Promise<Answer | undefined>, abort: AbortController }>} */
  const held = new Map();

  /**
   * Fetches these that are not there yet, and gives up all others but the one that is open.
   * @param {string[]} ids
   * @param {string} [open]
   */
  function want(ids, open) {
    const wanted = ids.slice(0, AHEAD_MAX);
    for (const [id, { abort }] of held) {
      if (id === open || wanted.includes(id)) continue;
      abort.abort();
      held.delete(id);
    }
    for (const id of wanted.filter((each) => !held.has(each))) {
      const abort = new AbortController();
      // Without an answer it is asked for again when it is opened.
      held.set(id, { answer: fetch(id, abort.signal).catch(() => undefined), abort });
    }
  }

  /** Holds one that was opened. @param {string} id @param {Answer} answer */
  function hold(id, answer) {
    held.set(id, { answer: Promise.resolve(answer), abort: new AbortController() });
  }

  /** Returns one, if it is there or under way. @param {string} id */
  const get = (id) => held.get(id)?.answer;

  return { want, hold, get };
}
