//! A damaged manifest whose checksum fits is refused or read without a panic.
#![no_main]

use fuzz::{edited, look_at_everything, made};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The checksum at the end.
const CHECKSUM_BYTES: usize = 8;

fuzz_target!(|input: &[u8]| {
    let made = made();
    let (path, base) = &made.manifest;
    let mut bytes = edited(&base[..base.len() - CHECKSUM_BYTES], input);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    let disk = made.disk.fork();
    disk.put(path, &bytes);
    look_at_everything(&(Arc::new(disk) as Arc<dyn disk::Disk>));
});
