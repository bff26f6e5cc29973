//! Finds the folders below a root, without reading `cur` and `new`.
//!
//! Input: a root directory. Output: every Maildir in it, at any depth, each once, and everything that could
//! not be read, so that an unknown directory never counts as empty. `walk.rs` describes the walk.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Result;
use crate::maildir::folder::{FolderLimits, Folders};
use crate::maildir::path::join;
use crate::maildir::scan::{Directory, EntryKind, ScanBuffer};
use crate::maildir::walk::{NoIndex, walk};
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
