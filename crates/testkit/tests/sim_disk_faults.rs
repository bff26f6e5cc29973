//! Refusals, counting, interruptions and observers.

use disk::Disk;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use testkit::SimDisk;
use testkit::sim_disk::{Operation, Refusal};

const ROOT: &str = "/";

fn publish(disk: &SimDisk, bytes: &[u8]) -> disk::Result<()> {
    disk::publish(disk, Path::new(ROOT), "manifest", bytes)
}

#[test]
fn operations_are_counted_and_can_be_told() {
    let disk = SimDisk::new(1);
    publish(&disk, b"1").unwrap();
    let trace: Vec<String> = disk.trace().iter().map(ToString::to_string).collect();
    assert_eq!(disk.operation_count(), trace.len());
    assert_eq!(
        trace,
        [
            "remove /manifest.new",
            "create /manifest.new",
            "write 1 bytes to /manifest.new",
            "sync /manifest.new",
            "rename /manifest.new to /manifest",
            "sync the directory /",
        ]
    );
    assert_eq!(disk.trace()[3], Operation::Sync("/manifest.new".into()));
    assert_eq!(disk.fork().operation_count(), 0);
}

#[test]
fn a_refusal_hits_one_operation_or_all_from_it_on() {
    for number in 0..6 {
        let disk = SimDisk::new(1);
        disk.refuse_at(number, Refusal::Broken);
        let error = publish(&disk, b"1").unwrap_err().to_string();
        assert!(error.ends_with("Input/output error (os error 5)"), "{error}");
        publish(&disk, b"2").unwrap();
        disk.refuse_from(disk.operation_count() + number, Refusal::ReadOnly);
        for _ in 0..2 {
            let error = publish(&disk, b"3").unwrap_err().to_string();
            assert!(error.ends_with("Read-only file system (os error 30)"), "{error}");
        }
        assert!(disk.read(Path::new("/manifest")).is_ok(), "a read-only disk can be read");
        disk.allow_all();
        publish(&disk, b"4").unwrap();
        assert_eq!(disk.read(Path::new("/manifest")).unwrap(), b"4");
    }
}

#[test]
fn a_full_disk_refuses_what_needs_space_and_lets_room_be_made() {
    let disk = SimDisk::new(1);
    publish(&disk, b"1").unwrap();
    disk.refuse_from(0, Refusal::Full);
    let error = publish(&disk, b"2").unwrap_err().to_string();
    assert_eq!(error, "cannot create /manifest.new: No space left on device (os error 28)");
    disk.rename(Path::new("/manifest"), Path::new("/other")).unwrap();
    disk.remove(Path::new("/other")).unwrap();
    disk.sync_directory(Path::new(ROOT)).unwrap();
}

#[test]
fn a_refused_write_leaves_a_part_and_the_file_refuses_all_else() {
    let mut lengths = BTreeSet::new();
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        let mut file = disk.create(Path::new("/a")).unwrap();
        file.write(&[1; 10]).unwrap();
        file.sync().unwrap();
        disk.refuse_at(disk.operation_count(), Refusal::Full);
        assert!(file.write(&[1; 1000]).is_err());
        let count = disk.operation_count();
        assert!(file.write(b"").unwrap_err().to_string().contains("an earlier write to it failed"));
        assert!(file.sync().is_err());
        assert_eq!(disk.operation_count(), count, "the disk is not even asked");
        lengths.insert(disk.read(Path::new("/a")).unwrap().len());
    }
    assert!(lengths.contains(&10) && lengths.iter().any(|length| (11..1010).contains(length)), "{lengths:?}");
}

#[test]
fn a_refused_sync_leaves_the_bytes_or_not_and_a_later_crash_too() {
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..40 {
        let disk = SimDisk::new(seed);
        disk.put(Path::new("/a"), b"old");
        let mut file = disk.append(Path::new("/a"), 3).unwrap();
        file.write(b" new").unwrap();
        disk.refuse_at(disk.operation_count(), Refusal::Broken);
        assert!(file.sync().is_err());
        assert!(file.sync().is_err(), "a second sync must not claim success");
        let left = disk.read(Path::new("/a")).unwrap();
        let images = disk.images();
        found.extend(images.iter().map(|image| (left.clone(), image.disk.read(Path::new("/a")).unwrap())));
        seen.insert(left);
    }
    assert!(seen.iter().eq([&b"old"[..], b"old new"]), "{seen:?}");
    for (left, after) in [("old", "old"), ("old", "old new"), ("old new", "old"), ("old new", "old new")] {
        assert!(found.contains(&(left.into(), after.into())), "{left:?}, then {after:?} after a crash");
    }
}

#[test]
fn an_interruption_comes_right_before_the_operation() {
    let disk = SimDisk::new(1);
    publish(&disk, b"1").unwrap();
    let other = disk.clone();
    disk.interrupt_at(7, move || publish(&other, b"2").unwrap());
    assert_eq!(disk.read(Path::new("/manifest")).unwrap(), b"1");
    assert_eq!(disk.read(Path::new("/manifest")).unwrap(), b"2");
    assert_eq!(disk.operation_count(), 14);
    assert_eq!(disk.trace()[13], Operation::Read("/manifest".into()));
}

#[test]
fn an_observer_sees_each_change_before_it_is_durable() {
    let disk = SimDisk::new(1);
    let seen = Arc::new(Mutex::new(Vec::new()));
    disk.observe({
        let seen = Arc::clone(&seen);
        move |number, moment| seen.lock().unwrap().push((number, moment.images().len() > 1))
    });
    disk.create(Path::new("/a")).unwrap();
    assert!(disk.read(Path::new("/a")).unwrap().is_empty());
    disk.sync_directory(Path::new(ROOT)).unwrap();
    disk.observe_no_more();
    disk.sync_directory(Path::new(ROOT)).unwrap();
    assert_eq!(*seen.lock().unwrap(), [(0, true), (2, true)]);
    assert_eq!(disk.images().len(), 1);
}
