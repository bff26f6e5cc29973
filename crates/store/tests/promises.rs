//! What a reader may tell others: a commit that it saw before the writer synced it becomes durable on demand.

use crate::support::{Change, directory, item, options, schemas, shared};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use store::{Snapshot, Writer};
use testkit::SimDisk;

fn sequence(disk: &SimDisk) -> u64 {
    Snapshot::open(&shared(disk), directory()).unwrap().version().sequence
}

#[test]
fn what_a_reader_saw_survives_a_crash_once_it_is_made_durable() {
    let disk = SimDisk::new(21);
    let mut writer = Writer::create(&shared(&disk), directory(), &schemas(), options(4)).unwrap();
    let lost = Arc::new(AtomicUsize::new(0));
    let acknowledged = Arc::new(Mutex::new(0));
    disk.observe({
        let (lost, acknowledged) = (Arc::clone(&lost), Arc::clone(&acknowledged));
        move |_, disk| {
            let before = disk.fork();
            let snapshot = Snapshot::open(&shared(&before), directory()).unwrap();
            let seen = snapshot.version().sequence;
            if seen == *acknowledged.lock().unwrap() {
                return;
            }
            let without = before.images().iter().filter(|image| sequence(&image.disk) < seen).count();
            lost.fetch_add(without, Ordering::Relaxed);
            snapshot.make_durable().unwrap();
            for image in before.images() {
                assert!(sequence(&image.disk) >= seen, "a crash took back what a reader saw");
            }
        }
    });
    for number in 0..12 {
        // Some of them are records of a journal, others seal it.
        let change = (0..=number % 5).fold(Change::default(), |change, row| change.put(0, item(row, number)));
        *acknowledged.lock().unwrap() = writer.commit(change.transaction()).unwrap().sequence;
    }
    assert!(lost.load(Ordering::Relaxed) > 5, "a crash may take back what nobody made durable");
}

#[test]
fn a_state_is_made_durable_once_and_a_newer_one_again() {
    let disk = SimDisk::new(22);
    let mut writer = Writer::create(&shared(&disk), directory(), &schemas(), options(100)).unwrap();
    let mut commit = |row| writer.commit(Change::default().put(0, item(row, 1)).transaction()).unwrap();
    commit(1);
    let snapshot = Snapshot::open(&shared(&disk), directory()).unwrap();
    let operations = |snapshot: &Snapshot| {
        let before = disk.operation_count();
        snapshot.make_durable().unwrap();
        disk.operation_count() - before
    };
    assert_eq!((operations(&snapshot), operations(&snapshot), operations(&snapshot.clone())), (2, 0, 0));
    commit(2);
    let newer = snapshot.newest().unwrap();
    assert_eq!((operations(&newer), operations(&newer)), (2, 0));
}
