//! A damaged journal whose checksums fit is refused or read without a panic, and a writer that opens after it loses nothing that a
//! reader saw.
#![no_main]

use disk::Disk;
use fuzz::{DIRECTORY, edited, look_at_everything, made};
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::Arc;
use store::{Options, Snapshot, Writer};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Where the manifest keeps the seed of the journal's checksums.
const SEED_OFFSET: usize = 32;
/// Bytes before the first record, and of a record's head.
const HEAD_BYTES: usize = 32;
const RECORD_HEAD_BYTES: usize = 32;

fuzz_target!(|input: &[u8]| {
    let made = made();
    let (path, base) = &made.journal;
    let seed = u64::from_le_bytes(made.manifest.1[SEED_OFFSET..SEED_OFFSET + 8].try_into().expect("8 bytes"));
    let mut bytes = base[..HEAD_BYTES].to_vec();
    bytes.extend(edited(&base[HEAD_BYTES..], input));
    repair(&mut bytes, seed);
    let disk = made.disk.fork();
    disk.put(path, &bytes);
    let disk: Arc<dyn Disk> = Arc::new(disk);
    look_at_everything(&disk);
    let count = || -> Option<Vec<u64>> {
        let snapshot = Snapshot::open(&disk, Path::new(DIRECTORY)).ok()?;
        Some(snapshot.tables().iter().map(store::Table::row_count).collect())
    };
    let before = count();
    let opened = Writer::open(&disk, Path::new(DIRECTORY), Options::default()).is_ok();
    assert_eq!(opened, before.is_some(), "reader and writer disagree");
    assert_eq!(count(), before);
});

/// Makes the checksums of all records fit, as far as their lengths lead.
fn repair(bytes: &mut [u8], seed: u64) {
    let mut at = HEAD_BYTES;
    while let Some(head) = bytes.get(at..at + RECORD_HEAD_BYTES) {
        let length = u32::from_le_bytes(head[4..8].try_into().expect("4 bytes")) as usize;
        let start = at + RECORD_HEAD_BYTES;
        let Some(payload) = bytes.get(start..start.saturating_add(length)) else { return };
        let checksum = xxh3_64_with_seed(payload, seed).to_le_bytes();
        bytes[at + 16..at + 24].copy_from_slice(&checksum);
        let checksum = xxh3_64_with_seed(&bytes[at..at + 24], seed).to_le_bytes();
        bytes[at + 24..at + 32].copy_from_slice(&checksum);
        at = start + length;
    }
}
