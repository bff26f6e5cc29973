// Keys, as in Gmail and mutt, and the dialog that lists them. Touches the keyboard. Knows what the parts
// offer, not how.

import { batch } from "./vendor/signals-core.mjs";
import { onKey as actOnToday } from "./actions.js";
import { idAt, toggleAt, move } from "./conversation.js";
import { showDialog } from "./dialog.js";
import { openBy, parts } from "./elsewhere.js";
import { html } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { cursor, focusCursor, focusList, moveCursor, openCursor, rows, select, selected } from "./list.js";
import { inboxId, openMailbox } from "./mailboxes.js";
import { clearSearch, focusSearch, submit } from "./search.js";
import { closeMessage, go, isHelpOpen, isMenuOpen, isToday, route } from "./store.js";
import { composeAnswer, composeNew } from "./writing.js";

/** @typedef {{ keys: string[][], says: string }} Help A list of ways; each is one key or several in turn. */

/** @type {{ title: string, entries: Help[] }[]} */
const HELP = [
  {
    title: "keysList",
    entries: [
      { keys: [["j"], ["↓"]], says: "keyDown" },
      { keys: [["k"], ["↑"]], says: "keyUp" },
      { keys: [["Enter"], ["o"]], says: "keyOpen" },
    ],
  },
  {
    title: "keysGeneral",
    entries: [
      { keys: [["/"]], says: "keySearch" },
      { keys: [["Alt+↓"]], says: "keySuggest" },
      { keys: [["g", "i"]], says: "keyInbox" },
      { keys: [["g", "d"]], says: "gone" },
      { keys: [["g", "t"]], says: "moment" },
      { keys: [["g", "s"]], says: "statistics" },
      { keys: [["Esc"]], says: "keyEscape" },
      { keys: [["?"]], says: "keyHelp" },
    ],
  },
  {
    title: "keysActions",
    entries: [
      { keys: [["c"]], says: "compose" },
      { keys: [["r"]], says: "reply" },
      { keys: [["a"]], says: "replyAll" },
      { keys: [["f"]], says: "forward" },
      { keys: [["x"]], says: "select" },
      { keys: [["X"]], says: "keyRange" },
      { keys: [["e"]], says: "toArchive" },
      { keys: [["#"]], says: "toTrash" },
      { keys: [["!"]], says: "toJunk" },
      { keys: [["s"]], says: "flag" },
      { keys: [["I"]], says: "markRead" },
      { keys: [["U"]], says: "markUnread" },
      { keys: [["v"]], says: "moveTo" },
      { keys: [["l"]], says: "tag" },
      { keys: [["z"]], says: "undo" },
      { keys: [["Z"]], says: "history" },
      { keys: [["b"]], says: "restore" },
    ],
  },
  {
    title: "keysConversation",
    entries: [
      { keys: [["n"]], says: "keyNext" },
      { keys: [["p"]], says: "keyPrevious" },
      { keys: [["Enter"], ["o"]], says: "keyFold" },
      { keys: [["j"]], says: "keyDown" },
      { keys: [["k"]], says: "keyUp" },
      { keys: [["u"]], says: "keyBack" },
    ],
  },
];

/** Keys that answer a message. @type {Record<string, import("./compose-model.js").Kind>} */
const ANSWERS = { r: "reply", a: "all", f: "forward" };

/** The first of two keys. */
let before = "";

/** Begins to listen. */
export function listen() {
  document.addEventListener("keydown", onKey);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.matches("input:not([type=checkbox]), textarea, select")) onKeyInField(event);
  else if (act(event.key, target)) event.preventDefault();
}

/** @param {KeyboardEvent} event */
function onKeyInField(event) {
  if (event.key === "Escape") {
    if (!clearSearch()) leave(/** @type {HTMLElement} */ (event.target));
  } else if (event.key === "Enter" || event.key === "ArrowDown") {
    // What is searched for is shown first; then the list has the keys.
    void submit().then((isShown) => isShown && requestAnimationFrame(focusList));
  } else return;
  event.preventDefault();
}

/** Leaves a field for the list, or for the page, if no row can have the focus. @param {HTMLElement} field */
function leave(field) {
  focusCursor();
  if (document.activeElement === field) field.blur();
}

/**
 * Does what a key stands for. Returns whether it stands for something.
 * @param {string} key
 * @param {Element} target
 */
function act(key, target) {
  const first = before;
  before = "";
  if (first === "g" && key === "i") return does(() => openMailbox(inboxId()));
  if ((first === "g" || key === "Z") && openBy(key)) return true;
  if (key === "g")
    return does(() => {
      before = "g";
    });
  if (key === "/") return does(focusSearch);
  if (key === "?")
    return does(() => {
      isHelpOpen.value = true;
    });
  if (key === "Escape") return does(escape);
  // Numbers have no rows: what acts on rows does nothing there.
  if (route.peek().view) return key === "u" && does(() => go({}));
  if (key === "x" || key === "X") return does(() => void select(cursor.peek(), key === "X"));
  if (key === "c") return does(composeNew);
  const kind = ANSWERS[key];
  const id = route.peek().message ? idAt() : rows()?.at(cursor.peek())?.id;
  if (kind && id) return does(() => void composeAnswer(kind, id));
  if (isToday.peek() || key === "z" ? actOnToday(key) : parts.peek()?.onKey(key)) return true;
  if (key === "j" || key === "k") return does(() => step(key === "j" ? 1 : -1));
  const isOpen = route.peek().message !== "";
  const isInList = target === document.body || target.closest("#list") !== null;
  if (isInList && (key === "ArrowDown" || key === "ArrowUp"))
    return does(() => moveCursor(cursor.peek() + (key === "ArrowDown" ? 1 : -1)));
  if (isInList && key === "Home") return does(() => moveCursor(0));
  if (isInList && key === "End") return does(() => moveCursor(Number.MAX_SAFE_INTEGER));
  // Enter on a button or a link is theirs.
  const isTheirs = key === "Enter" && target.matches("a, button") && !target.closest("#list");
  if ((key === "o" || key === "Enter") && !isTheirs) return does(isOpen && !isInList ? toggleAt : openCursor);
  if (!isOpen) return false;
  if (key === "u") return does(closeMessage);
  if (key === "n" || key === "p") return does(() => move(key === "n" ? 1 : -1));
  return false;
}

/** @param {() => void} action */
function does(action) {
  action();
  return true;
}

/** Moves in the list. If a conversation is open, the next one is opened. @param {number} by */
function step(by) {
  const move = () => moveCursor(cursor.peek() + by);
  if (!route.peek().message) return move();
  // Both are drawn at once.
  batch(() => {
    move();
    openCursor();
  });
}

function escape() {
  if (isMenuOpen.peek()) isMenuOpen.value = false;
  else if (route.peek().view) go({});
  else if (selected.peek().size > 0) selected.value = new Set();
  else if (route.peek().message) closeMessage();
  else clearSearch();
}

/** Opens and closes the dialog as the state says. */
export function followHelp() {
  showDialog("help", isHelpOpen.value, () => {
    isHelpOpen.value = false;
  });
}

/** Draws the dialog. Most visits never open it. */
export function drawHelp() {
  if (!isHelpOpen.value) return null;
  const close = () => {
    isHelpOpen.value = false;
  };
  return html`<div class="help"><header><h2 id="help-title">${say("help")}</h2>
    <button type="button" class="plain" aria-label=${say("close")} title=${say("close")} onClick=${close}>${icon("close")}</button></header>
    <div class="help-parts">${HELP.map(
      (part) => html`<section><h3>${say(part.title)}</h3>
      <dl>${part.entries.map((entry) => html`<div><dt>${ways(entry.keys)}</dt><dd>${say(entry.says)}</dd></div>`)}</dl>
    </section>`,
    )}</div></div>`;
}

/** @param {string[][]} keys */
function ways(keys) {
  return keys.map(
    (way, index) =>
      html`${index > 0 && html`<span> ${say("or")} </span>`}${way.map(
        (key, turn) => html`${turn > 0 && html`<span> ${say("then")} </span>`}<kbd>${key}</kbd>`,
      )}`,
  );
}
