// Templates are what htm makes of them.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import htm from "htm";
import { html } from "../html.js";
import { pageDirectory } from "./support.js";
import { h } from "../vendor/preact.mjs";

const reference = htm.bind(h);

/** Returns what a drawing says, without what the library adds. @param {any} drawn @returns {unknown} */
function plain(drawn) {
  if (Array.isArray(drawn)) return drawn.map(plain);
  if (drawn === null || typeof drawn !== "object" || !("props" in drawn)) return drawn;
  const { children, ...props } = drawn.props;
  return { type: drawn.type, key: drawn.key ?? null, props, children: [children].flat(9).map(plain) };
}

/** Returns all templates of a source, those within others too. @param {string} source */
function templates(source) {
  /** @type {string[][]} */
  const found = [];
  /** @type {(start: number, isTemplate: boolean) => number} */
  const walk = (start, isTemplate) => {
    const strings = [""];
    let depth = 0;
    for (let index = start; index < source.length; index += 1) {
      const letter = String(source[index]);
      if (isTemplate && letter === "\\") index += 1;
      else if (isTemplate && letter === "`") return (found.push(strings), index);
      else if (isTemplate && source.startsWith("${", index)) {
        index = walk(index + 2, false);
        strings.push("");
      } else if (isTemplate) strings.push(strings.pop() + letter);
      else if (source.startsWith("html`", index)) index = walk(index + 5, true);
      else if (letter === "`") index = skip(index + 1);
      else if (letter === "{") depth += 1;
      else if (letter === "}" && depth-- === 0) return index;
    }
    return source.length;
  };
  const skip = (/** @type {number} */ start) => {
    for (let index = start; index < source.length; index += 1) {
      if (source[index] === "`") return index;
      if (source.startsWith("${", index)) index = walk(index + 2, false);
    }
    return source.length;
  };
  walk(0, false);
  return found;
}

test("each template of the page is drawn as htm draws it", () => {
  let count = 0;
  for (const name of fs
    .readdirSync(pageDirectory)
    .filter((each) => each.endsWith(".js") && each !== "html.js")) {
    const source = fs
      .readFileSync(path.join(pageDirectory, name), "utf8")
      .replace(/^\s*(\/\/|\/?\*).*$/gm, "");
    for (const strings of templates(source)) {
      const values = strings.slice(1).map((_, index) => `value ${index}`);
      const literal = /** @type {any} */ (Object.assign([...strings], { raw: strings }));
      assert.deepEqual(
        plain(html(literal, ...values)),
        plain(reference(literal, ...values)),
        `${name}: ${strings.join("…")}`,
      );
      count += 1;
    }
  }
  assert.ok(count > 60, `${count} templates`);
});

test("templates have texts, values, attributes and several roots, and must be closed", () => {
  const cases = [
    [["<a b=", ' c="d e" f> g ', " h\n  </a>"], 1, null],
    [["<i />\n  <b>", "", "</b> x"], "y", "z"],
    [["", ""], "only"],
    [["<p\n  a=", "\n  >", "</p>"], () => 1, [1, 2]],
  ];
  for (const [strings, ...values] of /** @type {any[]} */ (cases)) {
    assert.deepEqual(
      plain(html(strings, ...values)),
      plain(reference(strings, ...values)),
      strings.join("…"),
    );
  }
  assert.throws(() => html`<a><b></a>`);
});
