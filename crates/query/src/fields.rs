//! The table of fields, which drives the parser, the help, completion and `docs/query.md`. Input: a name as
//! typed. Output: the fields it stands for, and what they take. Knows nothing of where a field's content is
//! stored.

/// One searchable part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Field {
    /// Sender.
    From,
    /// Recipient.
    To,
    /// Copy recipient.
    Cc,
    /// Blind copy recipient.
    Bcc,
    /// Subject.
    Subject,
    /// Text.
    Body,
    /// Text of attached messages and text files.
    Embed,
    /// Names of attachments.
    File,
    /// Date.
    Date,
    /// When a file of the message last changed.
    Changed,
    /// Size.
    Size,
    /// Flags.
    Flag,
    /// Priority.
    Priority,
    /// Folder.
    Maildir,
    /// File or directory.
    Path,
    /// Message-ID.
    MessageId,
    /// Ids of messages that it refers to.
    Reference,
    /// Thread.
    Thread,
    /// Mailing list.
    List,
    /// MIME types of its parts.
    Mime,
    /// Language of the text.
    Language,
    /// Tags.
    Tag,
    /// Keywords that an IMAP server gave it.
    Keyword,
    /// What is wrong with it.
    Problem,
}

/// The kind of a field's content, which determines the matchers that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text in words: `Words`, `Prefix`, `Stem`, `Suffix`, `Infix`, `Regex`.
    Text,
    /// Names and addresses in words; takes the same.
    Address,
    /// A time: `DateRange`.
    Date,
    /// A number of bytes: `SizeRange`.
    Size,
    /// A set of flags: `Flag`.
    Flag,
    /// A priority: `Priority`.
    Priority,
    /// A folder: `Value` or `Regex`.
    Maildir,
    /// A file or directory: `Value` or `Regex`.
    Path,
    /// An id, compared byte by byte: `Value` or `Regex`.
    Id,
    /// A value, compared folded and as a whole: `Value` or `Regex`.
    Value,
}

/// What a regular expression is matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegexScope {
    /// The field takes none.
    None,
    /// One folded word at a time.
    Word,
    /// The whole decoded value.
    Value,
}

/// The set of fields that one name stands for. Only the table makes such sets, so each has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldSet(u32);

/// The table's row for one name.
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    /// The name, as the printer writes it.
    pub name: &'static str,
    /// The letter that mu knows it by.
    pub letter: Option<char>,
    /// Other names, of mu and notmuch.
    pub synonyms: &'static [&'static str],
    /// The fields.
    pub fields: FieldSet,
    /// What they hold.
    pub kind: Kind,
    /// A few words for help.
    pub description: &'static str,
    /// A query that uses it.
    pub example: &'static str,
}

/// Every name that can come before a colon: first names of single fields, then names of several.
pub const FIELDS: &[FieldInfo] = &[
    one(Field::From, Some('f'), &["from"], "sender: name or address", "from:bob@example.org"),
    one(Field::To, Some('t'), &["to"], "recipient (`To` only)", "to:alice"),
    one(Field::Cc, Some('c'), &["cc"], "copy recipient", "cc:team"),
    one(Field::Bcc, Some('h'), &["bcc"], "blind copy recipient", "bcc:me@example.org"),
    one(Field::Subject, Some('s'), &["subject"], "subject", "subject:\"minutes of\""),
    one(Field::Body, Some('b'), &["body"], "text of the message", "body:deadline"),
    one(Field::Embed, Some('e'), &["embed"], "text of attached messages and files", "embed:invoice"),
    one(
        Field::File,
        Some('j'),
        &["file", "attachment", "filename"],
        "names of attachments",
        "file:report.pdf",
    ),
    one(Field::Date, Some('d'), &["date"], "date of the message", "date:2024-03..now"),
    one(Field::Changed, Some('k'), &["changed"], "when a file of it last changed", "changed:30M.."),
    one(Field::Size, Some('z'), &["size"], "size in bytes (`k` is 1024)", "size:10k..2M"),
    one(Field::Flag, Some('g'), &["flag", "flags", "is"], "flag, by name or letter", "flag:unread"),
    one(Field::Priority, Some('p'), &["priority", "prio"], "`low`, `normal` or `high`", "prio:high"),
    one(Field::Maildir, Some('m'), &["maildir", "folder"], "folder below its root", "maildir:/lists/running"),
    one(Field::Path, Some('l'), &["path"], "file or directory; `/**` for all below", "path:lists/**"),
    one(
        Field::MessageId,
        Some('i'),
        &["msgid", "message-id", "id", "mid"],
        "message-id",
        "msgid:abc@example.org",
    ),
    one(
        Field::Reference,
        Some('r'),
        &["reference", "references", "ref"],
        "id of a message it refers to",
        "ref:abc@example.org",
    ),
    one(Field::Thread, Some('w'), &["thread"], "thread that holds this message-id", "thread:abc@example.org"),
    one(
        Field::List,
        Some('v'),
        &["list", "list-id"],
        "mailing list (`List-Id`)",
        "list:mu-discuss.example.org",
    ),
    one(Field::Mime, Some('y'), &["mime", "mime-type", "mimetype"], "MIME type of a part", "mime:image/*"),
    one(Field::Language, Some('a'), &["lang", "language"], "language of the text (ISO 639-1)", "lang:nl"),
    one(Field::Tag, Some('x'), &["tag", "tags", "label", "labels"], "tag", "tag:projectx"),
    one(
        Field::Keyword,
        None,
        &["keyword", "keywords"],
        "keyword that an IMAP server gave it",
        "keyword:$Junk",
    ),
    one(Field::Problem, None, &["problem", "problems"], "what is wrong with it, by kind", "problem:charset"),
    several(FieldSet::RECIP, "recip", "`to`, `cc` or `bcc`", "recip:team"),
    several(FieldSet::CONTACT, "contact", "`from`, `to`, `cc` or `bcc`", "contact:bob"),
    several(FieldSet::RELATED, "related", "`msgid` or `reference`", "related:abc@example.org"),
];

/// The prefix of a saved query's name. It is not a field, and no header can have this name.
pub const SAVED: &str = "query";

/// mu's letter for its labels, which are tags here: a second letter for tags.
const LABEL_LETTER: &str = "q";

impl Field {
    /// Every field.
    pub const ALL: [Field; 24] = [
        Field::From,
        Field::To,
        Field::Cc,
        Field::Bcc,
        Field::Subject,
        Field::Body,
        Field::Embed,
        Field::File,
        Field::Date,
        Field::Changed,
        Field::Size,
        Field::Flag,
        Field::Priority,
        Field::Maildir,
        Field::Path,
        Field::MessageId,
        Field::Reference,
        Field::Thread,
        Field::List,
        Field::Mime,
        Field::Language,
        Field::Tag,
        Field::Keyword,
        Field::Problem,
    ];

    /// Returns the field's row of the table.
    pub fn info(self) -> &'static FieldInfo {
        // The table has a row for each field, in this order, before those for several: a test holds it to
        // that.
        &FIELDS[self as usize]
    }

    /// Returns what it holds.
    pub const fn kind(self) -> Kind {
        match self {
            Field::From | Field::To | Field::Cc | Field::Bcc => Kind::Address,
            Field::Subject | Field::Body | Field::Embed | Field::File => Kind::Text,
            Field::Date | Field::Changed => Kind::Date,
            Field::Size => Kind::Size,
            Field::Flag => Kind::Flag,
            Field::Priority => Kind::Priority,
            Field::Maildir => Kind::Maildir,
            Field::Path => Kind::Path,
            Field::MessageId | Field::Reference | Field::Thread => Kind::Id,
            Field::List | Field::Mime | Field::Language | Field::Tag | Field::Keyword | Field::Problem => {
                Kind::Value
            }
        }
    }

    /// Returns what a regular expression is matched against in this field.
    pub const fn regex_scope(self) -> RegexScope {
        match self {
            Field::Body | Field::Embed => RegexScope::Word,
            Field::Date | Field::Changed | Field::Size | Field::Flag | Field::Priority => RegexScope::None,
            _ => RegexScope::Value,
        }
    }
}

impl Kind {
    /// Returns whether its content is split into words.
    pub const fn is_words(self) -> bool {
        matches!(self, Kind::Text | Kind::Address)
    }
}

impl FieldSet {
    /// The fields that a word without a field name searches. mu also has `embed` here; our `body` already
    /// holds attached messages.
    pub const BARE: FieldSet =
        FieldSet(Self::CONTACT.0 | FieldSet::of(Field::Subject).0 | FieldSet::of(Field::Body).0);
    /// All recipients.
    pub const RECIP: FieldSet =
        FieldSet(FieldSet::of(Field::To).0 | FieldSet::of(Field::Cc).0 | FieldSet::of(Field::Bcc).0);
    /// All recipients, and the sender.
    pub const CONTACT: FieldSet = FieldSet(Self::RECIP.0 | FieldSet::of(Field::From).0);
    /// The message-id, and those it refers to.
    pub const RELATED: FieldSet =
        FieldSet(FieldSet::of(Field::MessageId).0 | FieldSet::of(Field::Reference).0);

    /// Returns the set of this one field.
    pub const fn of(field: Field) -> FieldSet {
        FieldSet(1 << field as u32)
    }

    /// Returns whether the field is in it.
    pub const fn contains(self, field: Field) -> bool {
        self.0 & FieldSet::of(field).0 != 0
    }

    /// Returns its fields, in the table's order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |field| self.contains(*field))
    }

    /// Returns its name. The set that a word without a field searches has none.
    pub fn name(self) -> Option<&'static str> {
        FIELDS.iter().find(|info| info.fields == self).map(|info| info.name)
    }

    /// Returns what its fields hold: `Text` for the set that a word without a field searches.
    pub fn kind(self) -> Kind {
        FIELDS.iter().find(|info| info.fields == self).map_or(Kind::Text, |info| info.kind)
    }
}

/// Returns the row for a name, synonym or letter. Ignores case.
pub fn find(name: &str) -> Option<&'static FieldInfo> {
    let is = |other: &str| other.eq_ignore_ascii_case(name);
    if is(LABEL_LETTER) {
        return Some(Field::Tag.info());
    }
    FIELDS.iter().find(|info| {
        let by_letter = info.letter.is_some_and(|letter| {
            name.len() == 1 && name.starts_with(|c: char| c.eq_ignore_ascii_case(&letter))
        });
        by_letter || is(info.name) || info.synonyms.iter().any(|synonym| is(synonym))
    })
}

/// Returns whether a header of this name can come before a colon in a query.
pub fn is_header_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_name_character)
}

/// Returns whether a character may be part of a name before a colon.
pub(crate) fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Returns all names and synonyms, without the one-letter names.
pub fn names<'a>() -> impl Iterator<Item = &'a str> {
    FIELDS.iter().flat_map(|info| std::iter::once(info.name).chain(info.synonyms.iter().copied()))
}

/// Builds the row of one field: its first name is the one that the printer writes.
const fn one(
    field: Field,
    letter: Option<char>,
    names: &'static [&'static str],
    description: &'static str,
    example: &'static str,
) -> FieldInfo {
    let Some((name, synonyms)) = names.split_first() else { panic!("a field has a name") };
    let fields = FieldSet::of(field);
    FieldInfo { name, letter, synonyms, fields, kind: field.kind(), description, example }
}

const fn several(
    fields: FieldSet,
    name: &'static str,
    description: &'static str,
    example: &'static str,
) -> FieldInfo {
    let kind = if fields.contains(Field::MessageId) { Kind::Id } else { Kind::Address };
    FieldInfo { name, letter: None, synonyms: &[], fields, kind, description, example }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_field_in_order() {
        for (row, field) in Field::ALL.into_iter().enumerate() {
            assert_eq!(field as usize, row);
            let info = field.info();
            assert_eq!((info.fields, info.kind), (FieldSet::of(field), field.kind()), "{field:?}");
            assert_eq!(info.fields.iter().collect::<Vec<_>>(), [field]);
        }
    }

    #[test]
    fn every_name_synonym_and_letter_belongs_to_one_row() {
        let mut owner = HashMap::new();
        for info in FIELDS {
            let letter = info.letter.map(|letter| letter.to_string());
            let all = [info.name].into_iter().chain(info.synonyms.iter().copied()).chain(letter.as_deref());
            for name in all {
                assert_eq!(owner.insert(name.to_owned(), info.name), None, "{name}");
                assert_eq!(find(name).unwrap().name, info.name);
                assert_eq!(find(&name.to_uppercase()).unwrap().name, info.name);
            }
        }
        assert_eq!(find("q").unwrap().name, "tag");
        assert!(!owner.contains_key("q"));
        for unknown in ["", "u", "o", "form", "re"] {
            assert!(find(unknown).is_none(), "{unknown}");
        }
    }

    #[test]
    fn one_name_stands_for_fields_that_take_the_same_matchers() {
        for info in FIELDS {
            for field in info.fields.iter() {
                assert_eq!(field.kind(), info.kind, "{}", info.name);
            }
            assert_eq!((info.fields.name(), info.fields.kind()), (Some(info.name), info.kind));
        }
        assert!(FieldSet::BARE.iter().all(|field| field.kind().is_words()));
        assert_eq!((FieldSet::BARE.name(), FieldSet::BARE.kind()), (None, Kind::Text));
    }
}
