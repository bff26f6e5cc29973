// Dates as people read them. Pure: a date and a now come in, a text goes out. Knows no mail.

import { lazily, locale, say } from "./i18n.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const time = lazily(() => new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" }));
const weekday = lazily(() => new Intl.DateTimeFormat(locale, { weekday: "long" }));
const day = lazily(() => new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" }));
const dayAndYear = lazily(() => new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric" }));
const full = lazily(() => new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short" }));
const relative = lazily(() => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }));

/** The units of "ago", and how many seconds each has. */
const UNITS = /** @type {const} */ ([
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
]);

/**
 * Returns a date as short as it can be and still be clear today.
 * @param {string} date
 * @param {number} nowMs
 */
export function short(date, nowMs) {
  const then = new Date(date);
  const now = new Date(nowMs);
  const days = Math.round((midnight(now) - midnight(then)) / DAY_MS);
  if (days === 0) return time().format(then);
  if (days === 1) return say("yesterday");
  if (days > 1 && days < 7) return weekday().format(then);
  return then.getFullYear() === now.getFullYear() ? day().format(then) : dayAndYear().format(then);
}

/**
 * Returns a date with everything that is known of it.
 * @param {string} date
 */
export function long(date) {
  return full().format(new Date(date));
}

/**
 * Returns how long ago a date is.
 * @param {string} date
 * @param {number} nowMs
 */
export function ago(date, nowMs) {
  const seconds = (new Date(date).getTime() - nowMs) / 1000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative().format(Math.round(seconds / length), unit);
  }
  return relative().format(0, "minute");
}

/** Makes formats before they are needed: the first one of a page takes long. */
export function warm() {
  const then = new Date().toISOString();
  short(then, Date.parse(then));
  long(then);
  ago(then, Date.parse(then));
}

/** @param {Date} date */
function midnight(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
