//! How work reports what it does. Input: stages and amounts. Output: whether to go on.

use std::error::Error;
use std::fmt;

/// Watches long work. Methods are called from many threads at once.
///
/// Every method has a default that does nothing, so that an implementation overrides what it shows.
pub trait Progress: Send + Sync {
    /// A stage begins. Amounts that follow belong to it.
    fn stage(&self, _stage: Stage) {}

    /// Says how much there is to do in this stage, as soon as that is known, and again if it turns out to be
    /// more. `items` are files, blobs or trees, whatever the work is about; `bytes` is 0 if only items are
    /// counted.
    fn expect(&self, _items: u64, _bytes: u64) {}

    /// Says how much more is done.
    fn add(&self, _items: u64, _bytes: u64) {}

    /// Another process holds a lock, and the work waits for it. `holder` says who that is.
    fn waiting(&self, _holder: &str) {}

    /// Returns whether the work has waited long enough for another process. Is asked only after
    /// [`Progress::waiting`], until the lock is free.
    fn gives_up(&self) -> bool {
        false
    }

    /// Returns whether to stop. What is finished by then is kept.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Returns an error if the work is to stop, for use with `?`.
    ///
    /// # Errors
    /// [`Cancelled`].
    fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// The work was stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("interrupted")
    }
}

impl Error for Cancelled {}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Listing directories; the amount is not known.
    List,
    /// Reading files.
    Read,
    /// Merging segments.
    Merge,
    /// Importing messages from files of other programs.
    Import,
}

/// Passes everything on to another observer. The owner also hears of each stage, and may stop the work.
pub struct Relay<'a> {
    /// The other observer.
    pub progress: &'a dyn Progress,
    /// Is called when a stage begins, before the other observer hears of it.
    pub at_stage: &'a (dyn Fn(Stage) + Sync),
    /// Returns whether to stop, whatever the other observer says.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Progress for Relay<'_> {
    fn stage(&self, stage: Stage) {
        (self.at_stage)(stage);
        self.progress.stage(stage);
    }

    fn expect(&self, items: u64, bytes: u64) {
        self.progress.expect(items, bytes);
    }

    fn add(&self, items: u64, bytes: u64) {
        self.progress.add(items, bytes);
    }

    fn waiting(&self, holder: &str) {
        self.progress.waiting(holder);
    }

    fn gives_up(&self) -> bool {
        self.progress.gives_up()
    }

    fn is_cancelled(&self) -> bool {
        (self.is_stopped)() || self.progress.is_cancelled()
    }
}

/// Shows nothing, and never stops the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}
