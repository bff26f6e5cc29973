//! A storage that fails at each of its operations. No snapshot ever names missing data, and the next backup
//! continues.

use crate::support::{Fixture, init, open, snapshots};
use restic::testing::MemoryStorage;
use restic::{LocalStorage, Sharing, Storage, Visitor, walk};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::SimDisk;
use work::Silent;

/// Reads every blob of every file.
struct ReadsAll<'a>(&'a restic::Repository, AtomicUsize);

impl Visitor for ReadsAll<'_> {
    fn visit(
        &self,
        _place: &restic::VisitedDirectory<'_>,
        node: &restic::tree::Node<'_>,
    ) -> restic::Result<()> {
        for id in node.content.iter().flat_map(|content| content.iter()) {
            self.0.load_blob(restic::BlobKind::Data, id)?;
        }
        self.1.fetch_add(usize::from(node.content.is_some()), Ordering::Relaxed);
        Ok(())
    }
}

/// Returns the number of files in each snapshot. All their blobs must be readable.
fn whole(storage: &Arc<dyn Storage>) -> Vec<usize> {
    let repository = open(Arc::clone(storage)).unwrap();
    let count = |tree| {
        let reads = ReadsAll(&repository, AtomicUsize::new(0));
        let problems = walk(&repository, &[tree], Sharing::ByPath, &reads, &Silent).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        reads.1.into_inner()
    };
    snapshots(&repository).into_iter().map(|snapshot| count(snapshot.tree)).collect()
}

#[test]
fn a_failed_backup_leaves_whole_snapshots_and_the_next_one_continues() {
    // The number of operations of a second backup; then one run that fails at each of them.
    let mut failing = 0usize;
    loop {
        let fixture = Fixture::new();
        let memory = MemoryStorage::new();
        let storage: Arc<dyn Storage> = memory.clone();
        init(Arc::clone(&storage)).unwrap();
        let backup = || fixture.backup(&open(Arc::clone(&storage)).unwrap());
        backup().unwrap();
        fixture.put("inbox", "cur", "7.x:2,", crate::support::message(7).as_bytes());
        fs::remove_file(fixture.root().join("inbox/cur/0.x:2,S")).unwrap();
        let mut left = failing;
        memory.refuse(move |operation| {
            let is_change = operation.starts_with("write") || operation.starts_with("remove");
            let is_now = is_change && left == 0;
            left = left.saturating_sub(usize::from(is_change));
            is_now
        });
        let result = backup();
        memory.refuse_nothing();
        let counts = whole(&storage);
        assert_eq!(counts.len(), 1 + usize::from(result.is_ok()), "operation {failing}: {result:?}");
        backup().unwrap();
        assert_eq!(whole(&storage).last(), counts.first(), "one came and one went");
        if result.is_ok() && failing > 8 {
            break;
        }
        failing += 1;
    }
    assert!(failing > 3);
}

#[test]
fn a_crash_anywhere_in_a_backup_leaves_whole_snapshots() {
    let fixture = Fixture::new();
    let disk = SimDisk::new(1);
    let on = |disk: &SimDisk| -> Arc<dyn Storage> {
        Arc::new(LocalStorage::new(Arc::new(disk.clone()), "/repository".into()))
    };
    let backup = |disk: &SimDisk| -> backup::Result<_> { fixture.backup(&open(on(disk))?) };
    init(on(&disk)).unwrap();
    backup(&disk).unwrap();
    fixture.put("inbox", "cur", "7.x:2,", crate::support::message(7).as_bytes());
    let uninterrupted = disk.fork();
    backup(&uninterrupted).unwrap();
    let expected = whole(&on(&uninterrupted));
    assert_eq!(expected.len(), 2);
    for number in 0..uninterrupted.operation_count() {
        let crashed = disk.fork();
        crashed.crash_at(number);
        let is_done = backup(&crashed).is_ok();
        for image in crashed.images() {
            let counts = whole(&on(&image.disk));
            let is_right = counts == expected || (counts == expected[..1] && !is_done);
            assert!(is_right, "crash at {number}, {}: {counts:?}", image.description);
        }
    }
}
