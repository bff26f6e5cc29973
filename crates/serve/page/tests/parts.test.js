// Parts of the page that need no browser: texts, dates, phrases, where rows are, and the files themselves.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import zlib from "node:zlib";
import { ago, short } from "../dates.js";
import { elementHeight, placeAt, rowsSeen, scrolled, topMax, topShowing } from "../geometry.js";
import { GERMAN } from "../i18n-de.js";
import { PHRASES, say } from "../i18n.js";
import "../phrases-elsewhere.js";
import "../i18n-search.js";
import { writers } from "../people.js";
import { POLICY, withoutComments } from "./support.js";
import { blocks, found, isCode, line, textOfHtml, visible, withLinks } from "../text.js";
import { tree } from "../tree.js";

const page = path.join(import.meta.dirname, "..");
/** What a browser loads first has at most this many bytes, compressed. */
const BYTES_MAX = 60_000;

/** What is loaded when it is wanted, and not before: see writing.js, search.js, saved.js and elsewhere.js. */
const LATER = [
  ...["compose.css", "compose.js", "compose-model.js", "draft.js", "receivers.js"],
  ...["i18n-de.js", "i18n-search.js", "queries.js", "query-problem.js", "search-panel.js", "search.css"],
  ...["saved-side.js", "saved-dialog.js"],
  ...["elsewhere.css", "elsewhere-parts.js", "history.js", "members.js", "moment.js", "phrases-elsewhere.js", "plots.js"],
  ...["restore.js", "statistics.js"],
];
const LATER_IMPORT = new RegExp(`(from|^import) "\\./(${LATER.map((name) => name.replace(".", "\\.")).join("|")})"`, "m");

/** Returns the files that are served, with their names in the folder. */
function files() {
  const inFolder = (/** @type {string} */ folder) =>
    fs
      .readdirSync(path.join(page, folder))
      .filter((name) => /\.(html|css|js|mjs)$|^LICENSE/.test(name))
      .map((name) => path.join(folder, name));
  return [...inFolder("."), ...inFolder("vendor")];
}

/** Returns a file as the program sends it. @param {string} name */
function sent(name) {
  const source = fs.readFileSync(path.join(page, name), "utf8");
  return name.endsWith(".js") ? withoutComments(source) : source;
}

test("both languages have the same phrases, with the same values, and all that is said is there", () => {
  const { en, de } = { ...PHRASES, de: { ...PHRASES.de, ...GERMAN } };
  assert.deepEqual(Object.keys(de).sort(), Object.keys(en).sort());
  for (const [key, phrase] of Object.entries(en)) {
    const values = (/** @type {unknown} */ each) =>
      [...new Set(JSON.stringify(each).match(/\{\w+\}/g))].sort();
    assert.deepEqual(values(de[key]), values(phrase), key);
    assert.equal(typeof de[key], typeof phrase, key);
  }
  const used = new Set();
  for (const name of files().filter((each) => !each.startsWith("vendor"))) {
    const source = fs.readFileSync(path.join(page, name), "utf8");
    for (const [, key] of source.matchAll(/\bsay\("(\w+)"/g)) used.add(key);
    for (const [, key] of source.matchAll(/\b(?:says|title): "(\w+)"/g)) used.add(key);
    for (const [text] of source.matchAll(/"\w+"/g)) used.add(text.slice(1, -1));
  }
  assert.deepEqual(
    Object.keys(en).filter((key) => !used.has(key)),
    [],
    "phrases that nothing says",
  );
  assert.throws(() => say("nothing"));
  assert.equal(say("messages", { count: 1 }), "1 message");
  assert.match(say("messages", { count: 1234 }), /^1.234 messages$/);
});

test("dates are as short as they can be", () => {
  const now = new Date(2026, 2, 10, 12, 0).getTime();
  const on = (/** @type {number[]} */ ...parts) =>
    new Date(parts[0] ?? 0, (parts[1] ?? 1) - 1, parts[2], parts[3] ?? 9).toISOString();
  assert.match(short(on(2026, 3, 10, 9), now), /^0?9:00/);
  assert.equal(short(on(2026, 3, 9, 23), now), say("yesterday"));
  assert.equal(short(on(2026, 3, 5), now), "Thursday");
  assert.match(short(on(2026, 3, 3), now), /^(3 Mar|Mar 3)$/);
  assert.match(short(on(2025, 12, 31), now), /2025/);
  assert.match(short(on(2026, 3, 11), now), /^(11 Mar|Mar 11)$/);
  assert.equal(ago(on(2026, 3, 10, 9), now), "3 hours ago");
  assert.equal(ago(on(2024, 3, 10, 9), now), "2 years ago");
});

test("characters that deceive can be seen, and lines are one line", () => {
  assert.equal(visible("a\u202eb\u0000c\u2066d\r\ne\tf\u200fg"), "a\ufffdb\ufffdc\ufffdd\ne\tf\u200fg");
  assert.equal(line(" a\r\n  b\t c "), "a b c");
  assert.equal(line(null), "");
});

test("links end where they end, and nothing else is one", () => {
  const links = (/** @type {string} */ text) => withLinks(text).filter((_, index) => index % 2 === 1);
  for (const [text, ...expected] of [
    ["see https://a.example/b, or (http://c.example/d).", "https://a.example/b", "http://c.example/d"],
    ["<https://a.example/x_(y)>", "https://a.example/x_(y)"],
    ["https://a.example/?q=1&r=2#f!", "https://a.example/?q=1&r=2#f"],
    ["javascript:alert(1) data:text/html,x ftp://a http:// xhttps://a.example"],
  ]) {
    assert.deepEqual(links(String(text)), expected, text);
    assert.equal(withLinks(String(text)).join(""), text);
  }
});

test("quotes and signatures are found, and quotes at the end are folded", () => {
  const kinds = (/** @type {string} */ text) =>
    blocks(text).map((block) => `${block.kind}${block.folded ? " folded" : ""}`);
  const long = "> 1\n> 2\n>> 3\n> 4\n";
  assert.deepEqual(kinds(`Hello\n${long}`), ["text", "quote folded"]);
  assert.deepEqual(kinds(`${long}Yes.\n`), ["quote", "text"]);
  assert.deepEqual(kinds(`Hello\n> 1\n`), ["text", "quote"]);
  assert.deepEqual(kinds(long), ["quote"]);
  assert.deepEqual(kinds(`Hello\n-- \nAna\n`), ["text", "signature"]);
  assert.deepEqual(kinds("Hello\n\n-----Original Message-----\nFrom: Bo\nTo: Ana\n\nHello\n"), [
    "text",
    "quote folded",
  ]);
  const outlook = "From: Bo <bo@example.org>\nSent: Monday\nTo: Ana\n\nHello\n";
  assert.deepEqual(kinds(`Yes\n\n${outlook}`), ["text", "quote folded"]);
  assert.deepEqual(kinds(`Yes\n${"_".repeat(32)}\n${outlook}`), ["text", "quote folded"]);
  assert.deepEqual(kinds("From: here on\nall\nis\ntext\n__________\nDate: no\n"), ["text"]);
  assert.deepEqual(
    blocks("\n a\n  b\n\n").map((block) => block.text),
    [" a\n  b"],
  );
  assert.ok(isCode("diff --git a/x b/x\n"));
  assert.ok(!isCode("Hello,\nhow are you?"));
});

test("the text of HTML has nothing that runs or loads", () => {
  assert.equal(
    textOfHtml("<p>a &lt;b&gt; &#x41;&#66;&nbsp;c</p><br>d<script>e</script><!-- f --><style>g"),
    "a <b> AB c\n\nd",
  );
  assert.equal(textOfHtml("<div>a</div>\n<div>b <i>c</i></div> 1 < 2 and <3"), "a\n\nb c\n1 < 2 and <3");
  assert.equal(textOfHtml("a<img src=x onerror='b()'"), "a");
  assert.deepEqual(found("x <mark>a &amp; b</mark> &lt;i&gt;"), ["x ", "a & b", " <i>"]);
});

test("names are short where there are several", () => {
  const person = (/** @type {string | null} */ name, email = "a@example.org") => ({ name, email });
  assert.equal(writers([person("Ana Ito")]), "Ana Ito");
  assert.equal(writers([person(null, "bo@example.org"), person("Ito, Ana")]), "bo, Ana");
  assert.equal(writers(["A", "B", "C", "D"].map((name) => person(name))), "A, … C, D");
  assert.equal(writers([]), "(no sender)");
});

test("mailboxes are a tree, and names with slashes are paths", () => {
  const mailbox = (
    /** @type {string} */ name,
    /** @type {string | null} */ parentId = null,
    role = null,
  ) => ({
    id: name,
    name,
    role,
    parentId,
    sortOrder: 7,
    totalThreads: 0,
    unreadThreads: 0,
    unreadEmails: 0,
  });
  /** @type {(branches: import("../tree.js").Branch[]) => unknown} */
  const shape = (branches) =>
    branches.map((each) => [each.name, each.mailbox?.id ?? null, shape(each.inner)]);
  const all = [
    mailbox("lists/b"),
    mailbox("lists/a"),
    mailbox("x/y/z"),
    mailbox("top"),
    mailbox("inner", "top"),
  ];
  assert.deepEqual(shape(tree(all)), [
    [
      "lists",
      null,
      [
        ["a", "lists/a", []],
        ["b", "lists/b", []],
      ],
    ],
    ["top", "top", [["inner", "inner", []]]],
    ["x/y/z", "x/y/z", []],
  ]);
  // A mailbox that is its own parent does no harm.
  assert.deepEqual(shape(tree([mailbox("loop", "loop")])), [["loop", "loop", []]]);
});

test("rows are where they belong, in short lists and in long ones", () => {
  const short = { count: 100, row: 80, view: 400 };
  assert.equal(elementHeight(short), 8000);
  assert.deepEqual(scrolled(short, { top: 0, scroll: 0 }, 1234), { top: 1234, scroll: 1234 });
  assert.deepEqual(placeAt(short, 9999), { top: 7600, scroll: 7600 });
  const long = { count: 1_000_000, row: 80, view: 400 };
  const height = elementHeight(long);
  assert.equal(height, 8_000_000);
  assert.deepEqual(scrolled(long, { top: 5, scroll: 1 }, height - 400), {
    top: topMax(long),
    scroll: height - 400,
  });
  assert.equal(scrolled(long, { top: 9999, scroll: 900 }, 0).top, 0);
  const middle = scrolled(long, { top: 0, scroll: 0 }, height / 2);
  assert.ok(Math.abs(middle.top - topMax(long) / 2) < 3000);
  assert.equal(scrolled(long, middle, middle.scroll + 120).top, middle.top + 120);
  const place = placeAt(long, middle.top);
  assert.equal(place.top, middle.top);
  assert.ok(Math.abs(place.scroll - middle.scroll) < 1);
  assert.deepEqual(rowsSeen(short, 100, 2), [0, 9]);
  assert.deepEqual(rowsSeen({ ...short, count: 0 }, 0, 8), [0, 0]);
  assert.equal(topShowing(short, 0, 50), 51 * 80 - 400);
  assert.equal(topShowing(short, 5000, 50), 4000);
  assert.equal(topShowing(short, 3900, 50), 3900);
});

test("vendored files are those of their packages", () => {
  const readme = fs.readFileSync(path.join(page, "vendor/README.md"), "utf8");
  const wanted = JSON.parse(fs.readFileSync(path.join(page, "package.json"), "utf8")).devDependencies;
  const rows = [...readme.matchAll(/^\| `(\S+)` \| (\S+) \| (\S+) \| `(\S+)` \| .*\(`(\S+)`\)/gm)];
  assert.deepEqual(
    rows.map((row) => row[1]).sort(),
    fs.readdirSync(path.join(page, "vendor")).filter((name) => /^[^.]+\.mjs$/.test(name)),
  );
  for (const [, file, name, version, source, licence] of rows) {
    assert.equal(wanted[String(name)], version);
    const folder = path.join(page, "node_modules", String(name));
    assert.equal(JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8")).version, version);
    assert.ok(
      fs
        .readFileSync(path.join(page, "vendor", String(file)))
        .equals(fs.readFileSync(path.join(folder, String(source)))),
      file,
    );
    assert.ok(
      fs
        .readFileSync(path.join(page, "vendor", String(licence)))
        .equals(fs.readFileSync(path.join(folder, "LICENSE"))),
      licence,
    );
  }
});

test("the page is small, and no file of it makes markup of text", () => {
  // No browser asks for the texts of the licences.
  const programs = files().filter((name) => !name.includes("LICENSE"));
  const first = programs.filter((name) => !LATER.includes(name));
  assert.equal(first.length, programs.length - LATER.length);
  // The program sends the scripts as one.
  const isScript = (/** @type {string} */ name) => /js$/.test(name);
  const scripts = first.filter(isScript).map(sent).join("");
  const each = [scripts, ...first.filter((name) => !isScript(name)).map(sent)];
  const sum = each.reduce((all, text) => all + zlib.gzipSync(text).length, 0);
  assert.ok(sum <= BYTES_MAX, `${sum} bytes`);
  for (const name of files().filter((each) => !each.startsWith("vendor"))) {
    const source = fs.readFileSync(path.join(page, name), "utf8");
    assert.doesNotMatch(
      source,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|\beval\(|new Function/,
      name,
    );
    if (!LATER.includes(name) && name.endsWith(".js"))
      assert.doesNotMatch(source, LATER_IMPORT, name);
    if (name.endsWith(".js")) assert.match(source, /^\/\/ [A-Z]/, `${name} does not say what it is`);
    assert.ok(source.split("\n").length <= 500, `${name} is long`);
  }
});

test("scripts are counted as the program sends them, without comments, types and indentation", () => {
  // The program has the same example in its own test.
  const script =
    "// A\n  /** B */\nlet c; // d\n/**\n * E\n */\n/** @type {F} */ (g);\n  h /* i */ + `//j`;\n" +
    "k(/** @type {A<B>} */ (l), /** @type {M} */ n) /** @type {\n";
  const left = "\n\nlet c; // d\n\n\n\n(g);\nh /* i */ + `//j`;\nk((l), n) /** @type {\n";
  assert.equal(withoutComments(script), left);
});

test("the program serves the page under the policy that the tests use", () => {
  const source = fs.readFileSync(path.join(page, "../src/files.rs"), "utf8");
  const policy = /const POLICY: &str = "([^"]*)"/.exec(source)?.[1]?.replace(/\\\n\s*/g, "");
  assert.equal(policy, POLICY);
});
