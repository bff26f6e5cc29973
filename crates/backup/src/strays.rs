//! Pieces that lie in the archive and that no index file names: what is lost with index files, and what
//! interrupted backups leave.
//!
//! In: an open repository. Out: the names of such pieces, and what could not be read. Must not know messages.

use crate::error::Result;
use archive::{BlobKind, Id, Progress, Repository};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Pieces that no index file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strays {
    /// Their names.
    pub pieces: HashSet<Id>,
    /// In how many packs they and trees lie.
    pub pack_count: u64,
    /// Packs that could not be read, a sentence each: what is in them is not known.
    pub problems: Vec<String>,
}

/// Reads what is in packs that no index file names.
///
/// # Errors
/// The storage cannot be reached; [`Error::Interrupted`](crate::Error::Interrupted).
pub(crate) fn strays(repository: &Repository, progress: &dyn Progress) -> Result<Strays> {
    let pieces = Mutex::new(HashSet::new());
    let unnamed = archive::unnamed(repository, progress, &|blob| {
        if blob.kind == BlobKind::Data {
            pieces.lock().unwrap_or_else(PoisonError::into_inner).insert(blob.id);
        }
    })?;
    Ok(Strays {
        pieces: pieces.into_inner().unwrap_or_else(PoisonError::into_inner),
        pack_count: unnamed.pack_count,
        problems: unnamed.unread.iter().map(ToString::to_string).collect(),
    })
}
