//! Removes snapshots. What only they name stays in the repository until it is pruned.

use crate::encoding::id::Id;
use crate::error::Result;
use crate::file_name::{FileKind, FileName};
use crate::lock::HeldLock;
use crate::repository::Repository;
use work::Progress;

/// Removes snapshots, as long as the exclusive `lock` is held.
///
/// # Errors
/// [`Error::LockLost`](crate::Error::LockLost) or [`Error::Interrupted`](crate::Error::Interrupted) before
/// any of them; storage errors. Those before it are removed.
pub fn remove_snapshots(
    repository: &Repository,
    lock: &HeldLock,
    snapshots: &[Id],
    progress: &dyn Progress,
) -> Result<()> {
    for &id in snapshots {
        progress.check()?;
        lock.check()?;
        repository.storage().remove(FileName { kind: FileKind::Snapshot, id })?;
    }
    Ok(())
}
