//! The lock: one holder, its name for the refused, free when the holder lets go. flock(2) belongs to an open
//! file and not to a process, so that one process can play both sides.

use crate::child;
use disk::{Disk, Error, RealDisk, Wait};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tries to take the lock, and returns what the present holder says about itself.
fn refused_by(path: &Path) -> String {
    match RealDisk.lock(path, "the second", Wait::Refuse).unwrap_err() {
        Error::Locked { holder, path: named } => {
            assert_eq!(named, path);
            holder
        }
        error => panic!("{error}"),
    }
}

#[test]
fn the_second_is_told_who_holds_the_lock() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("writer.lock");
    let held = RealDisk.lock(&path, "pneu index (process 4711)", Wait::Refuse).unwrap();
    assert_eq!(refused_by(&path), "pneu index (process 4711)");
    drop(held);
    let held = RealDisk.lock(&path, "short", Wait::Refuse).unwrap();
    assert_eq!(refused_by(&path), "short", "the longer text of the former holder is gone");
    drop(held);
    assert_eq!(fs::read(&path).unwrap(), b"short");
    assert!(RealDisk.lock(&path, "nobody holds it", Wait::Refuse).is_ok(), "a text left behind stops nobody");
}

#[test]
fn a_holder_without_a_text_or_with_an_odd_one_is_still_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("writer.lock");
    let _held = RealDisk.lock(&path, "", Wait::Refuse).unwrap();
    assert_eq!(refused_by(&path), "another process");
    fs::write(&path, b"\x1b[31mred\xff\nsecond line").unwrap();
    assert_eq!(refused_by(&path), "[31mred\u{fffd}");
    fs::write(&path, "x".repeat(100_000)).unwrap();
    assert_eq!(refused_by(&path).len(), 256);
}

#[test]
fn shares_exclude_the_whole_lock_and_not_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("merge.lock");
    let first = RealDisk.share_lock(&path, Wait::Refuse).unwrap();
    let second = RealDisk.share_lock(&path, Wait::Block).unwrap();
    assert_eq!(refused_by(&path), "another process");
    drop(first);
    assert_eq!(refused_by(&path), "another process", "one share is still held");
    drop(second);
    let whole = RealDisk.lock(&path, "who cleans up", Wait::Refuse).unwrap();
    let refused = RealDisk.share_lock(&path, Wait::Refuse).unwrap_err();
    assert!(matches!(refused, Error::Locked { holder, .. } if holder == "who cleans up"));
    drop(whole);
    RealDisk.share_lock(&path, Wait::Refuse).unwrap();
}

#[test]
fn whoever_waits_gets_the_lock_when_it_is_free() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("writer.lock");
    let held = RealDisk.lock(&path, "the first", Wait::Block).unwrap();
    let is_free = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let lock = RealDisk.lock(&path, "the second", Wait::Block).unwrap();
            assert!(is_free.load(Ordering::SeqCst));
            lock
        });
        is_free.store(true, Ordering::SeqCst);
        drop(held);
        let _second = waiter.join().unwrap();
        assert_eq!(refused_by(&path), "the second");
    });
}

#[test]
fn a_removed_lock_file_does_not_part_those_who_come_later() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("writer.lock");
    let first = RealDisk.lock(&path, "the first", Wait::Refuse).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| RealDisk.lock(&path, "the second", Wait::Block).unwrap());
        fs::remove_file(&path).unwrap();
        drop(first);
        // Whether it waited for the removed file or never saw it: it holds the one that is there.
        let _second = waiter.join().unwrap();
        assert_eq!(refused_by(&path), "the second");
    });
}

#[test]
fn child_locks_in_a_read_only_directory() {
    let Some(directory) = child::directory() else { return };
    let error = RealDisk.lock(&directory.join("writer.lock"), "me", Wait::Refuse).unwrap_err();
    assert!(error.is_permission_denied());
    let sentence = error.to_string();
    assert!(sentence.starts_with("cannot write the lock file /"), "{sentence}");
    assert!(sentence.contains("writer.lock: Permission denied"), "{sentence}");
}

#[test]
fn a_read_only_directory_is_said_to_be_one() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let output = child::run_without_rights("lock::child_locks_in_a_read_only_directory", directory.path());
    child::assert_passed(&output);
}
