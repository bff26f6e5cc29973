// The mailboxes at the side: all mail, those with a role, and the others as a tree. Touches nothing. Asks the
// server for them. Knows no messages.

import { batch, computed, signal } from "./vendor/signals-core.mjs";
import { html } from "./html.js";
import { number, say } from "./i18n.js";
import { icon } from "./icons.js";
import { request } from "./jmap.js";
import { line } from "./text.js";
import { ROLES, tree } from "./tree.js";
import { ALL, GONE, address, asOf, go, isMenuOpen, mailboxes, momentOf, route, where } from "./store.js";

/**
 * @typedef {import("./store.js").Mailbox} Mailbox
 * @typedef {import("./tree.js").Branch} Branch
 */

const PROPERTIES = [
  "id",
  "name",
  "role",
  "parentId",
  "sortOrder",
  "totalThreads",
  "unreadThreads",
  "unreadEmails",
];

/**
 * Branches that are folded, by their paths.
 * @type {import("./vendor/signals-core.mjs").Signal<Set<string>>}
 */
const folded = signal(new Set());

/**
 * Asks the server for the mailboxes: those of today, or of the moment that is shown. Returns their states.
 * @param {() => void} [choose] Changes the address. Both are drawn at once.
 * @returns {Promise<string[]>}
 */
export async function fetchMailboxes(choose = () => {}) {
  const { at } = route.peek();
  const args = { ids: null, properties: PROPERTIES, ...momentOf(where()) };
  const [answer] = await request([["Mailbox/get", args]], null, at ? ["moment"] : []);
  // Who has gone elsewhere meanwhile gets others.
  if (route.peek().at !== at) return [];
  batch(() => {
    mailboxes.value = answer.list;
    asOf.value = answer.asOf ?? [];
    choose();
  });
  return [answer.state];
}

/**
 * Returns how a mailbox is called.
 * @param {Mailbox | undefined} mailbox
 */
export function nameOf(mailbox) {
  if (!mailbox) return say(route.value.mailbox === GONE ? "gone" : "all");
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

/** The mailbox that is shown. It stays while messages of it are opened. */
const openId = computed(() => {
  const { view, mailbox, search } = route.value;
  return view || search ? "" : mailbox || ALL;
});

/** The moment that their addresses name. */
const moment = computed(() => route.value.at);

/** The mailboxes, as they look. They are many, and most changes of the address leave them as they are. */
export const drawn = computed(() => {
  void moment.value;
  return draw();
});

function draw() {
  const all = mailboxes.value;
  if (!all) return html`<div class="mailbox ghost"><span class="ghost-line"></span></div>`;
  const roles = ROLES.flatMap((role) => all.filter((each) => each.role === role));
  const withRoles = roles.map((each) => entry(nameOf(each), each.id, each.unreadThreads, iconOf(each.role)));
  const branches = tree(all);
  return html`
    <ul role="list">${withRoles}${entry(say("all"), ALL, 0, "all")}</ul>
    ${
      branches.length > 0 &&
      html`<h2>${say("mailboxes")}</h2>
      <ul role="list">${branches.map((each) => branch(each, 0))}</ul>`
    }`;
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
  const isOpen = openId.value === id;
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
  const fold =
    at.inner.length > 0 &&
    html`<button class=${`fold${isFolded ? "" : " unfolded"}`} type="button"
    aria-expanded=${String(!isFolded)} aria-label=${at.mailbox ? name : undefined} onClick=${toggle}
    >${icon("chevron")}${!at.mailbox && html`<bdi class="name" title=${name}>${name}</bdi>`}</button>`;
  const own = at.mailbox && mailboxLink(name, at.mailbox.id, at.mailbox.unreadThreads, icon("folder"));
  return html`<li key=${at.path} class=${`branch depth-${Math.min(depth, 4)}`}>
    <div class="branch-line">${fold}${own}</div>
    ${at.inner.length > 0 && !isFolded && html`<ul role="list">${at.inner.map((each) => branch(each, depth + 1))}</ul>`}</li>`;
}
