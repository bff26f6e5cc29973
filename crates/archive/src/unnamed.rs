//! Packs that are stored and that no index file names.
//!
//! Comes in: a repository. Goes out: the blobs in such packs, as the packs' own headers tell of them. Must
//! not know what is looked for.
//!
//! A backup that was interrupted leaves such packs, and prune removes them. But if index files are lost, all
//! that they named lies in such packs: whoever says that something is not in the repository looks here first.

use crate::blob::PackedBlob;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::pack;
use crate::progress::Progress;
use crate::repository::Repository;
use crate::storage::FileKind;
use crate::threads::on_all_threads;
use std::sync::{Mutex, PoisonError};

/// Packs that no index file names.
#[derive(Debug, Default)]
pub struct Unnamed {
    /// How many there are.
    pub pack_count: u64,
    /// Why some of them cannot be read.
    pub unread: Vec<Error>,
}

/// Shows `each` the blobs in packs that no index file names, from many threads. Of the packs no more than the
/// headers are read.
///
/// # Errors
/// The index cannot be read, the storage cannot be reached, or [`Error::Interrupted`].
pub fn unnamed(
    repository: &Repository,
    progress: &dyn Progress,
    each: &(dyn Fn(&PackedBlob) + Sync),
) -> Result<Unnamed> {
    let mut packs = repository.storage().list(FileKind::Pack)?;
    retain_unnamed(repository, &mut packs)?;
    if !packs.is_empty() {
        // Somebody may have backed up since the index was read: packs come before the index files that name
        // them.
        retain_unnamed(&repository.reread(), &mut packs)?;
    }
    packs.sort_unstable();
    let found = Mutex::new(Unnamed::default());
    on_all_threads(repository.surroundings().thread_count, &packs, |_: &mut (), &(id, size)| {
        progress.check()?;
        let read = pack::list(repository.storage(), repository.key(), id, size);
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(blobs) => blobs.iter().for_each(each),
            // It was removed meanwhile.
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

fn retain_unnamed(repository: &Repository, packs: &mut Vec<(Id, u64)>) -> Result<()> {
    let named = repository.index()?.packs()?;
    packs.retain(|(id, _)| !named.contains(id));
    Ok(())
}
