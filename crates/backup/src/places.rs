//! Where messages lay, and where that is here and now.
//!
//! In: SHA-256 of messages; snapshots, those first that are believed first; the roots of the index. Out: for each message its best file, with
//! its pieces and times. A snapshot may be of another machine or of another program's: only what lies below a root of this index has a
//! place here. Must not know what is done with it.

use crate::entry::{Content, Entry, Stat};
use crate::error::Result;
use crate::layout::{child, plain};
use crate::learned::Learned;
use crate::lost::{KEPT, original};
use crate::vault::{Vault, message_place};
use archive::{Id, Progress, Repeats, Snapshot};
use index::Root;
use mail::Flags;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Directories deeper than this are not entered: no system has paths of such a depth.
const DEPTH_MAX: usize = 2_048;
/// Names of folders that hold what is about to be deleted, in small letters, as servers and mail programs make them.
const TRASH_FOLDERS: [&str; 5] = ["bin", "deleted", "deleted items", "deleted messages", "trash"];

/// A snapshot that is looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Its tree.
    pub tree: Id,
    /// Directories in it that are roots here, and where.
    pub roots: Vec<(Vec<u8>, PathBuf)>,
}

/// A message file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The directory of its folder in the snapshot, absolute.
    pub folder: Vec<u8>,
    /// The same folder here; none if it is below no root.
    pub here: Option<PathBuf>,
    /// Its name.
    pub name: Vec<u8>,
    /// What it said of itself.
    pub stat: Stat,
    /// Its pieces.
    pub pieces: Vec<Id>,
}

/// Returns the snapshots in the order in which they are believed: those of this host before others, each the newest first; those that keep
/// deleted messages last. `is_there` says whether a directory is there: a path of this host's snapshots that is not there any more,
/// and that has the last name of the one root which the snapshot lacks, is that root before it was moved.
pub(crate) fn sources(
    snapshots: &[Snapshot],
    roots: &[Root],
    host: &str,
    is_there: &dyn Fn(&Path) -> bool,
) -> Vec<Source> {
    let mut order: Vec<&Snapshot> = snapshots.iter().collect();
    let keeps_deleted = |snapshot: &Snapshot| snapshot.tags.iter().any(|tag| tag == KEPT);
    order.sort_by_key(|snapshot| {
        (keeps_deleted(snapshot), snapshot.hostname != host, Reverse(snapshot.time.ns()))
    });
    let in_place = roots.iter().filter_map(|root| Some((plain(&root.path)?, root.path.clone())));
    let in_place: Vec<(Vec<u8>, PathBuf)> = in_place.collect();
    let source = |snapshot: &Snapshot| {
        let mut roots = in_place.clone();
        if snapshot.hostname == host {
            roots.extend(moved(snapshot, &in_place, is_there));
        }
        Source { tree: snapshot.tree, roots }
    };
    order.into_iter().map(source).collect()
}

/// Returns the path that a root had when the snapshot was made, if exactly one can be meant.
fn moved(
    snapshot: &Snapshot,
    roots: &[(Vec<u8>, PathBuf)],
    is_there: &dyn Fn(&Path) -> bool,
) -> Option<(Vec<u8>, PathBuf)> {
    let paths: Vec<&Path> = snapshot.paths.iter().map(Path::new).collect();
    let mut lacking = roots.iter().filter(|(_, root)| !paths.iter().any(|path| root.starts_with(path)));
    let (_, root) = lacking.next().filter(|_| lacking.next().is_none())?;
    let mut same = paths.iter().filter(|path| {
        path.file_name() == root.file_name()
            && !roots.iter().any(|(_, root)| path.starts_with(root))
            && !is_there(path)
    });
    let path = same.next().filter(|_| same.next().is_none())?;
    Some((plain(path)?, root.clone()))
}

/// What a directory of a snapshot is here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Spot {
    /// A root lies in it, or may.
    Above,
    /// This directory.
    Here(PathBuf),
    /// None.
    Nowhere,
}

impl Source {
    fn spot(&self, path: &[u8]) -> Spot {
        let path = original(path);
        let below = self.roots.iter().filter_map(|(root, here)| Some((rest_below(path, root)?, here)));
        match below.min_by_key(|(rest, _)| rest.len()) {
            Some((rest, here)) => Spot::Here(here.join(OsStr::from_bytes(rest))),
            None if self.roots.iter().any(|(root, _)| rest_below(root, path).is_some()) => Spot::Above,
            None => Spot::Nowhere,
        }
    }
}

/// Returns the path of what lies in a directory, from there; empty for the directory itself.
fn rest_below<'a>(path: &'a [u8], directory: &[u8]) -> Option<&'a [u8]> {
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(b"/") }
}

/// Returns the best file of each message that any snapshot has: of all that have a place here, the first that is in no trash and not marked
/// as deleted, else the first; else the first anywhere.
///
/// # Errors
/// A tree cannot be read; [`Error::Interrupted`](crate::Error::Interrupted).
pub(crate) fn best(
    vault: &dyn Vault,
    learned: &Learned<'_>,
    sources: &[Source],
    wanted: &HashSet<[u8; 32]>,
    progress: &dyn Progress,
) -> Result<HashMap<[u8; 32], Kept>> {
    let mut repeats = Repeats::new(sources.len());
    let mut search = Search { learned, wanted, found: HashMap::new(), seen: HashSet::new() };
    for source in sources {
        if search.is_over() {
            break;
        }
        let mut left = vec![(Vec::new(), source.tree, 0)];
        while let Some((path, tree, depth)) = left.pop() {
            let spot = source.spot(&path);
            // What was met at the same place before has nothing new. Above a root it depends on the snapshot what is where.
            if spot != Spot::Above && !search.seen.insert((tree, spot)) {
                continue;
            }
            progress.check()?;
            let entries = vault.tree(&tree)?;
            repeats.meet(&tree, entries.len())?;
            for entry in &entries {
                search.look(source, &path, entry)?;
            }
            for entry in entries.iter().rev() {
                if let (Content::Directory(tree), true) = (&entry.content, depth < DEPTH_MAX) {
                    left.push((child(&path, &entry.name), *tree, depth + 1));
                }
            }
        }
    }
    Ok(search.found)
}

/// What was found by now.
struct Search<'a> {
    learned: &'a Learned<'a>,
    wanted: &'a HashSet<[u8; 32]>,
    found: HashMap<[u8; 32], Kept>,
    seen: HashSet<(Id, Spot)>,
}

impl Search<'_> {
    fn look(&mut self, source: &Source, directory: &[u8], entry: &Entry) -> Result<()> {
        let (Content::File(pieces), Some((folder, _))) = (&entry.content, message_place(directory)) else {
            return Ok(());
        };
        let Some(key) = self.learned.message_of(pieces)?.filter(|key| self.wanted.contains(key)) else {
            return Ok(());
        };
        let here = match source.spot(folder) {
            Spot::Here(here) => Some(here),
            Spot::Above | Spot::Nowhere => None,
        };
        let kept = Kept {
            folder: folder.to_vec(),
            here,
            name: entry.name.clone(),
            stat: entry.stat,
            pieces: pieces.clone(),
        };
        if self.found.get(&key).is_none_or(|before| kept.rank() < before.rank()) {
            self.found.insert(key, kept);
        }
        Ok(())
    }

    /// Says whether nothing better can be found.
    fn is_over(&self) -> bool {
        self.found.len() == self.wanted.len() && self.found.values().all(|kept| kept.rank() == Rank::Good)
    }
}

/// How good a place is, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Good,
    /// About to be deleted there.
    Trashed,
    /// Not here.
    Elsewhere,
}

impl Kept {
    fn rank(&self) -> Rank {
        match &self.here {
            None => Rank::Elsewhere,
            Some(here) if is_trash(here) || mail::parse_name(&self.name).flags.contains(Flags::TRASHED) => {
                Rank::Trashed
            }
            Some(_) => Rank::Good,
        }
    }
}

/// Says whether a folder is one for what is about to be deleted, by its name: `Trash`, `.INBOX.Trash`.
fn is_trash(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    TRASH_FOLDERS.contains(&name.rsplit('.').next().unwrap_or(&name))
}

#[cfg(test)]
mod tests;
