//! What one commit of the index does to messages, from the rows of files that it replaces.
//!
//! Input: rows that go and come, new messages, messages without a file. Output: events, at most one of each
//! kind for a file. Must not know how a commit is made.

use crate::changes::event::{Event, FileFlags, Group};
use crate::rows::{FileRow, FolderRow};
use std::collections::{BTreeMap, BTreeSet};
use xxhash_rust::xxh3::xxh3_64;

/// Notes on a commit that is being made.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Files that messages lost and got.
    files: Vec<Note>,
}

/// A file of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Note {
    message: u32,
    /// Whether the message gets it; else it loses it.
    is_gained: bool,
    folder: u32,
    flags: FileFlags,
    /// A hash of its name, and whether it is in `cur` or `new`.
    name: u64,
}

/// What is known about messages when a commit is complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fates<'a> {
    /// The numbers of new messages, ascending.
    pub new: &'a [u32],
    /// Whether the new ones are only in an archive.
    pub are_archived: bool,
    /// Messages that have no file any more.
    pub gone: &'a BTreeSet<u32>,
    /// Messages that had none, and have one again.
    pub back: &'a BTreeSet<u32>,
}

impl Notes {
    /// Notes that a message loses a file.
    pub(crate) fn lost(&mut self, row: &FileRow) {
        self.files.push(Note::of(row, false));
    }

    /// Notes that a message gets a file.
    pub(crate) fn gained(&mut self, row: &FileRow) {
        self.files.push(Note::of(row, true));
    }

    /// Returns what happened.
    pub(crate) fn groups(mut self, fates: Fates<'_>) -> Vec<Group> {
        let mut events: BTreeMap<Event, Vec<u32>> = BTreeMap::new();
        let mut note = |event, message| events.entry(event).or_default().push(message);
        let added = if fates.are_archived { Event::Archived } else { Event::Added };
        fates.new.iter().for_each(|message| note(added, *message));
        fates.back.iter().for_each(|message| note(Event::Back, *message));
        self.files.sort_unstable();
        for files in self.files.chunk_by(|one, next| one.message == next.message) {
            let Some(Note { message, .. }) = files.first().copied() else { continue };
            let is_told = fates.new.binary_search(&message).is_ok()
                || [fates.gone, fates.back].iter().any(|set| set.contains(&message));
            if !is_told {
                let (lost, gained) = files.split_at(files.partition_point(|file| !file.is_gained));
                pair(lost, gained, |event| note(event, message));
            }
        }
        fates.gone.iter().for_each(|message| note(Event::Gone, *message));
        let groups = events.into_iter().map(|(event, mut messages)| {
            messages.sort_unstable();
            messages.dedup();
            Group::Messages(event, messages)
        });
        groups.collect()
    }
}

impl Note {
    fn of(row: &FileRow, is_gained: bool) -> Note {
        Note {
            message: row.message,
            is_gained,
            folder: row.folder,
            flags: FileFlags { flags: row.flags.bits(), keywords: row.keywords },
            name: xxh3_64(&row.name) ^ u64::from(row.subdirectory.number()),
        }
    }
}

/// Finds out which of the files that a message lost became which of those that it got.
fn pair(lost: &[Note], gained: &[Note], mut note: impl FnMut(Event)) {
    let mut new: Vec<Note> = gained.to_vec();
    let mut old: Vec<Note> = Vec::new();
    // Files that stayed in their folder first, those with the same name before others.
    let same = [|a: &Note, b: &Note| a.name == b.name, |_: &Note, _: &Note| true];
    let mut left: Vec<Note> = lost.to_vec();
    for is_same in same {
        old.clear();
        for before in left {
            match new.iter().position(|after| after.folder == before.folder && is_same(&before, after)) {
                Some(place) => changed_in_place(&before, &new.swap_remove(place), &mut note),
                None => old.push(before),
            }
        }
        left = std::mem::take(&mut old);
    }
    new.sort_unstable();
    let mut new = new.into_iter();
    for before in left {
        match new.next() {
            Some(after) => {
                note(Event::Moved { from: before.folder, to: after.folder });
                if before.flags.flags != after.flags.flags {
                    note(flags_changed(&before, &after));
                }
            }
            None => note(Event::Removed { from: before.folder }),
        }
    }
    new.for_each(|after| note(Event::Copied { to: after.folder }));
}

fn changed_in_place(before: &Note, after: &Note, note: &mut impl FnMut(Event)) {
    if before.flags != after.flags {
        note(flags_changed(before, after));
    } else if before.name != after.name {
        note(Event::Renamed { folder: after.folder });
    }
}

/// The letters of keywords have another meaning in each folder, so they are compared within one only.
fn flags_changed(before: &Note, after: &Note) -> Event {
    let keywords = if before.folder == after.folder { before.flags.keywords } else { after.flags.keywords };
    let before = FileFlags { keywords, ..before.flags };
    Event::Flags { folder: after.folder, before, after: after.flags }
}

/// Returns what is needed to name a folder that loses its row.
pub(crate) fn folder_group(row: &FolderRow) -> Group {
    Group::Folder { number: row.number, root: row.root.clone(), path: row.path.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Subdirectory;
    use mail::Flags;

    fn row(message: u32, folder: u32, name: &str) -> FileRow {
        let flags = mail::parse_name(name.as_bytes()).flags;
        FileRow {
            folder,
            subdirectory: Subdirectory::Cur,
            name: name.into(),
            inode: 1,
            size_bytes: 1,
            mtime_ns: 1,
            ctime_ns: 1,
            flags,
            keywords: 0,
            message,
        }
    }

    fn groups(lost: &[FileRow], gained: &[FileRow]) -> Vec<Group> {
        let mut notes = Notes::default();
        lost.iter().for_each(|row| notes.lost(row));
        gained.iter().for_each(|row| notes.gained(row));
        let (gone, back) = ([4].into(), [5].into());
        notes.groups(Fates { new: &[8, 9], are_archived: false, gone: &gone, back: &back })
    }

    #[test]
    fn files_are_paired_within_their_folder_first() {
        let told = || vec![Group::Messages(Event::Added, vec![8, 9]), Group::Messages(Event::Back, vec![5])];
        let gone = || Group::Messages(Event::Gone, vec![4]);
        let with = |events: &[Event]| {
            let mut all = told();
            all.extend(events.iter().map(|event| Group::Messages(*event, vec![1])));
            all.push(gone());
            all
        };
        assert_eq!(groups(&[], &[]), with(&[]));
        // What is known of a message as a whole is not told of its files, too.
        let of_others = [row(8, 1, "a"), row(5, 2, "b")];
        assert_eq!(groups(&[row(4, 1, "c")], &of_others), with(&[]));

        let seen = FileFlags { flags: Flags::SEEN.bits(), keywords: 0 };
        let none = FileFlags { flags: 0, keywords: 0 };
        let flagged = Event::Flags { folder: 7, before: none, after: seen };
        assert_eq!(groups(&[row(1, 7, "a:2,")], &[row(1, 7, "a:2,S")]), with(&[flagged]));
        assert_eq!(groups(&[row(1, 7, "a:2,")], &[row(1, 7, "a:2,")]), with(&[]), "only its times changed");
        let renamed = Event::Renamed { folder: 7 };
        assert_eq!(groups(&[row(1, 7, "a:2,")], &[row(1, 7, "a,U=3:2,")]), with(&[renamed]));

        let moved = Event::Moved { from: 7, to: 6 };
        let flagged = Event::Flags { folder: 6, before: none, after: seen };
        assert_eq!(groups(&[row(1, 7, "a:2,")], &[row(1, 6, "a:2,S")]), with(&[moved, flagged]));
        let of_two = groups(
            &[row(1, 7, "a:2,S"), row(1, 5, "b:2,")],
            &[row(1, 5, "b:2,"), row(1, 6, "c:2,S"), row(1, 3, "d:2,S")],
        );
        let (moved, copied) = (Event::Moved { from: 7, to: 3 }, Event::Copied { to: 6 });
        assert_eq!(of_two, with(&[moved, copied]));
        assert_eq!(groups(&[row(1, 7, "a")], &[]), with(&[Event::Removed { from: 7 }]));
    }
}
