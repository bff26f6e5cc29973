// Mail with a backup, of which some is gone, for the tests of what is not the mail of today.

import fs from "node:fs";
import path from "node:path";

/** @typedef {import("./support.js").Mailbox} Mailbox */

/**
 * Lets the mail have a repository for backups, and makes it.
 * @param {Mailbox} mailbox
 */
export function withArchive(mailbox) {
  const home = mailbox.environment().HOME;
  const folder = path.join(home, ".config", "pneu");
  const password = path.join(mailbox.directory, "password");
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(password, "a long password\n");
  const quoted = (/** @type {string} */ name) => JSON.stringify(path.join(mailbox.directory, name));
  fs.mkdirSync(path.join(mailbox.directory, "mail"), { recursive: true });
  fs.writeFileSync(
    path.join(folder, "config.toml"),
    `[[root]]\nname = "mail"\npath = ${quoted("mail")}\nfrom = ["Bo Berg <bo@example.org>"]\n\n` +
      `[archive]\nrepository = ${quoted("repository")}\npassword_file = ${quoted("password")}\n`,
  );
  mailbox.isConfigured = true;
  mailbox.run("archive", "init");
}

/**
 * Asks the server as a mail program does.
 * @param {Mailbox} mailbox
 * @param {[name: string, args: Record<string, unknown>][]} calls
 * @returns {Promise<any[]>}
 */
export async function ask(mailbox, calls) {
  const token = mailbox.run("serve", "--print-token").trim();
  const names = ["actions", "archive", "conversations", "moment", "query", "search", "statistics"];
  const using = ["core", "mail"].map((name) => `urn:ietf:params:jmap:${name}`);
  const reply = await fetch(`${mailbox.origin}/jmap/api`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify({
      using: [...using, ...names.map((name) => `urn:pneu:params:jmap:${name}`)],
      methodCalls: calls.map(([name, args], index) => [name, { accountId: "mail", ...args }, `c${index}`]),
    }),
  });
  const answer = /** @type {any} */ (await reply.json());
  return answer.methodResponses.map((/** @type {any} */ each) => each[1]);
}
