//! What an export in another format wrote, and what had no place in it.

use std::path::PathBuf;

/// A space that was written.
pub(crate) struct Written {
    /// Its name.
    pub name: String,
    /// How many tuples.
    pub row_count: u64,
    /// The file.
    pub path: PathBuf,
}

/// What was written, and what had no place in the format, a sentence each.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The spaces.
    pub written: Vec<Written>,
    /// Sentences.
    pub remarks: Vec<String>,
}
