//! A look at the files that began before the repository was open counts only for the repository whose tables
//! it compared with, and only for a moment.

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
fn a_look_with_the_tables_of_another_repository_does_not_count() {
    let fixture = Fixture::new();
    let (first, second) = (storage(), storage());
    fixture.backup(&open(Arc::clone(&first)).unwrap()).unwrap();
    fixture.backup(&open(Arc::clone(&second)).unwrap()).unwrap();
    // The tables of the second are taken, since they were written last.
    let ahead = LookAhead::begin(&fixture.environment);
    rewrite(&fixture, 70);
    assert_eq!(backup(&fixture, &open(first).unwrap(), ahead).counts.files_changed, 1);
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

#[test]
fn a_look_some_time_ago_does_not_count() {
    let mut fixture = Fixture::new();
    let storage = storage();
    fixture.backup(&open(Arc::clone(&storage)).unwrap()).unwrap();
    for clock_ns in [|| 1_900_000_011_000_000_000, || 1_899_999_999_000_000_000] {
        let ahead = LookAhead::begin(&fixture.environment);
        rewrite(&fixture, usize::try_from(clock_ns() % 1_000_000_007).unwrap());
        let then = std::mem::replace(&mut fixture.environment_mut().context.clock_ns, clock_ns);
        let report = backup(&fixture, &open(Arc::clone(&storage)).unwrap(), ahead);
        fixture.environment_mut().context.clock_ns = then;
        assert_eq!(report.counts.files_changed, 1);
    }
}
