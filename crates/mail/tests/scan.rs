//! Reading directories, against the standard library.
//!
//! Input: directories made for the tests. Output: whether each entry is found once, and the stamp is from
//! before the read.

use crate::privileges::{permit, without_privileges};
use mail::{EntryKind, Fingerprint, ScanBuffer, entry_hash, read_directory, stat_directory};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, symlink};
use std::path::Path;

/// Returns each entry's name with its inode.
fn entries(path: &Path) -> BTreeMap<Vec<u8>, u64> {
    let mut entries = BTreeMap::new();
    read_directory(path, &mut ScanBuffer::new(), |entry| {
        assert!(entries.insert(entry.name.to_vec(), entry.inode).is_none(), "visited twice");
    })
    .unwrap();
    entries
}

fn fingerprint(path: &Path) -> Fingerprint {
    let mut fingerprint = Fingerprint::default();
    read_directory(path, &mut ScanBuffer::new(), |entry| {
        fingerprint.add(entry_hash(entry.name, entry.inode));
    })
    .unwrap();
    fingerprint
}

#[test]
fn entries_are_those_of_the_standard_library() {
    let directory = tempfile::tempdir().unwrap();
    // More than one buffer holds, with names of every length.
    for number in 0..2000_usize {
        let name = format!("{number}.{}", "x".repeat(number % 250));
        fs::write(directory.path().join(name), b"").unwrap();
    }
    for name in [&b"a\nb:2,S"[..], b"\xff\xfe:2,", b"\x1b[31m", " ü".as_bytes(), b"..."] {
        fs::write(mail::join(directory.path(), name), b"").unwrap();
    }
    fs::write(directory.path().join(".hidden"), b"").unwrap();
    let expected: BTreeMap<Vec<u8>, u64> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().as_bytes().to_vec(), entry.ino()))
        .filter(|(name, _)| !name.starts_with(b"."))
        .collect();
    assert_eq!(expected.len(), 2004);
    assert_eq!(entries(directory.path()), expected);
}

#[test]
fn kinds_and_files_behind_links() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("file"), b"12345").unwrap();
    fs::create_dir(at("directory")).unwrap();
    symlink("file", at("link")).unwrap();
    let mut told = Vec::new();
    read_directory(directory.path(), &mut ScanBuffer::new(), |entry| {
        let is_message = entry.is_message_file(&mail::RootBoundary::new(directory.path())).unwrap();
        assert_eq!(is_message, entry.kind != EntryKind::Directory);
        if is_message {
            assert_eq!(entry.stat().unwrap(), mail::stat_file(&at("file")).unwrap());
        }
        told.push((String::from_utf8(entry.name.to_vec()).unwrap(), entry.kind));
    })
    .unwrap();
    told.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let expected =
        [("directory", EntryKind::Directory), ("file", EntryKind::File), ("link", EntryKind::Link)];
    assert_eq!(told, expected.map(|(name, kind)| (name.to_owned(), kind)));
}

#[test]
fn the_stamp_is_from_before_the_directory_is_read() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a"), b"").unwrap();
    // Long ago, so that the change below is visible whatever the resolution of the clock.
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    fs::File::open(directory.path()).unwrap().set_modified(long_ago).unwrap();
    let before = stat_directory(directory.path()).unwrap();
    let read = read_directory(directory.path(), &mut ScanBuffer::new(), |_| {
        fs::write(directory.path().join("b"), b"").unwrap();
    })
    .unwrap();
    assert_eq!(read.stamp(), before);
    assert_ne!(read.stamp(), stat_directory(directory.path()).unwrap());
}

#[test]
fn a_fingerprint_follows_names_and_inodes() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    assert_eq!(fingerprint(directory.path()), Fingerprint::default());
    for name in ["a:2,", "b:2,", "c:2,"] {
        fs::write(at(name), b"").unwrap();
    }
    let first = fingerprint(directory.path());
    fs::rename(at("a:2,"), at("a:2,S")).unwrap();
    let renamed = fingerprint(directory.path());
    assert_ne!(renamed, first);
    fs::rename(at("a:2,S"), at("a:2,")).unwrap();
    assert_eq!(fingerprint(directory.path()), first);
    // Replaces it by another file with another inode: the new one is created before the old one is removed.
    fs::write(at(".other"), b"").unwrap();
    fs::rename(at(".other"), at("a:2,")).unwrap();
    assert_ne!(fingerprint(directory.path()), first);
    let mut expected = fingerprint(directory.path());
    let inode = entries(directory.path())[&b"b:2,"[..]];
    expected.remove(entry_hash(b"b:2,", inode));
    fs::remove_file(at("b:2,")).unwrap();
    assert_eq!(fingerprint(directory.path()), expected);
}

#[test]
fn what_cannot_be_read_is_an_error_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let error = read_directory(&missing, &mut ScanBuffer::new(), |_| {}).unwrap_err();
    assert!(error.is_not_found() && error.path() == missing, "{error}");
    let file = directory.path().join("file");
    fs::write(&file, b"").unwrap();
    let error = read_directory(&file, &mut ScanBuffer::new(), |_| {}).unwrap_err();
    assert!(!error.is_not_found() && error.to_string().contains("Not a directory"), "{error}");
}

#[test]
fn an_unreadable_directory_is_never_empty() {
    without_privileges("scan::an_unreadable_directory_is_never_empty", || {
        let directory = tempfile::tempdir().unwrap();
        let closed = directory.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("a"), b"").unwrap();
        symlink("closed/a", directory.path().join("link")).unwrap();
        permit(&closed, 0);
        let error = read_directory(&closed, &mut ScanBuffer::new(), |_| {}).unwrap_err();
        let mut unknown = Vec::new();
        read_directory(directory.path(), &mut ScanBuffer::new(), |entry| {
            unknown.extend(
                entry
                    .is_message_file(&mail::RootBoundary::new(directory.path()))
                    .err()
                    .map(|error| error.to_string()),
            );
        })
        .unwrap();
        permit(&closed, 0o755);
        assert_eq!(
            error.to_string(),
            format!("cannot open the directory {}: Permission denied (os error 13)", closed.display())
        );
        let link = directory.path().join("link");
        assert_eq!(unknown, [format!("cannot stat {}: Permission denied (os error 13)", link.display())]);
    });
}
