//! The folders of a generated Maildir: their names, their layouts and how programs name files in them.
//!
//! Input: the number of folders. Output: their paths, as bytes, and the programs that keep them. Does not
//! depend on their content, and uses no disk.

use super::words::{Language, vocabulary};
use crate::random::Random;

/// A folder: a directory with `cur`, `new` and `tmp`.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    /// The path below the root; empty is the root itself. Not always UTF-8.
    pub(super) path: Vec<u8>,
    pub(super) role: Role,
    pub(super) habit: Habit,
}

/// The purpose of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Inbox,
    Sent,
    Drafts,
    Trash,
    List,
    Other,
}

/// How the program that keeps a folder names and stores its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    /// `<epoch>.M<usec>P<pid>.host:2,S`
    Plain,
    /// Dovecot: `,S=<size>,W=<size with CRLF>` before the flags, keywords a to z among the flags.
    Dovecot,
    /// mbsync: `,U=<uid>` before the flags.
    Mbsync,
    /// Like Dovecot, and the file is compressed with zstd.
    Compressed,
}

/// The first folders of every Maildir: all layouts, all ways to name files, and names that are not ASCII or
/// not even UTF-8.
const FIRST: [(&[u8], Role, Habit); 16] = [
    (b"", Role::Inbox, Habit::Plain),
    (b"Sent", Role::Sent, Habit::Mbsync),
    (b"lists/tubes", Role::List, Habit::Plain),
    (b".lists.kernel", Role::List, Habit::Dovecot),
    (b"archive/2019", Role::Other, Habit::Plain),
    (b"Drafts", Role::Drafts, Habit::Plain),
    (b"Trash", Role::Trash, Habit::Mbsync),
    (b".Entw&APw-rfe", Role::Other, Habit::Dovecot),
    (b"archive/compressed", Role::Other, Habit::Compressed),
    (b"work/Budget 2024", Role::Other, Habit::Plain),
    ("Письма".as_bytes(), Role::Other, Habit::Dovecot),
    (b"lists/music/early", Role::List, Habit::Mbsync),
    (b".work.projects.capsule", Role::Other, Habit::Dovecot),
    ("home/Fotos für Oma".as_bytes(), Role::Other, Habit::Plain),
    (b"home/caf\xe9", Role::Other, Habit::Plain),
    ("手紙".as_bytes(), Role::Other, Habit::Mbsync),
];

/// Returns `count` folders, the same ones for the same count, the root first.
pub(super) fn folders(count: usize) -> Vec<Folder> {
    let first = FIRST.iter().map(|&(path, role, habit)| Folder { path: path.to_vec(), role, habit });
    let rest = (FIRST.len()..).map(|number| {
        let random = &mut Random::of(0, 0x666f, number as u64);
        let word = vocabulary(Language::English).rare_word(random);
        let (path, role, habit) = match number % 4 {
            0 => (format!("lists/{word}{number}"), Role::List, Habit::Plain),
            1 => (format!(".lists.{word}{number}"), Role::List, Habit::Dovecot),
            2 => (format!("projects/{}/{word}{number}", number % 13), Role::Other, Habit::Plain),
            _ => (format!("archive/{word}{number}"), Role::Other, Habit::Mbsync),
        };
        Folder { path: path.into_bytes(), role, habit }
    });
    first.chain(rest).take(count.max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn folders_are_distinct_and_begin_with_the_root() {
        let all = folders(600);
        assert_eq!(all.iter().map(|folder| &folder.path).collect::<HashSet<_>>().len(), 600);
        assert_eq!(all[0].path, b"");
        assert_eq!(folders(0).len(), 1);
        assert!(all.iter().any(|folder| std::str::from_utf8(&folder.path).is_err()));
    }
}
