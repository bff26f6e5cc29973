//! Writes messages back into folders.
//!
//! Input: messages, where a snapshot has them, and the folder of each. Output: files in `cur` with the name,
//! flags and time that they had; [`TargetFolders::sync`] makes their names durable. A file is written in
//! `tmp` and linked into `cur` when it is whole. It never replaces a file, and a message that is already
//! there, under this name or with other flags, is not written twice. The index sees the files at its next
//! update.

use crate::blobs::reader::{BlobReader, MESSAGE_BYTES_MAX, content};
use crate::error::{Error, Result};
use crate::undelete::candidates::SnapshotFile;
use index::Subdirectory;
use mail::{Flags, RootBoundary};
use rustix::fs::{CWD, Mode, OFlags, Timespec, Timestamps};
use std::collections::{BTreeSet, HashMap};
use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// How many names are tried for one message.
const NAME_COUNT_MAX: u32 = 100;
/// Mode of new directories: only the owner may read mail.
const DIRECTORY_MODE: u32 = 0o700;
/// The field of mbsync's names with the message's UID on the server. The message was deleted there too: with
/// its old UID, mbsync would take it for deleted, or for another message.
const UID_FIELD: &[u8] = b"U";

/// A message that was put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undeleted {
    /// Its file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// What became of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Back {
    /// It was put back.
    Put(Undeleted),
    /// This file of the folder holds it already.
    Present(PathBuf),
}

/// Folders that messages are put back into.
#[derive(Debug, Default)]
pub(crate) struct TargetFolders {
    /// Their contents: files by the unique parts of their names.
    files: HashMap<PathBuf, HashMap<Vec<u8>, Vec<PathBuf>>>,
    /// Directories that must be synced.
    unsynced: BTreeSet<PathBuf>,
}

/// Puts one message into a folder.
///
/// # Errors
/// A piece cannot be read; the folder cannot be read or written.
pub(crate) fn put_back(
    reader: &dyn BlobReader,
    kept: &SnapshotFile,
    folder: &Path,
    folders: &mut TargetFolders,
) -> Result<Back> {
    let TargetFolders { files, unsynced } = folders;
    let files = files_of(files, folder)?;
    let bytes = content(reader, &kept.pieces, MESSAGE_BYTES_MAX)?;
    let name = name_back(&kept.name);
    for number in 0..NAME_COUNT_MAX {
        let name = numbered(&name, number);
        let unique = mail::parse_name(&name).unique.to_vec();
        let of_name = files.entry(unique).or_default();
        if let Some(path) = of_name.iter().find(|path| holds(path, &bytes)) {
            return Ok(Back::Present(path.clone()));
        }
        if of_name.is_empty()
            && let Some(path) = put(folder, &name, (&bytes, kept))?
        {
            of_name.push(path.clone());
            unsynced.insert(folder.join(Subdirectory::Cur.name()));
            return Ok(Back::Put(Undeleted { path, size_bytes: bytes.len() as u64 }));
        }
    }
    let source = ErrorKind::AlreadyExists.into();
    Err(Error::Io {
        action: "create",
        path: mail::join(&folder.join(Subdirectory::Cur.name()), &name),
        source,
    })
}

impl TargetFolders {
    /// Syncs each directory once. Returns the directories that cannot be synced, and why.
    pub(crate) fn sync(self) -> Vec<(PathBuf, Error)> {
        let failed = self.unsynced.into_iter().filter_map(|directory| match sync(&directory) {
            Ok(()) => None,
            Err(error) => Some((directory, error)),
        });
        failed.collect()
    }
}

/// Returns the files of a folder. Creates the folder if it does not exist.
fn files_of<'a>(
    folders: &'a mut HashMap<PathBuf, HashMap<Vec<u8>, Vec<PathBuf>>>,
    folder: &Path,
) -> Result<&'a mut HashMap<Vec<u8>, Vec<PathBuf>>> {
    if !folders.contains_key(folder) {
        for name in [Subdirectory::Cur.name(), Subdirectory::New.name(), "tmp"] {
            let directory = folder.join(name);
            make(&directory)?;
            expect_mail(folder, &directory)?;
        }
        folders.insert(folder.to_owned(), listed(folder)?);
    }
    Ok(folders.entry(folder.to_owned()).or_default())
}

/// Refuses a link in the place of a folder's `cur`, `new` or `tmp` that leads to something else. Otherwise
/// the author of a packed Maildir could choose where messages are written.
fn expect_mail(folder: &Path, directory: &Path) -> Result<()> {
    let refused = |source| Error::Io { action: "write into", path: directory.to_owned(), source };
    let is_link = directory.symlink_metadata().map_err(refused)?.is_symlink();
    if is_link && !RootBoundary::new(folder).leads_to_place(directory).map_err(refused)? {
        return Err(refused(std::io::Error::other("it is a link to a directory outside the mail")));
    }
    Ok(())
}

fn listed(folder: &Path) -> Result<HashMap<Vec<u8>, Vec<PathBuf>>> {
    let mut files: HashMap<Vec<u8>, Vec<PathBuf>> = HashMap::new();
    for subdirectory in Subdirectory::ALL {
        let directory = folder.join(subdirectory.name());
        let unreadable = |source| Error::Io { action: "read", path: directory.clone(), source };
        for (unique, names) in mail::names_by_unique_part(&directory).map_err(unreadable)? {
            let paths = names.iter().map(|name| mail::join(&directory, name));
            files.entry(unique).or_default().extend(paths);
        }
    }
    Ok(files)
}

/// Returns whether a file holds exactly these bytes. Returns false if it cannot be read.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let has_size = |metadata: std::fs::Metadata| metadata.is_file() && metadata.len() == bytes.len() as u64;
    std::fs::metadata(path).is_ok_and(has_size) && std::fs::read(path).is_ok_and(|found| found == bytes)
}

/// Returns the name for a message: with its flags except "trashed", and without a UID.
fn name_back(name: &[u8]) -> Vec<u8> {
    let flags = mail::parse_name(name).flags - Flags::TRASHED;
    mail::with_flags(&mail::without_field(name, UID_FIELD), flags)
}

/// Returns a name with the same flags and another unique part. The number 0 returns the same name.
fn numbered(name: &[u8], number: u32) -> Vec<u8> {
    if number == 0 {
        return name.to_vec();
    }
    let (unique, rest) = name.split_at_checked(mail::parse_name(name).unique.len()).unwrap_or((name, &[]));
    [unique, format!(".{number}").as_bytes(), rest].concat()
}

/// Creates a directory and its parents, and syncs them.
fn make(directory: &Path) -> Result<()> {
    let failed = |source| Error::Io { action: "create", path: directory.to_owned(), source };
    let create = || DirBuilder::new().mode(DIRECTORY_MODE).create(directory);
    let Some(parent) = directory.parent() else { return Ok(()) };
    let created = match create() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make(parent)?;
            create()
        }
        other => other,
    };
    match created {
        Ok(()) => sync(parent),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

fn sync(directory: &Path) -> Result<()> {
    File::open(directory).and_then(|opened| opened.sync_all()).map_err(|source| Error::Io {
        action: "sync",
        path: directory.to_owned(),
        source,
    })
}

/// Writes a message into a folder under a name, and returns its path; `None` if the name is taken.
fn put(folder: &Path, name: &[u8], (bytes, kept): (&[u8], &SnapshotFile)) -> Result<Option<PathBuf>> {
    let (temporary, file) = begin(&folder.join("tmp"), name)?;
    let path = mail::join(&folder.join(Subdirectory::Cur.name()), name);
    let linked = write(file, bytes, kept)
        .map_err(|source| Error::Io { action: "write", path: temporary.clone(), source })
        .and_then(|()| match std::fs::hard_link(&temporary, &path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(source) => Err(Error::Io { action: "create", path: path.clone(), source }),
        });
    // It is linked into `cur` by now, or is not whole.
    let _ = std::fs::remove_file(&temporary);
    Ok(linked?.then_some(path))
}

/// Creates a file with a new name.
fn begin(directory: &Path, name: &[u8]) -> Result<(PathBuf, File)> {
    let unique = mail::parse_name(name).unique;
    for number in 0..NAME_COUNT_MAX {
        let path = mail::join(directory, &[unique, format!(".pneu{number}").as_bytes()].concat());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(CWD, &path, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => return Ok((path, file.into())),
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(Error::Io { action: "create", path, source: error.into() }),
        }
    }
    let source = ErrorKind::AlreadyExists.into();
    Err(Error::Io { action: "create", path: mail::join(directory, name), source })
}

fn write(mut file: File, bytes: &[u8], kept: &SnapshotFile) -> std::io::Result<()> {
    file.write_all(bytes)?;
    // Only read and write: no execute, setuid or setgid bits.
    rustix::fs::fchmod(&file, Mode::from_raw_mode(kept.stat.mode & 0o666))?;
    let time = Timespec {
        tv_sec: kept.stat.mtime_ns.div_euclid(1_000_000_000),
        tv_nsec: kept.stat.mtime_ns.rem_euclid(1_000_000_000),
    };
    rustix::fs::futimens(&file, &Timestamps { last_access: time, last_modification: time })?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blobs::entry::Stat;
    use crate::testing::memory::{MemoryRepository, id_of};

    #[test]
    fn nothing_is_put_where_a_link_leads_to_no_mail() {
        let top = tempfile::tempdir().unwrap();
        let at = |path: &str| top.path().join(path);
        for directory in ["private", "other/cur", "a", "b", "c"] {
            std::fs::create_dir_all(at(directory)).unwrap();
        }
        for (link, target) in [("a/cur", "private"), ("b/tmp", "private"), ("c/cur", "other/cur")] {
            std::os::unix::fs::symlink(at(target), at(link)).unwrap();
        }
        let (writer, piece) = (MemoryRepository::default(), id_of(b"text"));
        writer.pieces.lock().unwrap().insert(piece, b"text".to_vec());
        let stat = Stat { mode: 0o600, ..Stat::default() };
        let kept = SnapshotFile {
            folder: Vec::new(),
            here: None,
            name: b"1.x:2,S".into(),
            stat,
            pieces: vec![piece],
        };
        for folder in ["a", "b"] {
            let error = put_back(&writer, &kept, &at(folder), &mut TargetFolders::default()).err().unwrap();
            assert!(error.to_string().ends_with("it is a link to a directory outside the mail"), "{error}");
        }
        assert_eq!(std::fs::read_dir(at("private")).unwrap().count(), 0);
        let back = put_back(&writer, &kept, &at("c"), &mut TargetFolders::default()).unwrap();
        assert!(matches!(back, Back::Put(_)) && at("other/cur/1.x:2,S").exists(), "{back:?}");
    }

    #[test]
    fn each_directory_is_made_durable_once_and_one_that_is_gone_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let folder = |name: &str| directory.path().join(name);
        let (writer, mut folders) = (MemoryRepository::default(), TargetFolders::default());
        for (place, name) in [("a", "1.x:2,S"), ("b", "2.x:2,S"), ("b", "3.x:2,S")] {
            let piece = id_of(name.as_bytes());
            writer.pieces.lock().unwrap().insert(piece, name.as_bytes().to_vec());
            let stat = Stat { mode: 0o600, ..Stat::default() };
            let kept =
                SnapshotFile { folder: Vec::new(), here: None, name: name.into(), stat, pieces: vec![piece] };
            let back = put_back(&writer, &kept, &folder(place), &mut folders).unwrap();
            assert!(matches!(back, Back::Put(_)), "{back:?}");
        }
        let left: Vec<PathBuf> = folders.unsynced.iter().cloned().collect();
        assert_eq!(left, [folder("a/cur"), folder("b/cur")]);
        std::fs::remove_dir_all(folder("b")).unwrap();
        let failed: Vec<PathBuf> = folders.sync().into_iter().map(|(path, _)| path).collect();
        assert_eq!(failed, [folder("b/cur")]);
    }
}
