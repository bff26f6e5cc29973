//! How long work tells how far it is, and is asked to stop.
//!
//! Comes in: what was done since the last call. Goes out: whether to go on. Must not know who shows it.

use crate::error::{Error, Result};

/// Somebody who watches long work, from many threads at once.
pub trait Progress: Sync {
    /// Says how much there is to do in all, as soon as that is known; again if it turns out to be more.
    fn expect(&self, items: u64, bytes: u64);

    /// Says that so many more items (blobs, files, trees: whatever the work is about) and bytes are done.
    fn add(&self, items: u64, bytes: u64);

    /// Says whether the user asked to stop.
    fn is_interrupted(&self) -> bool;

    /// Returns an error if the user asked to stop.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    fn check(&self) -> Result<()> {
        if self.is_interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Nobody watches, and nobody asks to stop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn expect(&self, _items: u64, _bytes: u64) {}

    fn add(&self, _items: u64, _bytes: u64) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}
