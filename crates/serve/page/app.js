// Puts the parts together: each has its place in the page, and follows the address. Knows no details of any
// part.

import { effect, untracked } from "./vendor/signals-core.mjs";
import * as actions from "./actions.js";
import * as question from "./ask.js";
import * as conversation from "./conversation.js";
import * as frame from "./frame.js";
import { html, place } from "./html.js";
import { language, say } from "./i18n.js";
import { icon } from "./icons.js";
import { connect, connection, onChange } from "./jmap.js";
import * as keys from "./keys.js";
import { resolve } from "./lasting.js";
import * as list from "./list.js";
import * as mailboxes from "./mailboxes.js";
import * as search from "./search.js";
import * as store from "./store.js";
import * as writing from "./writing.js";

const MINUTE_MS = 60_000;

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
place("mailboxes", mailboxes.draw);
place("list", () => list.draw(actions.drawSelection, actions.drawRow));
place("reader", () => conversation.draw(actions.drawOpen, writing.drawAnswers));
place("told", question.drawTold);
place("ask", question.drawQuestion);
place("help", keys.drawHelp);
place("announcement", () => store.announcement.value);

effect(followRoute);
effect(search.followAddress);
effect(keys.followHelp);
effect(question.followQuestion);
effect(writing.followWanted);
effect(list.announceTotal);
effect(list.followTotal);
effect(conversation.followReading);
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

/** Fetches everything again that is shown. */
function refresh() {
  mailboxes
    .fetchMailboxes()
    .then(resolve)
    .then(chooseMailbox)
    .catch(() => {});
  list.refresh();
  conversation.refresh();
}

/** An address that names no mailbox means the inbox. */
function chooseMailbox() {
  if (!store.route.peek().mailbox) store.replace({ mailbox: mailboxes.inboxId() });
}

/** Shows what the address says. Coming back to the list, its row has the focus again. */
function followRoute() {
  const { mailbox, search: words, message } = store.route.value;
  untracked(() => {
    const wasOpen = document.body.dataset["view"] === "message";
    document.body.dataset["view"] = message ? "message" : "list";
    if (mailbox || words) list.show(mailbox || store.ALL, words);
    if (message) list.pointAt(message);
    conversation.open(message);
    if (wasOpen && !message)
      requestAnimationFrame(() => {
        list.applyScroll();
        // Who has gone on to search keeps the focus there.
        if (!document.activeElement?.matches("#search")) list.focusCursor();
      });
  });
}

function title() {
  const { search: words, message } = store.route.value;
  const name = words || mailboxes.nameOf(store.mailbox.value);
  const unread = store.mailboxes.value?.find((each) => each.role === "inbox")?.unreadThreads ?? 0;
  const shown = (message && conversation.subject()) || name;
  document.title = `${unread > 0 ? `(${unread}) ` : ""}${shown} – pneu`;
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
    ${search.draw(list.isWaiting.value && store.route.value.search !== "")}
    <button type="button" class="button main new" title=${`${say("compose")} (c)`} aria-label=${say("compose")}
      onClick=${writing.composeNew}>${icon("drafts")}<span>${say("compose")}</span></button>
    <button type="button" class="plain keyboard" aria-label=${say("help")} title=${`${say("help")} (?)`}
      onClick=${() => {
        store.isHelpOpen.value = true;
      }}>${icon("keyboard")}</button>`;
}

/** Says that the server is lost, or that one must log in. */
function notice() {
  const state = connection.value;
  if (state !== "lost" && state !== "login") return null;
  return html`<p class=${`notice ${state}`}>${say(state)}
    <button type="button" onClick=${connect}>${say("retry")}</button></p>`;
}
