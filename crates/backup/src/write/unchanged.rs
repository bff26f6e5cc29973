//! Tells whether the messages of a directory are as the last snapshot has them.
//!
//! Looks at every file, opens none, and keeps nothing in memory of any. This is all that most directories
//! need in most backups.

use crate::blobs::entry::PIECE_BYTES_MIN;
use crate::cache::{Cache, CachedDirectory, CachedFile};
use crate::error::Result;
use crate::write::context::{BackupContext, look, open};
use crate::write::expected::Expected;
use rayon::prelude::*;
use restic::Id;
use rustix::fd::OwnedFd;
use std::path::Path;

/// Files that a thread looks at in a row.
const LOOK_COUNT: usize = 128;

/// A directory in which nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unchanged {
    /// Its tree.
    pub tree: Id,
    /// How many files it has.
    pub file_count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// Returns the contents of a directory if it has exactly the `expected` files, all unchanged, and the
/// repository has their contents and their tree. A directory that cannot be read counts as changed; the code
/// that reads each file then reports the reason.
///
/// # Errors
/// The repository or the cache reports a failure.
pub(crate) fn unchanged(
    context: &BackupContext<'_>,
    place: &Path,
    expected: &[Expected<'_>],
    before: &CachedDirectory<'_>,
) -> Result<Option<Unchanged>> {
    let (Some(cache), Some(tree), files) = (context.cache, before.tree, &before.files) else {
        return Ok(None);
    };
    let are_named_so = files.iter().map(|file| file.name).eq(expected.iter().map(|file| &*file.name));
    if !are_named_so || !context.writer.has_tree(&tree)? {
        return Ok(None);
    }
    let Ok(directory) = open(place) else { return Ok(None) };
    if !are_as_they_were(&directory, files)? {
        return Ok(None);
    }
    let mut pieces = Vec::with_capacity(files.len());
    let mut bytes = 0;
    for file in files {
        bytes += file.size_bytes()?;
        if !add_pieces(cache, file, &mut pieces)? {
            return Ok(None);
        }
    }
    if context.writer.has_pieces(&pieces)?.contains(&false) {
        return Ok(None);
    }
    context.progress.add(files.len() as u64, 0);
    Ok(Some(Unchanged { tree, file_count: files.len() as u64, bytes }))
}

fn are_as_they_were(directory: &OwnedFd, files: &[CachedFile<'_>]) -> Result<bool> {
    let differs = |file: &CachedFile<'_>| match look(directory, file.name) {
        Ok(Some(stat)) => file.is_as(&stat).map(|is_same| !is_same),
        // The code that stores a link checks its target.
        Ok(None) | Err(_) => Ok(true),
    };
    // Stops at the first file that differs or cannot be checked.
    let found =
        files.par_iter().with_min_len(LOOK_COUNT).map(differs).find_any(|found| !matches!(found, Ok(false)));
    Ok(!found.transpose()?.unwrap_or(false))
}

/// Appends the names of a file's pieces; returns whether they are known.
fn add_pieces(cache: &Cache, file: &CachedFile<'_>, pieces: &mut Vec<Id>) -> Result<bool> {
    match file.size_bytes()? {
        0 => {}
        1..PIECE_BYTES_MIN => pieces.push(Id(file.content()?)),
        size_bytes => match cache.pieces(file.content()?, size_bytes)? {
            Some(of_file) => pieces.extend(of_file),
            None => return Ok(false),
        },
    }
    Ok(true)
}
