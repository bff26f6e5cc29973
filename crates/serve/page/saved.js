// Which searches are saved, and which tags there are. Asks the server for them. Touches nothing. Knows no
// messages, and not how it looks: that is loaded when there is something to show.

import { signal } from "./vendor/signals-core.mjs";
import { Refused, Unreachable, follower, request } from "./jmap.js";
import { later } from "./later.js";

/**
 * @typedef {{ id: string, name: string, query: string }} SavedQuery
 * @typedef {{ id: string, name: string, total: number }} Tag
 */

/** @type {import("./vendor/signals-core.mjs").Signal<SavedQuery[]>} */
export const savedQueries = signal([]);
/** @type {import("./vendor/signals-core.mjs").Signal<Tag[]>} */
export const tags = signal([]);
/** What draws them. @type {import("./vendor/signals-core.mjs").Signal<typeof import("./saved-side.js") | null>} */
export const side = signal(null);
const load = later(() => import("./saved-side.js"), "/search.css");

/** Loads what draws them. Without it, all else works; it is asked for again next time. */
export async function loadSide() {
  side.value ??= await load().catch(() => null);
}

/** Asks the server for them. @returns {Promise<void>} */
export const fetchSaved = () => follow(null);

/** Asks the server for them, unless they are of the states that it tells. */
export const follow = follower(["SavedQuery", "Email"], fetchAll);

/** @returns {Promise<string[]>} */
async function fetchAll() {
  try {
    const [queries, all] = await request([
      ["SavedQuery/get", { ids: null }],
      ["Tag/get", { ids: null, properties: ["id", "name", "total"] }],
    ]);
    savedQueries.value = queries.list;
    tags.value = all.list;
    if (queries.list.length + all.list.length > 0) void loadSide();
    return [queries.state, all.state];
  } catch (error) {
    // They stay as they were until the next event.
    if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
    return [];
  }
}

/** Returns the query that stands for a saved one. @param {SavedQuery} saved */
export function standsFor({ name }) {
  return `query:${name}`;
}

