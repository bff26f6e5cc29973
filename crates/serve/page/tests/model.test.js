// What is written, without a browser: addresses, replies, forwards, attachments that are missing, keywords.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, begun, draftOf, emailOf, lacksFile, readPeople, signed, without } from "../compose-model.js";
import { keywordOf, tagOf } from "../text.js";

const identities = [
  { id: "I1", name: "Bo", email: "bo@example.org" },
  { id: "I2", name: "", email: "Bo@Work.example" },
];
const email = {
  id: "M1",
  from: [{ name: "Ana", email: "ana@example.org" }],
  to: [{ name: null, email: "bo@work.example" }],
  cc: [
    { name: "Cy", email: "cy@example.org" },
    { name: null, email: "ANA@example.org" },
  ],
  bcc: null,
  replyTo: null,
  subject: "Plan",
  messageId: ["1@x"],
  references: ["0@x"],
  inReplyTo: null,
  sentAt: "2025-03-01T08:00:00Z",
  textBody: [{ partId: "1", type: "text/plain" }],
  bodyValues: { 1: { value: "One\n> two\n\n-- \nAna" } },
  attachments: [{ blobId: "B1", type: "image/png", name: null, size: 5, partId: "2" }],
};

test("addresses are read with names, and what is none is left", () => {
  assert.deepEqual(readPeople('a@b, "Ito, Ana" <ana@x>; Bo Berg <bo@y>\nc@d, who'), [
    [
      { name: null, email: "a@b" },
      { name: "Ito, Ana", email: "ana@x" },
      { name: "Bo Berg", email: "bo@y" },
      { name: null, email: "c@d" },
    ],
    "who",
  ]);
  assert.deepEqual(readPeople("a@b@c, <x>, @, a b@c d"), [[], "a@b@c, <x>, @, a b@c d"]);
  assert.deepEqual(readPeople(""), [[], ""]);
});

test("people are there once, in whatever case", () => {
  const people = ["a@x", "A@X", "b@x"].map((each) => ({ name: null, email: each }));
  assert.deepEqual(
    without(people).map((each) => each.email),
    ["a@x", "b@x"],
  );
  assert.deepEqual(
    without(people, [{ name: "A", email: "a@x" }]).map((each) => each.email),
    ["b@x"],
  );
});

test("a reply goes to who wrote, from who got it", () => {
  const reply = answer("reply", email, identities);
  assert.deepEqual(reply.to, email.from);
  assert.deepEqual(reply.cc, []);
  assert.equal(reply.identityId, "I2");
  assert.equal(reply.subject, "Re: Plan");
  assert.deepEqual([reply.inReplyTo, reply.references], [["1@x"], ["0@x", "1@x"]]);
  assert.match(reply.text, /^\n\nOn .*, Ana wrote:\n> One\n>> two\n$/);
  assert.equal(answer("reply", { ...email, subject: "AW: Plan" }, identities).subject, "AW: Plan");
  const list = [{ name: null, email: "list@x" }];
  assert.deepEqual(answer("reply", { ...email, replyTo: list }, identities).to, list);
});

test("a reply to all leaves out oneself, and nobody twice", () => {
  const reply = answer("all", email, identities);
  assert.deepEqual(reply.cc, [{ name: "Cy", email: "cy@example.org" }]);
  // What one has sent is answered to those who got it.
  const own = answer(
    "all",
    { ...email, from: [{ name: null, email: "BO@example.org" }], to: email.cc },
    identities,
  );
  assert.equal(own.identityId, "I1");
  assert.deepEqual(own.to, email.cc);
  assert.deepEqual(own.cc, []);
});

test("a forward has the text and the attachments, and no receiver", () => {
  const draft = answer("forward", email, identities);
  assert.deepEqual([draft.to, draft.inReplyTo, draft.keyword], [[], [], "$forwarded"]);
  assert.deepEqual(draft.files, [{ blobId: "B1", type: "image/png", name: "image/png", size: 5 }]);
  assert.match(draft.text, /From: Ana <ana@example.org>\n[^]*Subject: Plan\n[^]*One\n> two/);
  assert.equal(draft.subject, "Fwd: Plan");
});

test("only one's own text speaks of attachments, in English and German", () => {
  const lacks = (/** @type {string} */ text, more = {}) => lacksFile(draftOf({ text, ...more }));
  for (const text of [
    "See the attached list",
    "I attach it",
    "im Anhang",
    "Anbei die Liste",
    "ist beigefügt",
    "die Anhänge",
  ])
    assert.equal(lacks(text), true, text);
  for (const text of [
    "Hello",
    "> it is attached",
    "no attacher",
    "Anhänger",
    "\n---------- x ----------\nattached",
  ])
    assert.equal(lacks(text), false, text);
  assert.equal(lacks("attached", { files: [{ blobId: "U", type: "a/b", name: "n", size: 1 }] }), false);
  assert.equal(lacks("", { subject: "Attached: plan" }), true);
  assert.equal(lacks("", { subject: "Re: Attached: plan" }), false);
});

test("an email has the fields that have a value, and text of its own", () => {
  const draft = draftOf({
    to: [{ name: null, email: "a@x" }],
    subject: "a\nb",
    text: "t\n",
    files: [{ blobId: "U1", type: "a/b", name: "n", size: 3 }],
  });
  assert.deepEqual(emailOf(draft, identities[1], "D"), {
    to: [{ name: null, email: "a@x" }],
    from: [{ name: null, email: "Bo@Work.example" }],
    subject: "a b",
    textBody: [{ partId: "text", type: "text/plain" }],
    bodyValues: { text: { value: "t\n" } },
    attachments: [{ blobId: "U1", type: "a/b", name: "n", disposition: "attachment" }],
    mailboxIds: { D: true },
    keywords: { $draft: true, $seen: true },
  });
});

test("tags and keywords stand for each other", () => {
  for (const [tag, keyword] of [
    ["work", "work"],
    ["Büro/a b", "b=c3=bcro/a=20b"],
    ["a=(1)", "a=3d=281=29"],
    ["50%", "50=25"],
  ]) {
    assert.equal(keywordOf(String(tag)), keyword);
    assert.equal(tagOf(String(keyword)), tag?.toLowerCase());
  }
  assert.equal(tagOf("=ff"), "=ff");
});

test("a new message ends with the signature of its identity, which goes when another one is chosen", () => {
  const [one, two] = [
    { id: "I1", name: "", email: "a@x", textSignature: "-- \nAna\n", bcc: [{ name: null, email: "me@x" }] },
    { id: "I2", name: "", email: "b@x", textSignature: "Bo\nWork" },
  ];
  const draft = begun(draftOf({ to: [{ name: null, email: "c@x" }] }), [one, two]);
  assert.deepEqual([draft.identityId, draft.text, draft.bcc], ["I1", "\n\n-- \nAna\n", one.bcc]);
  assert.equal(begun(draftOf({ identityId: "I2", text: "> q\n" }), [one, two]).text, "> q\n\n\n-- \nBo\nWork\n");
  assert.equal(signed(`Hello${draft.text}`, one, two), "Hello\n\n-- \nBo\nWork\n");
  // What somebody changed stays, and nothing is added where there is no signature.
  assert.equal(signed("Hello\n\n-- \nAnna\n", one, two), "Hello\n\n-- \nAnna\n");
  assert.equal(signed("Hello", undefined, { id: "I3", name: "", email: "d@x" }), "Hello");
  assert.equal(begun(draftOf({ to: one.bcc }), [one]).bcc.length, 0);
  assert.deepEqual(begun(draftOf({ text: "t" }), []).text, "t");
  assert.deepEqual(emailOf(draft, { ...two, replyTo: one.bcc }, "D").replyTo, one.bcc);
});
