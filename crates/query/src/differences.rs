//! Queries that mean something else here than in mu or notmuch. Output: a table for `docs/query.md`, each row
//! with the canonical form that a test compares. Knows nothing of how the language is parsed.
//!
//! Where mu and notmuch differ, mu's meaning is used. Rows whose last column differs from both give the
//! reason. A dash means that a manual does not say.

/// A query, and what it means to whom.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// The query.
    pub query: &'static str,
    /// Its canonical form on Friday, 15 March 2024, 12:30:45 in Berlin, or the problem that is reported.
    pub canonical: &'static str,
    /// What it means to mu.
    pub mu: &'static str,
    /// What it means to notmuch.
    pub notmuch: &'static str,
    /// What it means here.
    pub here: &'static str,
}

const fn row(
    query: &'static str,
    canonical: &'static str,
    mu: &'static str,
    notmuch: &'static str,
    here: &'static str,
) -> Difference {
    Difference { query, canonical, mu, notmuch, here }
}

/// Every known difference.
pub const DIFFERENCES: &[Difference] = &[
    row("date:3m..", "date:2023-12-15T11:30:45Z..", "three months", "three minutes", "three months"),
    row("date:30M..", "date:2024-03-15T11:00:45Z..", "30 minutes", "30 months", "30 minutes"),
    row(
        "date:2w",
        "date:2024-03-01T11:30:45Z..2024-03-15T11:30:45Z",
        "that one second",
        "the week two weeks ago",
        "from two weeks ago until now",
    ),
    row(
        "date:last_week",
        "date:2024-03-02T23:00:00Z..2024-03-09T22:59:59Z",
        "no such date",
        "the week before this one, from Sunday",
        "the same",
    ),
    row(
        "date:2023-02-31",
        "date:2023-02-28T22:59:59Z",
        "the last second of February",
        "—",
        "the last second of February",
    ),
    row(
        "date:2024-07-01",
        "date:2024-06-30T22:00:00Z..2024-07-01T21:59:59Z",
        "local time",
        "local time, changes of clocks apart",
        "local time, changes of clocks too",
    ),
    row("date:soon", "expected a date: \"soon\" is not a date", "—", "an error", "an error"),
    row(
        "1700000000..1700003600",
        "\"1700000000 1700003600\"",
        "text",
        "dates, as seconds since 1970",
        "text; `date:@1700000000..@1700003600` is both",
    ),
    row("to:bob", "to:bob", "`To` only", "`To`, `Cc` or `Bcc`", "`To` only; `recip:bob` is all three"),
    row("from:a from:b", "from:a and from:b", "both", "either", "both"),
    row("size:1k", "size:1024", "1024 bytes (its manual says 1000)", "no such field", "exactly 1024 bytes"),
    row(
        "maildir:/Lists/",
        "maildir:/Lists/",
        "a regular expression",
        "a regular expression (`folder:/Lists/`)",
        "the folder if there is one, else a regular expression",
    ),
    row("folder:INBOX", "maildir:/INBOX", "no such field", "the folder `INBOX`", "the folder `/INBOX`"),
    row("path:x/**", "path:x/**", "—", "`x` and all below", "`x` and all below"),
    row("path:x/cur", "path:x/cur", "the file of that full name", "the directory below the root", "either"),
    row(
        "is:inbox",
        "tag:inbox",
        "no such field",
        "a tag",
        "a flag if there is one of that name (`is:unread`), else a tag",
    ),
    row(
        "flag:inbox",
        "there is no flag \"inbox\"",
        "text",
        "no such field",
        "an error that names the flags: no text is looked for where a flag was meant",
    ),
    row("label:work", "tag:work", "a label, which is no tag", "no such field", "a tag: there is one kind"),
    row(
        "attachment:pdf",
        "file:pdf",
        "`file:` is the whole name",
        "a word of the name",
        "a word of the name",
    ),
    row(
        "mimetype:pdf",
        "mime:pdf",
        "the whole type",
        "a word of the type",
        "the whole type; `mime:*pdf` is its end",
    ),
    row(
        "id:A@B",
        "msgid:A@B",
        "without regard to case",
        "as written",
        "as written: ids that differ are two messages",
    ),
    row(
        "detail",
        "detail",
        "that word",
        "also `details`, `detailed`",
        "that word; `~detail` is all of them, as is `detail` if the configuration has `stem_all`",
    ),
    row("c++", "c++", "the word `c`", "the word `c++`", "the word `c++`"),
    row("a NEAR b", "a and near and b", "three words", "`a` within ten words of `b`", "three words"),
    row(
        "a -b",
        "a and not b",
        "`a` and `b`",
        "`a` without `b`",
        "`a` without `b`; at the start of a query too, in a shell after `--`: `pneu find -- -b`",
    ),
    row("*oob*", "*oob*", "the word `oob`", "—", "words that hold `oob`"),
    row(
        "foo*bar",
        "expected \"*\" at the start or end only",
        "the words `foo bar`",
        "—",
        "an error that suggests `/foo.*bar/`",
    ),
    row(
        "subject:/hello\\.world/",
        "subject:/hello\\.world/",
        "a backslash must be doubled",
        "as written, in quotation marks",
        "as written",
    ),
    row("subject:\"/a b/\"", "subject:\"/a b/\"", "a regular expression", "the same", "the same"),
    row("\"/a b/\"", "\"/a b/\"", "a regular expression", "a phrase", "a regular expression"),
    row(
        "\"from:bob\"",
        "\"from bob\"",
        "the field `from`",
        "a phrase",
        "a phrase: what is in quotation marks is text",
    ),
    row("(subject:a", "expected a \")\" for this \"(\"", "closes itself", "—", "an error that points at it"),
    row("a or", "expected a term after \"or\"", "`a`", "an error", "an error that points at it"),
    row(
        "http://example.org",
        "\"http example org\"",
        "text",
        "text",
        "text; as are `12:30`, `Re:`, `std::vector`",
    ),
    row("form:bob", "there is no field \"form\"", "text", "text", "an error that suggests `from:`"),
    row(
        "before:2w",
        "there is no field \"before\"",
        "text",
        "text",
        "an error that suggests `not date:2w..`; as for `since:`, `has:`, `in:`, `larger:` and more",
    ),
    row("foo:bar", "\"foo bar\"", "text", "text", "text: it is near to no field"),
    row("query:mine", "from:me and flag:unread", "text", "a saved query", "a saved query: `pneu query`"),
    row(
        "lastmod:7",
        "notmuch's \"lastmod:\" is not supported",
        "text",
        "changed since revision 7",
        "an error, as for `property:`, `sexp:`, `thread:{...}`",
    ),
];
