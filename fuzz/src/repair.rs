//! Corrects checksums after a change: a reader stops at a wrong one, and nothing after it would be tested.
//!
//! Input: changed content. Output: a file with correct checksums. Leaves all other content as it is.

use store::format::{
    CHUNK_BYTES, SECTION_ALIGNMENT, TRAILER_BYTES, TRAILER_CHECKSUM_OFFSET, TRAILER_CONTENT_LENGTH_OFFSET,
    TRAILER_TABLE_CHECKSUM_OFFSET,
};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Bytes of a manifest's checksum, at the end of the file.
const MANIFEST_CHECKSUM_BYTES: usize = 8;
/// Where the manifest has the seed of the journal's checksums.
const JOURNAL_SEED_OFFSET: usize = 32;
/// Bytes of a journal before its first record.
pub const JOURNAL_HEAD_BYTES: usize = 32;
/// Bytes of a record before its payload, and the offsets of its length and its two checksums.
const RECORD_HEAD_BYTES: usize = 32;
const RECORD_LENGTH_OFFSET: usize = 4;
const RECORD_PAYLOAD_CHECKSUM_OFFSET: usize = 16;
const RECORD_HEAD_CHECKSUM_OFFSET: usize = 24;

/// Returns the content of a sound sealed file.
pub fn sealed_content(file: &[u8]) -> &[u8] {
    let length = number(file, file.len() - TRAILER_BYTES + TRAILER_CONTENT_LENGTH_OFFSET);
    &file[..usize::try_from(length).expect("the file lies in memory")]
}

/// Returns a sealed file with this content that otherwise equals the sealed file `base`.
pub fn sealed(content: &[u8], base: &[u8]) -> Vec<u8> {
    let table: Vec<u8> = content.chunks(CHUNK_BYTES).flat_map(|chunk| xxh3_64(chunk).to_le_bytes()).collect();
    let mut trailer = base[base.len() - TRAILER_BYTES..].to_vec();
    put(&mut trailer, TRAILER_CONTENT_LENGTH_OFFSET, content.len() as u64);
    put(&mut trailer, TRAILER_TABLE_CHECKSUM_OFFSET, xxh3_64(&table));
    let checksum = xxh3_64(&trailer[..TRAILER_CHECKSUM_OFFSET]);
    put(&mut trailer, TRAILER_CHECKSUM_OFFSET, checksum);
    let alignment = usize::try_from(SECTION_ALIGNMENT).expect("a small number");
    let mut file = content.to_vec();
    file.resize(content.len().next_multiple_of(alignment), 0);
    [file, table, trailer].concat()
}

/// Returns a manifest without its checksum.
pub fn manifest_content(file: &[u8]) -> &[u8] {
    &file[..file.len() - MANIFEST_CHECKSUM_BYTES]
}

/// Returns a manifest with its checksum.
pub fn manifest(content: &[u8]) -> Vec<u8> {
    [content, &xxh3_64(content).to_le_bytes()].concat()
}

/// Corrects the checksums of all records in `journal`, as far as their lengths can be followed. `manifest`
/// has the seed.
pub fn repair_journal(journal: &mut [u8], manifest: &[u8]) {
    let seed = number(manifest, JOURNAL_SEED_OFFSET);
    let mut at = JOURNAL_HEAD_BYTES;
    while let Some(head) = journal.get(at..at + RECORD_HEAD_BYTES) {
        let length = head[RECORD_LENGTH_OFFSET..][..4].try_into().expect("4 bytes");
        let start = at + RECORD_HEAD_BYTES;
        let end = start + u32::from_le_bytes(length) as usize;
        let Some(payload) = journal.get(start..end) else { return };
        let checksum = xxh3_64_with_seed(payload, seed);
        put(journal, at + RECORD_PAYLOAD_CHECKSUM_OFFSET, checksum);
        let checksum = xxh3_64_with_seed(&journal[at..at + RECORD_HEAD_CHECKSUM_OFFSET], seed);
        put(journal, at + RECORD_HEAD_CHECKSUM_OFFSET, checksum);
        at = end;
    }
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

fn put(bytes: &mut [u8], at: usize, number: u64) {
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DIRECTORY, made};
    use std::path::Path;
    use std::sync::Arc;
    use store::Snapshot;

    #[test]
    fn what_was_not_changed_is_not_changed_by_repair() {
        let made = made();
        assert_eq!(sealed(sealed_content(&made.segment.1), &made.segment.1), made.segment.1);
        assert_eq!(manifest(manifest_content(&made.manifest.1)), made.manifest.1);
        let mut journal = made.journal.1.clone();
        for at in [RECORD_PAYLOAD_CHECKSUM_OFFSET, RECORD_HEAD_CHECKSUM_OFFSET] {
            put(&mut journal, JOURNAL_HEAD_BYTES + at, 0);
        }
        repair_journal(&mut journal, &made.manifest.1);
        assert_eq!(journal, made.journal.1);
    }

    #[test]
    fn the_store_that_is_changed_is_whole_and_uses_segment_and_journal() {
        let disk: Arc<dyn disk::Disk> = Arc::new(made().disk.fork());
        let snapshot = Snapshot::open(&disk, Path::new(DIRECTORY)).expect("a whole store");
        assert_eq!(store::verify(&snapshot).len(), 0);
        let table = snapshot.table("things").expect("its table");
        assert_eq!((table.parts().len(), table.row_count()), (2, 79));
        assert!(made().journal.1.len() > JOURNAL_HEAD_BYTES + RECORD_HEAD_BYTES);
    }
}
