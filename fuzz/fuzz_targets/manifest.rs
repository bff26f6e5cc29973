//! A damaged manifest with a correct checksum is refused or read without a panic.
#![no_main]

use disk::Disk;
use fuzz::repair::{manifest, manifest_content};
use fuzz::{edited, look_at_everything, made};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|input: &[u8]| {
    let made = made();
    let (path, base) = &made.manifest;
    let disk = made.disk.fork();
    disk.put(path, &manifest(&edited(manifest_content(base), input)));
    look_at_everything(&(Arc::new(disk) as Arc<dyn Disk>));
});
