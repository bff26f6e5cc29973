// What is written: new messages, replies and forwards, and the email that is made of them. Pure. Knows
// neither the server nor the page.

import { long } from "./dates.js";
import { say } from "./i18n.js";
import { fullName } from "./people.js";
import { line, textOfHtml, visible } from "./text.js";

/**
 * @typedef {import("./rows.js").Person} Person
 * @typedef {{ id: string, name: string, email: string, textSignature?: string, replyTo?: Person[] | null,
 *   bcc?: Person[] | null }} Identity
 * @typedef {{ blobId: string, type: string, name: string, size: number }} File
 * @typedef {"to" | "cc" | "bcc"} Field
 * @typedef {Record<Field, Person[]> & { key: string, revision: number, savedRevision: number,
 *   emailId: string, stale: string[], identityId: string, rest: Record<Field, string>, subject: string,
 *   text: string, files: File[], inReplyTo: string[], references: string[], original: string, keyword: string }} Draft
 *   `emailId` is where it is stored, `stale` where it was before, `rest` has what is no address yet; the
 *   email `original` gets `keyword` when it was sent.
 * @typedef {"reply" | "all" | "forward"} Kind
 */

export const FIELDS = /** @type {const} */ (["to", "cc", "bcc"]);
const ADDRESS = /^[^\s@<>,;:"()]+@[^\s@<>,;:"()]+$/;
const ATTACHED =
  /\b(attach(ed|ments?|ing)?|enclosed|anh[aä]nge?|im anhang|angehängt|anbei|beigefügt\w*|beiliegend\w*)\b/i;

/**
 * Returns an empty draft.
 * @param {Partial<Draft>} [known]
 * @returns {Draft}
 */
export function draftOf(known = {}) {
  return {
    key: String(Date.now()),
    revision: 0,
    savedRevision: 0,
    emailId: "",
    stale: [],
    identityId: "",
    to: [],
    cc: [],
    bcc: [],
    rest: { to: "", cc: "", bcc: "" },
    subject: "",
    text: "",
    files: [],
    inReplyTo: [],
    references: [],
    original: "",
    keyword: "",
    ...known,
  };
}

/**
 * Reads addresses, with names or without. Returns them and what is none.
 * @param {string} text
 * @returns {[Person[], string]}
 */
export function readPeople(text) {
  /** @type {Person[]} */
  const people = [];
  /** @type {string[]} */
  const rest = [];
  for (const piece of text.match(/("[^"]*"|[^,;\n])+/g) ?? []) {
    const [, name = "", email = ""] = /^\s*(.*?)\s*<?([^\s<>]*)>?\s*$/.exec(piece) ?? [];
    if (ADDRESS.test(email)) people.push({ name: name.replace(/^"(.*)"$/, "$1") || null, email });
    else if (piece.trim()) rest.push(piece.trim());
  }
  return [people, rest.join(", ")];
}

/**
 * Returns people without those that are there already.
 * @param {Person[]} people
 * @param {Person[]} [others]
 */
export function without(people, others = []) {
  const seen = new Set(others.map(({ email }) => email.toLowerCase()));
  return people.filter(({ email }) => !seen.has(email.toLowerCase()) && seen.add(email.toLowerCase()));
}

/** Returns the text of an email, without its signature. @param {any} email */
export function textOf(email) {
  const texts = email.textBody.map((/** @type {any} */ part) => {
    const value = email.bodyValues[part.partId]?.value ?? "";
    return part.type === "text/html" ? textOfHtml(value) : value;
  });
  return visible(texts.join("\n")).trimEnd();
}

/**
 * Returns a reply to an email, or one that forwards it.
 * @param {Kind} kind
 * @param {any} email
 * @param {Identity[]} identities
 */
export function answer(kind, email, identities) {
  const [from, to, cc] = [email.from ?? [], email.to ?? [], email.cc ?? []];
  const own = (/** @type {Person} */ { email: one }) =>
    identities.find((each) => each.email.toLowerCase() === one.toLowerCase());
  const isOwn = from.some(own);
  const identity = [...to, ...cc, ...(email.bcc ?? []), ...from].map(own).find(Boolean);
  const isForward = kind === "forward";
  const main = isForward ? [] : isOwn ? to : (email.replyTo ?? from);
  const others = kind === "all" ? [...(isOwn ? [] : to), ...cc].filter((one) => !own(one)) : [];
  const before = isForward ? /^\s*(fwd?|wg):/i : /^\s*(re|aw|antw):/i;
  const subject = line(email.subject);
  const ids = email.messageId ?? [];
  return draftOf({
    identityId: (isOwn ? own(from.find(own)) : identity)?.id ?? "",
    to: without(main),
    cc: without(others, main),
    subject: before.test(subject) ? subject : `${isForward ? "Fwd" : "Re"}: ${subject}`,
    text: isForward ? forwarded(email) : quoted(email),
    files: isForward ? filesOf(email) : [],
    inReplyTo: isForward ? [] : ids,
    references: [...new Set([...(email.references ?? email.inReplyTo ?? []), ...ids])],
    original: email.id,
    keyword: isForward ? "$forwarded" : "$answered",
  });
}

/**
 * Returns a new draft with what its identity says: the signature, and who gets a copy.
 * @param {Draft} draft
 * @param {Identity[]} identities
 */
export function begun(draft, identities) {
  const identity = identities.find(({ id }) => id === draft.identityId) ?? identities[0];
  const bcc = without([...draft.bcc, ...(identity?.bcc ?? [])], [...draft.to, ...draft.cc]);
  return { ...draft, identityId: identity?.id ?? "", bcc, text: signed(draft.text, undefined, identity) };
}

/**
 * Returns a text with the signature of an identity at its end, in the place of the one before. If somebody
 * changed that, all stays.
 * @param {string} text
 * @param {Identity | undefined} before
 * @param {Identity | undefined} identity
 */
export function signed(text, before, identity) {
  const end = (/** @type {Identity | undefined} */ of) => {
    const own = (of?.textSignature ?? "").replace(/^\s*-- ?\n/, "").trimEnd();
    return own && `\n\n-- \n${own}\n`;
  };
  const old = end(before);
  if (!text.endsWith(old)) return text;
  return text.slice(0, text.length - old.length) + end(identity);
}

/** @param {any} email @returns {File[]} */
export function filesOf({ attachments }) {
  const named = attachments.filter((/** @type {File} */ { blobId }) => blobId);
  return named.map((/** @type {File} */ { blobId, type, name, size }) => ({
    blobId,
    type,
    name: name ?? type,
    size,
  }));
}

/** @param {any} email */
function quoted(email) {
  const text = textOf(email)
    .replace(/\n-- \n[\s\S]*$/, "")
    .trimEnd();
  const name = fullName(email.from?.[0] ?? { name: null, email: "" });
  const lines = text.split("\n").map((each) => `>${each.startsWith(">") || !each ? "" : " "}${each}`);
  return `\n\n${say("wrote", { date: long(email.sentAt ?? email.receivedAt), name })}\n${lines.join("\n")}\n`;
}

/** @param {any} email */
function forwarded(email) {
  const list = (/** @type {Person[] | null} */ people) => (people ?? []).map(written).join(", ");
  const head = [
    [say("from"), list(email.from)],
    [say("date"), long(email.sentAt ?? email.receivedAt)],
    [say("subject"), line(email.subject)],
    [say("to"), list(email.to)],
    [say("cc"), list(email.cc)],
  ].filter(([, value]) => value);
  const lines = head.map(([name, value]) => `${name}: ${value}`);
  return `\n\n---------- ${say("forwarded")} ----------\n${lines.join("\n")}\n\n${textOf(email)}\n`;
}

/** Returns a person as in a header. @param {Person} person */
export function written({ name, email }) {
  return line(name) ? `${line(name)} <${line(email)}>` : line(email);
}

/** Returns whether the text speaks of an attachment that is not there. @param {Draft} draft */
export function lacksFile({ files, text, subject }) {
  const own = text.split(/^-{10} /m)[0]?.replace(/^>.*$/gm, "") ?? "";
  return files.length === 0 && ATTACHED.test(`${/^(re|aw|fwd?|wg):/i.test(subject) ? "" : subject}\n${own}`);
}

/**
 * Returns the email that is made of a draft.
 * @param {Draft} draft
 * @param {Identity | undefined} identity
 * @param {string} mailboxId
 */
export function emailOf(draft, identity, mailboxId) {
  const { to, cc, bcc, inReplyTo, references, files } = draft;
  const lists = Object.entries({ to, cc, bcc, inReplyTo, references }).filter(([, list]) => list.length > 0);
  return {
    ...Object.fromEntries(lists),
    ...(identity ? { from: [{ name: identity.name || null, email: identity.email }] } : {}),
    ...(identity?.replyTo?.length ? { replyTo: identity.replyTo } : {}),
    subject: line(draft.subject),
    textBody: [{ partId: "text", type: "text/plain" }],
    bodyValues: { text: { value: draft.text } },
    attachments: files.map(({ blobId, type, name }) => ({ blobId, type, name, disposition: "attachment" })),
    mailboxIds: { [mailboxId]: true },
    keywords: { $draft: true, $seen: true },
  };
}
