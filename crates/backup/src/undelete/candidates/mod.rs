//! Finds the best file of each message in snapshots, and the folder here that it goes into.
//!
//! Input: SHA-256 of messages; snapshots; the roots of the index. Output: for each message its best file,
//! with its pieces and times. A snapshot may be of another machine or another program, so only what lies
//! below a root of this index has a folder here.

use crate::blobs::entry::{Content, Entry, Stat};
use crate::blobs::reader::BlobReader;
use crate::blobs::walk::DEPTH_MAX;
use crate::error::Result;
use crate::names::{keeps_deleted, original};
use crate::paths::message_place;
use crate::paths::{child, plain};
use crate::read::lookup::PieceLookup;
use index::Root;
use mail::Flags;
use restic::{Id, Repeats, Snapshot};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use work::Progress;

/// Names, in lower case, that servers and mail programs give to folders for deleted messages.
const TRASH_FOLDERS: [&str; 5] = ["bin", "deleted", "deleted items", "deleted messages", "trash"];

/// A snapshot that is looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchedSnapshot {
    /// Its tree.
    pub tree: Id,
    /// Directories in it that are roots here, and where.
    pub roots: Vec<(Vec<u8>, PathBuf)>,
}

/// A message file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotFile {
    /// The directory of its folder in the snapshot, absolute.
    pub folder: Vec<u8>,
    /// The same folder here; none if it is below no root.
    pub here: Option<PathBuf>,
    /// Its name.
    pub name: Vec<u8>,
    /// Its metadata.
    pub stat: Stat,
    /// Its pieces.
    pub pieces: Vec<Id>,
}

/// Returns the snapshots in order of preference: those of this host, then others, each newest first;
/// snapshots of deleted messages come last. `is_there` returns whether a directory exists. A root may have
/// been moved: if a snapshot of this host lacks exactly one root, and has one path that no longer exists with
/// the same last component, that path is assumed to be the root.
pub(crate) fn search_order(
    snapshots: &[Snapshot],
    roots: &[Root],
    host: &str,
    is_there: &dyn Fn(&Path) -> bool,
) -> Vec<SearchedSnapshot> {
    let mut order: Vec<&Snapshot> = snapshots.iter().collect();
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
        SearchedSnapshot { tree: snapshot.tree, roots }
    };
    order.into_iter().map(source).collect()
}

/// Returns the path that a root had when the snapshot was made, if it is unambiguous.
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

/// The place of a snapshot's directory on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LocalFolder {
    /// Above a root.
    AboveRoot,
    /// In this directory.
    At(PathBuf),
    /// Outside of all roots.
    Outside,
}

impl SearchedSnapshot {
    fn spot(&self, path: &[u8]) -> LocalFolder {
        let path = original(path);
        let below = self.roots.iter().filter_map(|(root, here)| Some((rest_below(path, root)?, here)));
        match below.min_by_key(|(rest, _)| rest.len()) {
            Some((rest, here)) => LocalFolder::At(here.join(OsStr::from_bytes(rest))),
            None if self.roots.iter().any(|(root, _)| rest_below(root, path).is_some()) => {
                LocalFolder::AboveRoot
            }
            None => LocalFolder::Outside,
        }
    }
}

/// Returns the rest of a path below a directory; empty for the directory itself.
fn rest_below<'a>(path: &'a [u8], directory: &[u8]) -> Option<&'a [u8]> {
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(b"/") }
}

/// Returns the best file of each message in any snapshot. Prefers files below a root that are neither in a
/// trash folder nor flagged as deleted, then other files below a root, then any; and within each group the
/// first in `search_order`.
///
/// # Errors
/// A tree cannot be read; [`Error::Interrupted`](crate::Error::Interrupted).
pub(crate) fn best_files(
    reader: &dyn BlobReader,
    lookup: &PieceLookup<'_>,
    search_order: &[SearchedSnapshot],
    wanted: &HashSet<[u8; 32]>,
    progress: &dyn Progress,
) -> Result<HashMap<[u8; 32], SnapshotFile>> {
    let mut repeats = Repeats::new(search_order.len());
    let mut search = Search { lookup, wanted, found: HashMap::new(), seen: HashSet::new() };
    for source in search_order {
        if search.is_over() {
            break;
        }
        let mut left = vec![(Vec::new(), source.tree, 0)];
        while let Some((path, tree, depth)) = left.pop() {
            let spot = source.spot(&path);
            // A tree that was seen at the same directory has nothing new. Above a root, the roots of the
            // snapshot matter.
            if spot != LocalFolder::AboveRoot && !search.seen.insert((tree, spot)) {
                continue;
            }
            progress.check()?;
            let entries = reader.tree(&tree)?;
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

/// The state of a search.
struct Search<'a> {
    lookup: &'a PieceLookup<'a>,
    wanted: &'a HashSet<[u8; 32]>,
    found: HashMap<[u8; 32], SnapshotFile>,
    seen: HashSet<(Id, LocalFolder)>,
}

impl Search<'_> {
    fn look(&mut self, source: &SearchedSnapshot, directory: &[u8], entry: &Entry) -> Result<()> {
        let (Content::File(pieces), Some((folder, _))) = (&entry.content, message_place(directory)) else {
            return Ok(());
        };
        let Some(key) = self.lookup.message_of(pieces)?.filter(|key| self.wanted.contains(key)) else {
            return Ok(());
        };
        let here = match source.spot(folder) {
            LocalFolder::At(here) => Some(here),
            LocalFolder::AboveRoot | LocalFolder::Outside => None,
        };
        let kept = SnapshotFile {
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

    /// Returns whether nothing better can be found.
    fn is_over(&self) -> bool {
        self.found.len() == self.wanted.len() && self.found.values().all(|kept| kept.rank() == Rank::Good)
    }
}

/// How good a file is, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Good,
    /// About to be deleted there.
    Trashed,
    /// Not here.
    NotHere,
}

impl SnapshotFile {
    fn rank(&self) -> Rank {
        match &self.here {
            None => Rank::NotHere,
            Some(here) if is_trash(here) || mail::parse_name(&self.name).flags.contains(Flags::TRASHED) => {
                Rank::Trashed
            }
            Some(_) => Rank::Good,
        }
    }
}

/// Returns whether the name of a folder is that of a trash folder: `Trash`, `.INBOX.Trash`.
fn is_trash(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    TRASH_FOLDERS.contains(&name.rsplit('.').next().unwrap_or(&name))
}

#[cfg(test)]
mod tests;
