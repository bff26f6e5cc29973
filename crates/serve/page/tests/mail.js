// The mail that the tests read: made here, the same each time.

/** @typedef {import("./support.js").Mail} Mail */
/** @typedef {import("./support.js").Mailbox} Mailbox */

/** How many messages the long folder has. */
export const LONG = 5000;

const WORDS = [
  "harbour",
  "meadow",
  "lantern",
  "granite",
  "orchard",
  "compass",
  "thistle",
  "ember",
  "willow",
  "quarry",
];

/** The text of a message that tries everything. */
export const HOSTILE = {
  subject: '<script>window.ran = 1</script><img src=x onerror="window.ran = 2"> & \u202egnp.exe',
  from: "\u202e\u0007<b onmouseover=alert(1)>Mallory</b>",
  body:
    '<script>window.ran = 3</script>\n<img src="http://elsewhere.example/pixel.png" onerror="window.ran = 4">\n' +
    'javascript:alert(1) \u202eright to left\u0007\n<a href="javascript:window.ran=5">here</a>\n' +
    "https://link.example/a_(b)?x=1&y=2. Then more.",
};

export const HTML_ONLY =
  "<html><head><style>p { background: url(http://elsewhere.example/style.png) }</style>" +
  '<script src="http://elsewhere.example/a.js"></script></head><body onload="window.ran = 6">' +
  '<p>First <b>paragraph</b> &amp; more.</p><img src="http://elsewhere.example/pixel.png" onerror="window.ran = 7">' +
  '<ul><li>one<li>two</ul><iframe src="http://elsewhere.example/frame"></iframe></body></html>';

/**
 * Writes the mail.
 * @param {Mailbox} mailbox
 */
export function write(mailbox) {
  for (const mail of inbox()) mailbox.put("INBOX", mail);
  mailbox.put("Sent", {
    id: "plan2",
    inReplyTo: "plan1",
    from: "Bo Berg <bo@example.org>",
    to: "Ana Ito <ana@example.org>",
    subject: "Re: The plan",
    date: day(6, 9),
    flags: "S",
    body:
      "I agree with the first part.\n\nOn Monday, Ana Ito wrote:\n> Here is the plan.\n> It has three parts.\n" +
      "> First, the harbour.\n> Second, the meadow.\n> Third, the lantern.\n",
  });
  for (let index = 0; index < 12; index += 1) {
    const id = `talk${index}`;
    const receivers = Array.from({ length: 10 }, (_, number) => `Person ${number} <p${number}@example.org>`);
    mailbox.put("Talk", {
      id,
      ...(index > 0 ? { inReplyTo: `talk${index - 1}` } : {}),
      subject: "A long talk",
      to: receivers.join(",\n "),
      body: `Part ${index}\n${"A line of it.\n".repeat(80)}`,
      date: day(1 + index, 12),
      flags: "S",
    });
  }
  for (let index = 0; index < LONG; index += 1) {
    const word = WORDS[index % WORDS.length];
    mailbox.put("Long", {
      id: `long${index}`,
      from: `Writer ${index % 40} <writer${index % 40}@example.org>`,
      subject: `Number ${index} ${word}`,
      body: `The text of number ${index}.`,
      flags: "S",
      date: new Date(Date.UTC(2020, 0, 1) + index * 3_600_000).toUTCString(),
    });
  }
}

/** @returns {Mail[]} */
function inbox() {
  const hostileSubject = `=?utf-8?B?${Buffer.from(HOSTILE.subject).toString("base64")}?=`;
  const hostileFrom = `=?utf-8?B?${Buffer.from(HOSTILE.from).toString("base64")}?= <mallory@example.org>`;
  return [
    { id: "oldest", subject: "The oldest one", date: day(1, 8), flags: "S" },
    {
      id: "plan1",
      subject: "The plan",
      date: day(5, 9),
      flags: "S",
      body: "Here is the plan.\nIt has three parts.\nFirst, the harbour.\nSecond, the meadow.\nThird, the lantern.",
    },
    {
      id: "plan3",
      inReplyTo: "plan2",
      subject: "Re: The plan",
      date: day(7, 9),
      body: "> I agree with the first part.\nGood.\n\n-- \nAna Ito\nHarbour office",
    },
    { id: "hostile", subject: hostileSubject, from: hostileFrom, date: day(8, 9), body: HOSTILE.body },
    { id: "html", subject: "Only HTML", date: day(9, 9), body: HTML_ONLY, type: "text/html", flags: "S" },
    { id: "file", subject: "With a file", date: day(10, 9), flags: "FS", raw: withFile() },
    {
      id: "wide",
      subject: `A very long subject ${"without-any-place-to-break".repeat(12)}`,
      date: day(11, 9),
      flags: "S",
      from: `${"Longname".repeat(20)} <${"long".repeat(30)}@example.org>`,
      body: `${"x".repeat(3000)}\n${"=".repeat(200)}`,
    },
    {
      id: "newest",
      subject: "The newest one",
      date: day(12, 9),
      body: "A question about the harbour lantern.",
    },
  ];
}

/** @param {number} number @param {number} hour */
function day(number, hour) {
  return new Date(Date.UTC(2025, 2, number, hour)).toUTCString();
}

function withFile() {
  return (
    `From: Ana Ito <ana@example.org>\nTo: Bo Berg <bo@example.org>\nSubject: With a file\nDate: ${day(10, 9)}\n` +
    "Message-ID: <file@example.org>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n" +
    "--b\nContent-Type: text/plain; charset=utf-8\n\nThe file is attached.\n" +
    '--b\nContent-Type: application/octet-stream; name="notes.bin"\n' +
    'Content-Disposition: attachment; filename="notes.bin"\nContent-Transfer-Encoding: base64\n\nAAECAwQ=\n--b--\n'
  );
}
