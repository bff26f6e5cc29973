//! What would exist nowhere else if snapshots were removed, and the tree that keeps it.
//!
//! In: the trees that go, those that stay, and what the Maildirs hold. Out: messages that only those have that go; and a tree with all of
//! them, for a snapshot of its own. Must not know why snapshots go.

use crate::depot::Depot;
use crate::entry::{Content, Entry, Stat};
use crate::error::Result;
use crate::known::Known;
use crate::layout::child;
use crate::vault::{Again, Vault, Walk, message_of, message_place};
use archive::{Id, Progress};
use std::collections::{BTreeMap, HashSet};

/// The directory at the top of a snapshot that keeps messages which nothing else has.
pub(crate) const DELETED: &[u8] = b"pneu-deleted";
/// Type and rights of the directories in it.
const DIRECTORY_MODE: u32 = 0o040_700;

/// A message that would be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Where a snapshot has it: the directory with its name.
    pub path: Vec<u8>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its file, as the snapshot has it.
    pub(crate) entry: Entry,
}

/// Says of SHA-256 of contents whether the Maildirs have them.
pub(crate) type IsPresent<'a> = dyn Fn(&[[u8; 32]]) -> Result<Vec<bool>> + 'a;

/// Returns the messages that only trees have which go, in the order of their paths. `is_present` says of SHA-256 of contents whether the
/// Maildirs have them now.
///
/// # Errors
/// A tree cannot be read: then nothing is known. [`Error::Interrupted`](crate::Error::Interrupted).
pub(crate) fn lost(
    (vault, known): (&dyn Vault, Option<&Known>),
    going: &[Id],
    staying: &[Id],
    is_present: &IsPresent<'_>,
    progress: &dyn Progress,
) -> Result<Vec<Lost>> {
    let mut kept: HashSet<Vec<Id>> = HashSet::new();
    let mut walk = Walk::new(vault, progress, Again::Pass);
    for tree in staying {
        walk.run(tree, &mut |directory, entry| {
            if let (Some(_), Content::File(pieces)) = (message_place(directory), &entry.content) {
                kept.insert(pieces.clone());
            }
            Ok(())
        })?;
    }
    // What is in trees that stay, too, was seen already and is passed by.
    let mut found: BTreeMap<Vec<u8>, Lost> = BTreeMap::new();
    for tree in going {
        walk.run(tree, &mut |directory, entry| {
            if let (Some(_), Content::File(pieces)) = (message_place(directory), &entry.content)
                && !pieces.is_empty()
                && kept.insert(pieces.clone())
            {
                let path = child(directory, &entry.name);
                found.insert(
                    path.clone(),
                    Lost { path, size_bytes: entry.stat.size_bytes, entry: entry.clone() },
                );
            }
            Ok(())
        })?;
    }
    let mut keys = Vec::with_capacity(found.len());
    for Lost { entry, .. } in found.values() {
        let Content::File(pieces) = &entry.content else { continue };
        // Of a cut file whose name nobody knows nobody can say that it is there.
        keys.push(message_of(known, pieces)?.unwrap_or_default());
    }
    let present = is_present(&keys)?;
    let lost = found.into_values().zip(present).filter(|(_, is_present)| !is_present);
    Ok(lost.map(|(lost, _)| lost).collect())
}

/// Saves a tree with messages: a Maildir `pneu-deleted` at the top, whose `cur` has them all.
///
/// # Errors
/// What the archive says.
pub(crate) fn keep(depot: &dyn Depot, lost: &[Lost], (uid, gid, now_ns): (u32, u32, i64)) -> Result<Id> {
    let stat = Stat { mode: DIRECTORY_MODE, uid, gid, mtime_ns: now_ns, ctime_ns: now_ns, ..Stat::default() };
    let mut names: BTreeMap<Vec<u8>, Entry> = BTreeMap::new();
    for Lost { entry, .. } in lost {
        let mut name = entry.name.clone();
        // Of two files with one name in two folders the later gets another unique part.
        for number in 1.. {
            if !names.contains_key(&name) {
                break;
            }
            let unique = mail::parse_name(&entry.name).unique.len();
            let (unique, rest) = entry.name.split_at_checked(unique).unwrap_or((&entry.name, &[]));
            name = [unique, format!(".{number}").as_bytes(), rest].concat();
        }
        names.insert(name.clone(), Entry { name, ..entry.clone() });
    }
    let directory =
        |name: &[u8], tree| Entry { name: name.to_vec(), stat, content: Content::Directory(tree) };
    let cur = depot.save_tree(&names.into_values().collect::<Vec<_>>())?;
    let empty = depot.save_tree(&[])?;
    let maildir =
        depot.save_tree(&[directory(b"cur", cur), directory(b"new", empty), directory(b"tmp", empty)])?;
    depot.save_tree(&[directory(DELETED, maildir)])
}
