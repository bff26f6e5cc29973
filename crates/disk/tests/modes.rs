//! Everything written is for the user alone, whatever the umask; what was there keeps its mode.

use crate::child;
use disk::{Disk, RealDisk, Wait};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn child_writes_under_an_odd_umask() {
    let Some(directory) = child::directory() else { return };
    let deep = directory.join("data/index/text");
    RealDisk.create_directory(&deep).unwrap();
    disk::publish(&RealDisk, &deep, "manifest", b"1").unwrap();
    disk::publish(&RealDisk, &deep, "manifest", b"2").unwrap();
    let _lock = RealDisk.lock(&deep.join("writer.lock"), "me", Wait::Refuse).unwrap();
    for part in ["data", "data/index", "data/index/text"] {
        assert_eq!(mode(&directory.join(part)), 0o700, "{part}");
    }
    for name in ["manifest", "writer.lock"] {
        assert_eq!(mode(&deep.join(name)), 0o600, "{name}");
    }
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    for umask in ["000", "022", "077", "777"] {
        let directory = tempfile::tempdir().unwrap();
        let script = format!("umask {umask}; exec \"$@\"");
        child::assert_passed(&child::run_under(
            &script,
            "modes::child_writes_under_an_odd_umask",
            directory.path(),
        ));
    }
}

#[test]
fn a_directory_that_was_there_keeps_its_mode() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o750)).unwrap();
    RealDisk.create_directory(directory.path()).unwrap();
    RealDisk.create_directory(&directory.path().join("new")).unwrap();
    assert_eq!(mode(directory.path()), 0o750);
    assert_eq!(mode(&directory.path().join("new")), 0o700);
}
