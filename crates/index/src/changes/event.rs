//! What happened to messages in one commit, and its bytes in the change log.
//!
//! Input: events. Output: the bytes of rows of the log, and back. docs/FORMAT.md describes them. Must not
//! know tables.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::record::{bytes, put_bytes};
use mail::Flags;

/// Numbers or contents in one group. A group with more is split.
const GROUP_MAX: usize = 1 << 16;
/// Bytes after which a row is complete. No row is larger than this and one group.
const ROW_BYTES: usize = 1 << 19;

/// What happened to a message. Groups of a commit come in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Event {
    /// It is new.
    Added,
    /// It is new, and has no file: only an archive has it.
    Archived,
    /// It had no file, and has one again.
    Back,
    /// A file of it went to another folder.
    Moved { from: u32, to: u32 },
    /// It has a further file.
    Copied { to: u32 },
    /// It lost one of its files.
    Removed { from: u32 },
    /// A file has another name, with the same flags.
    Renamed { folder: u32 },
    /// A file has other flags.
    Flags { folder: u32, before: FileFlags, after: FileFlags },
    /// Its last file is gone.
    Gone,
    /// It has more text: attachments were read.
    Text,
}

/// Flags of a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagsAndKeywords {
    /// The flags of Maildir.
    pub flags: Flags,
    /// Dovecot's keywords a-z as bits.
    pub keywords: u32,
}

/// The flags of a file, as they are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileFlags {
    /// Those of Maildir, [`Flags::bits`].
    pub flags: u16,
    /// Dovecot's keywords a-z as bits.
    pub keywords: u32,
}

impl FileFlags {
    /// Returns those that the other flags do not have.
    pub(crate) fn without(self, other: FileFlags) -> FlagsAndKeywords {
        let flags = Flags::from_bits(self.flags & !other.flags);
        FlagsAndKeywords { flags, keywords: self.keywords & !other.keywords }
    }
}

/// What happened to some messages at once, or what is needed to name them later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// This happened to the messages with these numbers, ascending.
    Messages(Event, Vec<u32>),
    /// These messages have no row any more.
    Forgotten(Vec<Forgotten>),
    /// This folder has no row any more.
    Folder { number: u32, root: String, path: Vec<u8> },
    /// Tags were added to and removed from these contents.
    Tags { added: Vec<String>, removed: Vec<String>, contents: Vec<[u8; 32]> },
}

/// A message that has no row any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forgotten {
    pub(crate) number: u32,
    pub(crate) sha256: [u8; 32],
    /// Its node among threads. Older programs did not write it.
    pub(crate) node: Option<u32>,
}

/// Codes of groups.
mod code {
    pub(super) const ADDED: u64 = 0;
    pub(super) const ARCHIVED: u64 = 1;
    pub(super) const BACK: u64 = 2;
    pub(super) const MOVED: u64 = 3;
    pub(super) const COPIED: u64 = 4;
    pub(super) const REMOVED: u64 = 5;
    pub(super) const RENAMED: u64 = 6;
    pub(super) const FLAGS: u64 = 7;
    pub(super) const GONE: u64 = 8;
    pub(super) const FORGOTTEN_WITHOUT_NODE: u64 = 9;
    pub(super) const FOLDER: u64 = 10;
    pub(super) const TAGS: u64 = 11;
    pub(super) const TEXT: u64 = 12;
    pub(super) const FORGOTTEN: u64 = 13;
}

/// Returns the events of one commit as the bytes of rows, in their order.
pub(crate) fn encode(groups: &[Group]) -> Vec<Vec<u8>> {
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    let mut end = |row: &mut Vec<u8>| {
        if row.len() >= ROW_BYTES {
            rows.push(std::mem::take(row));
        }
    };
    for group in groups {
        match group {
            Group::Messages(event, numbers) => numbers.chunks(GROUP_MAX).for_each(|numbers| {
                put_event(&mut row, *event);
                put_numbers(&mut row, numbers);
                end(&mut row);
            }),
            Group::Forgotten(messages) => messages.chunks(GROUP_MAX).for_each(|messages| {
                put(&mut row, code::FORGOTTEN);
                put(&mut row, messages.len() as u64);
                for Forgotten { number, sha256, node } in messages {
                    put(&mut row, u64::from(*number));
                    row.extend_from_slice(sha256);
                    put(&mut row, node.map_or(0, |node| u64::from(node) + 1));
                }
                end(&mut row);
            }),
            Group::Folder { number, root, path } => {
                put(&mut row, code::FOLDER);
                put(&mut row, u64::from(*number));
                put_bytes(&mut row, root.as_bytes());
                put_bytes(&mut row, path);
                end(&mut row);
            }
            Group::Tags { added, removed, contents } => contents.chunks(GROUP_MAX).for_each(|contents| {
                put(&mut row, code::TAGS);
                for tags in [added, removed] {
                    put(&mut row, tags.len() as u64);
                    tags.iter().for_each(|tag| put_bytes(&mut row, tag.as_bytes()));
                }
                put(&mut row, contents.len() as u64);
                contents.iter().for_each(|sha256| row.extend_from_slice(sha256));
                end(&mut row);
            }),
        }
    }
    if !row.is_empty() {
        rows.push(row);
    }
    rows
}

/// Reads one row. Returns `None` if it is damaged.
pub(crate) fn decode(mut input: &[u8]) -> Option<Vec<Group>> {
    let input = &mut input;
    let mut groups = Vec::new();
    while !input.is_empty() {
        groups.push(group(input)?);
    }
    Some(groups)
}

fn group(input: &mut &[u8]) -> Option<Group> {
    let event = match varint(input)? {
        code::ADDED => Event::Added,
        code::ARCHIVED => Event::Archived,
        code::BACK => Event::Back,
        code::MOVED => Event::Moved { from: number(input)?, to: number(input)? },
        code::COPIED => Event::Copied { to: number(input)? },
        code::REMOVED => Event::Removed { from: number(input)? },
        code::RENAMED => Event::Renamed { folder: number(input)? },
        code::FLAGS => {
            Event::Flags { folder: number(input)?, before: file_flags(input)?, after: file_flags(input)? }
        }
        code::GONE => Event::Gone,
        code::TEXT => Event::Text,
        code @ (code::FORGOTTEN | code::FORGOTTEN_WITHOUT_NODE) => {
            let mut messages = Vec::new();
            for _ in 0..varint(input)? {
                let (number, sha256) = (number(input)?, sha256(input)?);
                let node = if code == code::FORGOTTEN { varint(input)?.checked_sub(1) } else { None };
                let node = node.map(u32::try_from).transpose().ok()?;
                messages.push(Forgotten { number, sha256, node });
            }
            return Some(Group::Forgotten(messages));
        }
        code::FOLDER => {
            return Some(Group::Folder {
                number: number(input)?,
                root: text(input)?,
                path: bytes(input)?.to_vec(),
            });
        }
        code::TAGS => {
            let (added, removed) = (texts(input)?, texts(input)?);
            let mut contents = Vec::new();
            for _ in 0..varint(input)? {
                contents.push(sha256(input)?);
            }
            return Some(Group::Tags { added, removed, contents });
        }
        _ => return None,
    };
    Some(Group::Messages(event, numbers(input)?))
}

fn put_event(out: &mut Vec<u8>, event: Event) {
    let mut put_all = |numbers: &[u64]| numbers.iter().for_each(|number| put(out, *number));
    match event {
        Event::Added => put_all(&[code::ADDED]),
        Event::Archived => put_all(&[code::ARCHIVED]),
        Event::Back => put_all(&[code::BACK]),
        Event::Moved { from, to } => put_all(&[code::MOVED, from.into(), to.into()]),
        Event::Copied { to } => put_all(&[code::COPIED, to.into()]),
        Event::Removed { from } => put_all(&[code::REMOVED, from.into()]),
        Event::Renamed { folder } => put_all(&[code::RENAMED, folder.into()]),
        Event::Flags { folder, before, after } => put_all(&[
            code::FLAGS,
            folder.into(),
            before.flags.into(),
            before.keywords.into(),
            after.flags.into(),
            after.keywords.into(),
        ]),
        Event::Gone => put_all(&[code::GONE]),
        Event::Text => put_all(&[code::TEXT]),
    }
}

/// Appends ascending numbers as runs of consecutive ones: how many runs, and for each how far it is from the
/// end of the one before, and how many more than one it has.
fn put_numbers(out: &mut Vec<u8>, numbers: &[u32]) {
    let runs = || numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next));
    put(out, runs().count() as u64);
    let mut end = 0;
    for run in runs() {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        put(out, u64::from(first.saturating_sub(end)));
        put(out, u64::from(last.saturating_sub(*first)));
        end = *last;
    }
}

fn numbers(input: &mut &[u8]) -> Option<Vec<u32>> {
    let (mut found, mut end) = (Vec::new(), 0_u32);
    for _ in 0..varint(input)? {
        let first = end.checked_add(number(input)?)?;
        let last = first.checked_add(number(input)?)?;
        // A damaged row must not ask for gigabytes.
        if found.len().checked_add(usize::try_from(last.checked_sub(first)?).ok()?)? >= GROUP_MAX {
            return None;
        }
        found.extend(first..=last);
        end = last;
    }
    Some(found)
}

fn file_flags(input: &mut &[u8]) -> Option<FileFlags> {
    Some(FileFlags { flags: u16::try_from(varint(input)?).ok()?, keywords: number(input)? })
}

fn text(input: &mut &[u8]) -> Option<String> {
    String::from_utf8(bytes(input)?.to_vec()).ok()
}

fn texts(input: &mut &[u8]) -> Option<Vec<String>> {
    (0..varint(input)?).map(|_| text(input)).collect()
}

fn sha256(input: &mut &[u8]) -> Option<[u8; 32]> {
    let (head, tail) = input.split_first_chunk::<32>()?;
    *input = tail;
    Some(*head)
}

fn number(input: &mut &[u8]) -> Option<u32> {
    u32::try_from(varint(input)?).ok()
}

/// Appends a number in groups of seven bits, the lowest first (LEB128).
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}

fn varint(input: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, tail) = input.split_first()?;
        *input = tail;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_event() -> impl Strategy<Value = Event> {
        let flags =
            || (any::<u16>(), any::<u32>()).prop_map(|(flags, keywords)| FileFlags { flags, keywords });
        prop_oneof![
            Just(Event::Added),
            Just(Event::Archived),
            Just(Event::Back),
            Just(Event::Gone),
            Just(Event::Text),
            any::<(u32, u32)>().prop_map(|(from, to)| Event::Moved { from, to }),
            any::<u32>().prop_map(|to| Event::Copied { to }),
            any::<u32>().prop_map(|from| Event::Removed { from }),
            any::<u32>().prop_map(|folder| Event::Renamed { folder }),
            (any::<u32>(), flags(), flags()).prop_map(|(folder, before, after)| Event::Flags {
                folder,
                before,
                after
            }),
        ]
    }

    fn any_group() -> impl Strategy<Value = Group> {
        let numbers = prop::collection::btree_set(prop_oneof![0_u32..40, any::<u32>()], 1..60);
        prop_oneof![
            (any_event(), numbers)
                .prop_map(|(event, numbers)| Group::Messages(event, numbers.into_iter().collect())),
            prop::collection::vec(any::<(u32, [u8; 32], Option<u32>)>(), 1..4).prop_map(|messages| {
                let forgotten = |(number, sha256, node)| Forgotten { number, sha256, node };
                Group::Forgotten(messages.into_iter().map(forgotten).collect())
            }),
            any::<(u32, String, Vec<u8>)>().prop_map(|(number, root, path)| Group::Folder {
                number,
                root,
                path
            }),
            (any::<(Vec<String>, Vec<String>)>(), prop::collection::vec(any::<[u8; 32]>(), 1..4))
                .prop_map(|((added, removed), contents)| Group::Tags { added, removed, contents }),
        ]
    }

    #[test]
    fn what_older_programs_wrote_of_forgotten_messages_is_read() {
        let row = [&[9, 1, 5][..], &[7; 32]].concat();
        let forgotten = Forgotten { number: 5, sha256: [7; 32], node: None };
        assert_eq!(decode(&row), Some(vec![Group::Forgotten(vec![forgotten])]));
    }

    proptest! {
        #[test]
        fn reads_what_was_written(groups in prop::collection::vec(any_group(), 0..6)) {
            let rows = encode(&groups);
            let read: Option<Vec<_>> = rows.iter().map(|row| decode(row)).collect();
            prop_assert_eq!(read.map(|rows| rows.concat()), Some(groups));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            if let Some(groups) = decode(&bytes) {
                let again: Option<Vec<_>> = encode(&groups).iter().map(|row| decode(row)).collect();
                let numbers_only = groups.iter().all(|group| {
                    !matches!(group, Group::Messages(_, numbers) if numbers.is_empty()
                        || numbers.windows(2).any(|two| two[0] >= two[1]))
                });
                let is_plain = numbers_only && groups.iter().all(|group| match group {
                    Group::Forgotten(messages) => !messages.is_empty(),
                    Group::Tags { contents, .. } => !contents.is_empty(),
                    _ => true,
                });
                if is_plain {
                    prop_assert_eq!(again.map(|rows| rows.concat()), Some(groups));
                }
            }
        }
    }

    #[test]
    fn a_large_commit_takes_several_rows_and_neighbours_little_room() {
        let all = Group::Messages(Event::Added, (7..1_000_007).collect());
        let rows = encode(std::slice::from_ref(&all));
        assert!(rows.concat().len() < 200, "{}", rows.concat().len());
        let contents = (0..100_000_u32).map(|number| {
            let mut sha256 = [0; 32];
            sha256[..4].copy_from_slice(&number.to_le_bytes());
            sha256
        });
        let tags = Group::Tags { added: vec!["a".into()], removed: vec![], contents: contents.collect() };
        let rows = encode(std::slice::from_ref(&tags));
        assert_eq!(rows.len(), 2);
        let read: usize = rows
            .iter()
            .flat_map(|row| decode(row).unwrap())
            .map(|group| match group {
                Group::Tags { contents, .. } => contents.len(),
                _ => 0,
            })
            .sum();
        assert_eq!(read, 100_000);
    }

    #[test]
    fn a_row_that_claims_too_much_is_refused() {
        // One run of four thousand million messages.
        assert_eq!(decode(&[0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f]), None);
        for code in [9, 13] {
            assert_eq!(decode(&[code, 0xff, 0xff, 0xff, 0xff, 0x0f]), None);
        }
        assert_eq!(decode(&[14, 0]), None);
    }
}
