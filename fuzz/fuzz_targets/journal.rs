//! A damaged journal with correct checksums is refused or read without a panic. A writer that opens it loses
//! nothing that a reader saw.
#![no_main]

use disk::Disk;
use fuzz::repair::{JOURNAL_HEAD_BYTES, repair_journal};
use fuzz::{DIRECTORY, edited, look_at_everything, made};
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::Arc;
use store::{Options, Snapshot, Writer};

fuzz_target!(|input: &[u8]| {
    let made = made();
    let (path, base) = &made.journal;
    let (head, records) = base.split_at(JOURNAL_HEAD_BYTES);
    let mut bytes = [head, &edited(records, input)].concat();
    repair_journal(&mut bytes, &made.manifest.1);
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
