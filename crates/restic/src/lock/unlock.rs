//! Removes locks that others left, on request.

use super::lock_file::load;
use crate::error::Result;
use crate::file_name::{FileKind, FileName};
use crate::format::unpacked::Parts;

/// Which locks to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichLocks {
    /// Stale locks, whose process has ended.
    Stale,
    /// All, readable or not.
    All,
}

/// Removes locks and returns how many. No process may still be working under them.
///
/// # Errors
/// Storage errors.
pub fn unlock(parts: &Parts, which: WhichLocks) -> Result<usize> {
    let mut count = 0;
    for (id, size) in parts.storage.list(FileKind::Lock)? {
        let goes = match which {
            WhichLocks::All => true,
            // A lock that cannot be read may belong to a process that is working.
            WhichLocks::Stale => {
                size > 0 && load(parts, id).is_ok_and(|note| note.is_stale(&parts.surroundings))
            }
        };
        if goes {
            parts.storage.remove(FileName { kind: FileKind::Lock, id })?;
            count += 1;
        }
    }
    Ok(count)
}
