//! What a mail program notes about a message, in header fields of its own: flags, labels, the date.
//!
//! Input: the beginning of a message, untrusted. Output: flags, labels, whether the program has deleted the
//! message, and when it came. Pure.
//!
//! The sender of a message can write such fields as well. Thunderbird and Google Takeout write theirs before
//! all others, so only there they count: no sender can delete a message, or give it a label. `Status` and
//! `X-Status` are written at any place. They only say that a message was read, answered or marked.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::decode::encoded_words::decode_value;
use crate::header::block::{Block, Field, skip_envelope, split};
use crate::header::dates;
use crate::import::gmail_labels::{GmailLabel, meaning};
use crate::limits::NAME_BYTES_MAX;
use crate::maildir::flags::Flags;
use crate::problem::Problems;
use std::collections::BTreeSet;

/// Labels of a message that are taken.
pub const LABELS_MAX: usize = 100;

/// What is noted about a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Its flags; `None` if nothing is noted.
    pub flags: Option<Flags>,
    /// Its labels, as the program spells them, or in lower case if they have a meaning of their own.
    pub labels: BTreeSet<String>,
    /// Thunderbird has deleted the message, and its bytes are still there.
    pub is_deleted: bool,
    /// When it came by its Received fields, or else its Date, in seconds since 1970.
    pub date_seconds: Option<i64>,
}

/// Names of fields that a program writes before all others.
const LEADING: [&str; 7] = [
    "x-account-key",
    "x-uidl",
    "x-mozilla-status",
    "x-mozilla-status2",
    "x-mozilla-keys",
    "x-gm-thrid",
    "x-gmail-labels",
];

/// Thunderbird's keywords that have names of their own.
const MOZILLA: [(&str, &str); 7] = [
    ("$label1", "important"),
    ("$label2", "work"),
    ("$label3", "personal"),
    ("$label4", "todo"),
    ("$label5", "later"),
    ("$junk", "junk"),
    ("junk", "junk"),
];
/// Thunderbird's keywords that say nothing.
const MOZILLA_SILENT: [&str; 4] = ["nonjunk", "$notjunk", "$mdnsent", "$forwarded"];

/// Returns what is noted in the header at the beginning of `bytes`. `now_seconds` tells which dates are
/// impossible.
pub fn marks(bytes: &[u8], now_seconds: i64) -> Marks {
    let block = split(skip_envelope(bytes));
    let mut marks = Marks::default();
    let leading = || block.fields.iter().take_while(|field| LEADING.iter().any(|name| has_name(field, name)));
    let first = |name: &str| leading().find(|field| has_name(field, name)).map(Field::value);
    if let Some(labels) = first("x-gmail-labels") {
        gmail(labels, &mut marks);
    }
    if let Some(status) = first("x-mozilla-status").and_then(hexadecimal) {
        mozilla(status, first("x-mozilla-status2").and_then(hexadecimal).unwrap_or_default(), &mut marks);
        let keys = first("x-mozilla-keys").unwrap_or_default();
        String::from_utf8_lossy(keys).split_ascii_whitespace().for_each(|key| keyword(key, &mut marks));
    }
    ["status", "x-status"]
        .iter()
        .flat_map(|name| block.all(name))
        .for_each(|value| letters(value, &mut marks));
    marks.date_seconds = date(&block, now_seconds);
    marks
}

fn has_name(field: &Field<'_>, name: &str) -> bool {
    field.name.eq_ignore_ascii_case(name.as_bytes())
}

fn date(block: &Block<'_>, now_seconds: i64) -> Option<i64> {
    let choose = |date, received: Vec<&[u8]>| {
        dates::choose(date, received.into_iter(), now_seconds, &mut Problems::default())
    };
    let received = || block.all("received").collect();
    let chosen = choose(None, received()).or_else(|| choose(block.first("date"), Vec::new()));
    chosen.map(|(seconds, _)| seconds)
}

fn hexadecimal(value: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(value).ok()?.trim(), 16).ok()
}

/// The bits of nsMsgMessageFlags.h.
fn mozilla(status: u32, more: u32, marks: &mut Marks) {
    const EXPUNGED: u32 = 0x8;
    const IMAP_DELETED: u32 = 0x20_0000;
    let bits = [(0x1, Flags::SEEN), (0x2, Flags::REPLIED), (0x4, Flags::FLAGGED), (0x1000, Flags::PASSED)];
    let set = bits.iter().filter(|(bit, _)| status & bit != 0);
    let flags = set.fold(marks.flags.unwrap_or_default(), |flags, (_, flag)| flags | *flag);
    marks.flags = Some(flags);
    marks.is_deleted = status & EXPUNGED != 0 || more & IMAP_DELETED != 0;
}

fn keyword(key: &str, marks: &mut Marks) {
    let lower = key.to_lowercase();
    if MOZILLA_SILENT.contains(&lower.as_str()) {
        return;
    }
    let known = MOZILLA.iter().find(|(name, _)| *name == lower);
    add(known.map_or(key, |(_, label)| label), marks);
}

/// The letters of Status and X-Status, as mutt, pine and Dovecot write them. Words, such as the state of a
/// bug, are something else.
fn letters(letters: &[u8], marks: &mut Marks) {
    if letters.iter().any(|letter| !b"RONUDAFT ".contains(letter)) {
        return;
    }
    let mut flags = marks.flags.unwrap_or_default();
    for letter in letters {
        flags |= match letter {
            b'R' => Flags::SEEN,
            b'A' => Flags::REPLIED,
            b'F' => Flags::FLAGGED,
            b'T' => Flags::DRAFT,
            _ => Flags::NONE,
        };
    }
    marks.flags = Some(flags);
}

fn gmail(value: &[u8], marks: &mut Marks) {
    let text = decode_value(value, None, &mut Problems::default());
    let (mut flags, mut is_unread) = (Flags::NONE, false);
    for label in separated(&text) {
        match meaning(&label) {
            Some(GmailLabel::Unread) => is_unread = true,
            Some(GmailLabel::Starred) => flags |= Flags::FLAGGED,
            Some(GmailLabel::Draft) => flags |= Flags::DRAFT,
            Some(GmailLabel::Silent) => {}
            Some(GmailLabel::Tag(tag)) => add(tag, marks),
            None => add(&label, marks),
        }
    }
    let seen = if is_unread { Flags::NONE } else { Flags::SEEN };
    marks.flags = Some(marks.flags.unwrap_or_default() | flags | seen);
}

/// Returns the parts of a text between commas. A part may be in quotes, and have commas then.
fn separated(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut is_in_quotes, mut is_after_backslash) = (false, false);
    for character in text.chars() {
        let Some(part) = parts.last_mut() else { break };
        match character {
            _ if is_after_backslash => {
                part.push(character);
                is_after_backslash = false;
            }
            '\\' if is_in_quotes => is_after_backslash = true,
            '"' => is_in_quotes = !is_in_quotes,
            ',' if !is_in_quotes => parts.push(String::new()),
            _ => part.push(character),
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn add(label: &str, marks: &mut Marks) {
    if marks.labels.len() < LABELS_MAX {
        marks.labels.insert(crate::bytes::cut(label, NAME_BYTES_MAX).to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000;

    fn shown(header: &str) -> String {
        let found = marks(format!("{header}\n\nStatus: RO\n").as_bytes(), NOW);
        let flags = found.flags.map_or("none".to_owned(), |flags| flags.letters().map(char::from).collect());
        let labels: Vec<String> = found.labels.into_iter().collect();
        format!("{flags} {}{}", labels.join("|"), if found.is_deleted { " deleted" } else { "" })
    }

    #[test]
    fn programs_note_flags_and_labels() {
        for (header, expected) in [
            ("Subject: x", "none "),
            ("Status: RO", "S "),
            ("Status: O", " "),
            ("X: y\nStatus: RO\nX-Status: AF", "FRS "),
            ("X-Status: T", "D "),
            ("Status: RESOLVED", "none "),
            ("X-Mozilla-Status: 0000", " "),
            (
                "X-Account-Key: a\nX-UIDL: 7\nX-Mozilla-Status: 1007\nX-Mozilla-Status2: 00000000\n\
              X-Mozilla-Keys: $label1 NonJunk travel",
                "FPRS important|travel",
            ),
            ("X-Mozilla-Status: 0009", "S  deleted"),
            ("X-Mozilla-Status: 0001\nX-Mozilla-Status2: 00200000", "S  deleted"),
            (
                "X-GM-THRID: 1\nX-Gmail-Labels: Inbox,Opened,\"a, b\",Work/Clients",
                "S Work/Clients|a, b|inbox",
            ),
            (
                "X-GM-THRID: 1\nX-Gmail-Labels: =?UTF-8?Q?Unread,Gr=C3=BC=C3=9Fe,_Starred?=\n \
                 =?UTF-8?Q?,Sent?=",
                "F Grüße|sent",
            ),
            ("X-Gmail-Labels: Drafts,Trash,Spam,Important,Archived", "DS important|spam|trash"),
            (
                "X-Gmail-Labels: =?UTF-8?Q?Archiv=C3=A9s,Envoy=C3=A9,Ouvert?=\n =?UTF-8?Q?,Voyages?=",
                "S Voyages|sent",
            ),
            ("X-Gmail-Labels: =?UTF-8?Q?Recibidos,No_le=C3=ADdos?=", " inbox"),
            ("X-Gmail-Labels: \"a \\\" b\",\"open, end", "S a \" b|open, end"),
        ] {
            assert_eq!(shown(header), expected, "{header}");
        }
    }

    #[test]
    fn a_sender_deletes_and_labels_nothing() {
        for header in [
            "Received: by x; Mon, 5 Jan 2004 10:00:00 +0000\nX-Mozilla-Status: 0008",
            "Subject: x\nX-Gmail-Labels: Inbox,Trash",
            "X-Mozilla-Keys: work",
            "From: a\nX-Mozilla-Status: 0001\nX-Mozilla-Keys: work",
        ] {
            assert_eq!(shown(header), "none ", "{header}");
        }
        let many: Vec<String> = (0..LABELS_MAX + 50).map(|number| format!("l{number}")).collect();
        let found = marks(format!("X-Gmail-Labels: {}\n\n", many.join(",")).as_bytes(), NOW);
        assert_eq!(found.labels.len(), LABELS_MAX);
    }

    #[test]
    fn a_message_came_when_it_was_received() {
        let date = |header: &str| marks(format!("{header}\n\n").as_bytes(), NOW).date_seconds;
        let received = "Received: by x; Mon, 5 Jan 2004 10:00:00 +0000";
        assert_eq!(date(&format!("{received}\nDate: Sun, 4 Jan 2004 10:00:00 +0000")), Some(1_073_296_800));
        assert_eq!(date("Date: Mon, 5 Jan 2004 10:00:00 +0000"), Some(1_073_296_800));
        assert_eq!(date("Date: Mon, 5 Jan 2104 10:00:00 +0000"), None);
        assert_eq!(date("Subject: x"), None);
    }
}
