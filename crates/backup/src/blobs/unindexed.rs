//! Pieces that are in the repository but that no index file names: what lost index files leave, and
//! interrupted backups.

use crate::error::Result;
use restic::{BlobKind, Id, Repository};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use work::Progress;

/// Pieces that no index file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnindexedBlobs {
    /// Their ids.
    pub pieces: HashSet<Id>,
    /// How many packs no index file names.
    pub pack_count: u64,
    /// Packs that could not be read, a sentence each. Their content is not known.
    pub problems: Vec<String>,
}

/// Reads the headers of all packs that no index file names.
///
/// # Errors
/// The storage cannot be reached; [`Error::Interrupted`](crate::Error::Interrupted).
pub(crate) fn unindexed_blobs(repository: &Repository, progress: &dyn Progress) -> Result<UnindexedBlobs> {
    let pieces = Mutex::new(HashSet::new());
    let unnamed = restic::unindexed_packs(repository, progress, &|blob| {
        if blob.kind == BlobKind::Data {
            pieces.lock().unwrap_or_else(PoisonError::into_inner).insert(blob.id);
        }
    })?;
    Ok(UnindexedBlobs {
        pieces: pieces.into_inner().unwrap_or_else(PoisonError::into_inner),
        pack_count: unnamed.pack_count,
        problems: unnamed.unread.iter().map(ToString::to_string).collect(),
    })
}
