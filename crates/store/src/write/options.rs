//! The options of a writer: its name for others, whether it waits for locks, and its limits.

use crate::limits::{JOURNAL_BYTES_MAX, JOURNAL_ROWS_MAX, ROWS_PER_SEGMENT_MAX};
use crate::read::snapshot::Snapshot;
use crate::segment::write::Form;
use disk::Wait;

/// How a writer behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Shown to processes that find the store locked: process number and command.
    pub holder: String,
    /// What to do if another process writes.
    pub wait: Wait,
    /// The only source of randomness; names of files and identities of journals come from it.
    pub seed: u64,
    /// When commits go to segments.
    pub limits: Limits,
    /// How numbers lie in new segments.
    pub form: Form,
    /// Whether each file is written twice, the second time to `copy/` below the directory. For data that
    /// cannot be made again.
    pub keeps_copy: bool,
    /// A snapshot of the store, if the caller has one: what it has open is not opened again.
    pub known: Option<Snapshot>,
}

/// When commits go to segments. Smaller than the defaults for tests; larger counts as the default.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a journal.
    pub journal_bytes: u64,
    /// Rows, new and dead together, in a journal.
    pub journal_rows: u32,
    /// Rows in one segment.
    pub rows_per_segment: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            holder: String::new(),
            wait: Wait::Refuse,
            seed: 0,
            limits: Limits::default(),
            form: Form::Plain,
            keeps_copy: false,
            known: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            journal_bytes: JOURNAL_BYTES_MAX,
            journal_rows: JOURNAL_ROWS_MAX,
            rows_per_segment: ROWS_PER_SEGMENT_MAX,
        }
    }
}
