//! Each method of `RealDisk` against a real directory.

use crate::child;
use disk::{Disk, RealDisk};
use std::path::Path;

#[test]
fn list_gives_all_names_as_bytes() {
    use std::os::unix::ffi::OsStringExt;
    let directory = tempfile::tempdir().unwrap();
    let odd = std::ffi::OsString::from_vec(b"caf\xe9\n".to_vec());
    for name in [odd.clone(), ".hidden".into(), "plain".into()] {
        disk::write_new(&RealDisk, &directory.path().join(name), b"").unwrap();
    }
    let mut names = RealDisk.list(directory.path()).unwrap();
    names.sort();
    assert_eq!(names, [".hidden".into(), odd, "plain".into()]);
    assert!(RealDisk.list(&directory.path().join("absent")).unwrap_err().is_not_found());
}

#[test]
fn what_is_written_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let mut file = RealDisk.create(&path).unwrap();
    file.write(b"one ").unwrap();
    file.sync().unwrap();
    file.write(b"two").unwrap();
    drop(file);
    assert_eq!(RealDisk.read(&path).unwrap(), b"one two");
    assert!(RealDisk.create(&path).is_err(), "never replaces");
    assert_eq!(RealDisk.read(&path).unwrap(), b"one two");
    assert!(RealDisk.read(&directory.path().join("absent")).unwrap_err().is_not_found());
}

#[test]
fn a_range_comes_whole_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pack");
    disk::write_new(&RealDisk, &path, b"0123456789").unwrap();
    assert_eq!(RealDisk.read_range(&path, 3, 4).unwrap(), b"3456");
    assert_eq!(RealDisk.read_range(&path, 10, 0).unwrap(), b"");
    for (offset, length_bytes, needed) in
        [(8, 3, 11), (11, 0, 11), (0, usize::MAX, u64::MAX), (u64::MAX, 1, u64::MAX)]
    {
        let error = RealDisk.read_range(&path, offset, length_bytes).unwrap_err();
        assert!(error.is_too_short(), "{error}");
        let expected = format!("cannot read {}: it has 10 bytes, {needed} expected", path.display());
        assert_eq!(error.to_string(), expected);
    }
    assert!(RealDisk.read_range(&directory.path().join("absent"), 0, 0).unwrap_err().is_not_found());
    assert!(RealDisk.read_range(directory.path(), 0, 0).is_err(), "a directory is no file");
}

#[test]
fn only_files_have_a_size() {
    let directory = tempfile::tempdir().unwrap();
    disk::write_new(&RealDisk, &directory.path().join("file"), b"12345").unwrap();
    assert_eq!(RealDisk.size(&directory.path().join("file")).unwrap(), 5);
    assert!(RealDisk.size(&directory.path().join("absent")).unwrap_err().is_not_found());
    assert!(!RealDisk.size(directory.path()).unwrap_err().is_not_found());
}

#[test]
fn append_cuts_what_lies_behind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    disk::write_new(&RealDisk, &path, b"valid torn").unwrap();
    let mut file = RealDisk.append(&path, 6).unwrap();
    assert_eq!(RealDisk.read(&path).unwrap(), b"valid ", "cut before anything is appended");
    file.write(b"new").unwrap();
    file.sync().unwrap();
    assert_eq!(RealDisk.read(&path).unwrap(), b"valid new");
    RealDisk.append(&path, 9).unwrap().write(b"est").unwrap();
    assert_eq!(RealDisk.read(&path).unwrap(), b"valid newest");
}

#[test]
fn append_never_invents_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    disk::write_new(&RealDisk, &path, b"short").unwrap();
    let error = RealDisk.append(&path, 6).err().unwrap();
    let expected = format!("cannot append to {}: it has 5 bytes, 6 expected", path.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(RealDisk.read(&path).unwrap(), b"short");
    assert!(error.is_too_short());
    assert!(RealDisk.append(&directory.path().join("absent"), 0).err().unwrap().is_not_found());
}

#[test]
fn rename_replaces_and_remove_forgives() {
    let directory = tempfile::tempdir().unwrap();
    let (old, new) = (directory.path().join("old"), directory.path().join("new"));
    disk::write_new(&RealDisk, &old, b"1").unwrap();
    disk::write_new(&RealDisk, &new, b"2").unwrap();
    RealDisk.rename(&old, &new).unwrap();
    assert_eq!(RealDisk.read(&new).unwrap(), b"1");
    assert!(RealDisk.rename(&old, &new).unwrap_err().is_not_found());
    RealDisk.remove(&new).unwrap();
    RealDisk.remove(&new).unwrap();
    assert_eq!(RealDisk.list(directory.path()).unwrap().len(), 0);
    assert!(RealDisk.remove(directory.path()).is_err(), "a directory is no file");
}

#[test]
#[should_panic(expected = "one directory")]
fn a_rename_across_directories_is_a_bug() {
    let _ = RealDisk.rename(Path::new("a/file"), Path::new("b/file"));
}

#[test]
fn directories_are_created_with_their_parents() {
    let directory = tempfile::tempdir().unwrap();
    let deep = directory.path().join("a/b/c");
    RealDisk.create_directory(&deep).unwrap();
    RealDisk.create_directory(&deep).unwrap();
    RealDisk.sync_directory(&deep).unwrap();
    disk::write_new(&RealDisk, &directory.path().join("file"), b"").unwrap();
    assert!(RealDisk.create_directory(&directory.path().join("file")).is_err());
    assert!(RealDisk.sync_directory(&directory.path().join("file")).is_err());
    assert!(RealDisk.create_directory(&directory.path().join("file/below")).is_err());
    assert!(RealDisk.sync_directory(&directory.path().join("absent")).unwrap_err().is_not_found());
}

#[test]
fn child_works_with_relative_names() {
    let Some(directory) = child::directory() else { return };
    std::env::set_current_dir(&directory).unwrap();
    RealDisk.create_directory(Path::new("bare")).unwrap();
    RealDisk.create_directory(Path::new("bare/below")).unwrap();
    disk::publish(&RealDisk, Path::new(""), "manifest", b"1").unwrap();
    disk::publish(&RealDisk, Path::new("bare"), "manifest", b"2").unwrap();
    assert_eq!(RealDisk.read(Path::new("manifest")).unwrap(), b"1");
}

#[test]
fn names_may_be_relative() {
    let directory = tempfile::tempdir().unwrap();
    child::assert_passed(&child::run("real::child_works_with_relative_names", directory.path()));
}

#[test]
fn child_writes_more_than_it_may() {
    let Some(directory) = child::directory() else { return };
    let path = directory.join("journal");
    let mut file = RealDisk.create(&path).unwrap();
    file.write(&[1; 1000]).unwrap();
    file.sync().unwrap();
    file.write(&[2; 1000]).unwrap();
    let error = file.write(&[3; 100_000]).unwrap_err();
    assert!(error.to_string().starts_with("cannot write "), "{error}");
    assert!(RealDisk.read(&path).unwrap() == [1; 1000], "what is not durable is not shown");
    assert!(file.write(b"").unwrap_err().to_string().contains("an earlier write to it failed"));
    assert!(file.sync().is_err());
    let mut file = RealDisk.append(&path, 1000).unwrap();
    file.write(&[4; 1000]).unwrap();
    file.sync().unwrap();
}

#[test]
fn a_file_that_failed_once_is_cut_back_and_refuses_all_else() {
    let directory = tempfile::tempdir().unwrap();
    // The limit is in blocks of 512 or 1024 bytes, and hits in the middle of the second write; ignored, the
    // signal is an error.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$@\"";
    child::assert_passed(&child::run_under(script, "real::child_writes_more_than_it_may", directory.path()));
}
