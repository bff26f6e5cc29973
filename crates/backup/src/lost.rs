//! What would exist nowhere else if snapshots were removed, and the tree that keeps it.
//!
//! In: the trees that go, those that stay, and what the Maildirs hold. Out: messages that only those have that go; and a tree with all of
//! them, for a snapshot of its own. Must not know why snapshots go.
//!
//! A tree that cannot be read is a problem and ends nothing: damaged snapshots must be able to go. What is only in a damaged tree that stays
//! then counts as lost, which errs on the safe side.

use crate::depot::Depot;
use crate::entry::{Content, Entry, Stat};
use crate::error::{Error, Problem, Result};
use crate::known::KnownDirectory;
use crate::layout::{child, split};
use crate::learned::Learned;
use crate::moment::whole;
use crate::own::{OwnFiles, PATH, store_own};
use crate::piece_list::{NAME, PieceList};
use crate::vault::{Again, Vault, Walk, message_place};
use archive::{Id, Progress};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The tag of snapshots that keep messages which nothing else has, and the directory at their top.
pub const KEPT: &str = "pneu-deleted";
/// Type and rights of the directories in it.
const DIRECTORY_MODE: u32 = 0o040_700;

/// A message that would be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Where a snapshot has it: the directory with its name.
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
    pub messages: Vec<Lost>,
    /// Trees that could not be read: what is only in them is not known.
    pub problems: Vec<Problem>,
}

/// Whose messages are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trees<'a> {
    /// Of snapshots that go, the oldest first.
    pub going: &'a [Id],
    /// Of snapshots that stay.
    pub staying: &'a [Id],
    /// All trees of the repository, if what earlier snapshots left that were forgotten goes, too.
    pub all: Option<&'a [Id]>,
}

/// Says of SHA-256 of contents whether the Maildirs have them.
pub(crate) type IsPresent<'a> = dyn Fn(&[[u8; 32]]) -> Result<Vec<bool>> + 'a;

/// Returns the messages that only trees have which go. `is_present` says of SHA-256 of contents whether the Maildirs have them now.
///
/// # Errors
/// The storage cannot be reached; damage in what is known; [`Error::Interrupted`].
pub(crate) fn lost(
    (vault, learned): (&dyn Vault, &Learned<'_>),
    trees: &Trees<'_>,
    is_present: &IsPresent<'_>,
    progress: &dyn Progress,
) -> Result<LostReport> {
    let mut report = LostReport::default();
    let mut walk = Walk::new(vault, progress, Again::Pass);
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
    // What is in trees that stay, too, was seen already and is passed by.
    let mut found: Vec<Lost> = Vec::new();
    let mut take = |directory: &[u8], entry: &Entry| collect(&mut kept, &mut found, directory, entry);
    // The newest first: where a message lay last is where it is kept.
    for tree in trees.going.iter().rev() {
        walk.run_past(tree, &mut report.problems, &mut take)?;
    }
    let named_count = found.len();
    let mut take = |directory: &[u8], entry: &Entry| collect(&mut kept, &mut found, directory, entry);
    if let Some(all) = trees.all {
        // A part of these may be gone by right: an earlier prune took it.
        for tree in tops(vault, &walk, all, progress)? {
            walk.run_what_is_left(&tree, &mut report.problems, &mut take)?;
        }
    }
    let left = found.split_off(named_count);
    let (mut messages, gone) = absent((vault, learned), found, is_present, progress)?;
    report.problems.extend(gone);
    // Of these a part may be gone by right, as above.
    messages.append(&mut absent((vault, learned), left, is_present, progress)?.0);
    messages.sort_by(|one, other| one.path.cmp(&other.path));
    report.messages = messages;
    Ok(report)
}

/// Takes note of a message that was not met before.
fn collect(
    kept: &mut HashSet<[u8; 32]>,
    found: &mut Vec<Lost>,
    directory: &[u8],
    entry: &Entry,
) -> Result<()> {
    if let (Some(_), Content::File(pieces)) = (message_place(directory), &entry.content)
        && !pieces.is_empty()
        && kept.insert(key(pieces))
    {
        let path = child(directory, &entry.name);
        let (size_bytes, entry) = (entry.stat.size_bytes, entry.clone());
        found.push(Lost { path, size_bytes, sha256: None, entry });
    }
    Ok(())
}

/// Returns the trees that were not met yet and that lie in no other tree: the tops of what was forgotten.
fn tops(vault: &dyn Vault, walk: &Walk<'_>, all: &[Id], progress: &dyn Progress) -> Result<Vec<Id>> {
    let mut left: Vec<Id> = all.iter().filter(|id| !walk.has_met(id)).copied().collect();
    let mut below = HashSet::new();
    for id in &left {
        progress.check()?;
        let entries = match vault.tree(id) {
            Ok(entries) => entries,
            Err(error) if error.is_end() => return Err(error),
            // Whoever walks through it tells of it.
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

/// Returns those of the messages that the archive still has, whole, and that no Maildir has; and what to say
/// of others that no Maildir has: no index file names all of their pieces, so that nobody can say whether
/// they would be lost.
fn absent(
    (vault, learned): (&dyn Vault, &Learned<'_>),
    mut found: Vec<Lost>,
    is_present: &IsPresent<'_>,
    progress: &dyn Progress,
) -> Result<(Vec<Lost>, Option<Problem>)> {
    let mut keys = Vec::with_capacity(found.len());
    let mut is_held = Vec::with_capacity(found.len());
    for Lost { entry, sha256, .. } in &mut found {
        progress.check()?;
        let Content::File(pieces) = &entry.content else { continue };
        is_held.push(vault.holds_pieces(pieces)?.iter().all(|has| *has));
        let known = match is_held.last() {
            Some(true) => whole(vault, learned, pieces).map(Some),
            _ => learned.message_of(pieces),
        };
        *sha256 = match known {
            Err(error) if error.is_end() => return Err(error),
            // Nobody can say that what cannot be read is on the disk.
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
    let problem = gone.first().map(|path| Problem {
        path: PathBuf::from(OsStr::from_bytes(path)),
        what: match gone.len() {
            1 => "no index file names all of it, and it is in no Maildir".to_owned(),
            count => {
                format!("no index file names all of it, nor of {} others; they are in no Maildir", count - 1)
            }
        },
    });
    Ok((messages, problem))
}

/// Returns a name for a content.
fn key(pieces: &[Id]) -> [u8; 32] {
    match pieces {
        [one] => one.0,
        many => {
            let names: Vec<u8> = many.iter().flat_map(|piece| piece.0).collect();
            Sha256::digest(&names).into()
        }
    }
}

/// Saves a tree with messages: below a directory [`KEPT`] at the top, each in the folder that it had.
///
/// # Errors
/// What the archive says.
pub(crate) fn keep(depot: &dyn Depot, lost: &[Lost], (uid, gid, now_ns): (u32, u32, i64)) -> Result<Id> {
    let stat = Stat { mode: DIRECTORY_MODE, uid, gid, mtime_ns: now_ns, ctime_ns: now_ns, ..Stat::default() };
    let mut directories: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Entry>> = BTreeMap::new();
    for Lost { path, entry, .. } in lost {
        let Some((directory, _)) = split(path) else { continue };
        let Some((folder, _)) = split(directory) else { continue };
        let folder = [b"/", KEPT.as_bytes(), original(folder)].concat();
        // So that it is a Maildir again.
        for place in ["cur", "new", "tmp"] {
            directories.entry(child(&folder, place.as_bytes())).or_default();
        }
        let kept = [b"/", KEPT.as_bytes(), original(directory)].concat();
        add(directories.entry(kept).or_default(), entry);
    }
    if let Some(text) = piece_list(lost).text() {
        let files = vec![(NAME.to_owned(), text.into_bytes())];
        let own = store_own(depot, &OwnFiles { files, now_ns, uid, gid }, &KnownDirectory::default())?;
        let entries = own.entries.into_iter().map(|entry| (entry.name.clone(), entry));
        directories.insert(PATH.to_vec(), entries.collect());
    }
    let paths: Vec<Vec<u8>> = directories.keys().cloned().collect();
    for path in &paths {
        let mut path = path.as_slice();
        while let Some((above, _)) = split(path) {
            directories.entry(above.to_vec()).or_default();
            path = above;
        }
    }
    directories.entry(Vec::new()).or_default();
    loop {
        // What lies in a directory has a longer path that begins with its own, so it comes first here.
        let (path, entries) = directories.pop_last().expect("the top comes last, and ends it");
        let tree = depot.save_tree(&entries.values().map(Entry::view).collect::<Vec<_>>())?;
        let Some((above, name)) = split(&path) else { return Ok(tree) };
        let entry = Entry { name: name.to_vec(), stat, content: Content::Directory(tree) };
        directories.entry(above.to_vec()).or_default().insert(name.to_vec(), entry);
    }
}

/// Returns the pieces of those messages of which the name of a piece does not say that it is them.
fn piece_list(lost: &[Lost]) -> PieceList {
    let pieces = lost.iter().filter_map(|lost| match (&lost.entry.content, lost.sha256) {
        (Content::File(pieces), Some(message)) if pieces[..] != [Id(message)] => {
            Some((message, pieces.clone()))
        }
        _ => None,
    });
    PieceList(pieces.collect())
}

/// Adds a file to a directory. Of two with one name the later gets another unique part.
fn add(directory: &mut BTreeMap<Vec<u8>, Entry>, entry: &Entry) {
    let mut name = entry.name.clone();
    for number in 1.. {
        if !directory.contains_key(&name) {
            break;
        }
        let unique = mail::parse_name(&entry.name).unique.len();
        let (unique, rest) = entry.name.split_at_checked(unique).unwrap_or((&entry.name, &[]));
        name = [unique, format!(".{number}").as_bytes(), rest].concat();
    }
    directory.insert(name.clone(), Entry { name, ..entry.clone() });
}

/// Returns where a directory lay before what is in it was kept.
pub(crate) fn original(directory: &[u8]) -> &[u8] {
    let kept = directory.strip_prefix(b"/").and_then(|rest| rest.strip_prefix(KEPT.as_bytes()));
    kept.filter(|rest| rest.first() == Some(&b'/')).unwrap_or(directory)
}

/// Returns what to say of a tree that cannot be read.
pub(crate) fn problem(path: &[u8], error: &Error) -> Problem {
    let path = if path.is_empty() { b"/" } else { path };
    let path = PathBuf::from(OsStr::from_bytes(path));
    Problem { path, what: format!("what is in it is not known: {error}") }
}
