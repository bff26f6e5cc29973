//! What the index is given by the program that uses it: a disk, a place, a clock, a seed.
//!
//! Libraries read no environment and no clock by themselves, so that every test can be repeated.

use crate::user;
use disk::Disk;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the index lives and what it may use.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The disk that holds the index. Mail itself is always read from the operating system's.
    pub disk: Arc<dyn Disk>,
    /// The data directory; `index/` and `user/` in it are ours.
    pub data: PathBuf,
    /// Returns the time in nanoseconds since 1970.
    pub clock_ns: fn() -> i64,
    /// Makes file names that nobody else makes.
    pub seed: u64,
    /// Says to others who holds the lock: the process and what it does.
    pub holder: String,
    /// How many threads may work.
    pub thread_count: usize,
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
        user::directory(&self.data)
    }

    /// Returns the time in seconds since 1970.
    pub fn now_seconds(&self) -> i64 {
        (self.clock_ns)().div_euclid(1_000_000_000)
    }
}

/// Returns the directory of the text index beside a store.
pub(crate) fn text_directory(index: &Path) -> PathBuf {
    index.join("text")
}
