//! Reads a directory as fast as the system call allows: names, inodes and kinds, without a stat of any file.
//!
//! Input: a directory. Output: its entries one by one, in the buffer that the kernel filled; the directory's
//! stamp from before it was read; and the fingerprint of its entries. Does not know what the names mean, or
//! what was found before.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use crate::maildir::link::RootBoundary;
use crate::maildir::path::join;
use crate::maildir::stamp::{FileStat, Stamp};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::fmt;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// A larger buffer is not faster: most of the time is the kernel's own work on each entry.
const BUFFER_BYTES: usize = 32 << 10;

/// A buffer for reading directories, reused from one to the next.
pub struct ScanBuffer {
    bytes: Box<[MaybeUninit<u8>]>,
}

/// An open directory, with its stamp from when it was opened.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
    path: PathBuf,
    stamp: Stamp,
}

/// One entry of a directory.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The name: any bytes but `/` and NUL.
    pub name: &'a [u8],
    /// The inode in the directory entry: of a symbolic link its own, of a mount point the one below the
    /// mount.
    pub inode: u64,
    /// The kind in the directory entry.
    pub kind: EntryKind,
    directory: &'a Directory,
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, socket or device.
    Other,
    /// The file system does not report kinds.
    Unknown,
}

/// The fingerprint of a set of entries: the sum of their [`entry_hash`]es modulo 2^128, in any order.
///
/// Directories with the same fingerprint have the same names with the same inodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub u128);

/// Reads a whole directory and calls `visit` for each entry, except those whose name begins with a dot, which
/// are never messages in a Maildir. Returns the directory, with its stamp from before it was read.
///
/// A file that is renamed during the read may be visited under both names, or under neither.
///
/// # Errors
/// [`Error::Io`] if it cannot be opened or read to its end. The entries visited until then are incomplete.
pub fn read_directory(
    path: &Path,
    buffer: &mut ScanBuffer,
    mut visit: impl FnMut(Entry<'_>),
) -> Result<Directory> {
    let directory = Directory::open(path)?;
    directory.read(buffer, |entry| {
        if !entry.name.starts_with(b".") {
            visit(entry);
        }
    })?;
    Ok(directory)
}

/// Returns what an entry adds to a [`Fingerprint`]: XXH3 of the name, seeded with the inode.
pub fn entry_hash(name: &[u8], inode: u64) -> u128 {
    xxh3_128_with_seed(name, inode)
}

impl ScanBuffer {
    /// Allocates 32 KiB.
    pub fn new() -> ScanBuffer {
        ScanBuffer { bytes: vec![MaybeUninit::uninit(); BUFFER_BYTES].into_boxed_slice() }
    }
}

impl Default for ScanBuffer {
    fn default() -> ScanBuffer {
        ScanBuffer::new()
    }
}

impl fmt::Debug for ScanBuffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ScanBuffer")
    }
}

impl Directory {
    /// Opens a directory, following symbolic links, and takes its stamp.
    ///
    /// # Errors
    /// [`Error::Io`] if it does not exist, is not a directory, or may not be read.
    pub fn open(path: &Path) -> Result<Directory> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed = |error| Error::io("open the directory", path, error);
        let descriptor = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(failed)?;
        let stat = rustix::fs::fstat(&descriptor).map_err(failed)?;
        Ok(Directory { descriptor, path: path.to_owned(), stamp: Stamp::from(FileStat::from(stat)) })
    }

    /// Returns the stamp from when it was opened.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Reads all entries but `.` and `..`, including those with a leading dot. Works once per open directory.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read to its end.
    pub fn read(&self, buffer: &mut ScanBuffer, mut visit: impl FnMut(Entry<'_>)) -> Result<()> {
        let all = |entry: Entry<'_>| {
            visit(entry);
            false
        };
        self.has(buffer, all).map(|_| ())
    }

    /// Returns whether `is_it` accepts an entry, and stops at the first. Works once, as [`Directory::read`].
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read to that entry.
    pub fn has(&self, buffer: &mut ScanBuffer, mut is_it: impl FnMut(Entry<'_>) -> bool) -> Result<bool> {
        let mut entries = RawDir::new(&self.descriptor, &mut buffer.bytes);
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(Error::io("read the directory", &self.path, error)),
            };
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                let kind = EntryKind::from(entry.file_type());
                if is_it(Entry { name, inode: entry.ino(), kind, directory: self }) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Calls `visit` with the entry of this name, if there is one, without reading the directory.
    ///
    /// # Errors
    /// [`Error::Io`] if the disk cannot tell whether there is one.
    pub fn visit_named(&self, name: &[u8], visit: impl FnOnce(Entry<'_>)) -> Result<()> {
        match rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                let kind = EntryKind::from(FileType::from_raw_mode(stat.st_mode));
                visit(Entry { name, inode: stat.st_ino, kind, directory: self });
                Ok(())
            }
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(Error::io("stat", &join(&self.path, name), error)),
        }
    }

    /// Returns the stat of one of its files, following symbolic links. Cheaper than
    /// [`stat_file`](crate::stat_file), because the path of the directory is not resolved again.
    ///
    /// # Errors
    /// [`Error::Io`], also if the file does not exist.
    pub fn stat_file(&self, name: &[u8]) -> Result<FileStat> {
        self.stat(name, AtFlags::empty())
    }

    fn stat(&self, name: &[u8], flags: AtFlags) -> Result<FileStat> {
        match rustix::fs::statat(&self.descriptor, name, flags) {
            Ok(stat) => Ok(FileStat::from(stat)),
            Err(error) => Err(Error::io("stat", &join(&self.path, name), error)),
        }
    }
}

impl Entry<'_> {
    /// Returns whether it is a message file: a regular file, or a symbolic link to one in a `cur` or `new` or
    /// below the root. Asks the disk only if the directory entry does not tell. A dangling link is not a
    /// message file.
    ///
    /// # Errors
    /// [`Error::Io`] if the disk cannot tell either. The file is then unknown, not gone.
    pub fn is_message_file(&self, root: &RootBoundary) -> Result<bool> {
        match self.kind {
            EntryKind::File => Ok(true),
            EntryKind::Directory | EntryKind::Other => Ok(false),
            EntryKind::Link | EntryKind::Unknown => match self.stat() {
                Ok(stat) => Ok(stat.is_file() && self.is_followed(root)?),
                Err(error) if error.is_not_found() || error.is_link_loop() => Ok(false),
                Err(error) => Err(error),
            },
        }
    }

    /// Returns whether it is a symbolic link that is not followed because its target is not mail.
    pub fn is_unfollowed_link(&self, root: &RootBoundary) -> bool {
        let is_file = || self.stat().is_ok_and(|stat| stat.is_file());
        matches!(self.kind, EntryKind::Link | EntryKind::Unknown)
            && is_file()
            && self.is_followed(root).is_ok_and(|is_followed| !is_followed)
    }

    fn is_followed(&self, root: &RootBoundary) -> Result<bool> {
        if self.resolve_kind()? != EntryKind::Link {
            return Ok(true);
        }
        let link = join(&self.directory.path, self.name);
        root.leads_to_message(&link).map_err(|error| Error::io("follow the link", &link, error))
    }

    /// Returns the kind, and asks the disk only if the directory entry does not tell. Does not follow
    /// symbolic links.
    ///
    /// # Errors
    /// [`Error::Io`] if the disk cannot tell either.
    pub fn resolve_kind(&self) -> Result<EntryKind> {
        if self.kind != EntryKind::Unknown {
            return Ok(self.kind);
        }
        let stat = self.directory.stat(self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(EntryKind::from(FileType::from_raw_mode(stat.mode)))
    }

    /// Returns the stat of the file, following symbolic links.
    ///
    /// # Errors
    /// [`Error::Io`], also if the file is gone by now.
    pub fn stat(&self) -> Result<FileStat> {
        self.directory.stat_file(self.name)
    }
}

impl From<FileType> for EntryKind {
    fn from(file_type: FileType) -> EntryKind {
        match file_type {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            FileType::Unknown => EntryKind::Unknown,
            _ => EntryKind::Other,
        }
    }
}

impl Fingerprint {
    /// Adds an entry, by its hash.
    pub fn add(&mut self, hash: u128) {
        self.0 = self.0.wrapping_add(hash);
    }

    /// Removes an entry that was added, by its hash.
    pub fn remove(&mut self, hash: u128) {
        self.0 = self.0.wrapping_sub(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_disk_knows_what_the_directory_does_not_say() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("file"), b"").unwrap();
        fs::create_dir(at("directory")).unwrap();
        let pipe = FileType::Fifo;
        rustix::fs::mknodat(CWD, at("pipe"), pipe, Mode::from_raw_mode(0o600), 0).unwrap();
        for (name, target) in
            [("link", "file"), ("dangling", "nowhere"), ("loop", "loop"), ("up", "directory")]
        {
            symlink(target, at(name)).unwrap();
        }
        let directory = Directory::open(root.path()).unwrap();
        let within = RootBoundary::new(root.path());
        let mut told = Vec::new();
        let tell = |entry: Entry<'_>| {
            let name = String::from_utf8_lossy(entry.name).into_owned();
            let unknown = Entry { kind: EntryKind::Unknown, ..entry };
            assert_eq!(unknown.resolve_kind().unwrap(), entry.kind, "{name}");
            assert_eq!(
                unknown.is_message_file(&within).unwrap(),
                entry.is_message_file(&within).unwrap(),
                "{name}"
            );
            told.push(format!("{name} {:?} {}", entry.kind, entry.is_message_file(&within).unwrap()));
        };
        directory.read(&mut ScanBuffer::new(), tell).unwrap();
        told.sort_unstable();
        let expected = [
            "dangling Link false",
            "directory Directory false",
            "file File true",
            "link Link true",
            "loop Link false",
            "pipe Other false",
            "up Link false",
        ];
        assert_eq!(told, expected);
        let gone = Entry { name: b"gone", inode: 0, kind: EntryKind::Unknown, directory: &directory };
        assert!(gone.resolve_kind().unwrap_err().is_not_found());
        assert!(!gone.is_message_file(&within).unwrap());
    }

    #[test]
    fn the_hash_is_the_one_in_old_indexes() {
        assert_eq!(entry_hash(b"", 0), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        let hash = entry_hash(b"1204680122.27448_1.coyote:2,S", 4711);
        assert_eq!(hash, 0x8433_cd15_26f7_8fc1_565d_a794_ae83_32b7);
        assert_ne!(hash, entry_hash(b"1204680122.27448_1.coyote:2,S", 4712));
        assert_ne!(hash, entry_hash(b"1204680122.27448_1.coyote:2,", 4711));
    }

    proptest! {
        #[test]
        fn a_fingerprint_has_no_order_and_forgets_what_is_removed(
            kept in proptest::collection::vec(any::<u128>(), 0..8),
            dropped in proptest::collection::vec(any::<u128>(), 0..8),
        ) {
            let mut expected = Fingerprint::default();
            kept.iter().for_each(|hash| expected.add(*hash));
            let mut fingerprint = Fingerprint::default();
            dropped.iter().chain(&kept).rev().for_each(|hash| fingerprint.add(*hash));
            dropped.iter().for_each(|hash| fingerprint.remove(*hash));
            prop_assert_eq!(fingerprint, expected);
        }
    }
}
