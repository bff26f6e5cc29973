// Puts the parts together: each has its place in the page, and follows the address. Knows no details of any
// part.

import { effect, untracked } from "./vendor/signals-core.mjs";
import * as actions from "./actions.js";
import * as question from "./ask.js";
import * as conversation from "./conversation.js";
import { warm } from "./dates.js";
import * as elsewhere from "./elsewhere.js";
import * as frame from "./frame.js";
import { html, place } from "./html.js";
import { language, say } from "./i18n.js";
import { icon } from "./icons.js";
import { connect, connection, follower, onChange } from "./jmap.js";
import * as keys from "./keys.js";
import { resolve } from "./lasting.js";
import * as list from "./list.js";
import * as mailboxes from "./mailboxes.js";
import * as saved from "./saved.js";
import * as search from "./search.js";
import * as store from "./store.js";
import * as writing from "./writing.js";

const MINUTE_MS = 60_000;
/** What the browser keeps the inbox as. */
const INBOX = "pneu-inbox";
/** After this time without typing, one hears how much was found. */
const HEARD_REST_MS = 500;

const followMailboxes = follower(["Mailbox"], () => mailboxes.fetchMailboxes(chooseMailbox));
/** The moment whose mailboxes are shown. */
let shownAt = store.route.peek().at;
let heardTimer = 0;

document.documentElement.lang = language;
for (const [id, phrase] of [
  ["mailboxes", "mailboxes"],
  ["list", "list"],
  ["reader", "conversation"],
]) {
  document.getElementById(String(id))?.setAttribute("aria-label", say(String(phrase)));
}

place("bar", bar);
place("notice", notice);
place("mailboxes", () => [mailboxes.drawn.value, saved.side.value?.draw(), elsewhere.drawSide()]);
place("list", () => list.draw(acting()?.drawSelection, acting()?.drawRow));
place("reader", () => conversation.draw(acting()?.drawOpen, writing.drawAnswers, elsewhere.parts.value?.drawRemark));
place("told", question.drawTold);
place("ask", question.drawQuestion);
place("help", keys.drawHelp);
place("announcement", () => store.announcement.value);

effect(followRoute);
effect(followMoment);
effect(elsewhere.followPlace);
effect(search.followAddress);
effect(search.followSearch);
effect(keys.followHelp);
effect(question.followQuestion);
effect(writing.followWanted);
effect(announceTotal);
effect(list.followTotal);
effect(conversation.followReading);
effect(readAhead);
effect(title);
effect(() => {
  document.body.dataset["menu"] = store.isMenuOpen.value ? "open" : "";
});

writing.recover();
keys.listen();
frame.listen();
list.watchSize();
addEventListener("popstate", store.readAddress);
addEventListener("hashchange", store.readAddress);
addEventListener("online", connect);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && connection.peek() !== "online") void connect();
});
setInterval(() => {
  store.now.value = Date.now();
}, MINUTE_MS);
onChange(refresh);
void connect();

/** Returns what acts on the mail that is shown, once it is loaded. */
function acting() {
  return store.isToday.value ? actions : elsewhere.parts.value;
}

/**
 * Fetches everything again that is shown, or what has another state than the server tells.
 * @param {import("./jmap.js").States | null} states
 */
function refresh(states) {
  followMailboxes(states)
    .then(resolve)
    .catch(() => {})
    .then(() => saved.follow(states))
    .catch(() => {});
  // What was at a moment stays as it was, and takes long to read.
  if (store.route.peek().at && list.total.peek() !== null) list.rows()?.fetchWanted();
  else list.refresh(states?.["Email"]);
  conversation.refresh(states?.["Email"]);
  if (states) return;
  expectInbox();
  // While answers are on their way there is time for that.
  warm();
}

/** An address that names no mailbox means the inbox. Which one it is, is kept for the next visit. */
function chooseMailbox() {
  const { mailbox, view } = store.route.peek();
  // A lasting address is read first.
  if (mailbox || location.pathname !== "/") return;
  store.replace({ mailbox: mailboxes.inboxId(), view });
  try {
    localStorage.setItem(INBOX, mailboxes.inboxId());
  } catch {
    // Some browsers keep nothing.
  }
}

/** Fetches the inbox of the last visit before it is known that it is the one that will be shown. */
function expectInbox() {
  const { mailbox, search: words, message } = store.route.peek();
  if (mailbox || words || message || location.pathname !== "/") return;
  const inbox = keptInbox();
  if (inbox) void list.prepare({ search: "", endsInPrefix: false }, inbox);
}

function keptInbox() {
  try {
    return localStorage.getItem(INBOX);
  } catch {
    return null;
  }
}

/** Fetches the mailboxes of another moment. Who is in one that is not there then sees the inbox. */
function followMoment() {
  const { at } = store.route.value;
  untracked(() => {
    if (at === shownAt) return;
    shownAt = at;
    store.asOf.value = [];
    mailboxes
      .fetchMailboxes()
      .then(() => {
        const { mailbox } = store.route.peek();
        const isThere = mailbox === store.ALL || mailbox === store.GONE || store.mailbox.peek();
        if (!isThere && store.route.peek().at === at) store.replace({ mailbox: mailboxes.inboxId() });
      })
      .catch(() => {});
  });
}

/** Shows what the address says. Coming back to the list, its row has the focus again. */
function followRoute() {
  const to = store.route.value;
  const { view, mailbox, search: words, message } = to;
  untracked(() => {
    const wasOpen = document.body.dataset["view"] !== "list";
    document.body.dataset["view"] = view || (message ? "message" : "list");
    if (mailbox || words) list.show(mailbox || store.ALL, to);
    if (message) list.pointAt(message);
    conversation.open(message);
    if (wasOpen && !message && !view)
      requestAnimationFrame(() => {
        list.applyScroll();
        // Who has gone on to search keeps the focus there.
        if (!document.activeElement?.matches("#search")) list.focusCursor();
      });
  });
}

/** Fetches the conversations beside the one that is read, once that is on the screen. */
function readAhead() {
  const read = conversation.read.value;
  const fetch = () => {
    if (!read || conversation.read.peek() !== read) return;
    const at = list.cursor.peek();
    const rows = [at + 1, at - 1].map((index) => list.rows()?.at(index));
    conversation.fetchBeside(read.id, rows.flatMap((row) => (row && !row.isDraft ? row.id : [])));
  };
  if (read) requestAnimationFrame(() => setTimeout(fetch));
}

function title() {
  const { view, search: words, message, at } = store.route.value;
  const name = words || mailboxes.nameOf(store.mailbox.value);
  const inbox = store.mailboxes.value?.find((each) => each.role === "inbox");
  const unread = at ? 0 : (inbox?.unreadThreads ?? 0);
  const shown = view ? say(view) : (message && conversation.subject()) || name;
  document.title = `${unread > 0 ? `(${unread}) ` : ""}${shown} – pneu`;
}

/** Says how many were found, to those who do not see it. */
function announceTotal() {
  clearTimeout(heardTimer);
  const count = list.total.value;
  if (count === null || !store.mailboxes.value) return;
  const { search: words, endsInPrefix } = store.route.value;
  const name = mailboxes.nameOf(store.mailbox.value);
  const text = words ? say("results", { count }) : `${name}: ${say("conversations", { count })}`;
  const tell = () => {
    store.announcement.value = text;
  };
  // While letters come, nobody hears all numbers.
  if (endsInPrefix) heardTimer = window.setTimeout(tell, HEARD_REST_MS);
  else tell();
}

function bar() {
  const isOpen = store.isMenuOpen.value;
  const name = say(isOpen ? "menuClose" : "menu");
  return html`
    <button type="button" class="plain menu" aria-label=${name} title=${name} aria-expanded=${String(isOpen)}
      aria-controls="mailboxes" onClick=${() => {
        store.isMenuOpen.value = !isOpen;
      }}>${icon(isOpen ? "close" : "menu")}</button>
    <span class="brand" aria-hidden="true">pneu</span>
    ${search.draw()}
    <button type="button" class="button main new" title=${`${say("compose")} (c)`} aria-label=${say("compose")}
      onClick=${writing.composeNew}>${icon("drafts")}<span>${say("compose")}</span></button>
    <button type="button" class="plain keyboard" aria-label=${say("help")} title=${`${say("help")} (?)`}
      onClick=${() => {
        store.isHelpOpen.value = true;
      }}>${icon("keyboard")}</button>`;
}

/** Says that the server is lost, or that one must log in, and which moment is shown. */
function notice() {
  const state = connection.value;
  const past = store.route.value.at ? elsewhere.parts.value?.drawNotice() : null;
  if (state !== "lost" && state !== "login") return past;
  return [
    html`<p class=${`notice ${state}`}>${say(state)}
    <button type="button" onClick=${connect}>${say("retry")}</button></p>`,
    past,
  ];
}
