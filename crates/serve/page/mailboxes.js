// The mailboxes at the side: all mail, those with a role, and the others as a tree. Touches nothing. Asks the server
// for them. Knows no messages.

import { signal } from "./vendor/signals-core.mjs";
import { html } from "./html.js";
import { number, say } from "./i18n.js";
import { icon } from "./icons.js";
import { request } from "./jmap.js";
import { line } from "./text.js";
import { ALL, address, go, isMenuOpen, mailboxes, route } from "./store.js";

/**
 * @typedef {import("./store.js").Mailbox} Mailbox
 * @typedef {{ name: string, path: string, mailbox: Mailbox | null, inner: Branch[] }} Branch
 */

/** Roles in the order in which they are shown. */
const ROLES = /** @type {const} */ (["inbox", "drafts", "sent", "archive", "junk", "trash"]);

const PROPERTIES = [
  "id", "name", "role", "parentId", "sortOrder", "totalThreads", "unreadThreads", "unreadEmails",
];

/** Branches that are folded, by their paths. @type {import("./vendor/signals-core.mjs").Signal<Set<string>>} */
const folded = signal(new Set());

/** Asks the server for the mailboxes. */
export async function fetchMailboxes() {
  const [answer] = await request([["Mailbox/get", { ids: null, properties: PROPERTIES }]]);
  mailboxes.value = answer.list;
}

/**
 * Returns how a mailbox is called.
 * @param {Mailbox | undefined} mailbox
 */
export function nameOf(mailbox) {
  if (!mailbox) return say("all");
  const role = ROLES.find((each) => each === mailbox.role);
  return role ? say(role) : line(mailbox.name);
}

/** Returns the id of the inbox; without one, what stands for all mail. */
export function inboxId() {
  return mailboxes.value?.find((each) => each.role === "inbox")?.id ?? ALL;
}

/** Goes to a mailbox. @param {string} id */
export function openMailbox(id) {
  isMenuOpen.value = false;
  go({ mailbox: id, search: "", message: "" });
}

/**
 * Makes a tree of the mailboxes without roles. A name with slashes is a path. A branch with one branch in it and
 * no mailbox is one with it.
 * @param {Mailbox[]} all
 * @returns {Branch[]}
 */
export function tree(all) {
  const byId = new Map(all.map((each) => [each.id, each]));
  /** @type {Branch} */
  const root = { name: "", path: "", mailbox: null, inner: [] };
  for (const each of all) {
    if (!ROLES.some((role) => role === each.role)) grow(root, pathOf(each, byId), each);
  }
  return root.inner.map(joined).sort(byName);
}

/**
 * @param {Mailbox} mailbox
 * @param {Map<string, Mailbox>} byId
 */
function pathOf(mailbox, byId) {
  const path = [];
  const seen = new Set();
  for (let at = /** @type {Mailbox | undefined} */ (mailbox); at && !seen.has(at); at = byId.get(at.parentId ?? "")) {
    seen.add(at);
    path.unshift(...at.name.split("/").filter(Boolean));
  }
  return path;
}

/**
 * @param {Branch} root
 * @param {string[]} path
 * @param {Mailbox} mailbox
 */
function grow(root, path, mailbox) {
  let at = root;
  for (const name of path) {
    let next = at.inner.find((each) => each.name === name);
    if (!next) {
      next = { name, path: `${at.path}/${name}`, mailbox: null, inner: [] };
      at.inner.push(next);
    }
    at = next;
  }
  if (at.mailbox || at === root) root.inner.push({ name: mailbox.name, path: `#${mailbox.id}`, mailbox, inner: [] });
  else at.mailbox = mailbox;
}

/** @type {(branch: Branch) => Branch} */
function joined(branch) {
  const [only] = branch.inner;
  if (!branch.mailbox && only && branch.inner.length === 1) {
    return joined({ ...only, name: `${branch.name}/${only.name}` });
  }
  return { ...branch, inner: branch.inner.map(joined).sort(byName) };
}

/** @type {(a: Branch, b: Branch) => number} */
function byName(a, b) {
  return (a.mailbox?.sortOrder ?? 0) - (b.mailbox?.sortOrder ?? 0) || a.name.localeCompare(b.name);
}

/** Draws the mailboxes. */
export function draw() {
  const all = mailboxes.value;
  if (!all) return html`<div class="mailbox ghost"><span class="ghost-line"></span></div>`;
  const roles = ROLES.flatMap((role) => all.filter((each) => each.role === role));
  const withRoles = roles.map((each) => entry(nameOf(each), each.id, each.unreadThreads, iconOf(each.role)));
  const branches = tree(all);
  return html`
    <ul role="list">${withRoles}${entry(say("all"), ALL, 0, "all")}</ul>
    ${branches.length > 0 && html`<h2>${say("mailboxes")}</h2>
      <ul role="list">${branches.map((each) => branch(each, 0))}</ul>`}`;
}

/** @param {string | null} role @returns {import("./icons.js").Icon} */
function iconOf(role) {
  return ROLES.find((each) => each === role) ?? "folder";
}

/**
 * @param {string} name
 * @param {string} id
 * @param {number} unread
 * @param {import("./icons.js").Icon} picture
 */
function entry(name, id, unread, picture) {
  return html`<li key=${id}>${mailboxLink(name, id, unread, icon(picture))}</li>`;
}

/**
 * @param {string} name
 * @param {string} id
 * @param {number} unread
 * @param {unknown} before
 */
function mailboxLink(name, id, unread, before) {
  const isOpen = (route.value.mailbox || ALL) === id && !route.value.search;
  const open = (/** @type {MouseEvent} */ event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    openMailbox(id);
  };
  return html`<a class=${`mailbox${isOpen ? " open" : ""}${unread > 0 ? " unread" : ""}`} data-mailbox=${id}
    href=${address({ mailbox: id, search: "", message: "" })} aria-current=${isOpen ? "page" : undefined}
    title=${name} onClick=${open}>${before}<bdi class="name">${name}</bdi>
    ${unread > 0 && html`<span class="badge" aria-label=${say("unread", { count: unread })}>${number(unread)}</span>`}</a>`;
}

/**
 * @param {Branch} at
 * @param {number} depth
 * @returns {unknown}
 */
function branch(at, depth) {
  const isFolded = folded.value.has(at.path);
  const toggle = () => {
    const next = new Set(folded.value);
    if (!next.delete(at.path)) next.add(at.path);
    folded.value = next;
  };
  const name = line(at.name);
  const fold = at.inner.length > 0 && html`<button class=${`fold${isFolded ? "" : " unfolded"}`} type="button"
    aria-expanded=${String(!isFolded)} aria-label=${at.mailbox ? name : undefined} onClick=${toggle}
    >${icon("chevron")}${!at.mailbox && html`<bdi class="name" title=${name}>${name}</bdi>`}</button>`;
  const own = at.mailbox && mailboxLink(name, at.mailbox.id, at.mailbox.unreadThreads, icon("folder"));
  return html`<li key=${at.path} class=${`branch depth-${Math.min(depth, 4)}`}>
    <div class="branch-line">${fold}${own}</div>
    ${at.inner.length > 0 && !isFolded && html`<ul role="list">${at.inner.map((each) => branch(each, depth + 1))}</ul>`}</li>`;
}
