//! Packs that are stored but in no index file yet.
//!
//! Input: stored packs. Output: the JSON of an index file, when it is time for one.

use crate::encoding::id::Id;
use crate::format::blob::PackedBlob;
use crate::format::index_file::{BLOB_COUNT_FULL, IndexFileWriter};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An index file is written as soon as its first pack has waited this long, as in restic, so that a later
/// interruption does not cost these packs.
const AGE_NS_MAX: i64 = 600 * 1_000_000_000;

/// The packs, as the index file that will tell of them.
#[derive(Debug, Default)]
pub(super) struct Unindexed {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    writer: IndexFileWriter,
    first_ns: i64,
}

impl Unindexed {
    /// Adds a pack. Returns an index file if it is time to store one.
    pub(super) fn add(&self, pack: &Id, blobs: &[PackedBlob], now_ns: i64) -> Option<Vec<u8>> {
        let mut inner = self.inner();
        if inner.writer.blob_count() == 0 {
            inner.first_ns = now_ns;
        }
        inner.writer.add(pack, blobs);
        let is_old = now_ns.saturating_sub(inner.first_ns) >= AGE_NS_MAX;
        (is_old || inner.writer.blob_count() >= BLOB_COUNT_FULL).then(|| inner.take())
    }

    /// Returns an index file for the packs that are left, if any.
    pub(super) fn rest(&self) -> Option<Vec<u8>> {
        let mut inner = self.inner();
        (inner.writer.blob_count() > 0).then(|| inner.take())
    }

    /// A panic in here poisons the whole saver.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.writer).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::blob::BlobKind;

    fn blobs(count: usize) -> Vec<PackedBlob> {
        let id = Id([3; 32]);
        vec![PackedBlob { kind: BlobKind::Data, id, offset: 0, length: 40, uncompressed_length: 0 }; count]
    }

    #[test]
    fn an_index_file_is_due_when_it_is_full_or_old() {
        let unindexed = Unindexed::default();
        let pack = Id([1; 32]);
        assert_eq!(unindexed.rest(), None);
        assert_eq!(unindexed.add(&pack, &blobs(BLOB_COUNT_FULL - 1), 5), None);
        assert!(unindexed.add(&pack, &blobs(1), 6).is_some_and(|json| json.ends_with(b"]}\n")));
        assert_eq!(
            unindexed.add(&pack, &blobs(1), AGE_NS_MAX + 5),
            None,
            "its age begins with its first pack"
        );
        assert!(unindexed.add(&pack, &blobs(1), 2 * AGE_NS_MAX + 5).is_some());
        assert_eq!(unindexed.add(&pack, &blobs(1), 0), None);
        assert!(unindexed.rest().is_some() && unindexed.rest().is_none());
    }
}
