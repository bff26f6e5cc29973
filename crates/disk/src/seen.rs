//! Recognises a file that was seen before, and changes no other.
//!
//! Input: a path, and what was seen there. Output: the open file, or a refusal. Does not depend on what the
//! file means.

use crate::limited_read::not_a_file;
use crate::{Error, Result};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A file as it was seen once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    device: u64,
    inode: u64,
    /// Its length.
    pub(crate) length_bytes: u64,
}

impl Seen {
    pub(crate) fn of(metadata: &Metadata) -> Seen {
        Seen { device: metadata.dev(), inode: metadata.ino(), length_bytes: metadata.len() }
    }
}

/// Opens a file for writing, without following a link. If it was seen before, it must still be the same.
pub(crate) fn open(path: &Path, seen: Option<Seen>) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = OpenOptions::new().write(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => is_link(),
        _ => error,
    })?;
    check(&file.metadata()?, seen)?;
    Ok(file)
}

/// Checks what a path refers to, without following a link.
pub(crate) fn check_path(path: &Path, seen: Option<Seen>) -> io::Result<()> {
    check(&fs::symlink_metadata(path)?, seen)
}

fn check(metadata: &Metadata, seen: Option<Seen>) -> io::Result<()> {
    if metadata.is_symlink() {
        return Err(is_link());
    }
    if !metadata.is_file() {
        return Err(not_a_file());
    }
    let Some(seen) = seen else { return Ok(()) };
    let found = Seen::of(metadata);
    if (found.device, found.inode) != (seen.device, seen.inode) {
        return Err(changed("it is not the file that was read before"));
    }
    same_length(found.length_bytes, seen)
}

/// Checks the length of a file, for a disk that knows nothing else of it.
pub(crate) fn check_length(path: &Path, found_bytes: u64, seen: Option<Seen>) -> Result<()> {
    let same = seen.map_or(Ok(()), |seen| same_length(found_bytes, seen));
    same.map_err(|source| Error::io("change", path, source))
}

fn same_length(found_bytes: u64, seen: Seen) -> io::Result<()> {
    let was_bytes = seen.length_bytes;
    if found_bytes == was_bytes {
        return Ok(());
    }
    Err(changed(&format!("its length has changed from {was_bytes} to {found_bytes} bytes")))
}

fn changed(what: &str) -> io::Error {
    io::Error::other(format!("{what}; run the command again"))
}

fn is_link() -> io::Error {
    io::Error::other("it is a link, which is not followed; put the file itself in its place")
}

#[cfg(test)]
mod tests {
    use crate::{Disk, RealDisk};
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn only_the_file_that_was_seen_is_cut_and_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::write(path("log"), "0123456789").unwrap();
        fs::write(path("victim"), "0123456789").unwrap();
        let seen = RealDisk.map(&path("log")).unwrap().seen();
        assert!(seen.is_some());
        let refused = |what: &str| {
            for refused in
                [RealDisk.cut_seen(&path("log"), 4, seen), RealDisk.remove_seen(&path("log"), seen)]
            {
                let refused = refused.unwrap_err().to_string();
                assert!(refused.contains(what), "{refused}");
            }
            assert_eq!(fs::read(path("victim")).unwrap(), b"0123456789");
        };
        fs::rename(path("log"), path("own")).unwrap();
        symlink("victim", path("log")).unwrap();
        refused("it is a link");
        fs::rename(path("victim"), path("log")).unwrap();
        fs::copy(path("log"), path("victim")).unwrap();
        refused("it is not the file that was read before");
        fs::rename(path("own"), path("log")).unwrap();
        fs::write(path("log"), "0123456789a").unwrap();
        refused("its length has changed from 10 to 11 bytes");
        fs::write(path("log"), "0123456789").unwrap();
        RealDisk.cut_seen(&path("log"), 4, seen).unwrap();
        assert_eq!(fs::read(path("log")).unwrap(), b"0123");
        let seen = RealDisk.map(&path("log")).unwrap().seen();
        RealDisk.remove_seen(&path("log"), seen).unwrap();
        assert!(!path("log").exists());
    }

    #[test]
    fn a_new_name_replaces_nothing_and_a_new_file_may_get_the_mode_of_another() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::write(path("old"), "old").unwrap();
        fs::write(path("new"), "new").unwrap();
        symlink("nowhere", path("link")).unwrap();
        for taken in ["new", "link"] {
            RealDisk.rename_new(&path("old"), &path(taken)).unwrap_err();
        }
        RealDisk.rename_new(&path("old"), &path("free")).unwrap();
        assert_eq!(fs::read(path("free")).unwrap(), b"old");
        assert_eq!(fs::read(path("new")).unwrap(), b"new");
        fs::set_permissions(path("new"), fs::Permissions::from_mode(0o640)).unwrap();
        drop(RealDisk.create(&path("made")).unwrap());
        RealDisk.copy_owner(&path("new"), &path("made")).unwrap();
        assert_eq!(fs::metadata(path("made")).unwrap().mode() & 0o777, 0o640);
    }
}
