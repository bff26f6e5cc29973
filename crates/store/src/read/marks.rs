//! Marks by which the manifest and the journal of a state are recognised.
//!
//! Input: bytes as they were read or written. Output: whether other bytes are the same. Does not know what
//! they mean.
//!
//! The journal of a manifest only grows, so its last record is enough to recognise it. Two things break this
//! rule: a disk that fails to sync a record may lose it, and an older copy of the store may be put back. Then
//! another record, or none, stands there.

use crate::commit::journal::JournalContents;
use xxhash_rust::xxh3::xxh3_128;

/// By what the files of a state are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// XXH3 of the manifest's bytes.
    manifest: u128,
    /// Where the journal's last record begins; 0, where its head does, if there is none.
    pub(crate) record_offset: u64,
    /// XXH3 of the journal's bytes from there to the end of the record.
    record: u128,
}

impl Marks {
    /// Returns the marks of a manifest and its journal, as they were read or written.
    pub(crate) fn new(manifest: &[u8], journal: &[u8], contents: &JournalContents) -> Marks {
        let record_offset = contents.last_offset.unwrap_or(0);
        let record = xxh3_128(range(journal, record_offset, contents.valid_bytes).unwrap_or_default());
        Marks { manifest: xxh3_128(manifest), record_offset, record }
    }

    /// Marks a record that was written at the end of the journal.
    pub(crate) fn add_record(&mut self, offset: u64, bytes: &[u8]) {
        self.record_offset = offset;
        self.record = xxh3_128(bytes);
    }

    /// Returns whether these are the bytes of the manifest.
    pub(crate) fn is_manifest(&self, bytes: &[u8]) -> bool {
        xxh3_128(bytes) == self.manifest
    }

    /// Returns whether these are the bytes of the last record.
    pub(crate) fn is_record(&self, bytes: &[u8]) -> bool {
        xxh3_128(bytes) == self.record
    }
}

/// Returns the bytes from one place to another, if they are there.
pub(crate) fn range(bytes: &[u8], start: u64, end: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}
