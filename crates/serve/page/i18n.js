// What the page says, in English; in German with i18n-de.js. Touches nothing but the browser's languages. Knows no mail.

/** @typedef {string | { one: string, other: string }} Phrase */

/** @type {Record<"en" | "de", Record<string, Phrase>>} */
export const PHRASES = {
  en: {
    all: "All mail",
    inbox: "Inbox",
    archive: "Archive",
    drafts: "Drafts",
    sent: "Sent",
    trash: "Trash",
    junk: "Spam",
    mailboxes: "Mailboxes",
    menu: "Show mailboxes",
    menuClose: "Close mailboxes",
    search: "Search all mail",
    searchClear: "Clear search",
    results: { one: "{count} result", other: "{count} results" },
    resultsFor: "Results for “{words}”",
    conversations: { one: "{count} conversation", other: "{count} conversations" },
    unread: { one: "{count} unread", other: "{count} unread" },
    messages: { one: "{count} message", other: "{count} messages" },
    list: "Conversations",
    conversation: "Conversation",
    loading: "Loading…",
    empty: "No mail here",
    emptySearch: "Nothing found",
    emptySearchHint: "Try fewer or other words.",
    nothingOpen: "No conversation selected",
    nothingOpenHint: "Press j and k to move, Enter to read.",
    missing: "This message is no longer there.",
    failed: "The server could not answer: {reason}",
    lost: "The server cannot be reached. Trying again…",
    login: "You are not logged in. Open the link that “pneu serve --link” prints.",
    retry: "Try now",
    back: "Back to the list",
    help: "Keyboard shortcuts",
    close: "Close",
    noSubject: "(no subject)",
    noSender: "(no sender)",
    me: "me",
    to: "To",
    cc: "Cc",
    from: "From",
    isUnread: "Unread",
    isFlagged: "Flagged",
    isAnswered: "Answered",
    hasAttachment: "Has attachment",
    attachments: { one: "{count} attachment", other: "{count} attachments" },
    quoteShow: { one: "Show quoted text ({count} line)", other: "Show quoted text ({count} lines)" },
    quoteHide: "Hide quoted text",
    cut: "The rest of this message is not shown: it is very long.",
    wholeMessage: "Download the whole message",
    encoding: "Some characters of this message could not be read.",
    noText: "This message has no text.",
    fromHtml: "This is the text of a message in HTML.",
    yesterday: "Yesterday",
    more: { one: "and {count} more", other: "and {count} more" },
    keyDown: "Next conversation",
    keyUp: "Previous conversation",
    keyOpen: "Open",
    keyBack: "Back to the list",
    keySearch: "Search",
    keyHelp: "Show these shortcuts",
    keyInbox: "Go to the inbox",
    keyNext: "Next message",
    keyPrevious: "Previous message",
    keyEscape: "Close, clear, or go back",
    keyFold: "Fold or unfold a message",
    keysList: "List",
    keysConversation: "Conversation",
    keysGeneral: "Everywhere",
    keysActions: "Actions",
    keyRange: "Select up to here",
    actions: "Actions",
    cancel: "Cancel",
    select: "Select",
    selectNone: "Clear selection",
    selectAll: "Select all {all}",
    selected: { one: "{count} selected", other: "{count} selected" },
    toArchive: "Archive",
    toTrash: "Delete",
    toJunk: "Report spam",
    markRead: "Mark as read",
    markUnread: "Mark as unread",
    flag: "Flag",
    moveTo: "Move to",
    tag: "Tag",
    tagNew: "New tag",
    draft: "Draft",
    undo: "Undo",
    undone: "Undone",
    undoneBut: {
      one: "Undone, but {count} file was left alone: it was changed since",
      other: "Undone, but {count} files were left alone: they were changed since",
    },
    undoNothing: "Nothing to undo",
    notDone: "This was not done: {reason}",
    acted: { one: "{count} conversation {what}", other: "{count} conversations {what}" },
    archived: "archived",
    trashed: "deleted",
    junked: "reported as spam",
    moved: "moved to {name}",
    tagged: "tagged {name}",
    untagged: "no longer tagged {name}",
    flagged: "flagged",
    unflagged: "no longer flagged",
    markedRead: "marked as read",
    markedUnread: "marked as unread",
    destroyed: "deleted for good",
    destroy: "Delete for good",
    destroyAsk: {
      one: "Delete {count} conversation for good?",
      other: "Delete {count} conversations for good?",
    },
    bcc: "Bcc",
    subject: "Subject",
    date: "Date",
    text: "Text",
    compose: "New message",
    reply: "Reply",
    replyAll: "Reply all",
    forward: "Forward",
    editDraft: "Edit draft",
    wrote: "On {date}, {name} wrote:",
    forwarded: "Forwarded message",
    suggestions: "Suggestions",
    remove: "Remove {name}",
    attach: "Attach files",
    send: "Send",
    saved: "Saved",
    unsaved: "Not saved yet",
    uploading: "Uploading…",
    notSaved: "The draft could not be saved: {reason}",
    closeAsk: "The draft is not saved on the server. Close it? This browser keeps it.",
    closeAnyway: "Close",
    discard: "Discard draft",
    discardAsk: "Discard this draft?",
    recovered: "A draft was recovered",
    open: "Open",
    noAddress: "“{text}” is not an address.",
    noReceiver: "Add a receiver first.",
    lacksFile: "The text mentions an attachment, and there is none.",
    sendAnyway: "Send anyway",
    sending: "Sending…",
    isSent: "Message sent",
    notSent: "The message was not sent: {reason}",
    sendUnsure: "The server was lost. Look into the sent mail before you send again.",
    then: "then",
    or: "or",
    imagesBlocked: { one: "Images from {count} host are not loaded", other: "Images from {count} hosts are not loaded" },
    imagesLoad: "Load images",
    unclean: "The HTML of this message is too large or nested too deeply.",
    messageMenu: "More about this message",
    showText: "Show as text",
    showHtml: "Show as HTML",
    copyAddress: "Copy address",
    copied: "The address was copied.",
    copyFailed: "The address could not be copied.",
    saveAll: "Save all",
    // What is not the mail of today: elsewhere.js.
    gone: "Deleted for good",
    moment: "As of…",
    history: "What was done",
    statistics: "Statistics",
    restore: "Bring back",
    further: "More",
    searchWrong: "This search cannot be answered: {reason}",
    keySuggest: "Suggest what can be searched for",
  },
  // Comes with i18n-de.js.
  de: {},
};

const preferred = globalThis.navigator?.languages ?? ["en"];
const tag = preferred.find((each) => /^(en|de)\b/i.test(each)) ?? "en";

/** The language of the page. */
export const language = /^de/i.test(tag) ? "de" : "en";

// The other language is loaded only where it is read.
if (language === "de") Object.assign(PHRASES.de, (await import("./i18n-de.js")).GERMAN);

/** The language and the country, for dates and numbers. */
export const locale = tag;

/**
 * Makes a value when it is needed first. Formats take long to make, and the page is drawn without them.
 * @template Value
 * @param {() => Value} make
 * @returns {() => Value}
 */
export function lazily(make) {
  /** @type {Value | undefined} */
  let made;
  return () => (made ??= make());
}

const numbers = lazily(() => new Intl.NumberFormat(locale));
const plurals = lazily(() => new Intl.PluralRules(locale));

/** @param {number} value */
export function number(value) {
  // Both languages write small numbers alike, and the first format of a page takes long to make.
  return Number.isInteger(value) && value >= 0 && value < 1000 ? String(value) : numbers().format(value);
}

/**
 * Returns a phrase. `{name}` in it is replaced by that value; `count` also chooses the form.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function say(key, values = {}) {
  const phrase = PHRASES[language][key];
  if (phrase === undefined) throw new Error(`there is no phrase ${key}`);
  const isOne = typeof values["count"] === "number" && plurals().select(values["count"]) === "one";
  const form = typeof phrase === "string" ? phrase : isOne ? phrase.one : phrase.other;
  return form.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name] ?? "";
    return typeof value === "number" ? number(value) : value;
  });
}
