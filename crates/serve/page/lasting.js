// Lasting addresses: /m/MESSAGE-ID and /q/QUERY. Touches the address and the clipboard. Asks the server which
// message it is. Knows no parts.

import { say } from "./i18n.js";
import { request } from "./jmap.js";
import { ALL, address, announcement, decoded, readAddress } from "./store.js";

/** Shows what a lasting address means, in its place. The address stays until that is known. */
export async function resolve() {
  const { pathname } = location;
  const isSearch = pathname.startsWith("/q/");
  if (!isSearch && !pathname.startsWith("/m/")) return;
  const text = decoded(pathname.slice(3));
  let message = "";
  if (!isSearch) {
    const filter = { header: ["Message-ID", text] };
    const [found] = await request([["Email/query", { filter, limit: 1 }]]);
    message = found.ids[0] ?? "unknown";
  }
  // Who has gone elsewhere meanwhile stays there.
  if (location.pathname !== pathname) return;
  const to = address({ mailbox: ALL, search: isSearch ? text : "", message });
  history.replaceState(null, "", `/${to}`);
  readAddress();
}

/** Copies the lasting address of a message. @param {string} messageId */
export async function copy(messageId) {
  const text = `${location.origin}/m/${encodeURIComponent(messageId)}`;
  const isCopied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  announcement.value = say(isCopied ? "copied" : "copyFailed");
}
