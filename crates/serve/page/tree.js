// The tree of mailboxes, from their names and parents. Pure. Knows neither the server nor the page.

/**
 * @typedef {import("./store.js").Mailbox} Mailbox
 * @typedef {{ name: string, path: string, mailbox: Mailbox | null, inner: Branch[] }} Branch
 */

/** Roles in the order in which they are shown. */
export const ROLES = /** @type {const} */ (["inbox", "drafts", "sent", "archive", "junk", "trash"]);

/**
 * Makes a tree of the mailboxes without roles. A name with slashes is a path. A branch with one branch in it
 * and no mailbox is one with it.
 * @param {Mailbox[]} all
 * @returns {Branch[]}
 */
export function tree(all) {
  const byId = new Map(all.map((each) => [each.id, each]));
  /** @type {Branch} */
  const root = { name: "", path: "", mailbox: null, inner: [] };
  for (const each of all) {
    if (!ROLES.some((role) => role === each.role)) grow(root, pathOf(each, byId), each);
  }
  return root.inner.map(joined).sort(byName);
}

/**
 * @param {Mailbox} mailbox
 * @param {Map<string, Mailbox>} byId
 */
function pathOf(mailbox, byId) {
  const path = [];
  const seen = new Set();
  for (
    let at = /** @type {Mailbox | undefined} */ (mailbox);
    at && !seen.has(at);
    at = byId.get(at.parentId ?? "")
  ) {
    seen.add(at);
    path.unshift(...at.name.split("/").filter(Boolean));
  }
  return path;
}

/**
 * @param {Branch} root
 * @param {string[]} path
 * @param {Mailbox} mailbox
 */
function grow(root, path, mailbox) {
  let at = root;
  for (const name of path) {
    let next = at.inner.find((each) => each.name === name);
    if (!next) {
      next = { name, path: `${at.path}/${name}`, mailbox: null, inner: [] };
      at.inner.push(next);
    }
    at = next;
  }
  if (at.mailbox || at === root)
    root.inner.push({ name: mailbox.name, path: `#${mailbox.id}`, mailbox, inner: [] });
  else at.mailbox = mailbox;
}

/** @type {(branch: Branch) => Branch} */
function joined(branch) {
  const [only] = branch.inner;
  if (!branch.mailbox && only && branch.inner.length === 1) {
    return joined({ ...only, name: `${branch.name}/${only.name}` });
  }
  return { ...branch, inner: branch.inner.map(joined).sort(byName) };
}

/** @type {(a: Branch, b: Branch) => number} */
function byName(a, b) {
  return (a.mailbox?.sortOrder ?? 0) - (b.mailbox?.sortOrder ?? 0) || a.name.localeCompare(b.name);
}
