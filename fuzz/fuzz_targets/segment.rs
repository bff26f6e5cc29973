//! A damaged segment with correct checksums is read without a panic: all damage gives errors.
#![no_main]

use disk::Disk;
use fuzz::repair::{sealed, sealed_content};
use fuzz::{edited, look_at_everything, made, made_packed};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|input: &[u8]| {
    // Plain and packed numbers in turn.
    let made = if input.len() % 2 == 0 { made() } else { made_packed() };
    let (path, base) = &made.segment;
    // Sometimes the frame itself is changed.
    let bytes = if input.last().is_some_and(|last| last % 8 == 0) {
        edited(base, input)
    } else {
        sealed(&edited(sealed_content(base), input), base)
    };
    let disk = made.disk.fork();
    disk.put(path, &bytes);
    look_at_everything(&(Arc::new(disk) as Arc<dyn Disk>));
});
