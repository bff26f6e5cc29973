// What is wrong with a query: marks below its text, and words. Touches the marks of a field. Knows no server.
// Is loaded when it is needed.

import { html } from "./html.js";
import { say } from "./i18n.js";
import { visible } from "./text.js";

/** @typedef {import("./queries.js").Problem} Problem @typedef {import("./queries.js").Place} Place */

/** Draws a text of which a part is marked. @param {Place} place */
function drawMarked({ text, start, end }) {
  return [text.slice(0, start), html`<mark class="wrong">${text.slice(start, end)}</mark>`, text.slice(end)];
}

/** Draws marks behind the text of a field, in the element that has both. @param {Place | null | undefined} at @param {string} field */
export function drawMarks(at, field) {
  if (!at) return null;
  queueMicrotask(() => scrollMarks(document.getElementById(field)));
  return html`<div class="search-marks" aria-hidden="true" dir="auto">${drawMarked(at)}</div>`;
}

/** Keeps marks behind their text, however far the field is scrolled. @param {Element | null} field */
export function scrollMarks(field) {
  const marks = field?.parentElement?.querySelector(".search-marks");
  if (field && marks) marks.scrollLeft = field.scrollLeft;
}

/** Draws what is wrong, and what can be done. @param {Problem} problem @param {string} id */
export function drawProblem(problem, id) {
  const { query, saved, hint } = problem;
  return html`<div class="query-problem" id=${id}><p><bdi>${sentence(problem.what)}</bdi></p>
    ${
      query &&
      html`<p class="saved-text"><span>${say("inSaved", { name: saved })}</span> <code dir="auto">${drawMarked({
        ...query,
        text: visible(query.text),
      })}</code></p>`
    }
    ${hint && html`<p class="hint"><bdi>${sentence(hint)}</bdi></p>`}</div>`;
}

/** Returns what is wrong in one text, for those who hear it. @param {Problem} problem */
export function spoken({ what, hint, saved }) {
  const sentences = [what, saved && say("inSaved", { name: saved }), hint];
  return sentences.filter(Boolean).map(sentence).join(" ");
}

/** @param {string} text */
function sentence(text) {
  const whole = visible(text);
  return whole.charAt(0).toLocaleUpperCase() + whole.slice(1) + (/[.!?:]$/.test(whole) ? "" : ".");
}
