// Templates for what is drawn, and places that redraw themselves. Touches the elements it is given. Knows no
// mail. Text in a template becomes text nodes: nothing here can turn a text into markup.
//
// A template is written as in JSX with htm: elements, each of them closed; attributes with a text in double
// quotes, with a value, or with nothing, which is true; and between elements texts and values. Spaces with a
// line break at the ends of a text do not count.

import { h, render } from "./vendor/preact.mjs";
import { effect } from "./vendor/signals-core.mjs";

/** @typedef {import("./vendor/preact.mjs").ComponentChildren} Drawing */

/** @typedef {import("./vendor/preact.mjs").VNode<any>} Node */

/**
 * A text, the number of a value, or an element.
 * @typedef {string | number | { tag: string, attributes: [string, string | number | true][], inner: Piece[] }} Piece
 */

const TOKENS = /<(\/?)([\w-]+)((?:\s+[\w-]+(?:=(?:"[^"]*"|\0))?)*)\s*(\/?)>|\0|[^<\0]+|</g;
const ATTRIBUTES = /([\w-]+)(?:=(?:"([^"]*)"|(\0)))?/g;

/** @type {Map<TemplateStringsArray, Piece[]>} */
const known = new Map();

/** @type {(strings: TemplateStringsArray, ...values: unknown[]) => Node} */
export const html = (strings, ...values) => {
  const pieces = known.get(strings) ?? read(strings);
  known.set(strings, pieces);
  const drawn = pieces.map((piece) => build(piece, values));
  return /** @type {any} */ (drawn.length > 1 ? drawn : drawn[0]);
};

/** @param {TemplateStringsArray} strings @returns {Piece[]} */
function read(strings) {
  let value = 0;
  /** @type {Piece[][]} */
  const open = [[]];
  for (const [token, isEnd, tag, list = "", isWhole] of strings.join("\0").matchAll(TOKENS)) {
    const into = /** @type {Piece[]} */ (open.at(-1));
    if (isEnd) open.pop();
    else if (tag) {
      /** @type {[string, string | number | true][]} */
      const attributes = [...list.matchAll(ATTRIBUTES)].map(([, name, text, isValue]) => [
        String(name),
        isValue ? value++ : (text ?? true),
      ]);
      /** @type {Piece[]} */
      const inner = [];
      into.push({ tag, attributes, inner });
      if (!isWhole) open.push(inner);
    } else if (token === "\0") into.push(value++);
    else into.push(...[token.replace(/^\s*\n\s*|\s*\n\s*$/g, "")].filter(Boolean));
  }
  if (open.length !== 1) throw new Error(`a template is not closed: ${strings.join("…")}`);
  return /** @type {Piece[]} */ (open[0]);
}

/** @param {Piece} piece @param {unknown[]} values @returns {any} */
function build(piece, values) {
  if (typeof piece === "string") return piece;
  if (typeof piece === "number") return values[piece];
  const { tag, attributes, inner } = piece;
  const given = attributes.map(([name, value]) => [name, typeof value === "number" ? values[value] : value]);
  return h(tag, Object.fromEntries(given), ...inner.map((each) => build(each, values)));
}

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
