//! The result of a check.

use crate::error::Error;

/// The result of a check.
#[derive(Debug, Default)]
pub struct CheckReport {
    /// Faults: snapshots may not restore completely.
    pub faults: Vec<Error>,
    /// Sentences on what is untidy but harmless.
    pub hints: Vec<String>,
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
