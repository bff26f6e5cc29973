//! Commits that are prepared without the writer's lock: the same result as any commit, or none at all.

use crate::support::{Change, Twin, check, directory, item, options, schemas, shared};
use disk::{Disk, Wait};
use std::cell::Cell;
use std::path::PathBuf;
use store::{
    Committed, Error, MergeOptions, Outcome, Prepared, Snapshot, Transaction, Writer, commit_on_newest,
    merge_all, verify,
};
use testkit::SimDisk;

fn change(numbers: std::ops::Range<u32>, version: u32) -> Change {
    numbers
        .fold(Change::default().attach("note", b"new"), |change, number| change.put(0, item(number, version)))
}

/// A store with segments, dead rows and a journal.
fn filled(disk: &SimDisk, journal_rows: u32) -> Twin {
    let mut writer = Writer::create(&shared(disk), directory(), &schemas(), options(journal_rows)).unwrap();
    let mut twin = Twin::default();
    for change in [change(0..30, 1), change(20..50, 1), change(1..3, 2)] {
        writer.commit(change.transaction()).unwrap();
        twin.apply(&change);
    }
    twin
}

fn newest(disk: &SimDisk) -> Snapshot {
    Snapshot::open(&shared(disk), directory()).unwrap()
}

fn open(disk: &SimDisk, journal_rows: u32) -> Writer {
    Writer::open(&shared(disk), directory(), options(journal_rows)).unwrap()
}

fn segments(disk: &SimDisk) -> Vec<PathBuf> {
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|end| end == "seg");
    disk.files().into_iter().filter(is_segment).collect()
}

#[test]
fn a_prepared_commit_is_what_a_commit_would_be() {
    for journal_rows in [0, 20, 1_000] {
        let disk = SimDisk::new(1);
        let twin = filled(&disk, journal_rows).after(&large());
        let before = segments(&disk);
        let prepared = Prepared::new(&newest(&disk), large().transaction(), &options(journal_rows)).unwrap();
        assert_eq!(segments(&disk) == before, journal_rows == 1_000, "only large ones write segments");
        // A writer that is opened now removes no file of ours.
        let mut writer = open(&disk, journal_rows);
        let at = disk.operation_count();
        let committed = writer.commit_prepared(prepared).unwrap();
        assert!(matches!(committed, Outcome::Committed(version) if version == writer.version()));
        let wrote_segment = disk.trace()[at..].iter().any(|step| step.to_string().contains(".seg"));
        assert!(!wrote_segment, "segments are neither written nor read under the lock");
        check(&writer.snapshot().unwrap(), &twin).unwrap();
        drop(writer);
        check(&newest(&disk), &twin).unwrap();
        assert_eq!(verify(&newest(&disk)), []);
        let more = change(90..95, 1);
        open(&disk, journal_rows).commit(more.transaction()).unwrap();
        check(&newest(&disk), &twin.after(&more)).unwrap();
    }
}

/// More than a journal of 20 rows holds.
fn large() -> Change {
    change(40..80, 3).delete(0, vec![store::OwnedValue::U32(7)])
}

#[test]
fn a_commit_by_another_or_a_merge_makes_it_outdated() {
    let other: [&dyn Fn(&SimDisk); 3] = [
        &|disk| assert!(open(disk, 20).commit(change(90..91, 1).transaction()).is_ok()),
        &|disk| assert!(merge_all(&shared(disk), directory(), &MergeOptions::default()).unwrap().is_some()),
        &|disk| assert!(open(disk, 20).flush().is_ok()),
    ];
    for other in other {
        let disk = SimDisk::new(2);
        filled(&disk, 20);
        let prepared = Prepared::new(&newest(&disk), large().transaction(), &options(20)).unwrap();
        other(&disk);
        let before = newest(&disk);
        let mut writer = open(&disk, 20);
        let Outcome::Outdated(transaction) = writer.commit_prepared(prepared).unwrap() else {
            panic!("somebody has committed meanwhile")
        };
        assert_eq!(writer.version(), before.version());
        drop(writer);
        let named = before.tables().iter().map(|table| table.parts().len() - 1).sum::<usize>();
        assert_eq!(segments(&disk).len(), named, "what was written for it is removed");
        open(&disk, 20).commit(transaction).unwrap();
        let table = newest(&disk).table("items").unwrap();
        assert!(table.get(store::PRIMARY, &[store::Value::U32(79)]).unwrap().is_some());
    }
}

#[test]
fn a_store_that_was_made_again_takes_nothing_that_was_prepared_for_the_old_one() {
    let disk = SimDisk::new(3);
    filled(&disk, 20);
    let prepared = Prepared::new(&newest(&disk), large().transaction(), &options(20)).unwrap();
    for file in disk.files() {
        if !file.to_string_lossy().ends_with("lock") {
            disk.remove(&file).unwrap();
        }
    }
    let seed = 77;
    let other = store::Options { seed, ..options(20) };
    let mut writer = Writer::create(&shared(&disk), directory(), &schemas(), other).unwrap();
    for change in [change(0..30, 1), change(20..50, 1), change(1..3, 2)] {
        writer.commit(change.transaction()).unwrap();
    }
    assert!(matches!(writer.commit_prepared(prepared).unwrap(), Outcome::Outdated(_)));
}

#[test]
fn files_are_written_only_while_nobody_may_remove_them() {
    let disk = SimDisk::new(4);
    filled(&disk, 20);
    let lock = directory().join("merge.lock");
    let prepared = Prepared::new(&newest(&disk), large().transaction(), &options(20)).unwrap();
    assert!(matches!(disk.lock(&lock, "who cleans up", Wait::Refuse), Err(disk::Error::Locked { .. })));
    drop(prepared);
    let _held = disk.lock(&lock, "who cleans up", Wait::Refuse).unwrap();
    let refused = Prepared::new(&newest(&disk), large().transaction(), &options(20));
    assert!(matches!(refused, Err(Error::Io(_))), "it waits until they are removed");
}

/// Commits `large` while another process commits as often as it can, at most `others` times. Returns how
/// often the transaction was made, and how often the other process committed.
fn commit_against(disk: &SimDisk, others: u32) -> (u32, u32) {
    let (made, lost) = (Cell::new(0), Cell::new(0));
    let make = |_: &Snapshot| -> store::Result<(Option<Transaction>, ())> {
        made.set(made.get() + 1);
        if lost.get() < others
            && let Ok(mut writer) = Writer::open(&shared(disk), directory(), options(20))
        {
            writer.commit(change(90..91, 5 + lost.get()).transaction())?;
            lost.set(lost.get() + 1);
        }
        Ok((Some(large().transaction()), ()))
    };
    let Committed { snapshot, writer, .. } =
        commit_on_newest(&options(20), || Ok(newest(disk)), make, || Ok(open(disk, 20))).unwrap();
    assert!(writer.is_some());
    assert_eq!(snapshot.version(), newest(disk).version());
    (made.get(), lost.get())
}

#[test]
fn a_commit_that_loses_three_times_is_made_under_the_lock() {
    for (others, expected) in [(0, (1, 0)), (1, (2, 1)), (2, (3, 2)), (3, (4, 3)), (9, (4, 3))] {
        let disk = SimDisk::new(5);
        let mut twin = filled(&disk, 20);
        assert_eq!(commit_against(&disk, others), expected);
        (0..expected.1).for_each(|lost| twin.apply(&change(90..91, 5 + lost)));
        check(&newest(&disk), &twin.after(&large())).unwrap();
    }
}

#[test]
fn a_commit_of_nothing_takes_no_lock() {
    let disk = SimDisk::new(6);
    filled(&disk, 20);
    let nothing = |_: &Snapshot| Ok((None, "nothing"));
    let open = || -> store::Result<Writer> { panic!("there is nothing to commit") };
    let committed = commit_on_newest(&options(20), || Ok(newest(&disk)), nothing, open).unwrap();
    assert!(committed.writer.is_none());
    assert_eq!((committed.made, committed.snapshot.version()), ("nothing", newest(&disk).version()));
}
