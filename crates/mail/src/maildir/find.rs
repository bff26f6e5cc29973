//! Finds the folders below a root, without reading `cur` and `new`.
//!
//! Input: a root directory. Output: every Maildir in it, at any depth, each once, and everything that could
//! not be read, so that an unknown directory never counts as empty. `walk.rs` describes the walk.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Result;
use crate::maildir::folder::{Folder, FolderLimits, Folders};
use crate::maildir::keywords::KEYWORDS_FILE;
use crate::maildir::path::join;
use crate::maildir::relocate::stat_entry;
use crate::maildir::scan::{Directory, EntryKind, ScanBuffer};
use crate::maildir::stamp::{FileStat, stat_directory};
use crate::maildir::walk::{NO_INDEX, NO_UPDATE, NoIndex, walk};
use std::path::{Path, PathBuf};

/// Finds all folders at and below `root`.
///
/// # Errors
/// [`crate::Error::Io`] if the root itself is missing, no directory, or cannot be read.
pub fn find_folders(root: &Path) -> Result<Folders> {
    find_folders_within(root, FolderLimits::default())
}

/// Does what [`find_folders`] does, with other limits.
///
/// # Errors
/// Same as [`find_folders`].
pub fn find_folders_within(root: &Path, limits: FolderLimits) -> Result<Folders> {
    walk(root, limits, NoIndex::LeavesOut)
}

/// Looks at one folder that is known to be below `root`, at the relative `path`, without a walk. Returns what
/// a walk would return for it.
///
/// Returns `None` if only a walk can tell: it is no folder now, it may be excluded, or its `cur` or `new` is
/// a link.
pub fn look_at_folder(root: &Path, path: &[u8]) -> Option<Folder> {
    let directory = join(root, path);
    let stamp = stat_directory(&directory).ok()?;
    let mut no_update = false;
    for above in directory.ancestors().take_while(|above| above.starts_with(root)) {
        if stat_if_there(&join(above, NO_INDEX)).ok()?.is_some() {
            return None;
        }
        no_update |= stat_if_there(&join(above, NO_UPDATE)).ok()?.is_some();
    }
    let is_directory = |name: &str| match stat_if_there(&directory.join(name)).ok()? {
        Some(stat) => stat.is_directory().then_some(true),
        None => Some(false),
    };
    let (has_cur, has_new) = (is_directory("cur")?, is_directory("new")?);
    let keywords = stat_if_there(&join(&directory, KEYWORDS_FILE)).ok()?;
    let has_keywords = keywords.is_some_and(|stat| !stat.is_link());
    (has_cur || has_new).then(|| Folder {
        path: path.to_vec(),
        has_cur,
        has_new,
        no_update,
        has_keywords,
        stamp,
    })
}

/// Returns the stat of a directory entry, or `None` if there is none.
fn stat_if_there(path: &Path) -> Result<Option<FileStat>> {
    match stat_entry(path) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the folders that a file `.noindex` in `directory` excludes, itself and those below it, sorted by
/// path. Only folders with message files of their own count: links to mail elsewhere do not, nor do folders
/// that cannot be read.
pub fn folders_left_out(directory: &Path) -> Vec<PathBuf> {
    let found = walk(directory, FolderLimits::default(), NoIndex::MeansNothing).unwrap_or_default();
    let mut buffer = ScanBuffer::new();
    let mut has_mail = |folder: &PathBuf| {
        [b"cur", b"new"].iter().any(|place| has_files(&join(folder, *place), &mut buffer).unwrap_or(false))
    };
    found.folders.iter().map(|folder| join(directory, &folder.path)).filter(|path| has_mail(path)).collect()
}

fn has_files(directory: &Path, buffer: &mut ScanBuffer) -> Result<bool> {
    Directory::open(directory)?.has(buffer, |entry| {
        let is_file = entry.resolve_kind().is_ok_and(|kind| kind == EntryKind::File);
        is_file && !entry.name.starts_with(b".")
    })
}
