//! Backups after a look at the files that began before the repository was open.

use crate::support::{Fixture, init, lock, message, open, options};
use backup::{LookAhead, Target};
use restic::testing::MemoryStorage;
use restic::{Repository, Storage};
use std::fs;
use std::sync::Arc;
use work::Silent;

fn storage() -> Arc<dyn Storage> {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::default());
    init(Arc::clone(&storage)).unwrap();
    storage
}

/// Backs up after a look.
fn backup(fixture: &Fixture, repository: &Repository, ahead: Option<LookAhead>) -> backup::BackupReport {
    let lock = lock(repository).unwrap();
    let target = Target { repository, lock: &lock };
    backup::backup_after(&fixture.environment, (&target, ahead), &options(), &Silent).unwrap()
}

/// Rewrites a message under its name.
fn rewrite(fixture: &Fixture, number: usize) {
    fs::write(fixture.root().join("inbox/cur/0.x:2,S"), message(number)).unwrap();
}

#[test]
fn nothing_to_compare_with_is_nothing_to_look_at() {
    let fixture = Fixture::new();
    assert!(LookAhead::begin(&fixture.environment).is_none(), "no index");
    fixture.index();
    assert!(LookAhead::begin(&fixture.environment).is_none(), "no backup");
    let storage = storage();
    fixture.backup(&open(Arc::clone(&storage)).unwrap()).unwrap();
    let ahead = LookAhead::begin(&fixture.environment);
    assert!(ahead.is_some());
    let report = backup(&fixture, &open(storage).unwrap(), ahead);
    assert_eq!((report.counts.files_new, report.counts.files_changed, report.problems), (0, 0, vec![]));
}

#[test]
fn a_look_before_another_backup_does_not_count() {
    let fixture = Fixture::new();
    let storage = storage();
    fixture.backup(&open(Arc::clone(&storage)).unwrap()).unwrap();
    let ahead = LookAhead::begin(&fixture.environment);
    fixture.put("inbox", "cur", "71.x:2,S", message(71).as_bytes());
    fixture.backup(&open(Arc::clone(&storage)).unwrap()).unwrap();
    rewrite(&fixture, 72);
    let report = backup(&fixture, &open(storage).unwrap(), ahead);
    assert_eq!((report.counts.files_new, report.counts.files_changed), (0, 1));
}
