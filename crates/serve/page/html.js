// Templates for what is drawn, and places that redraw themselves. Touches the elements it is given. Knows no
// mail. Text in a template becomes text nodes: nothing here can turn a text into markup.

import { h, render } from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";
import { effect } from "./vendor/signals-core.mjs";

/** @typedef {import("./vendor/preact.mjs").ComponentChildren} Drawing */

/** @typedef {import("./vendor/preact.mjs").VNode<any>} Node */

/** @type {(strings: TemplateStringsArray, ...values: unknown[]) => Node} */
export const html = /** @type {any} */ (htm.bind(h));

/**
 * Draws into an element, and again whenever a signal changes that the drawing has read.
 * @param {string} id
 * @param {() => Drawing} draw
 */
export function place(id, draw) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  effect(() => render(draw(), element));
}
