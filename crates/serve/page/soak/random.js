// Random numbers from a seed, so that a run can be made again. Pure.

/** @typedef {ReturnType<typeof random>} Random */

/** @param {number} seed */
export function random(seed) {
  let state = seed >>> 0;
  /** Returns a number from 0 to 1, without 1: mulberry32. */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (/** @type {number} */ end) => Math.floor(next() * end);
  return {
    below,
    /** @template Item @param {readonly Item[]} items @returns {Item} */
    pick: (items) => /** @type {any} */ (items[below(items.length)]),
    /**
     * Returns one of the names, as often as its weight says.
     * @template {string} Name @param {Record<Name, number>} weights @returns {Name}
     */
    weighted(weights) {
      const all = /** @type {[Name, number][]} */ (Object.entries(weights));
      let left = next() * all.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of all) if ((left -= weight) < 0) return name;
      return /** @type {any} */ (all.at(-1))[0];
    },
  };
}
