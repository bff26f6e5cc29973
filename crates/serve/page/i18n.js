// What the page says, in English and German. Touches nothing but the browser's languages. Knows no mail.

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
  },
  de: {
    all: "Alle Nachrichten",
    inbox: "Posteingang",
    archive: "Archiv",
    drafts: "Entwürfe",
    sent: "Gesendet",
    trash: "Papierkorb",
    junk: "Spam",
    mailboxes: "Ordner",
    menu: "Ordner zeigen",
    menuClose: "Ordner schließen",
    search: "Alle Nachrichten durchsuchen",
    searchClear: "Suche leeren",
    results: { one: "{count} Treffer", other: "{count} Treffer" },
    resultsFor: "Treffer für „{words}“",
    conversations: { one: "{count} Unterhaltung", other: "{count} Unterhaltungen" },
    unread: { one: "{count} ungelesen", other: "{count} ungelesen" },
    messages: { one: "{count} Nachricht", other: "{count} Nachrichten" },
    list: "Unterhaltungen",
    conversation: "Unterhaltung",
    loading: "Wird geladen…",
    empty: "Hier ist keine Nachricht",
    emptySearch: "Nichts gefunden",
    emptySearchHint: "Versuchen Sie weniger oder andere Wörter.",
    nothingOpen: "Keine Unterhaltung ausgewählt",
    nothingOpenHint: "j und k wählen aus, Enter öffnet.",
    missing: "Diese Nachricht gibt es nicht mehr.",
    failed: "Der Server konnte nicht antworten: {reason}",
    lost: "Der Server ist nicht erreichbar. Neuer Versuch…",
    login: "Sie sind nicht angemeldet. Öffnen Sie den Link, den „pneu serve --link“ ausgibt.",
    retry: "Jetzt versuchen",
    back: "Zurück zur Liste",
    help: "Tastenkürzel",
    close: "Schließen",
    noSubject: "(kein Betreff)",
    noSender: "(kein Absender)",
    me: "ich",
    to: "An",
    cc: "Kopie",
    from: "Von",
    isUnread: "Ungelesen",
    isFlagged: "Markiert",
    isAnswered: "Beantwortet",
    hasAttachment: "Mit Anhang",
    attachments: { one: "{count} Anhang", other: "{count} Anhänge" },
    quoteShow: { one: "Zitat zeigen ({count} Zeile)", other: "Zitat zeigen ({count} Zeilen)" },
    quoteHide: "Zitat ausblenden",
    cut: "Der Rest dieser Nachricht wird nicht gezeigt: Sie ist sehr lang.",
    wholeMessage: "Die ganze Nachricht herunterladen",
    encoding: "Einige Zeichen dieser Nachricht waren nicht lesbar.",
    noText: "Diese Nachricht hat keinen Text.",
    fromHtml: "Dies ist der Text einer Nachricht in HTML.",
    yesterday: "Gestern",
    more: { one: "und {count} weitere Person", other: "und {count} weitere" },
    keyDown: "Nächste Unterhaltung",
    keyUp: "Vorige Unterhaltung",
    keyOpen: "Öffnen",
    keyBack: "Zurück zur Liste",
    keySearch: "Suchen",
    keyHelp: "Diese Tastenkürzel zeigen",
    keyInbox: "Zum Posteingang",
    keyNext: "Nächste Nachricht",
    keyPrevious: "Vorige Nachricht",
    keyEscape: "Schließen, leeren oder zurück",
    keyFold: "Nachricht auf- oder zuklappen",
    keysList: "Liste",
    keysConversation: "Unterhaltung",
    keysGeneral: "Überall",
    then: "dann",
    or: "oder",
    imagesBlocked: { one: "Bilder von {count} Server sind nicht geladen", other: "Bilder von {count} Servern sind nicht geladen" },
    imagesLoad: "Bilder laden",
    unclean: "Das HTML dieser Nachricht ist zu groß oder zu tief verschachtelt.",
    messageMenu: "Mehr zu dieser Nachricht",
    showText: "Als Text zeigen",
    showHtml: "Als HTML zeigen",
    copyAddress: "Adresse kopieren",
    copied: "Die Adresse ist kopiert.",
    copyFailed: "Die Adresse konnte nicht kopiert werden.",
    saveAll: "Alle sichern",
  },
};

const preferred = globalThis.navigator?.languages ?? ["en"];
const tag = preferred.find((each) => /^(en|de)\b/i.test(each)) ?? "en";

/** The language of the page. */
export const language = /^de/i.test(tag) ? "de" : "en";

/** The language and the country, for dates and numbers. */
export const locale = tag;

const numbers = new Intl.NumberFormat(locale);
const plurals = new Intl.PluralRules(locale);

/** @param {number} value */
export function number(value) {
  return numbers.format(value);
}

/**
 * Returns a phrase. `{name}` in it is replaced by that value; `count` also chooses the form.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function say(key, values = {}) {
  const phrase = PHRASES[language][key];
  if (phrase === undefined) throw new Error(`there is no phrase ${key}`);
  const isOne = typeof values["count"] === "number" && plurals.select(values["count"]) === "one";
  const form = typeof phrase === "string" ? phrase : isOne ? phrase.one : phrase.other;
  return form.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name] ?? "";
    return typeof value === "number" ? number(value) : value;
  });
}
