//! A damaged segment whose checksums fit is read without a panic: all that is wrong is an error.
#![no_main]

use fuzz::{edited, look_at_everything, made};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use store::format::{
    CHUNK_BYTES, SECTION_ALIGNMENT, TRAILER_BYTES, TRAILER_CHECKSUM_OFFSET, TRAILER_CONTENT_LENGTH_OFFSET,
    TRAILER_TABLE_CHECKSUM_OFFSET,
};
use xxhash_rust::xxh3::xxh3_64;

fuzz_target!(|input: &[u8]| {
    let made = made();
    let (path, base) = &made.segment;
    let content = &base[..content_length(base)];
    let bytes = if input.last().is_some_and(|last| last % 8 == 0) {
        edited(base, input)
    } else {
        framed(&edited(content, input), &base[base.len() - TRAILER_BYTES..])
    };
    let disk = made.disk.fork();
    disk.put(path, &bytes);
    look_at_everything(&(Arc::new(disk) as Arc<dyn disk::Disk>));
});

fn content_length(file: &[u8]) -> usize {
    let at = file.len() - TRAILER_BYTES + TRAILER_CONTENT_LENGTH_OFFSET;
    let length = u64::from_le_bytes(file[at..at + 8].try_into().expect("8 bytes"));
    usize::try_from(length).expect("the file lies in memory")
}

/// Returns a sealed file with this content: `trailer` with lengths and checksums that fit.
fn framed(content: &[u8], trailer: &[u8]) -> Vec<u8> {
    let table: Vec<u8> = content.chunks(CHUNK_BYTES).flat_map(|chunk| xxh3_64(chunk).to_le_bytes()).collect();
    let mut trailer = trailer.to_vec();
    let mut put = |at: usize, number: u64| trailer[at..at + 8].copy_from_slice(&number.to_le_bytes());
    put(TRAILER_CONTENT_LENGTH_OFFSET, content.len() as u64);
    put(TRAILER_TABLE_CHECKSUM_OFFSET, xxh3_64(&table));
    let checksum = xxh3_64(&trailer[..TRAILER_CHECKSUM_OFFSET]);
    trailer[TRAILER_CHECKSUM_OFFSET..TRAILER_CHECKSUM_OFFSET + 8].copy_from_slice(&checksum.to_le_bytes());
    let mut file = content.to_vec();
    file.resize(content.len().next_multiple_of(SECTION_ALIGNMENT as usize), 0);
    [file, table, trailer].concat()
}
