// Where rows are in a list that may be longer than a browser allows an element to be. Pure. Knows neither
// rows nor mail.
//
// A list of `count` rows has a length; its element is never taller than ELEMENT_MAX. While both are the same,
// a place in one is a place in the other. If the list is longer, small steps of the scroll bar are steps of
// the list, so that wheels and keys move it as usual, and long ones are jumps to the same fraction of it.

/** Browsers stop at 16 to 33 million pixels. */
export const ELEMENT_MAX = 8_000_000;

/**
 * @typedef {{ count: number, row: number, view: number }} Size The number of rows, the height of one, and the
 *   height of what is seen.
 * @typedef {{ top: number, scroll: number }} Place Where what is seen begins in the list, and where the element
 *   is scrolled to.
 */

/** @param {Size} size */
export function elementHeight(size) {
  return Math.min(size.count * size.row, ELEMENT_MAX);
}

/** @param {Size} size */
export function topMax(size) {
  return Math.max(0, size.count * size.row - size.view);
}

/** @param {Size} size */
function scrollMax(size) {
  return Math.max(0, elementHeight(size) - size.view);
}

/**
 * Returns the place at a top, with the scroll bar where it belongs.
 * @param {Size} size
 * @param {number} top
 * @returns {Place}
 */
export function placeAt(size, top) {
  const longest = topMax(size);
  const clamped = Math.min(Math.max(0, top), longest);
  const scroll =
    longest === 0 ? 0 : longest === scrollMax(size) ? clamped : (clamped / longest) * scrollMax(size);
  return { top: clamped, scroll };
}

/**
 * Returns the place after the element was scrolled.
 * @param {Size} size
 * @param {Place} before
 * @param {number} scroll
 * @returns {Place}
 */
export function scrolled(size, before, scroll) {
  const longest = topMax(size);
  if (longest === scrollMax(size)) return { top: Math.min(Math.max(0, scroll), longest), scroll };
  if (scroll <= 0) return { top: 0, scroll };
  if (scroll >= scrollMax(size) - 1) return { top: longest, scroll };
  const step = scroll - before.scroll;
  const isJump = Math.abs(step) > 2 * size.view;
  const top = isJump ? (scroll / scrollMax(size)) * longest : before.top + step;
  return { top: Math.min(Math.max(0, top), longest), scroll };
}

/**
 * Returns the first row that is seen and the one after the last, with some on both sides.
 * @param {Size} size
 * @param {number} top
 * @param {number} margin
 * @returns {[number, number]}
 */
export function rowsSeen(size, top, margin) {
  const first = Math.max(0, Math.floor(top / size.row) - margin);
  const end = Math.min(size.count, Math.ceil((top + size.view) / size.row) + margin);
  return [Math.min(first, end), end];
}

/**
 * Returns the top at which a row is seen whole, as near as possible to a top.
 * @param {Size} size
 * @param {number} top
 * @param {number} index
 */
export function topShowing(size, top, index) {
  return Math.min(Math.max(top, (index + 1) * size.row - size.view), index * size.row);
}
