//! The result of a check.

use crate::error::Error;
use crate::remedy::Remedy;
use std::fmt::{Display, Formatter};

/// The result of a check.
#[derive(Debug, Default)]
pub struct CheckReport {
    /// Faults: snapshots may not restore completely.
    pub faults: Vec<Error>,
    /// What is untidy but harmless.
    pub hints: Vec<Hint>,
    /// Snapshots that were looked at.
    pub snapshot_count: u64,
    /// Packs that index files name.
    pub pack_count: u64,
    /// Blobs that index files name, copies included.
    pub blob_count: u64,
    /// Blobs that no snapshot uses.
    pub unused_blob_count: u64,
    /// Packs that were read.
    pub read_pack_count: u64,
}

/// Something untidy but harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// A sentence.
    pub what: String,
    /// What helps, if anything is to be done.
    pub remedy: Option<Remedy>,
}

impl Hint {
    pub(super) fn new(what: impl Into<String>) -> Hint {
        Hint { what: what.into(), remedy: None }
    }
}

impl Display for Hint {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.what)
    }
}
