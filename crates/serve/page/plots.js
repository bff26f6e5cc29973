// Plots: numbers come in, drawings go out. Pure. Knows no mail and no server.

import { html } from "./html.js";
import { locale, number } from "./i18n.js";

/**
 * @typedef {{ label: string, title: string, value: number }} Column `title` is what is said of it, `label` what
 *   stands below it, if there is room.
 * @typedef {{ month: string | null, emails: number, bytes: number, threads: number }} Month
 */

const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });

/** How many lines there are at most, above the lowest one. */
const LINES_MAX = 4;
/** Room around the columns, and for a digit and a letter of labels. */
const MARGIN = { top: 10, right: 4, bottom: 26, left: 14 };
const DIGIT = 7.5;
const LETTER = 7;
/** The widest column, and the gap between two as a part of both. */
const COLUMN_MAX = 44;
const GAP = 0.22;

/** A longer time is drawn in years. */
export const MONTHS_MAX = 480;
/** Months at an end are left out if a longer time than this is between them and the rest, and if few are there. */
const DISTANCE_MAX = 24;
const STRAY_MAX = 0.005;

/**
 * Returns where the lines of a plot are: round numbers, from 0 to one that is not below the largest value.
 * @param {number} max
 */
export function lines(max) {
  const least = Math.max(max, 1) / LINES_MAX;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, ([1, 2, 5, 10].find((each) => each * power >= least) ?? 10) * power);
  const count = Math.max(1, Math.ceil(max / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Returns the number of a month, counted from year 0. @param {string} month */
function numberOf(month) {
  const [year = 0, of = 1] = month.split("-").map(Number);
  return year * 12 + of - 1;
}

/** Returns a month by its number. @param {number} index */
function monthOf(index) {
  return `${String(Math.floor(index / 12)).padStart(4, "0")}-${String((index % 12) + 1).padStart(2, "0")}`;
}

/**
 * Returns the time that is drawn, with the months without mail, and how many emails are left out at its ends:
 * a wrong date is far from all others. A very long time comes in years.
 * @param {Month[]} groups In the order of time; those without a month are left out, too.
 * @returns {{ groups: Month[], left: Month[], isInYears: boolean }}
 */
export function drawn(groups) {
  const dated = groups.filter(({ month }) => month !== null);
  const left = groups.filter(({ month }) => month === null);
  const sum = dated.reduce((all, { emails }) => all + emails, 0);
  const at = (/** @type {number} */ index) => numberOf(dated[index]?.month ?? "");
  let [first, end, stray] = [0, dated.length, 0];
  for (let index = 0, few = 0; index + 1 < dated.length; index += 1) {
    few += dated[index]?.emails ?? 0;
    if (few > sum * STRAY_MAX) break;
    if (at(index + 1) - at(index) > DISTANCE_MAX) [first, stray] = [index + 1, few];
  }
  for (let index = dated.length - 1, few = stray; index > first; index -= 1) {
    few += dated[index]?.emails ?? 0;
    if (few > sum * STRAY_MAX) break;
    if (at(index) - at(index - 1) > DISTANCE_MAX) end = index;
  }
  const kept = dated.slice(first, end);
  left.unshift(...dated.slice(0, first), ...dated.slice(end));
  if (kept.length === 0) return { groups: [], left, isInYears: false };
  const [from, to] = [at(first), at(end - 1)];
  const isInYears = to - from >= MONTHS_MAX;
  const keyOf = (/** @type {string} */ month) => (isInYears ? month.slice(0, 4) : month);
  /** @type {Map<string, Month>} */
  const all = new Map();
  // Wrong dates of a mailbox that has no others may be far away from each other.
  const begin = Math.max(from, to - 12 * MONTHS_MAX);
  for (let index = begin; index <= to; index += 1) {
    const month = keyOf(monthOf(index));
    all.set(month, { month, emails: 0, bytes: 0, threads: 0 });
  }
  for (const { month, emails, bytes, threads } of kept) {
    const sums = all.get(keyOf(String(month)));
    if (sums) Object.assign(sums, { emails: sums.emails + emails, bytes: sums.bytes + bytes, threads: sums.threads + threads });
    else left.push({ month, emails, bytes, threads });
  }
  return { groups: [...all.values()], left, isInYears };
}

/**
 * Draws columns. Labels that have no room are left out.
 * @param {string} about What a screen reader says of it.
 * @param {Column[]} columns
 * @param {{ width: number, height: number }} size In pixels.
 */
export function plot(about, columns, { width, height }) {
  const marks = lines(Math.max(...columns.map(({ value }) => value), 0));
  const top = marks.at(-1) ?? 1;
  const widest = Math.max(...marks.map((each) => compact.format(each).length));
  const left = MARGIN.left + widest * DIGIT;
  const room = { width: Math.max(1, width - left - MARGIN.right), height: height - MARGIN.top - MARGIN.bottom };
  const step = room.width / columns.length;
  const gap = step > 3 ? step * GAP : step > 1.5 ? 0.5 : 0;
  const wide = Math.max(0.75, Math.min(COLUMN_MAX, step - gap));
  const y = (/** @type {number} */ value) => MARGIN.top + room.height * (1 - value / top);
  const x = (/** @type {number} */ index) => left + step * (index + 0.5);
  return html`<svg class="plot" role="img" aria-label=${about} width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`}>
    ${marks.map(
      (mark) => html`<line class=${mark === 0 ? "axis" : ""} x1=${left} x2=${width - MARGIN.right} y1=${y(mark)} y2=${y(mark)} />
      <text x=${left - 8} y=${y(mark) + 4} text-anchor="end">${compact.format(mark)}</text>`,
    )}
    ${columns.map(({ title, value }, index) => {
      const tall = value > 0 ? Math.max(1, y(0) - y(value)) : 0;
      return html`<g><title>${title}</title><rect class="reach" x=${x(index) - step / 2} y=${MARGIN.top} width=${step} height=${room.height} />
      <rect x=${x(index) - wide / 2} y=${y(0) - tall} width=${wide} height=${tall} rx=${Math.min(3, wide / 4, tall / 2)} /></g>`;
    })}
    ${shownLabels(columns, step).map(
      (index) => html`<text x=${bounded(x(index), columns[index]?.label ?? "", width)} y=${height - 7} text-anchor="middle">${columns[index]?.label}</text>`,
    )}</svg>`;
}

/** Returns which labels have room, evenly spread among those that there are. @param {Column[]} columns @param {number} step */
function shownLabels(columns, step) {
  const labelled = columns.flatMap(({ label }, index) => (label ? [index] : []));
  const longest = Math.max(...labelled.map((index) => columns[index]?.label.length ?? 0), 1);
  const [first = 0, second = first] = labelled;
  const apart = Math.max(1, second - first) * step;
  const every = [1, 2, 3, 4, 5, 6, 10, 12, 20, 25, 50, 100].find((each) => each * apart >= longest * LETTER + 10) ?? 200;
  return labelled.filter((_, index) => index % every === 0);
}

/** Returns where a label is, not cut off at an end. @param {number} x @param {string} label @param {number} width */
function bounded(x, label, width) {
  const half = (label.length * LETTER) / 2;
  return Math.min(Math.max(x, half), width - half);
}

/**
 * Draws a table of the same numbers.
 * @param {string[]} heads
 * @param {unknown[][]} rows The first of each is its head.
 */
export function table(heads, rows) {
  const cell = (/** @type {unknown} */ value) => (typeof value === "number" ? number(value) : value);
  return html`<table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${rows.map(
      ([head, ...values]) =>
        html`<tr><th scope="row">${cell(head)}</th>${values.map((value) => html`<td>${cell(value)}</td>`)}</tr>`,
    )}</tbody></table>`;
}
