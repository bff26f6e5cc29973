//! What the index is given by the program that uses it: a disk, a place, a seed, a clock and threads.
//!
//! Libraries read no environment and no clock by themselves, so that every test can be repeated.

use crate::error::{Error, Result};
use disk::Disk;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work::Context;

/// Seconds since 1970 that a clock may show and be right, 2020 to 2069: this program is younger, and clocks
/// that have lost their time show 1970, 1980, 2000, 2080 or 2099. Nanoseconds in 64 bits end in 2262.
pub const CLOCK_SECONDS: RangeInclusive<i64> = 1_577_836_800..=3_155_759_999;

/// Returns the present against which dates of mail are held: a clock that makes no sense must not make all of
/// them wrong.
pub fn present_for_dates(clock_seconds: i64) -> i64 {
    if CLOCK_SECONDS.contains(&clock_seconds) { clock_seconds } else { *CLOCK_SECONDS.end() }
}

/// Where the index lives and what it may use.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The disk that holds the index. Mail itself is always read from the operating system's.
    pub disk: Arc<dyn Disk>,
    /// The data directory; `index/` and `user/` in it are ours.
    pub data: PathBuf,
    /// Makes file names that nobody else makes.
    pub seed: u64,
    /// Says to others who holds the lock: the process and what it does.
    pub holder: String,
    /// The clock, and how many threads may work.
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

    /// Returns the directory of what the user said: tags, and saved queries.
    pub fn user_directory(&self) -> PathBuf {
        self.data.join("user")
    }

    /// Returns the time in seconds since 1970.
    pub fn now_seconds(&self) -> i64 {
        self.context.now_ns().div_euclid(1_000_000_000)
    }

    /// Returns the time in seconds since 1970, for whatever is forgotten because of it.
    ///
    /// # Errors
    /// [`Error::Clock`] if the clock makes no sense.
    pub fn credible_seconds(&self) -> Result<i64> {
        let now_seconds = self.now_seconds();
        if CLOCK_SECONDS.contains(&now_seconds) { Ok(now_seconds) } else { Err(Error::Clock { now_seconds }) }
    }
}

/// Returns the directory of the text index beside a store.
pub(crate) fn text_directory(index: &Path) -> PathBuf {
    index.join("text")
}
