//! The text of a message that comes alone lies in the commit: what that costs, and what happens when there is
//! no place left.

use crate::support::{Fixture, environment, message, query};
use index::{Environment, Mailbox, UpdateOptions};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::Snapshot;
use testkit::SimDisk;
use testkit::sim_disk::{Operation, interrupt_at_every_operation};
use work::Silent;

fn put(fixture: &Fixture, number: u32) {
    let content = message(&format!("m{number}"), &format!("s{number}"), &format!("same n{number}"));
    fixture.put("inbox", "cur", &format!("{number}.x:2,S"), &content);
}

fn on(disk: &SimDisk, text_slots: u8) -> Environment {
    Environment { text_slots, ..environment(Arc::new(disk.clone()), Path::new("/data")) }
}

fn update(environment: &Environment, fixture: &Fixture) {
    index::update(environment, &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
}

fn count(environment: &Environment, text: &str) -> u64 {
    Mailbox::open(environment).unwrap().count(&query(text)).unwrap()
}

fn text_files(disk: &SimDisk) -> Vec<PathBuf> {
    disk.files().into_iter().filter(|path| path.extension().is_some_and(|end| end == "text")).collect()
}

/// Returns how many slots hold something.
fn taken_slots(environment: &Environment) -> usize {
    let snapshot = Snapshot::open(&environment.disk, &environment.index_directory()).unwrap();
    let is_taken = |slot: &u8| {
        let name = format!("text {slot}");
        snapshot.attachment(&name).is_some_and(|bytes| !bytes.is_empty())
    };
    (0..index::TEXT_SLOTS).filter(is_taken).count()
}

fn check(environment: &Environment) {
    let damage = index::check(environment, index::Depth::Deep).unwrap();
    assert!(damage.is_empty(), "{damage:#?}");
}

#[test]
fn a_message_that_comes_alone_costs_two_syncs_and_no_file() {
    let (disk, fixture) = (SimDisk::new(1), Fixture::new());
    let environment = on(&disk, index::TEXT_SLOTS);
    put(&fixture, 0);
    update(&environment, &fixture);
    for number in 1..6 {
        put(&fixture, number);
        let before = disk.trace().len();
        update(&environment, &fixture);
        let trace = disk.trace();
        // To open a file to append to it makes durable what it has.
        let syncs = trace[before..].iter().filter(|operation| {
            use Operation::{Append, Sync, SyncDirectory};
            matches!(operation, Sync(_) | SyncDirectory(_) | Append { .. })
        });
        // Of the journal, before the record and after it.
        assert_eq!(syncs.count(), 2, "{:#?}", &trace[before..]);
        assert!(!trace[before..].iter().any(|operation| matches!(operation, Operation::Create(_))));
    }
    assert_eq!(text_files(&disk), Vec::<PathBuf>::new());
    assert_eq!((count(&environment, "same"), count(&environment, "n5")), (6, 1));
    check(&environment);
}

#[test]
fn full_slots_make_files_and_a_merge_frees_them() {
    let (disk, fixture) = (SimDisk::new(1), Fixture::new());
    let environment = on(&disk, 3);
    let mut most = 0;
    for number in 0..41 {
        put(&fixture, number);
        update(&environment, &fixture);
        let segments = Mailbox::open(&environment).unwrap().counts().unwrap().text_segments;
        let taken = taken_slots(&environment);
        assert_eq!(taken + text_files(&disk).len(), usize::try_from(segments).unwrap(), "{number}");
        assert!(taken <= 3, "{number}: {taken}");
        assert_eq!(count(&environment, "same"), u64::from(number) + 1);
        assert_eq!(count(&environment, &format!("n{number}")), 1);
        most = most.max(text_files(&disk).len());
    }
    // Before the first merge five of eight are files.
    assert!(most >= 4, "{most}");
    check(&environment);
}

#[test]
fn another_process_may_take_the_last_slot() {
    let fixture = Arc::new(Fixture::new());
    let base = SimDisk::new(1);
    put(&fixture, 0);
    update(&on(&base, 2), &fixture);
    put(&fixture, 1);
    let late = fixture.root().join("inbox/cur/2.x:2,S");
    let work = |disk: &SimDisk| {
        update(&on(disk, 2), &fixture);
        let environment = on(&disk.fork(), 2);
        // The other one may have found the lock held.
        update(&environment, &fixture);
        let mailbox = Mailbox::open(&environment).unwrap();
        assert_eq!(mailbox.count(&query("same")).unwrap(), 2 + u64::from(late.exists()));
        assert_eq!(taken_slots(&environment), 2, "two or three segments");
        check(&environment);
        let _ = fs::remove_file(&late);
    };
    let other = {
        let fixture = Arc::clone(&fixture);
        move |disk: &SimDisk| {
            put(&fixture, 2);
            let process = Environment { seed: 8, ..on(disk, 2) };
            // It gives up where it could only wait for the lock.
            process.context.cancel.cancel();
            let _ = index::update(&process, &fixture.roots, &UpdateOptions::default(), &Silent);
        }
    };
    assert!(interrupt_at_every_operation(&base, work, other).checked_count > 10);
}

#[test]
fn a_copy_of_a_data_directory_may_leave_out_the_empty_directory_of_text() {
    let mut fixture = Fixture::new();
    fixture.environment.text_slots = index::TEXT_SLOTS;
    // Enough passes for a merge.
    for number in 0..10 {
        put(&fixture, number);
        fixture.update();
        assert_eq!(text_files_on_disk(&fixture), 0);
        fs::remove_dir_all(fixture.environment.text_directory()).unwrap();
        check(&fixture.environment);
        assert_eq!(count(&fixture.environment, "same"), u64::from(number) + 1);
    }
}

fn text_files_on_disk(fixture: &Fixture) -> usize {
    let entries = fs::read_dir(fixture.environment.text_directory()).unwrap();
    entries
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "text"))
        .count()
}
