//! How bytes become durable: publish, append, map, lock.
//!
//! Input: bytes and paths. Output: bytes that survive a crash, or an [`Error`] that names the file. This
//! crate does not depend on what the bytes mean. All unsafe code is in it, in `map.rs`, `prefetch.rs`,
//! `huge_pages.rs`, `fault.rs`, `zeroed.rs`, `inherit.rs` and `copy.rs`; except for the call by which the
//! program gives freed memory back, in `terminal`.
//!
//! # What is durable, and when
//!
//! After a crash (a power failure, a stopped kernel) everything that was made durable is there, and *any*
//! part of the rest, in any order. A killed process loses nothing that it wrote. The rules follow POSIX;
//! where POSIX leaves a choice, they assume the worse one. Nothing else may be relied on:
//!
//! | what | is durable after | before that, a crash may leave |
//! |---|---|---|
//! | bytes written to a file | [`File::sync`], [`Disk::sync_file`] | any sectors of it, any length |
//! | the name of a created file | [`Disk::sync_directory`] | the name or not; the name with an empty file |
//! | a rename | [`Disk::sync_directory`] | the old name, or the new one, **also before the file's bytes** |
//! | a removal | [`Disk::sync_directory`] | the file whole, or gone |
//! | a created directory | [`Disk::create_directory`] itself | it, or some of its parents, or nothing |
//! | a cut by [`Disk::append`] | [`Disk::append`] itself | the old length or the new |
//!
//! A sector has 512 bytes; one that did not reach the disk holds zeros or what was there before. The length
//! of the file lies between the old and the new. A rename may come before the file's bytes if they were not
//! synced.
//!
//! So there are two ways to write, and no others:
//!
//! - **A whole file** appears by [`publish`]: write a temporary file, sync it, rename it, sync the directory.
//!   Or it is written by [`write_new`] under a name that nothing refers to yet, and the directory is synced
//!   before anything that refers to the file is published.
//! - **A growing file** (a journal) is opened by [`Disk::append`] after its valid bytes. This cuts the rest
//!   and makes both durable. Each record is written, synced and acknowledged before the next one is written.
//!   So a crash tears the last record at most, and a checksum detects it.
//!
//! After a failed write or sync it is unknown what the disk holds, and a second sync may report success for
//! bytes that are lost. So a [`File`] that failed once refuses everything else. The writer gives up and
//! starts again from what can be read.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "pneu runs on Linux only: it relies on Linux for durable renames, mapped files and locks. Build it for a \
     Linux target, or run it in a virtual machine or container with Linux."
);

#[cfg(all(target_arch = "x86_64", any(target_env = "musl", test)))]
mod copy;
mod create;
mod error;
pub mod fault;
mod flock;
mod huge_pages;
mod inherit;
mod limited_read;
mod map;
mod prefetch;
mod publish;
mod real;
mod seen;
mod zeroed;

pub use error::{Error, Result};
pub use huge_pages::{advise_huge, huge_zeroed};
pub use inherit::inherit;
pub use limited_read::{Source, open_file, read_small, read_to_limit};
pub use map::{Look, Map};
pub use prefetch::prefetch;
pub use publish::{publish, write_new};
pub use real::RealDisk;
pub use seen::Seen;
pub use zeroed::LazyZeros;

use std::ffi::OsString;
use std::fmt::Debug;
use std::path::Path;

/// A file system: the operating system's ([`RealDisk`]), or a simulated one that fails, for tests.
///
/// The [crate's documentation](crate#what-is-durable-and-when) says what is guaranteed and what is not.
pub trait Disk: Send + Sync + Debug {
    /// Returns the names in `directory`, in no order.
    ///
    /// # Errors
    /// Disk errors. For a missing directory the error [`Error::is_not_found`].
    fn list(&self, directory: &Path) -> Result<Vec<OsString>>;

    /// Reads a whole file. For small files, and for files that may still be cut (a journal).
    ///
    /// # Errors
    /// Disk errors. Anything but a regular file is an error. For a missing file the error
    /// [`Error::is_not_found`].
    fn read(&self, path: &Path) -> Result<Vec<u8>>;

    /// Reads `length_bytes` bytes of a file from `offset` on. Nothing is mapped, so if the file is cut
    /// meanwhile, this returns an error and causes no signal. Allocates no more memory than the file has
    /// bytes.
    ///
    /// # Errors
    /// Disk errors. For a missing file the error [`Error::is_not_found`]; for a file that ends too early it
    /// [`Error::is_too_short`].
    fn read_range(&self, path: &Path, offset: u64, length_bytes: usize) -> Result<Vec<u8>>;

    /// Returns a file's length in bytes.
    ///
    /// # Errors
    /// Disk errors. For a missing file the error [`Error::is_not_found`]. Anything but a file is an error.
    fn size(&self, path: &Path) -> Result<u64>;

    /// Maps a whole sealed file. Only for files that never change after they appear.
    ///
    /// # Errors
    /// Disk errors. For a missing file the error [`Error::is_not_found`].
    fn map(&self, path: &Path) -> Result<Map>;

    /// Creates a new file, mode 0600, and opens it for writing.
    ///
    /// # Errors
    /// Disk errors. An existing file is an error.
    fn create(&self, path: &Path) -> Result<Box<dyn File>>;

    /// Opens an existing file for appending after its first `length_bytes` bytes. The rest is cut off. The
    /// cut and the bytes before it are durable when this returns.
    ///
    /// # Errors
    /// Disk errors. A file shorter than `length_bytes` is an error.
    fn append(&self, path: &Path, length_bytes: u64) -> Result<Box<dyn File>>;

    /// Cuts off what a file has after its first `keep_bytes` bytes, if it still is the file that was seen.
    /// The cut is durable when this returns. Links are not followed. A disk without links and inodes
    /// compares the length.
    ///
    /// # Errors
    /// Disk errors. A link, another file, and a file of another length are errors; then nothing is cut.
    fn cut_seen(&self, path: &Path, keep_bytes: u64, seen: Option<Seen>) -> Result<()> {
        seen::check_length(path, self.size(path)?, seen)?;
        self.append(path, keep_bytes).map(drop)
    }

    /// Removes a file, if it still is the file that was seen. A disk without links and inodes compares the
    /// length.
    ///
    /// # Errors
    /// Disk errors. A link, another file, and a file of another length are errors.
    fn remove_seen(&self, path: &Path, seen: Option<Seen>) -> Result<()> {
        seen::check_length(path, self.size(path)?, seen)?;
        self.remove(path)
    }

    /// Renames a file within one directory, replacing what had the new name.
    ///
    /// # Errors
    /// Disk errors. The file may then have either name.
    ///
    /// # Panics
    /// If the names are in two directories: one sync of one directory must make a rename durable.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Renames a file within one directory to a name that nothing has.
    ///
    /// # Errors
    /// Disk errors. An existing file is an error.
    ///
    /// # Panics
    /// As [`rename`](Disk::rename).
    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        match self.size(to) {
            Ok(_) => Err(Error::io("rename to", to, std::io::ErrorKind::AlreadyExists.into())),
            Err(error) if error.is_not_found() => self.rename(from, to),
            Err(error) => Err(error),
        }
    }

    /// Removes a file. A missing file is no error.
    ///
    /// # Errors
    /// Disk errors.
    fn remove(&self, path: &Path) -> Result<()>;

    /// Creates a directory, mode 0700, with its parents. An existing one is no error. Durable when this
    /// returns, because the caller cannot know which parents were missing and must be synced.
    ///
    /// # Errors
    /// Disk errors.
    fn create_directory(&self, directory: &Path) -> Result<()>;

    /// Returns the mode of a file or directory, without its kind; `None` on systems without modes.
    ///
    /// # Errors
    /// Disk errors. For a missing file the error [`Error::is_not_found`].
    fn mode(&self, _path: &Path) -> Result<Option<u32>> {
        Ok(None)
    }

    /// Changes the mode of a file or directory. The change is not durable until synced.
    ///
    /// # Errors
    /// Disk errors.
    fn set_mode(&self, _path: &Path, _mode: u32) -> Result<()> {
        Ok(())
    }

    /// Gives a new file the owner, the group and the mode of another. If the group cannot be set, no group
    /// gets any right. Not durable until synced.
    ///
    /// # Errors
    /// Disk errors, such as a refusal because only root gives files away. Then as much is set as is allowed.
    fn copy_owner(&self, _from: &Path, _to: &Path) -> Result<()> {
        Ok(())
    }

    /// Makes the bytes that a file has now durable, whoever wrote them. For a reader that is about to promise
    /// something about what it saw.
    ///
    /// # Errors
    /// Disk errors. For a missing file the error [`Error::is_not_found`].
    fn sync_file(&self, path: &Path) -> Result<()>;

    /// Makes the names in `directory` durable.
    ///
    /// # Errors
    /// Disk errors.
    fn sync_directory(&self, directory: &Path) -> Result<()>;

    /// Takes the exclusive lock kept in the file `path`, and writes `holder` (a text for people) into it.
    /// The lock ends with its process; its file stays.
    ///
    /// # Errors
    /// [`Error::Locked`] with the holder's text if `wait` is [`Wait::Refuse`] and another process holds the
    /// lock. Disk errors, such as a read-only directory in which the lock file cannot be written.
    fn lock(&self, path: &Path, holder: &str, wait: Wait) -> Result<Lock>;

    /// Takes a share of the lock kept in the file `path`. Any number of processes may have one at a time, but
    /// none while another holds the lock itself. The share ends with its process; the file stays.
    ///
    /// # Errors
    /// As [`lock`](Disk::lock). The text in the file is that of the last holder of the lock itself.
    fn share_lock(&self, path: &Path, wait: Wait) -> Result<Lock>;
}

/// A file being written. Dropping it closes it and promises nothing.
pub trait File: Send {
    /// Appends all of `bytes`.
    ///
    /// # Errors
    /// Disk errors. Part of the bytes may then be in the file. After any error every further call fails.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Makes all written bytes durable.
    ///
    /// # Errors
    /// Disk errors. The bytes since the last sync may then be lost, and every further call fails.
    fn sync(&mut self) -> Result<()>;
}

/// What to do when another process holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Return [`Error::Locked`] at once.
    Refuse,
    /// Wait until the lock is free.
    Block,
}

/// A held lock. Dropping it releases the lock.
pub struct Lock {
    _guard: Box<dyn Send + Sync>,
}

impl Lock {
    /// Wraps a value that releases the lock when it is dropped.
    pub fn new(guard: impl Send + Sync + 'static) -> Lock {
        Lock { _guard: Box::new(guard) }
    }
}

impl Debug for Lock {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Lock")
    }
}
