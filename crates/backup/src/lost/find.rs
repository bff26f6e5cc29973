//! Finds messages that would exist nowhere if snapshots were removed.
//!
//! Input: the trees to be removed, those that stay, and what the Maildirs hold. An unreadable tree is a
//! problem but does not stop the search: damaged snapshots must be removable. A message that is only in a
//! damaged tree that stays counts as lost, to be safe.

use crate::blobs::entry::{Content, Entry};
use crate::blobs::reader::BlobReader;
use crate::blobs::walk::{Revisit, Walk};
use crate::error::{Problem, Result};
use crate::paths::child;
use crate::paths::message_place;
use crate::pieces::ids_hash::ids_hash;
use crate::read::lookup::PieceLookup;
use crate::read::moment::whole;
use restic::Id;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use work::Progress;

/// A message that would be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostMessage {
    /// The directory of a snapshot that holds it, and its name.
    pub path: Vec<u8>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// The SHA-256 of its content, where it can be read.
    pub sha256: Option<[u8; 32]>,
    /// Its file, as the snapshot has it.
    pub(crate) entry: Entry,
}

/// What would be lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostReport {
    /// The messages, in the order of their paths; each content once.
    pub messages: Vec<LostMessage>,
    /// Unreadable trees: messages that are only in them are unknown.
    pub problems: Vec<Problem>,
}

/// The trees to compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trees<'a> {
    /// Trees of snapshots to be removed, the oldest first.
    pub going: &'a [Id],
    /// Trees of snapshots that stay.
    pub staying: &'a [Id],
    /// All trees of the repository, if trees that no snapshot names are to be removed too.
    pub all: Option<&'a [Id]>,
}

/// Returns, for each SHA-256, whether a Maildir has the message.
pub(crate) type IsPresent<'a> = dyn Fn(&[[u8; 32]]) -> Result<Vec<bool>> + 'a;

/// Returns the messages that are only in trees in `going`, and in no Maildir.
///
/// # Errors
/// The storage cannot be reached; damage in known trees; [`Error::Interrupted`].
pub(crate) fn find_lost(
    (reader, lookup): (&dyn BlobReader, &PieceLookup<'_>),
    trees: &Trees<'_>,
    is_present: &IsPresent<'_>,
    progress: &dyn Progress,
) -> Result<LostReport> {
    let mut report = LostReport::default();
    let mut walk = Walk::new(reader, progress, Revisit::Skip);
    let mut kept: HashSet<[u8; 32]> = HashSet::new();
    for tree in trees.staying {
        let problems = &mut report.problems;
        walk.run_past(tree, problems, &mut |directory, entry| {
            if let (Some(_), Content::File(pieces)) = (message_place(directory), &entry.content) {
                kept.insert(key(pieces));
            }
            Ok(())
        })?;
    }
    // Trees that stay were seen above and are skipped.
    let mut found: Vec<LostMessage> = Vec::new();
    let mut take = |directory: &[u8], entry: &Entry| collect(&mut kept, &mut found, directory, entry);
    // The newest first: a message is kept at its latest place.
    for tree in trees.going.iter().rev() {
        walk.run_past(tree, &mut report.problems, &mut take)?;
    }
    let named_count = found.len();
    let mut take = |directory: &[u8], entry: &Entry| collect(&mut kept, &mut found, directory, entry);
    if let Some(all) = trees.all {
        // An earlier prune may have removed parts of these.
        for tree in tops(reader, &walk, all, progress)? {
            walk.run_what_is_left(&tree, &mut report.problems, &mut take)?;
        }
    }
    let left = found.split_off(named_count);
    let (mut messages, gone) = absent((reader, lookup), found, is_present, progress)?;
    report.problems.extend(gone);
    // Parts of these may be missing, as above.
    messages.append(&mut absent((reader, lookup), left, is_present, progress)?.0);
    messages.sort_by(|one, other| one.path.cmp(&other.path));
    report.messages = messages;
    Ok(report)
}

/// Adds a message that was not seen before.
fn collect(
    kept: &mut HashSet<[u8; 32]>,
    found: &mut Vec<LostMessage>,
    directory: &[u8],
    entry: &Entry,
) -> Result<()> {
    if let (Some(_), Content::File(pieces)) = (message_place(directory), &entry.content)
        && !pieces.is_empty()
        && kept.insert(key(pieces))
    {
        let path = child(directory, &entry.name);
        let (size_bytes, entry) = (entry.stat.size_bytes, entry.clone());
        found.push(LostMessage { path, size_bytes, sha256: None, entry });
    }
    Ok(())
}

/// Returns the unvisited trees that lie in no other tree: the roots of forgotten snapshots.
fn tops(reader: &dyn BlobReader, walk: &Walk<'_>, all: &[Id], progress: &dyn Progress) -> Result<Vec<Id>> {
    let mut left: Vec<Id> = all.iter().filter(|id| !walk.has_met(id)).copied().collect();
    let mut below = HashSet::new();
    for id in &left {
        progress.check()?;
        let entries = match reader.tree(id) {
            Ok(entries) => entries,
            Err(error) if error.is_end() => return Err(error),
            // The walk reports it.
            Err(_) => continue,
        };
        below.extend(entries.iter().filter_map(|entry| match entry.content {
            Content::Directory(tree) => Some(tree),
            _ => None,
        }));
    }
    left.retain(|id| !below.contains(id));
    left.sort_unstable();
    left.dedup();
    Ok(left)
}

/// Returns the messages that are complete in the repository and in no Maildir. Adds a problem for messages
/// in no Maildir whose pieces no index file names.
fn absent(
    (reader, lookup): (&dyn BlobReader, &PieceLookup<'_>),
    mut found: Vec<LostMessage>,
    is_present: &IsPresent<'_>,
    progress: &dyn Progress,
) -> Result<(Vec<LostMessage>, Option<Problem>)> {
    let mut keys = Vec::with_capacity(found.len());
    let mut is_held = Vec::with_capacity(found.len());
    for LostMessage { entry, sha256, .. } in &mut found {
        progress.check()?;
        let Content::File(pieces) = &entry.content else { continue };
        is_held.push(reader.holds_pieces(pieces)?.iter().all(|has| *has));
        let known = match is_held.last() {
            Some(true) => whole(reader, lookup, pieces).map(Some),
            _ => lookup.message_of(pieces),
        };
        *sha256 = match known {
            Err(error) if error.is_end() => return Err(error),
            // An unreadable message does not count as present.
            other => other.ok().flatten(),
        };
        keys.push(sha256.unwrap_or_default());
    }
    let is_there = is_present(&keys)?;
    let (mut messages, mut gone) = (Vec::new(), Vec::new());
    for (lost, (is_held, is_there)) in found.into_iter().zip(is_held.into_iter().zip(is_there)) {
        match (is_held, is_there) {
            (_, true) => {}
            (true, false) => messages.push(lost),
            (false, false) => gone.push(lost.path),
        }
    }
    gone.sort();
    let problem = gone.first().map(|path| {
        let what = match gone.len() {
            1 => "no index file names all of it, and it is in no Maildir".to_owned(),
            count => {
                format!("no index file names all of it, nor of {} others; they are in no Maildir", count - 1)
            }
        };
        Problem::new(OsStr::from_bytes(path), what)
    });
    Ok((messages, problem))
}

/// Returns a key for a content.
fn key(pieces: &[Id]) -> [u8; 32] {
    match pieces {
        [one] => one.0,
        many => ids_hash(many),
    }
}
