//! Packs that are stored but that no index file names.
//!
//! Output: the blobs in such packs, read from the packs' headers.
//!
//! An interrupted backup leaves such packs, and prune removes them. If index files are lost, everything they
//! named lies in such packs: look here before reporting that something is not in the repository.

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::FileKind;
use crate::format::blob::PackedBlob;
use crate::format::pack;
use crate::repository::Repository;
use crate::threads::on_all_threads;
use std::sync::{Mutex, PoisonError};
use work::Progress;

/// Packs that no index file names.
#[derive(Debug, Default)]
pub struct UnindexedPacks {
    /// Their number.
    pub pack_count: u64,
    /// Errors of those that cannot be read.
    pub unread: Vec<Error>,
}

/// Shows `each` the blobs in packs that no index file names, from many threads. Reads only the headers of the
/// packs.
///
/// # Errors
/// The index cannot be read, the storage cannot be reached, or [`Error::Interrupted`].
pub fn unindexed_packs(
    repository: &Repository,
    progress: &dyn Progress,
    each: &(dyn Fn(&PackedBlob) + Sync),
) -> Result<UnindexedPacks> {
    let mut packs = repository.storage().list(FileKind::Pack)?;
    retain_unindexed(repository, &mut packs)?;
    if !packs.is_empty() {
        // A backup may have run since the index was read: packs are stored before the index files that name
        // them.
        retain_unindexed(&repository.reread(), &mut packs)?;
    }
    packs.sort_unstable();
    let found = Mutex::new(UnindexedPacks::default());
    on_all_threads(repository.surroundings().context.threads.count(), &packs, |_: &mut (), &(id, size)| {
        progress.check()?;
        let read = pack::list(repository.storage(), repository.key(), id, size);
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(blobs) => blobs.iter().for_each(each),
            // It has been removed.
            Err(Error::Missing { .. }) => return Ok(()),
            Err(error) if error.ends_work() => return Err(error),
            Err(error) => found.unread.push(error),
        }
        found.pack_count += 1;
        Ok(())
    })?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.unread.sort_by_cached_key(ToString::to_string);
    Ok(found)
}

fn retain_unindexed(repository: &Repository, packs: &mut Vec<(Id, u64)>) -> Result<()> {
    let named = repository.index()?.packs()?;
    packs.retain(|(id, _)| !named.contains(id));
    Ok(())
}
