//! Says whether the messages of a directory are as the last snapshot has them.
//!
//! In: the names that should be there, the rows of the last backup. Out: how much is unchanged, or that something is not, whatever it may
//! be. Every file is asked for its stat and none is opened; nothing is kept of any: what most directories need at most backups.

use crate::entry::PIECE_BYTES_MIN;
use crate::error::Result;
use crate::expected::Expected;
use crate::known::{Known, KnownDirectory, KnownFile};
use crate::messages::{Source, look, open};
use archive::Id;
use rayon::prelude::*;
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

/// Returns what is in a directory, if it has exactly the files that are `expected`, each as it was, and the archive has their contents and
/// their tree. What cannot be read is not unchanged: whoever looks at each file says why.
///
/// # Errors
/// What the archive and the tables say.
pub(crate) fn unchanged(
    source: &Source<'_>,
    place: &Path,
    expected: &[Expected<'_>],
    before: &KnownDirectory<'_>,
) -> Result<Option<Unchanged>> {
    let (Some(known), Some(tree), files) = (source.known, before.tree, &before.files) else {
        return Ok(None);
    };
    let are_named_so = files.iter().map(|file| file.name).eq(expected.iter().map(|file| &*file.name));
    if !are_named_so || !source.depot.has_tree(&tree)? {
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
        if !add_pieces(known, file, &mut pieces)? {
            return Ok(None);
        }
    }
    if source.depot.has_pieces(&pieces)?.contains(&false) {
        return Ok(None);
    }
    source.progress.add(files.len() as u64, 0);
    Ok(Some(Unchanged { tree, file_count: files.len() as u64, bytes }))
}

fn are_as_they_were(directory: &OwnedFd, files: &[KnownFile<'_>]) -> Result<bool> {
    let differs = |file: &KnownFile<'_>| match look(directory, file.name) {
        Ok(Some(stat)) => file.is_as(&stat).map(|is_same| !is_same),
        // Where a link leads is looked at by whoever stores it.
        Ok(None) | Err(_) => Ok(true),
    };
    // The first that differs, or of which nothing can be said, ends it.
    let found =
        files.par_iter().with_min_len(LOOK_COUNT).map(differs).find_any(|found| !matches!(found, Ok(false)));
    Ok(!found.transpose()?.unwrap_or(false))
}

/// Appends the names of a file's pieces; says whether they are known.
fn add_pieces(known: &Known, file: &KnownFile<'_>, pieces: &mut Vec<Id>) -> Result<bool> {
    match file.size_bytes()? {
        0 => {}
        1..PIECE_BYTES_MIN => pieces.push(Id(file.content()?)),
        size_bytes => match known.pieces(file.content()?, size_bytes)? {
            Some(of_file) => pieces.extend(of_file),
            None => return Ok(false),
        },
    }
    Ok(true)
}
