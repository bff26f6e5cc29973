// What must be true whenever all rest: the files, the server and the page say the same. Changes nothing.

import fs from "node:fs";
import path from "node:path";
import { FOLDERS } from "./mail.js";

/** @typedef {import("./client.js").Client} Client @typedef {import("playwright-core").Page} Page */

/** How long the server and the page may take to follow, on a machine that does much else. */
export const PATIENCE_MS = 90_000;
const KEYWORDS = [
  ["S", "$seen"],
  ["F", "$flagged"],
  ["R", "$answered"],
];

/**
 * Compares two things until they are the same, and throws if they are not in the end. Returns how long that
 * took.
 * @param {string} what
 * @param {() => Promise<[unknown, unknown]>} look
 */
async function same(what, look) {
  for (const begin = Date.now(); ;) {
    const [wanted, found] = (await look()).map((each) => JSON.stringify(each, null, 1).split("\n"));
    if (String(wanted) === String(found)) return Date.now() - begin;
    if (Date.now() - begin > PATIENCE_MS) {
      throw new Error(`${what}:\n${differences(wanted ?? [], found ?? []).join("\n")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Returns the first lines that differ, each with its place and what should be there.
 * @param {string[]} wanted
 * @param {string[]} found
 */
function differences(wanted, found) {
  const all = Array.from({ length: Math.max(wanted.length, found.length) }, (_, index) => index);
  const differ = all.filter((index) => wanted[index] !== found[index]);
  return differ.slice(0, 20).map((index) => `${index}: ${found[index]}, expected ${wanted[index]}`);
}

/** Returns the Message-ID in a file, unless the file was renamed just now. @param {string} file */
function messageId(file) {
  try {
    return /^Message-ID: <(.*)>/m.exec(fs.readFileSync(file, "utf8"))?.[1];
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOENT") throw error;
    return "renamed";
  }
}

/** Returns where each message is on disk, and its flags. @param {string} directory */
function onDisk(directory) {
  const all = FOLDERS.flatMap((folder) =>
    ["cur", "new"].flatMap((each) => {
      const at = path.join(directory, folder, each);
      return fs.readdirSync(at).map((name) => {
        const flags = name.split(":2,")[1] ?? "";
        const keywords = KEYWORDS.flatMap(([flag, keyword]) =>
          flags.includes(String(flag)) ? [keyword] : [],
        );
        return `${messageId(path.join(at, name))} ${folder} ${keywords}`;
      });
    }),
  );
  return all.sort();
}

/** Returns the same, as the server tells. @param {Client} client */
async function onServer(client) {
  const mailboxes = new Map((await client.mailboxes()).map((each) => [each.id, each]));
  const nameOf = (/** @type {string} */ id) => {
    const found = mailboxes.get(id);
    const above = mailboxes.get(found?.parentId ?? "");
    return `${above ? `${above.name}/` : ""}${found?.name}`.replace(/^inbox$/i, "INBOX");
  };
  const all = (await client.everything()).flatMap(({ messageId, mailboxIds, keywords }) =>
    Object.keys(mailboxIds).map((id) => {
      const known = KEYWORDS.flatMap(([, keyword]) => (keywords[String(keyword)] ? [keyword] : []));
      return `${messageId?.[0]} ${nameOf(id)} ${known}`;
    }),
  );
  return all.sort();
}

/**
 * The server has the mail as it is on disk, and its last event told of the last change. What the page has
 * asked for may still be done meanwhile.
 * @param {Client} client
 * @param {string} directory
 */
export async function checkServer(client, directory) {
  const waited = await same("the server's mail is not that on disk", async () => [
    onDisk(directory),
    await onServer(client),
  ]);
  await same("the last event is not of the last state", async () => {
    const names = ["Email", "Mailbox", "Thread"];
    const states = await Promise.all(
      names.map(async (name) => (await client.call(`${name}/get`, { ids: [] })).state),
    );
    return [states, names.map((name) => client.told[name] ?? "")];
  });
  return { waited, count: onDisk(directory).length };
}

/** What the page shows: its address, the mailboxes' numbers, and the rows that are drawn. */
function shown() {
  const number = (/** @type {Element | null} */ each) => Number((each?.textContent ?? "").replace(/\D/g, ""));
  const badges = [...document.querySelectorAll("#mailboxes a.mailbox")].map((each) => [
    String(each.getAttribute("data-mailbox")),
    number(each.querySelector(".badge")),
  ]);
  const rows = [...document.querySelectorAll("#list .row")]
    .map((each) => ({
      index: Number(each.getAttribute("data-index")),
      id: /message\/(M\w+)/.exec(each.querySelector("a")?.getAttribute("href") ?? "")?.[1] ?? "",
      isUnread: each.classList.contains("unread"),
      isFlagged: each.querySelector(".mark.flag") !== null,
    }))
    .sort((a, b) => a.index - b.index);
  const total = Number(document.querySelector("#list .row")?.getAttribute("aria-setsize") ?? 0);
  return { hash: location.hash, endsInPrefix: history.state?.endsInPrefix === true, badges, rows, total };
}

/**
 * The page shows what the server says, without being asked to look.
 * @param {Client} client
 * @param {Page} page
 */
export async function checkPage(client, page) {
  return same("the page does not show what the server says", async () => {
    const found = await page.evaluate(shown);
    const [, mailbox = "all"] = /mailbox\/([^/]+)/.exec(found.hash) ?? [];
    const words = decodeURIComponent(/search\/([^/]+)/.exec(found.hash)?.[1] ?? "");
    const filter = words
      ? { pneuQuery: words, ...(found.endsInPrefix && { endsInPrefix: true }) }
      : ["all", "gone"].includes(mailbox) ? null : { inMailbox: mailbox };
    const isGone = mailbox === "gone";
    const unread = new Map((await client.mailboxes()).map((each) => [each.id, each.unreadThreads]));
    const badges = found.badges.map(([id]) => [id, unread.get(String(id)) ?? 0]);
    // Rows are drawn in one piece, but for that with the cursor, which may be elsewhere.
    const [first = 0, last = 0] = span(found.rows.map(({ index }) => index));
    const { rows, total } = isGone
      ? await client.goneRows(filter, first, last - first + 1)
      : await client.rows(filter, first, last - first + 1);
    const inSpan = found.rows.filter(({ index }) => index >= first && index <= last);
    const shownRows = isGone ? inSpan.map(({ index, id }) => ({ index, id })) : inSpan;
    return [
      {
        badges,
        total,
        rows: rows.map((/** @type {any} */ row, /** @type {number} */ index) => ({
          index: first + index,
          ...row,
        })),
      },
      { badges: found.badges, total: found.total, rows: shownRows },
    ];
  });
}

/** Returns the first and the last number of the longest piece without gaps. @param {number[]} sorted */
function span(sorted) {
  /** @type {number[]} */
  let best = [];
  let piece = /** @type {number[]} */ ([]);
  for (const each of sorted) {
    piece = piece.length > 0 && each === Number(piece.at(-1)) + 1 ? [...piece, each] : [each];
    if (piece.length > best.length) best = piece;
  }
  return best.length > 0 ? [Number(best[0]), Number(best.at(-1))] : [];
}
