// The mail of the soak run: a Maildir of conversations, and what mail programs do to it. Touches its Maildir.

import fs from "node:fs";
import path from "node:path";

/** @typedef {import("./random.js").Random} Random */

export const FOLDERS = ["INBOX", "Archive", "Sent", "Trash", "Spam", "Lists/rust", "Lists/mail"];
export const WORDS = ["harbour", "meadow", "lantern", "granite", "orchard", "compass", "thistle", "ember"];
const PEOPLE = ["Ana Ito", "Bo Berg", "Cy Clark", "Di Dahl", "Eva Ek", "Finn Frost"];
const FLAGS = ["S", "F", "R"];

export class Mail {
  /** @param {string} directory @param {Random} random @param {string} mark What its messages are called. */
  constructor(directory, random, mark) {
    this.directory = directory;
    this.random = random;
    this.mark = mark;
    this.count = 0;
    for (const folder of FOLDERS)
      for (const each of ["cur", "new", "tmp"])
        fs.mkdirSync(path.join(directory, folder, each), { recursive: true });
  }

  /** Delivers a message, sometimes as an answer. @param {string} folder */
  deliver(folder) {
    const { random } = this;
    const id = `${this.mark}${(this.count += 1)}`;
    const isAnswer = this.count > 1 && random.below(3) === 0;
    const before = `${this.mark}${1 + random.below(Math.max(1, this.count - 1))}`;
    const subject = `${isAnswer ? "Re: " : ""}${random.pick(WORDS)} ${random.pick(WORDS)} ${id}`;
    const [name = ""] = random.pick(PEOPLE).split(" ");
    const isHtml = random.below(4) === 0;
    const text = Array.from({ length: 3 + random.below(60) }, () => random.pick(WORDS)).join(" ");
    // Not in the future, however long the run is.
    const date = new Date(
      Date.UTC(2024, 0, 1) + this.count * 600_000 + random.below(600) * 1000,
    ).toUTCString();
    const source = [
      `From: ${name} <${name.toLowerCase()}@example.org>`,
      "To: Bo Berg <bo@example.org>",
      `Subject: ${subject}`,
      `Date: ${date}`,
      `Message-ID: <${id}@example.org>`,
      ...(isAnswer ? [`In-Reply-To: <${before}@example.org>`] : []),
      "MIME-Version: 1.0",
      `Content-Type: ${isHtml ? "text/html" : "text/plain"}; charset=utf-8`,
      "",
      isHtml ? `<h1>${subject}</h1><p>${text}</p>` : `${text}\n`,
    ].join("\n");
    const flags = FLAGS.filter(() => random.below(2) === 0);
    const isNew = random.below(3) === 0;
    const written = path.join(this.directory, folder, "tmp", id);
    fs.writeFileSync(written, source);
    const name2 = isNew ? path.join("new", id) : path.join("cur", `${id}:2,${flags.sort().join("")}`);
    fs.renameSync(written, path.join(this.directory, folder, name2));
  }

  /** Returns the names of the files of a folder, with `new` or `cur` before them. @param {string} folder */
  names(folder) {
    return ["cur", "new"].flatMap((each) =>
      fs.readdirSync(path.join(this.directory, folder, each)).map((name) => path.join(each, name)),
    );
  }

  /** Does something that a mail program does. Returns what. */
  step() {
    const { random } = this;
    const what = random.weighted({ deliver: 4, flag: 4, move: 2, remove: 2 });
    const folder = random.pick(FOLDERS);
    if (what === "deliver") return (this.deliver(random.pick(["INBOX", "INBOX", folder])), what);
    const names = this.names(folder);
    if (names.length === 0) return "nothing";
    const name = random.pick(names);
    const at = path.join(this.directory, folder, name);
    const [id = ""] = path.basename(name).split(":2,");
    const flags = new Set(name.split(":2,")[1] ?? "");
    const flag = random.pick(FLAGS);
    if (what === "flag" && !flags.delete(flag)) flags.add(flag);
    const to = what === "move" ? random.pick(FOLDERS) : folder;
    try {
      if (what === "remove") fs.rmSync(at);
      else fs.renameSync(at, path.join(this.directory, to, "cur", `${id}:2,${[...flags].sort().join("")}`));
    } catch (error) {
      // The page may have been faster.
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOENT") throw error;
      return "nothing";
    }
    return what;
  }
}
