//! What the index gets from the program that uses it: a disk, a directory, a seed, a clock and threads.
//!
//! The library reads neither the environment nor the clock itself, so that every test can be repeated.

use crate::error::{Error, Result};
use crate::opened::Opened;
use disk::Disk;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work::Context;

/// The times that a clock may plausibly show, in seconds since 1970: 2020 to 2069. This program is younger
/// than 2020, and clocks that were reset show 1970, 1980, 2000, 2080 or 2099. Times in nanoseconds, in 64
/// bits, end in 2262.
pub const CLOCK_SECONDS: RangeInclusive<i64> = 1_577_836_800..=3_155_759_999;

/// Returns the present time for judging dates of mail. If the clock is implausible, returns the last
/// plausible time, so that not every date counts as wrong.
pub fn present_for_dates(clock_seconds: i64) -> i64 {
    if CLOCK_SECONDS.contains(&clock_seconds) { clock_seconds } else { *CLOCK_SECONDS.end() }
}

/// Where the index lives and what it may use.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The disk that holds the index. Mail itself is always read from the operating system's file system.
    pub disk: Arc<dyn Disk>,
    /// The data directory. `index/` and `user/` in it belong to this crate.
    pub data: PathBuf,
    /// Seed for file names, so that no other process makes the same ones.
    pub seed: u64,
    /// Describes the lock's holder to other processes: which process, and what it does.
    pub holder: String,
    /// For how long changes are kept at least, in seconds. Usually
    /// [`CHANGES_KEPT_SECONDS`](crate::CHANGES_KEPT_SECONDS).
    pub changes_kept_seconds: i64,
    /// How many small segments of text may lie in a commit. Usually [`TEXT_SLOTS`](crate::TEXT_SLOTS).
    pub text_slots: u8,
    /// What this process has opened of the index.
    pub opened: Opened,
    /// The clock, and how many threads may run.
    pub context: Context,
}

impl Environment {
    /// Returns the directory of the store.
    pub fn index_directory(&self) -> PathBuf {
        self.data.join("index")
    }

    /// Returns the directory of the text index.
    pub fn text_directory(&self) -> PathBuf {
        text_directory(&self.index_directory())
    }

    /// Returns the directory of the user's own data: tags, and saved queries.
    pub fn user_directory(&self) -> PathBuf {
        self.data.join("user")
    }

    /// Returns the time in seconds since 1970.
    pub fn now_seconds(&self) -> i64 {
        self.context.now_ns().div_euclid(1_000_000_000)
    }

    /// Returns the time in seconds since 1970, for deciding what is old enough to be forgotten.
    ///
    /// # Errors
    /// [`Error::Clock`] if the clock is implausible.
    pub fn credible_seconds(&self) -> Result<i64> {
        let now_seconds = self.now_seconds();
        if CLOCK_SECONDS.contains(&now_seconds) { Ok(now_seconds) } else { Err(Error::Clock { now_seconds }) }
    }
}

/// Returns the directory of the text index beside a store.
pub(crate) fn text_directory(index: &Path) -> PathBuf {
    index.join("text")
}
