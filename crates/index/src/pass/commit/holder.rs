//! Passes on who holds a lock, from the thread that waits for it to the thread that runs the pass.
//!
//! Input: what a waiting thread reports. Output: the same, when somebody asks. Must not know what is waited
//! for.

use std::sync::{Mutex, PoisonError};
use work::Progress;

/// Who holds the lock for which a thread waits. The observer is told by the coordinator, when it waits
/// itself: as long as it works, the process is not one that waits.
#[derive(Default)]
pub(in crate::pass) struct Holder(Mutex<Option<String>>);

impl Progress for Holder {
    fn waiting(&self, holder: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(holder.to_owned());
    }

    /// Asked when the lock is there.
    fn is_cancelled(&self) -> bool {
        self.take();
        false
    }
}

impl Holder {
    /// Returns who holds the lock, if a thread waits for it and that was not asked before.
    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
