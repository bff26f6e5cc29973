// Texts from mail, made safe to read: pure functions of strings. Touches nothing. Knows neither the server
// nor the page.

/** Characters that change how others are shown, and so can make a text look like another one. */
const TRICKS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/g;

/** What a link looks like. Characters that usually follow one in a sentence are cut off its end. */
const LINK = /\bhttps?:\/\/[^\s<>"\u0000-\u0020\u007f-\u00a0\u2066-\u2069\u202a-\u202e]+/g;
const AFTER_LINK = /[.,;:!?'*_]+$/;

/**
 * Returns a text in which each character that could deceive is one that can be seen.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(/\r\n?/g, "\n").replace(TRICKS, "\ufffd");
}

/**
 * Returns a text on one line.
 * @param {string | null | undefined} text
 */
export function line(text) {
  return visible(text ?? "")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * Cuts a text into texts and links: every second one is a link.
 * @param {string} text
 * @returns {string[]}
 */
export function withLinks(text) {
  const pieces = [];
  let end = 0;
  for (const match of text.matchAll(LINK)) {
    const link = trimmed(match[0]);
    if (link.length <= "https://".length) continue;
    pieces.push(text.slice(end, match.index), link);
    end = match.index + link.length;
  }
  pieces.push(text.slice(end));
  return pieces;
}

/** @param {string} link */
function trimmed(link) {
  let found = link.replace(AFTER_LINK, "");
  for (const [open, close] of ["()", "[]", "{}"]) {
    while (found.endsWith(String(close)) && !found.includes(String(open))) found = found.slice(0, -1);
  }
  return found.replace(AFTER_LINK, "");
}

/** @typedef {{ kind: "text" | "quote" | "signature", text: string, folded: boolean }} Block */

/**
 * Cuts a message's text into what the author wrote, what is quoted, and the signature. A quote that nothing
 * follows is folded: it was read before.
 * @param {string} text
 * @returns {Block[]}
 */
export function blocks(text) {
  /** @type {Block[]} */
  const found = [];
  /** @type {Block["kind"]} */
  let kind = "text";
  let isRest = false;
  const lines = visible(text).replace(/\s+$/, "").split("\n");
  for (const [index, each] of lines.entries()) {
    if (beginsRest(lines, index)) isRest = true;
    if (each === "-- ") kind = "signature";
    else if (isRest || /^\s?(>|\|\s)/.test(each)) kind = "quote";
    else if (kind === "quote" && each.trim() !== "") kind = "text";
    const last = found.at(-1);
    if (last?.kind === kind) last.text += `\n${each}`;
    else found.push({ kind, text: each, folded: false });
  }
  const trimmedBlocks = found.map((block) => ({ ...block, text: block.text.replace(/^\n+|\s+$/g, "") }));
  const kept = trimmedBlocks.filter((block) => block.text !== "");
  const lastText = kept.findLastIndex((block) => block.kind === "text");
  if (lastText >= 0) {
    for (const block of kept.slice(lastText + 1)) {
      block.folded = block.kind === "quote" && block.text.split("\n").length > 3;
    }
  }
  return kept;
}

/**
 * Returns whether everything from a line on is an older message, as programs write it that quote without marks.
 * @param {string[]} lines
 * @param {number} index
 */
function beginsRest(lines, index) {
  const line = String(lines[index]).trim();
  if (/^-{2,} ?(Original Message|Forwarded by|Ursprüngliche Nachricht)/.test(line)) return true;
  if (!/^(_{10,}|\*?(From|Von|De): ?\*?.*)$/.test(line)) return false;
  const next = lines.slice(index + 1, index + 4).map((each) => each.trim());
  const isFrom = !line.startsWith("_") || next.some((each) => /^\*?(From|Von|De): ?/.test(each));
  return isFrom && next.some((each) => /^\*?(Sent|Date|Gesendet|Datum|Envoyé): ?/.test(each));
}

/**
 * Returns whether a text needs letters of one width: a patch, or a table made of characters.
 * @param {string} text
 */
export function isCode(text) {
  return (
    /^(diff --git |@@ -|--- a\/|\+\+\+ b\/|Index: )/m.test(text) || /^.*\S {4,}\S.* {4,}\S.*$/m.test(text)
  );
}

/**
 * Cuts a search result into texts, every second of which was found. The server marks what was found and
 * writes the rest as HTML does; it is read as text.
 * @param {string} snippet
 * @returns {string[]}
 */
export function found(snippet) {
  return snippet.split(/<\/?mark>/).map((piece) => visible(withoutEntities(piece)).replace(/\s+/g, " "));
}

/** @type {Record<string, string>} */
const ENTITIES = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  bull: "•",
  copy: "©",
  reg: "®",
  trade: "™",
  euro: "€",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  middot: "·",
};

/** @param {string} text */
function withoutEntities(text) {
  return text.replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});?/gi, (whole, name) => {
    if (name[0] !== "#") return ENTITIES[name] ?? whole;
    const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}

/**
 * Returns the text of HTML, for reading: no element is made of it, and what would run or load is left out.
 * @param {string} source
 */
export function textOfHtml(source) {
  const body = source
    .replace(/<!--[\s\S]*?(-->|$)/g, "")
    .replace(/<(script|style|title|head)\b[\s\S]*?(<\/\1\s*>|$)/gi, "")
    .replace(/\s+/g, " ")
    .replace(/<li\b[^>]*>/gi, "\n• ")
    .replace(/<br\b[^>]*>|<\/?(div|tr|ul|ol|dl|dt|dd|pre|form|table|section|article|address)\b[^>]*>/gi, "\n")
    .replace(/<\/?(p|h[1-6]|blockquote|hr)\b[^>]*>/gi, "\n\n")
    .replace(/<\/t[dh]\b[^>]*>/gi, " ")
    .replace(/<[a-z/!?][^>]*(>|$)/gi, "");
  const lines = withoutEntities(body)
    .split("\n")
    .map((each) => each.replace(/\s+/g, " ").trim());
  return lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Returns the tag that a keyword stands for. @param {string} keyword */
export function tagOf(keyword) {
  try {
    return line(decodeURIComponent(keyword.replace(/%/g, "%25").replace(/=(?=[0-9a-f]{2})/g, "%")));
  } catch {
    return line(keyword);
  }
}

/** Returns the keyword of a tag. @param {string} tag */
export function keywordOf(tag) {
  const bytes = new TextEncoder().encode(tag.toLowerCase());
  return Array.from(bytes, (byte) => {
    const letter = String.fromCharCode(byte);
    return /[!#$&'+,./0-:;<>?@A-Z[^_`a-z|}~-]/.test(letter)
      ? letter
      : `=${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}
