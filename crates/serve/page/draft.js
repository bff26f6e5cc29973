// Where drafts are kept: in the browser at once, and on the server. Asks the server to send them. Knows no
// elements.

import { mailboxOf, refuse } from "./actions.js";
import { draftOf, emailOf, filesOf, textOf } from "./compose-model.js";
import { request } from "./jmap.js";
import { DRAFTS } from "./store.js";

/**
 * @typedef {import("./compose-model.js").Draft} Draft
 * @typedef {import("./compose-model.js").Identity} Identity
 */

const PROPERTIES = [
  ..."id from to cc bcc replyTo subject messageId inReplyTo references sentAt receivedAt".split(" "),
  ..."textBody attachments bodyValues".split(" "),
];

/** @type {Identity[]} */
let identities = [];
/** Lets go of the draft that this page has. */
let release = () => {};

/** Returns who mail can be from. */
export async function fetchIdentities() {
  const [answer] = await request([["Identity/get", { ids: null }]]);
  identities = answer.list;
  return identities;
}

/** Returns all of an email that a draft is made of, also of one that is gone. @param {string} id */
export async function fetchEmail(id) {
  const args = { ids: [id], properties: PROPERTIES, fetchTextBodyValues: true };
  const [answer] = await request([["Email/get", args]], null, ["archive"]);
  const why = answer.notRead?.[id] ?? { type: "notFound" };
  refuse(answer.list[0]?.textBody ? [] : [why]);
  return answer.list[0];
}

/** Returns a stored draft, or what the browser has of it that is newer. @param {string} id */
export async function openStored(id) {
  const known = (await left()).find(({ emailId }) => emailId === id);
  if (known) return known;
  const email = await fetchEmail(id);
  const { to, cc, bcc, subject, inReplyTo, references, from } = email;
  const replied = inReplyTo?.[0];
  const filter = { header: ["Message-ID", replied] };
  const [found] = replied ? await request([["Email/query", { filter, limit: 1 }]]) : [];
  return draftOf({
    emailId: id,
    identityId: identities.find((each) => each.email === from?.[0]?.email)?.id ?? "",
    to: to ?? [],
    cc: cc ?? [],
    bcc: bcc ?? [],
    subject: subject ?? "",
    text: textOf(email),
    files: filesOf(email),
    inReplyTo: inReplyTo ?? [],
    references: references ?? [],
    original: found?.ids[0] ?? "",
    keyword: "$answered",
  });
}

/** Keeps a draft in the browser. @param {Draft} draft */
export function keep(draft) {
  localStorage.setItem(DRAFTS + draft.key, JSON.stringify(draft));
}

/** @param {Draft} draft */
export function forget({ key }) {
  localStorage.removeItem(DRAFTS + key);
  release();
}

/** Says that this page has a draft, for as long as the page is there. @param {Draft} draft */
export function hold({ key }) {
  release();
  void navigator.locks?.request(DRAFTS + key, () => {
    return new Promise((done) => {
      release = () => done(undefined);
    });
  });
}

/** Returns the drafts in the browser that no page has. */
export async function left() {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(DRAFTS));
  const free = keys.filter((key) => !held.some(({ name }) => name === key));
  return free.map((key) => /** @type {Draft} */ (JSON.parse(localStorage.getItem(key) ?? "{}")));
}

/** @param {Draft} draft */
const identityOf = (draft) => identities.find(({ id }) => id === draft.identityId) ?? identities[0];

/**
 * Stores a draft. Returns what changed. The one that was stored before goes when the new one is there.
 * @param {Draft} draft
 * @returns {Promise<(now: Draft) => Draft>}
 */
export async function store(draft) {
  const email = emailOf(draft, identityOf(draft), await mailboxOf("drafts"));
  const [answer] = await request([["Email/set", { create: { d: email } }]]);
  refuse(Object.values(answer.notCreated ?? {}));
  return replaced(draft, answer.created.d.id);
}

/** @param {Draft} draft @param {string} emailId @returns {Promise<(now: Draft) => Draft>} */
async function replaced(draft, emailId) {
  const stale = [...draft.stale, draft.emailId].filter(Boolean);
  const answers = await request([
    ["Email/get", { ids: [emailId], properties: ["attachments"] }],
    ["Email/set", { destroy: stale }],
  ]).catch(() => null);
  const files = answers?.[0].list[0] ? filesOf(answers[0].list[0]) : [];
  return (now) => ({
    ...now,
    emailId,
    stale: answers ? [] : stale,
    savedRevision: draft.revision,
    // What was uploaded is kept for a while only; what is in the draft stays.
    files: now.files.map((file) => {
      const index = draft.files.findIndex(({ blobId }) => blobId === file.blobId);
      return { ...file, blobId: files[index]?.blobId ?? file.blobId };
    }),
  });
}

/**
 * Sends a draft. If that fails, the draft is stored, and `onStored` gets what changed.
 * @param {Draft} draft
 * @param {(change: (now: Draft) => Draft) => void} onStored
 */
export async function send(draft, onStored) {
  const identity = identityOf(draft);
  const [drafts, sent] = [await mailboxOf("drafts"), await mailboxOf("sent")];
  const after = { mailboxIds: { [sent]: true }, "keywords/$draft": null };
  const [made, submission] = await request([
    ["Email/set", { create: { d: emailOf(draft, identity, drafts) } }],
    [
      "EmailSubmission/set",
      {
        create: { s: { identityId: identity?.id ?? "", emailId: "#d" } },
        onSuccessUpdateEmail: { "#s": after },
      },
    ],
  ]);
  refuse(Object.values(made.notCreated ?? {}));
  onStored(await replaced(draft, made.created.d.id));
  refuse(Object.values(submission.notCreated ?? {}));
  if (!draft.original) return;
  const update = { [draft.original]: { [`keywords/${draft.keyword}`]: true } };
  await request([["Email/set", { update }]]).catch(() => {});
}
