// How people are written. Pure. Knows neither the server nor the page.

import { say } from "./i18n.js";
import { line } from "./text.js";

/** @typedef {import("./rows.js").Person} Person */

/** How many colours there are for people. */
const HUES = 8;

/** @param {Person} person */
export function fullName(person) {
  return line(person.name) || line(person.email) || say("noSender");
}

/**
 * Returns who wrote: the whole name of one, the first names of several.
 * @param {Person[]} people
 */
export function writers(people) {
  if (people.length === 0) return say("noSender");
  if (people.length === 1) return fullName(/** @type {Person} */ (people[0]));
  const names = people.map(shortName);
  return names.length <= 3
    ? names.join(", ")
    : [names[0], "…", ...names.slice(-2)].join(", ").replace("…,", "…");
}

/** @param {Person} person */
function shortName(person) {
  const name = line(person.name);
  if (!name) return line(person.email).split("@")[0] || say("noSender");
  const [last, first] = name.split(", ");
  return (first ?? last ?? name).split(" ")[0] || name;
}

/** @param {Person | undefined} person */
export function initial(person) {
  const letters = /[\p{L}\p{N}]/u.exec(person ? fullName(person) : "");
  return letters ? letters[0].toLocaleUpperCase() : "?";
}

/**
 * Returns a number for a person's colour: the same one each time.
 * @param {Person | undefined} person
 */
export function hue(person) {
  let sum = 0;
  for (const letter of person?.email ?? "") sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521;
  return sum % HUES;
}
