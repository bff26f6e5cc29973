//! The newest commit that this process has opened. The next to open one reads only what is new in it.
//!
//! Input: a disk and the directory of a store. Output: snapshots. Does not know what they hold.

use disk::Disk;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use store::Snapshot;

/// What this process has opened last. A clone is the same one.
#[derive(Clone, Debug, Default)]
pub struct Opened(Arc<Mutex<Option<Snapshot>>>);

impl Opened {
    /// Opens the newest commit of the store in `directory`.
    ///
    /// # Errors
    /// As [`Snapshot::open`].
    pub(crate) fn open(&self, disk: &Arc<dyn Disk>, directory: &Path) -> store::Result<Snapshot> {
        let newest = Snapshot::open_after(disk, directory, self.last(directory).as_ref())?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(newest.clone());
        Ok(newest)
    }

    /// Returns what was opened last, if it was this store.
    pub(crate) fn last(&self, directory: &Path) -> Option<Snapshot> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.filter(|last| last.directory() == directory)
    }
}
