//! Counts new blobs and packs.

use crate::format::blob::BlobKind;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one saver added to the repository. Existing blobs do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveStatistics {
    /// New blobs of data.
    pub data_blob_count: u64,
    /// New trees.
    pub tree_blob_count: u64,
    /// Their length in bytes before they were compressed.
    pub plain_bytes: u64,
    /// Bytes that they take in the repository.
    pub packed_bytes: u64,
    /// New packs.
    pub pack_count: u64,
}

/// The sums, while many threads add to them.
#[derive(Debug, Default)]
pub(super) struct Counters {
    data_blob_count: AtomicU64,
    tree_blob_count: AtomicU64,
    plain_bytes: AtomicU64,
    packed_bytes: AtomicU64,
    pack_count: AtomicU64,
}

impl Counters {
    pub(super) fn add_blob(&self, kind: BlobKind, plain_bytes: u64, packed_bytes: u64) {
        let count = match kind {
            BlobKind::Data => &self.data_blob_count,
            BlobKind::Tree => &self.tree_blob_count,
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.plain_bytes.fetch_add(plain_bytes, Ordering::Relaxed);
        self.packed_bytes.fetch_add(packed_bytes, Ordering::Relaxed);
    }

    pub(super) fn add_pack(&self) {
        self.pack_count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn statistics(&self) -> SaveStatistics {
        let sum = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SaveStatistics {
            data_blob_count: sum(&self.data_blob_count),
            tree_blob_count: sum(&self.tree_blob_count),
            plain_bytes: sum(&self.plain_bytes),
            packed_bytes: sum(&self.packed_bytes),
            pack_count: sum(&self.pack_count),
        }
    }
}
