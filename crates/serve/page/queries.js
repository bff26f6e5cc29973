// Texts of queries: where a mistake is, whether it may still become none, and queries for tags and saved
// queries. Pure. Knows neither the server nor the page. The language is the server's: docs/query.md.

/**
 * @typedef {{ text: string, start: number, end: number }} Place A part of a text.
 * @typedef {{ what: string, hint: string, at: Place | null, saved: string, query: Place | null }} Problem
 *   `at` is the mistake in the text that was asked for. If it is in a saved query, `saved` is its name and
 *   `query` the place in its text.
 */

/**
 * Returns what is wrong with a query.
 * @param {string} text As it is in the field.
 * @param {string} what
 * @param {any} details What the server says of it.
 * @returns {Problem}
 */
export function problemIn(text, what, details) {
  const { pneuQuery, position, suggestion = "", savedQuery = "" } = details;
  const problem = { what, hint: suggestion, at: null, saved: savedQuery, query: null };
  if (!position) return problem;
  if (savedQuery) return { ...problem, query: placeIn(pneuQuery, position, 0) };
  if (pneuQuery !== text.trim()) return problem;
  return { ...problem, at: placeIn(text, position, text.length - text.trimStart().length) };
}

/**
 * Returns a part of a text in which something can be seen.
 * @param {string} text
 * @param {{ start: number, end: number }} position
 * @param {number} shift
 * @returns {Place}
 */
function placeIn(text, { start, end }, shift) {
  const last = Math.max(0, text.length - 1);
  const from = Math.min(start + shift, last);
  return { text, start: from, end: Math.min(Math.max(end + shift, from + 1), text.length) };
}

/**
 * Returns whether a mistake may be none as soon as the text goes on: it is in the word at the end, or
 * something that begins there waits for its other half.
 * @param {Place} at
 */
export function isUnfinished({ text, start, end }) {
  const marked = text.slice(start, end);
  if (marked === "(" || marked === '"') return true;
  const isLast = text.slice(end).trim() === "";
  if (isLast && /^(and|or|xor|not|[-~])$/i.test(marked)) return true;
  return /[^\s(]*$/.exec(text)?.[0] !== "" && !/[\s(]/.test(text.slice(end));
}

/**
 * Returns a query for a value of a field.
 * @param {string} field
 * @param {string} value
 */
export function queryFor(field, value) {
  if (/^[\p{L}\p{N}][\p{L}\p{N}._@+=$%&!,;'#/-]*$/u.test(value)) return `${field}:${value}`;
  const isLikeRegex = /^\/.*\/$/s.test(value) && value.length > 1;
  const text = value.replace(/["\\*]/g, "\\$&");
  return `${field}:"${isLikeRegex ? "\\" : ""}${text}"`;
}
