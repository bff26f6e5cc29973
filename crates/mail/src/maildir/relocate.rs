//! Moves and copies message files between folders, and says which name a file gets in another one.
//!
//! Input: paths. Output: files at new places. Nothing is ever replaced. A file that goes to another file
//! system is copied, synced and only then removed, so that it is always somewhere. Does not sync directories:
//! the caller syncs each once, after all its files.

use crate::error::{Error, Result};
use crate::maildir::deliver::{
    create_directory, is_unsupported, rename_exclusively, rename_to_new, sync_directory,
};
use crate::maildir::file_name::without_field;
use crate::maildir::path::join;
use crate::maildir::stamp::FileStat;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The fields of a name that belong to one folder: the number that mbsync and others gave the message there,
/// and what the folder is for mbsync.
const OF_FOLDER: [&[u8]; 2] = [b"U", b"FMD5"];

/// Returns the name of a file in another folder: without the fields that belong to its present one. Sizes and
/// flags stay.
pub fn name_elsewhere(name: &[u8]) -> Vec<u8> {
    OF_FOLDER.iter().fold(name.to_vec(), |name, field| without_field(&name, field))
}

/// Moves a file to a place where none is. Within a file system it is renamed. To another one it is copied as
/// [`copy_file`] does, the new place is synced, and the old file is removed.
///
/// # Errors
/// There is a file at the new place; other errors of the system. The file is at its old place then.
pub fn move_file(from: &Path, to: &Path) -> Result<()> {
    match rename_to_new(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_file(from, to)?;
            to.parent().map_or(Ok(()), sync_directory)?;
            std::fs::remove_file(from).map_err(|source| {
                // It was renamed meanwhile: it is not moved.
                let _ = std::fs::remove_file(to);
                Error::io("remove", from, source)
            })
        }
        done => done.map_err(|source| Error::io("move", from, source)),
    }
}

/// Renames a directory, with all that is in it, to a name that nothing has, within a file system. Does not
/// follow a symbolic link.
///
/// # Errors
/// The new name is taken, or on another file system; other errors of the system. The directory has its old
/// name then.
pub fn rename_directory(from: &Path, to: &Path) -> Result<()> {
    let renamed = match rename_exclusively(from, to) {
        // Only an empty directory could be replaced, and a folder is not empty.
        Err(error) if is_unsupported(error) => match to.symlink_metadata() {
            Ok(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
            Err(_) => std::fs::rename(from, to),
        },
        done => done.map_err(io::Error::from),
    };
    renamed.map_err(|source| Error::io("rename", from, source))
}

/// Copies a file to a place where none is: into `tmp` of that folder, synced, then renamed. Keeps the time of
/// its last write, its permissions, and its owner if that is allowed.
///
/// # Errors
/// As [`move_file`]. Nothing is at the new place then.
pub fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let temporary = temporary_of(to)?;
    let copied = copy_into(from, &temporary)
        .and_then(|()| rename_to_new(&temporary, to).map_err(|source| Error::io("create", to, source)));
    if copied.is_err() {
        // Whoever cleans `tmp` removes what is left.
        let _ = std::fs::remove_file(&temporary);
    }
    copied
}

/// Returns the stat of a file, without following a symbolic link.
///
/// # Errors
/// [`Error::Io`], of one that is not there too.
pub fn stat_entry(path: &Path) -> Result<FileStat> {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
        .map(FileStat::from)
        .map_err(|source| Error::io("read", path, source))
}

/// Returns the files of a folder by their inodes, under whatever names.
///
/// # Errors
/// A directory of the folder cannot be read; one that does not exist is no error.
pub fn files_by_inode(folder: &Path) -> Result<HashMap<u64, Vec<PathBuf>>> {
    let mut files: HashMap<u64, Vec<PathBuf>> = HashMap::new();
    for directory in ["cur", "new"].map(|directory| folder.join(directory)) {
        let entries = match std::fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(|source| Error::io("read", &directory, source))?,
        };
        for entry in entries {
            let entry = entry.map_err(|source| Error::io("read", &directory, source))?;
            files.entry(entry.ino()).or_default().push(entry.path());
        }
    }
    Ok(files)
}

/// Returns whether two files have the same bytes.
///
/// # Errors
/// One of them cannot be read.
pub fn have_same_bytes(first: &Path, second: &Path) -> Result<bool> {
    let open = |path: &Path| {
        let file = File::open(path).map_err(|source| Error::io("read", path, source))?;
        Ok(BufReader::with_capacity(1 << 16, file))
    };
    let (mut one, mut other) = (open(first)?, open(second)?);
    loop {
        let bytes = one.fill_buf().map_err(|source| Error::io("read", first, source))?;
        let others = other.fill_buf().map_err(|source| Error::io("read", second, source))?;
        let length = bytes.len().min(others.len());
        if length == 0 {
            return Ok(bytes.len() == others.len());
        }
        if bytes.get(..length) != others.get(..length) {
            return Ok(false);
        }
        one.consume(length);
        other.consume(length);
    }
}

/// Returns the place in `tmp` for a file that will be at `to`.
fn temporary_of(to: &Path) -> Result<PathBuf> {
    let missing = || Error::io("create", to, io::Error::from(io::ErrorKind::InvalidInput));
    let name = to.file_name().ok_or_else(missing)?;
    let directory = to.parent().and_then(Path::parent).ok_or_else(missing)?.join("tmp");
    create_directory(&directory)?;
    Ok(join(&directory, name.as_bytes()))
}

fn copy_into(from: &Path, temporary: &Path) -> Result<()> {
    let refused = |source| Error::io("write", temporary, source);
    // A link is not followed: it was a file when it was looked at.
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let open = OpenOptions::new().read(true).custom_flags(flags).open(from);
    let mut source = open.map_err(|source| Error::io("read", from, source))?;
    let stat = source.metadata().map_err(|source| Error::io("read", from, source))?;
    if !stat.is_file() {
        return Err(Error::NotAFile { path: from.to_owned() });
    }
    // What a crash left there is of nobody.
    let _ = std::fs::remove_file(temporary);
    let mut file: File =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary).map_err(refused)?;
    io::copy(&mut source, &mut file).map_err(refused)?;
    let mode = std::fs::Permissions::from_mode(stat.mode() & 0o777);
    file.set_permissions(mode).map_err(refused)?;
    // Only root may give files away.
    let _ = std::os::unix::fs::fchown(&file, Some(stat.uid()), Some(stat.gid()));
    let written = Timespec { tv_sec: stat.mtime(), tv_nsec: stat.mtime_nsec() };
    let times =
        Timestamps { last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT }, last_modification: written };
    utimensat(CWD, temporary, &times, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|source| Error::io("write", temporary, source))?;
    file.sync_all().map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maildir::deliver::create_folder;

    #[test]
    fn a_name_keeps_sizes_and_flags_and_loses_the_numbers_of_its_folder() {
        for (name, elsewhere) in [
            ("1.a,U=5:2,S", "1.a:2,S"),
            ("1.a,U=5,FMD5=ab,S=3,W=4:2,FS", "1.a,S=3,W=4:2,FS"),
            ("1.a,S=3", "1.a,S=3"),
            ("1.a,UX=3:2,", "1.a,UX=3:2,"),
            ("1.a:2,S", "1.a:2,S"),
        ] {
            assert_eq!(name_elsewhere(name.as_bytes()), elsewhere.as_bytes(), "{name}");
        }
    }

    /// Returns folders on one file system, and on another one if this machine has one to write to.
    fn folders() -> (Vec<tempfile::TempDir>, Vec<PathBuf>) {
        let places: Vec<tempfile::TempDir> =
            [Some(tempfile::tempdir().unwrap()), tempfile::tempdir_in("/dev/shm").ok()]
                .into_iter()
                .flatten()
                .collect();
        let folders: Vec<PathBuf> = places.iter().map(|place| place.path().join("box")).collect();
        folders.iter().for_each(|folder| create_folder(folder).unwrap());
        (places, folders)
    }

    #[test]
    fn a_file_moves_or_is_copied_whole_with_its_time_and_replaces_nothing() {
        let (_places, folders) = folders();
        let origin = folders[0].join("cur/1.a:2,S");
        std::fs::write(&origin, "a letter").unwrap();
        let old = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 5);
        File::options().write(true).open(&origin).unwrap().set_modified(old).unwrap();
        for folder in &folders {
            let (copied, moved) = (folder.join("cur/2.a:2,S"), folder.join("new/3.a"));
            copy_file(&origin, &copied).unwrap();
            assert_eq!(std::fs::read(&copied).unwrap(), b"a letter");
            assert_eq!(copied.metadata().unwrap().modified().unwrap(), old);
            move_file(&copied, &moved).unwrap();
            assert!(!copied.exists());
            let inode = stat_entry(&moved).unwrap().inode;
            assert_eq!(files_by_inode(folder).unwrap().get(&inode), Some(&vec![moved.clone()]));
            for refused in [copy_file(&origin, &moved), move_file(&origin, &moved)] {
                assert!(refused.unwrap_err().to_string().contains("File exists"));
            }
            assert_eq!(std::fs::read_dir(folder.join("tmp")).unwrap().count(), 0);
            assert!(origin.exists());
            // From one file system to the other, if there are two, and back.
            let back = folders[0].join("cur/4.a");
            move_file(&moved, &back).unwrap();
            assert_eq!(back.metadata().unwrap().modified().unwrap(), old);
            assert!(!moved.exists());
            std::fs::remove_file(back).unwrap();
        }
        assert!(files_by_inode(&folders[0].join("none")).unwrap().is_empty());
    }

    #[test]
    fn files_are_compared_to_their_ends() {
        let (_places, folders) = folders();
        let path = |name: &str| folders[0].join("cur").join(name);
        let long = vec![7; 200_000];
        let mut other = long.clone();
        other[150_000] = 8;
        for (name, bytes) in [("a", &long), ("b", &long), ("c", &other), ("d", &long[1..].to_vec())] {
            std::fs::write(path(name), bytes).unwrap();
        }
        assert!(have_same_bytes(&path("a"), &path("b")).unwrap());
        for different in ["c", "d"] {
            assert!(!have_same_bytes(&path("a"), &path(different)).unwrap());
            assert!(!have_same_bytes(&path(different), &path("a")).unwrap());
        }
    }

    #[test]
    fn a_link_is_not_copied() {
        let (_places, folders) = folders();
        let link = folders[0].join("cur/1.a");
        std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
        assert!(copy_file(&link, &folders[0].join("cur/2.a")).is_err());
        assert!(!folders[0].join("cur/2.a").exists());
    }
}
