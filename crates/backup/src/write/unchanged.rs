//! Tells whether the messages of a directory are as the last snapshot has them.
//!
//! Looks at every file that was not seen before, opens none, and keeps nothing in memory of any. This is all
//! that most directories need in most backups.

use crate::blobs::entry::PIECE_BYTES_MIN;
use crate::cache::{Cache, CachedDirectory, CachedFile};
use crate::error::Result;
use crate::write::context::{BackupContext, look, open};
use crate::write::expected::Expected;
use crate::write::seen::Seen;
use rayon::prelude::*;
use restic::Id;
use std::os::unix::ffi::OsStrExt;
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
    (before, seen): (&CachedDirectory<'_>, Option<&Seen>),
) -> Result<Option<Unchanged>> {
    let (Some(cache), Some(tree), files) = (context.cache, before.tree, &before.files) else {
        return Ok(None);
    };
    let are_named_so = files.iter().map(|file| file.name).eq(expected.iter().map(|file| &*file.name));
    if !are_named_so || !context.writer.has_tree(&tree)? {
        return Ok(None);
    }
    if !are_as_they_were(place, files, seen)? {
        return Ok(None);
    }
    stored(context, cache, place.as_os_str().as_bytes())
}

/// Returns the contents of a directory whose files are all as their rows, if the repository has them.
///
/// # Errors
/// The repository or the cache reports a failure.
pub(crate) fn stored(context: &BackupContext<'_>, cache: &Cache, path: &[u8]) -> Result<Option<Unchanged>> {
    let (mut pieces, mut file_count, mut bytes, mut are_known) = (Vec::new(), 0, 0, true);
    let tree = cache.each_content(path, |size_bytes, content| {
        file_count += 1;
        bytes += size_bytes;
        are_known = are_known && add_pieces(cache, (size_bytes, content), &mut pieces)?;
        Ok(())
    })?;
    let Some(tree) = tree.filter(|_| are_known) else { return Ok(None) };
    if !context.writer.has_tree(&tree)? || context.writer.has_pieces(&pieces)?.contains(&false) {
        return Ok(None);
    }
    context.progress.add(file_count, 0);
    Ok(Some(Unchanged { tree, file_count, bytes }))
}

/// Looks at the files that were not seen yet.
fn are_as_they_were(place: &Path, files: &[CachedFile<'_>], seen: Option<&Seen>) -> Result<bool> {
    let is_new = |place: usize| !seen.is_some_and(|seen| seen.is_same(place));
    let left: Vec<&CachedFile<'_>> =
        files.iter().enumerate().filter(|(place, _)| is_new(*place)).map(|(_, file)| file).collect();
    if left.is_empty() && !files.is_empty() {
        return Ok(true);
    }
    let Ok(directory) = open(place) else { return Ok(false) };
    let differs = |file: &&CachedFile<'_>| match look(&directory, file.name) {
        Ok(Some(stat)) => file.is_as(&stat).map(|is_same| !is_same),
        // The code that stores a link checks its target.
        Ok(None) | Err(_) => Ok(true),
    };
    // Stops at the first file that differs or cannot be checked.
    let found =
        left.par_iter().with_min_len(LOOK_COUNT).map(differs).find_any(|found| !matches!(found, Ok(false)));
    Ok(!found.transpose()?.unwrap_or(false))
}

/// Appends the names of a file's pieces; returns whether they are known.
fn add_pieces(cache: &Cache, (size_bytes, content): (u64, [u8; 32]), pieces: &mut Vec<Id>) -> Result<bool> {
    match size_bytes {
        0 => {}
        1..PIECE_BYTES_MIN => pieces.push(Id(content)),
        _ => match cache.pieces(content, size_bytes)? {
            Some(of_file) => pieces.extend(of_file),
            None => return Ok(false),
        },
    }
    Ok(true)
}
