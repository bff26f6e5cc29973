//! What a commit names besides rows: the next numbers, the roots, and the segments of the text index.
//!
//! Input and output: the bytes of the store's attachment `mail`. Must not know tables or tantivy. Where small
//! segments lie, `text/small.rs` decides.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::record::{bytes, count, put_bytes, put_count};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

/// The attachment's name.
pub(crate) const ATTACHMENT: &str = "mail";
/// First bytes of the attachment.
pub const MAGIC: [u8; 8] = *b"PNEUMAIL";
/// Version of the mail tables, the text index and this attachment. An index of another version is rebuilt.
pub const VERSION: u32 = 10;
/// The oldest version that is read, and written as the newest by the next commit. It has no small segments.
/// Up to version 8 the change log does not tell of text, up to version 9 no edge between threads is late.
const VERSION_READ_MIN: u32 = 7;
/// What the attachment has in the place of a slot for a segment in a file.
const IN_FILE: u8 = u8::MAX;

/// A directory that holds Maildirs, and its name in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its name. Rows store the name, so that a root may move.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
}

/// One segment of the text index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextSegment {
    /// tantivy's id, 32 hex digits.
    pub id: String,
    /// How many documents are in it.
    pub document_count: u32,
    /// The digest of its sealed bytes.
    pub digest: u64,
    /// Where these are.
    pub place: TextPlace,
}

/// Where the sealed bytes of a segment are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextPlace {
    /// In a file of the directory of text.
    File,
    /// In the commit, in the attachment of this slot. A new segment has no slot yet.
    Commit { slot: Option<u8>, bytes: Arc<[u8]> },
}

/// The mail part of one commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// A number above those of all messages, and of those that passes have set aside. It never falls.
    pub next_message: u32,
    /// The number that the next folder gets.
    pub next_folder: u32,
    /// The number that the next node of a thread gets.
    pub next_node: u32,
    /// The roots of the last pass.
    pub roots: Vec<Root>,
    /// The text index.
    pub text: Vec<TextSegment>,
    /// Names, in lower case, of the header fields whose values the index has for every message.
    pub headers: Vec<String>,
    /// The last commit in which known messages came into other threads; 0 if there is none. Since then only
    /// late edges have joined threads.
    pub joined_in: u64,
}

impl State {
    /// Notes that new messages are read with these header fields. If there are older messages, keeps only the
    /// fields that those were read with too.
    pub(crate) fn read_with_headers(&mut self, names: &[String], has_older: bool) {
        let mut kept: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        if has_older {
            kept.retain(|name| self.headers.contains(name));
        }
        self.headers = kept;
    }
}

/// Why an attachment cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// It is malformed.
    Damaged,
    /// It has this other version.
    Version(u32),
}

/// Returns the attachment's bytes.
pub(crate) fn encode(state: &State) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for number in [VERSION, state.next_message, state.next_folder, state.next_node] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    put_count(&mut out, state.roots.len());
    for root in &state.roots {
        put_bytes(&mut out, root.name.as_bytes());
        put_bytes(&mut out, root.path.as_os_str().as_bytes());
    }
    put_count(&mut out, state.text.len());
    for segment in &state.text {
        put_bytes(&mut out, segment.id.as_bytes());
        out.extend_from_slice(&segment.document_count.to_le_bytes());
        out.extend_from_slice(&segment.digest.to_le_bytes());
        out.push(match segment.place {
            TextPlace::Commit { slot: Some(slot), .. } => slot,
            TextPlace::Commit { slot: None, .. } | TextPlace::File => IN_FILE,
        });
    }
    put_count(&mut out, state.headers.len());
    for name in &state.headers {
        put_bytes(&mut out, name.as_bytes());
    }
    out.extend_from_slice(&state.joined_in.to_le_bytes());
    out
}

/// Reads the attachment of the commit with this number. `slot` returns the attachment of a slot. In any
/// commit of an older version messages may have come into other threads, so this one counts as the last.
///
/// # Errors
/// [`Unusable`] if it is damaged or has another version.
pub(crate) fn decode(
    input: &[u8],
    commit: u64,
    slot: &dyn Fn(u8) -> Option<Arc<[u8]>>,
) -> Result<State, Unusable> {
    let mut input = input.strip_prefix(&MAGIC).ok_or(Unusable::Damaged)?;
    match number(&mut input) {
        Some(version @ VERSION_READ_MIN..=VERSION) => {
            body(input, (version, commit), slot).ok_or(Unusable::Damaged)
        }
        Some(version) => Err(Unusable::Version(version)),
        None => Err(Unusable::Damaged),
    }
}

/// Returns the roots in an attachment of this version or an older one. Returns `None` if it is damaged or
/// newer.
pub(crate) fn decode_roots(input: &[u8]) -> Option<Vec<Root>> {
    let mut input = input.strip_prefix(&MAGIC)?;
    // The next numbers come before the roots. Version 1 has two of them, later versions three.
    let number_count = match number(&mut input)? {
        1 => 2,
        2..=VERSION => 3,
        _ => return None,
    };
    for _ in 0..number_count {
        number(&mut input)?;
    }
    let input = &mut input;
    (0..count(input)?).map(|_| root(input)).collect()
}

fn body(
    mut input: &[u8],
    (version, commit): (u32, u64),
    slot: &dyn Fn(u8) -> Option<Arc<[u8]>>,
) -> Option<State> {
    let input = &mut input;
    let next_message = number(input)?;
    let next_folder = number(input)?;
    let next_node = number(input)?;
    let roots = (0..count(input)?).map(|_| root(input)).collect::<Option<_>>()?;
    let text = (0..count(input)?).map(|_| segment(input, version, slot)).collect::<Option<_>>()?;
    let headers = (0..count(input)?).map(|_| text_of(input)).collect::<Option<_>>()?;
    let joined_in = if version < VERSION { commit } else { long_number(input)? };
    let state = State { next_message, next_folder, next_node, roots, text, headers, joined_in };
    input.is_empty().then_some(state)
}

fn number(input: &mut &[u8]) -> Option<u32> {
    let (head, tail) = input.split_first_chunk::<4>()?;
    *input = tail;
    Some(u32::from_le_bytes(*head))
}

fn long_number(input: &mut &[u8]) -> Option<u64> {
    let (head, tail) = input.split_first_chunk::<8>()?;
    *input = tail;
    Some(u64::from_le_bytes(*head))
}

fn root(input: &mut &[u8]) -> Option<Root> {
    let name = text_of(input)?;
    let path = PathBuf::from(OsStr::from_bytes(bytes(input)?));
    Some(Root { name, path })
}

fn segment(
    input: &mut &[u8],
    version: u32,
    attached: &dyn Fn(u8) -> Option<Arc<[u8]>>,
) -> Option<TextSegment> {
    let (id, document_count, digest) = (text_of(input)?, number(input)?, long_number(input)?);
    let slot = if version == VERSION_READ_MIN { IN_FILE } else { *input.split_off_first()? };
    let place = match slot {
        IN_FILE => TextPlace::File,
        slot => TextPlace::Commit { slot: Some(slot), bytes: attached(slot)? },
    };
    Some(TextSegment { id, document_count, digest, place })
}

fn text_of(input: &mut &[u8]) -> Option<String> {
    String::from_utf8(bytes(input)?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached(slot: u8) -> Option<Arc<[u8]>> {
        (slot == 3).then(|| [3, 3].into())
    }

    fn decode(input: &[u8]) -> Result<State, Unusable> {
        super::decode(input, 77, &attached)
    }

    fn sample() -> State {
        let segment =
            |id: &str, place| TextSegment { id: id.repeat(32), document_count: 5, digest: u64::MAX, place };
        let in_commit = TextPlace::Commit { slot: Some(3), bytes: [3, 3].into() };
        State {
            next_message: 7,
            next_folder: 2,
            next_node: 9,
            roots: vec![Root { name: "mail".into(), path: "/mail".into() }],
            text: vec![segment("0", TextPlace::File), segment("1", in_commit)],
            headers: vec!["x-mailer".into()],
            joined_in: 5,
        }
    }

    #[test]
    fn reads_what_was_written() {
        assert_eq!(decode(&encode(&sample())), Ok(sample()));
    }

    #[test]
    fn roots_are_read_of_older_versions_too() {
        let whole = encode(&sample());
        assert_eq!(decode_roots(&whole), Some(sample().roots));
        let mut first = whole.clone();
        first[8] = 1;
        first.drain(12..16);
        assert_eq!(decode_roots(&first), Some(sample().roots));
        assert_eq!(decode_roots(&first[..20]), None);
        for version in 2..VERSION {
            let mut older = whole.clone();
            older[8] = u8::try_from(version).unwrap();
            assert_eq!(decode_roots(&older), Some(sample().roots));
        }
        let mut newer = whole;
        newer[8] = 11;
        assert_eq!(decode_roots(&newer), None);
        assert_eq!(VERSION, 10, "a new version has its own count of numbers");
    }

    #[test]
    fn a_slot_without_its_attachment_is_damage() {
        assert_eq!(super::decode(&encode(&sample()), 77, &|_| None), Err(Unusable::Damaged));
    }

    #[test]
    fn older_versions_do_not_say_when_threads_joined_and_version_7_has_no_slots() {
        let mut state = State { joined_in: 77, ..sample() };
        let mut older = encode(&state);
        older.truncate(older.len() - 8);
        older[8] = 9;
        assert_eq!(decode(&older), Ok(state.clone()));
        state.text.pop();
        let mut older = encode(&state);
        older.truncate(older.len() - 8);
        older[8] = 7;
        let slot = older.iter().rposition(|byte| *byte == IN_FILE).unwrap();
        older.remove(slot);
        assert_eq!(super::decode(&older, 77, &|_| None), Ok(state));
    }

    #[test]
    fn headers_are_those_that_every_message_was_read_with() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut state = State::default();
        state.read_with_headers(&names(&["X-Mailer", "X-Score"]), false);
        assert_eq!(state.headers, ["x-mailer", "x-score"]);
        state.read_with_headers(&names(&["x-new", "X-SCORE"]), true);
        assert_eq!(state.headers, ["x-score"]);
        state.read_with_headers(&names(&["X-Mailer", "X-Score"]), true);
        assert_eq!(state.headers, ["x-score"], "messages were read meanwhile that have no x-mailer");
    }

    #[test]
    fn refuses_cuts_and_other_versions() {
        let whole = encode(&sample());
        for length in 0..whole.len() {
            assert_eq!(decode(&whole[..length]), Err(Unusable::Damaged), "cut to {length}");
        }
        let mut newer = whole;
        newer[8] = 11;
        assert_eq!(decode(&newer), Err(Unusable::Version(11)));
    }
}
