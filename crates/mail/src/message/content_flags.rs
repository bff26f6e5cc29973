//! Flags of a message's content: with attachments, signed, encrypted, from a list, an invitation, urgent.
//! Also its list and its labels.
//!
//! Input: parts and header fields. Output: a set of flags, the list's ID, and labels. Does not know how they
//! are stored.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use encoding_rs::Encoding;

use crate::bytes::{before, cut};
use crate::decode::encoded_words::decode_value;
use crate::header::block::Block;
use crate::limits::{LABEL_COUNT_MAX, LIST_BYTES_MAX, NAME_BYTES_MAX, VALUE_BYTES_MAX};
use crate::mime::parts::{Body, Part, Wrapping};
use crate::problem::Problems;

/// A set of flags that follow from a message's content.
///
/// The bits are stored in the index: a bit is never given another meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ContentFlags(u16);

/// Each flag with its word, in the order of the bits.
const TABLE: [(ContentFlags, &str); 6] = [
    (ContentFlags::ATTACHMENT, "attachment"),
    (ContentFlags::SIGNED, "signed"),
    (ContentFlags::ENCRYPTED, "encrypted"),
    (ContentFlags::LIST, "list"),
    (ContentFlags::CALENDAR, "calendar"),
    (ContentFlags::PERSONAL, "personal"),
];

impl ContentFlags {
    /// No flag at all.
    pub const NONE: ContentFlags = ContentFlags(0);
    /// It has an attachment. Pictures shown within a text, signatures and keys do not count.
    pub const ATTACHMENT: ContentFlags = ContentFlags(1);
    /// Some of it is signed, by OpenPGP or S/MIME.
    pub const SIGNED: ContentFlags = ContentFlags(1 << 1);
    /// Some of it is encrypted, by OpenPGP or S/MIME.
    pub const ENCRYPTED: ContentFlags = ContentFlags(1 << 2);
    /// It came over a mailing list.
    pub const LIST: ContentFlags = ContentFlags(1 << 3);
    /// It has an invitation or other calendar data.
    pub const CALENDAR: ContentFlags = ContentFlags(1 << 4);
    /// It names the reader's own address. Never set here: only the index knows these addresses.
    pub const PERSONAL: ContentFlags = ContentFlags(1 << 5);
    /// Its sender marked it as urgent. A priority, not a flag: `words` leaves it out.
    pub const HIGH: ContentFlags = ContentFlags(1 << 6);
    /// Its sender marked it as less urgent, or it was sent in bulk. A priority, not a flag: `words` leaves it
    /// out.
    pub const LOW: ContentFlags = ContentFlags(1 << 7);

    /// It has no date. The names of its files may have one. `words` leaves it out.
    pub const UNDATED: ContentFlags = ContentFlags(1 << 8);

    /// Returns the set with these bits. Unknown bits are kept.
    #[must_use]
    pub const fn from_bits(bits: u16) -> ContentFlags {
        ContentFlags(bits)
    }

    /// Returns the bits of the set.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns whether all flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: ContentFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets all flags of `other`.
    pub const fn insert(&mut self, other: ContentFlags) {
        self.0 |= other.0;
    }

    /// Returns the words of the flags that are set, in the order of their bits.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        TABLE.into_iter().filter(move |(flag, _)| self.contains(*flag)).map(|(_, word)| word)
    }
}

/// Returns the flags that follow from the types of the parts and the header.
pub(crate) fn flags_of(block: &Block<'_>, parts: &[Part<'_>]) -> ContentFlags {
    let mut derived = ContentFlags::NONE;
    for part in parts {
        derived.insert(flag_of(part));
    }
    if is_list(block) {
        derived.insert(ContentFlags::LIST);
    }
    derived.insert(priority(block));
    derived
}

/// Returns the priority: `HIGH`, `LOW`, or neither.
///
/// A bulk message has low priority whatever its sender set, as in mu.
fn priority(block: &Block<'_>) -> ContentFlags {
    const BULK: [&[u8]; 3] = [b"bulk", b"junk", b"list"];
    let is_bulk = |value: &[u8]| BULK.iter().any(|word| value.eq_ignore_ascii_case(word));
    if block.all("precedence").any(is_bulk) {
        return ContentFlags::LOW;
    }
    senders_priority(block)
}

/// Returns the priority that the sender gave, ignoring what lists add: that of the first field that has one.
pub(crate) fn senders_priority(block: &Block<'_>) -> ContentFlags {
    let fields = ["x-priority", "priority", "importance", "x-msmail-priority"];
    let mut named = fields.into_iter().flat_map(|name| block.all(name)).filter_map(named_priority);
    named.next().unwrap_or(ContentFlags::NONE)
}

/// Returns the priority that a value names, `NONE` for a normal one: a word, or a number from 1 that a word
/// may follow.
fn named_priority(value: &[u8]) -> Option<ContentFlags> {
    let is_end = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'-';
    let word = value.split(is_end).find(|word| !word.is_empty())?;
    Some(match word.to_ascii_lowercase().as_slice() {
        b"1" | b"2" | b"high" | b"highest" | b"urgent" => ContentFlags::HIGH,
        b"3" | b"normal" | b"medium" => ContentFlags::NONE,
        b"4" | b"5" | b"low" | b"lowest" | b"non-urgent" => ContentFlags::LOW,
        _ => return None,
    })
}

/// Returns the flags that follow from inline OpenPGP in a text.
pub(crate) fn flags_of_text(text: &str) -> ContentFlags {
    let begins = |line: &str| {
        let mut found = memchr::memmem::find_iter(text.as_bytes(), line.as_bytes());
        found.any(|start| before(text.as_bytes(), start).last().is_none_or(|&byte| byte == b'\n'))
    };
    let mut derived = ContentFlags::NONE;
    if memchr::memmem::find(text.as_bytes(), b"-----BEGIN PGP ").is_some() {
        if begins("-----BEGIN PGP MESSAGE-----") {
            derived.insert(ContentFlags::ENCRYPTED);
        }
        if begins("-----BEGIN PGP SIGNED MESSAGE-----") {
            derived.insert(ContentFlags::SIGNED);
        }
    }
    derived
}

fn flag_of(part: &Part<'_>) -> ContentFlags {
    if let Body::Smime { wrapping, .. } = part.body {
        return if wrapping == Wrapping::Signed { ContentFlags::SIGNED } else { ContentFlags::NONE };
    }
    match part.content.mime.as_str() {
        "multipart/signed" => ContentFlags::SIGNED,
        "multipart/encrypted" => ContentFlags::ENCRYPTED,
        "text/calendar" | "application/ics" => ContentFlags::CALENDAR,
        _ if part.content.is_signature() => ContentFlags::SIGNED,
        _ if part.content.needs_key => ContentFlags::ENCRYPTED,
        _ if part.content.is_smime() => match part.content.smime_type.as_deref() {
            Some("signed-data") => ContentFlags::SIGNED,
            Some("certs-only" | "compressed-data") => ContentFlags::NONE,
            _ if part.content.name.ends_with(".p7s") => ContentFlags::SIGNED,
            _ if part.content.name.ends_with(".p7c") => ContentFlags::NONE,
            _ => ContentFlags::ENCRYPTED,
        },
        _ => ContentFlags::NONE,
    }
}

fn is_list(block: &Block<'_>) -> bool {
    let has = |name: &str| {
        block.first(name).is_some_and(|value| !value.is_empty() && !value.eq_ignore_ascii_case(b"no"))
    };
    has("list-id")
        || has("list-post")
        || has("mailing-list")
        || block.all("precedence").any(|value| value.eq_ignore_ascii_case(b"list"))
}

/// Returns the ID of the mailing list: the part in brackets, or else the whole field.
pub(crate) fn list_id(
    block: &Block<'_>,
    fallback: Option<&'static Encoding>,
    problems: &mut Problems,
) -> String {
    let Some(value) = block.first("list-id") else { return String::new() };
    let text = decode_value(before(value, VALUE_BYTES_MAX), fallback, problems);
    let bracketed = text.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>')).map(|(id, _)| id.trim());
    cut(bracketed.filter(|id| !id.is_empty()).unwrap_or(&text), NAME_BYTES_MAX).to_owned()
}

/// Returns the labels that other programs wrote to the header, each once, in order.
pub(crate) fn labels(
    block: &Block<'_>,
    fallback: Option<&'static Encoding>,
    problems: &mut Problems,
) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for value in ["x-keywords", "x-label", "keywords"].into_iter().flat_map(|name| block.all(name)) {
        let text = decode_value(before(value, LIST_BYTES_MAX), fallback, problems);
        for label in text.split(',').map(str::trim).filter(|label| !label.is_empty()) {
            let label = cut(label, NAME_BYTES_MAX);
            if labels.len() < LABEL_COUNT_MAX && !labels.iter().any(|known| known == label) {
                labels.push(label.to_owned());
            }
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::block::split;
    use crate::mime::parts::take_apart;

    fn show(header: &str) -> String {
        let text = format!("{header}\n\n");
        let block = split(text.as_bytes());
        let parts = take_apart(&block, &mut Problems::default());
        flags_of(&block, &parts).words().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_follow_from_types_and_fields() {
        for (header, expected) in [
            ("", ""),
            ("List-Id: <a.b>", "list"),
            ("List-Post: NO", ""),
            ("Precedence: List", "list"),
            ("Content-Type: text/calendar", "calendar"),
            ("Content-Type: application/pkcs7-mime; smime-type=signed-data", "signed"),
            ("Content-Type: application/pkcs7-mime; smime-type=enveloped-data", "encrypted"),
            ("Content-Type: application/x-pkcs7-mime; name=smime.p7m", "encrypted"),
            ("Content-Type: application/x-pkcs7-signature", "signed"),
        ] {
            assert_eq!(show(header), expected, "{header}");
        }
    }

    #[test]
    fn priorities_follow_from_fields() {
        for (header, expected) in [
            ("", ContentFlags::NONE),
            ("X-Priority: 1 (Highest)", ContentFlags::HIGH),
            ("X-Priority:2", ContentFlags::HIGH),
            ("X-Priority: 3", ContentFlags::NONE),
            ("X-Priority: 5 (Lowest)", ContentFlags::LOW),
            ("X-Priority: 10", ContentFlags::NONE),
            ("Priority: urgent", ContentFlags::HIGH),
            ("Priority: Non-Urgent", ContentFlags::LOW),
            ("Importance: High", ContentFlags::HIGH),
            ("Importance: low", ContentFlags::LOW),
            ("X-MSMail-Priority: High", ContentFlags::HIGH),
            ("X-Priority: Middling\nImportance: high", ContentFlags::HIGH),
            ("Importance: low\nX-Priority: 1", ContentFlags::HIGH),
            ("X-Priority: 3\nImportance: high", ContentFlags::NONE),
            ("Precedence: bulk", ContentFlags::LOW),
            ("Precedence: Junk", ContentFlags::LOW),
            ("X-Priority: 1\nPrecedence: bulk", ContentFlags::LOW),
            ("Precedence: first-class\nX-Priority: 1", ContentFlags::HIGH),
        ] {
            let text = format!("{header}\n\n");
            assert_eq!(priority(&split(text.as_bytes())), expected, "{header}");
        }
    }

    #[test]
    fn openpgp_in_line_is_seen_at_the_start_of_a_line() {
        assert_eq!(flags_of_text("a\n-----BEGIN PGP MESSAGE-----\n"), ContentFlags::ENCRYPTED);
        assert_eq!(flags_of_text("-----BEGIN PGP SIGNED MESSAGE-----\n"), ContentFlags::SIGNED);
        assert_eq!(flags_of_text("> -----BEGIN PGP MESSAGE-----\n"), ContentFlags::NONE);
        assert_eq!(flags_of_text("-----BEGIN PGP PUBLIC KEY BLOCK-----\n"), ContentFlags::NONE);
    }

    #[test]
    fn list_ids_and_labels() {
        let read = |header: &str| list_id(&split(header.as_bytes()), None, &mut Problems::default());
        for (header, expected) in [
            ("List-Id: A list <a.example.org>\n\n", "a.example.org"),
            ("List-Id: <a.example.org>\n\n", "a.example.org"),
            ("List-Id:  a.example.org \n\n", "a.example.org"),
            ("List-Id: A list <>\n\n", "A list <>"),
            ("\n", ""),
        ] {
            assert_eq!(read(header), expected, "{header}");
        }
        let block = split(b"X-Label: one, two\nKeywords: two,,=?utf-8?q?dr=C3=BC?= ,\nX-Keywords: zero\n\n");
        assert_eq!(labels(&block, None, &mut Problems::default()), ["zero", "one", "two", "drü"]);
        let many = (0..LABEL_COUNT_MAX + 5).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        let block = format!("X-Label: {many}\n\n");
        assert_eq!(labels(&split(block.as_bytes()), None, &mut Problems::default()).len(), LABEL_COUNT_MAX);
    }
}
