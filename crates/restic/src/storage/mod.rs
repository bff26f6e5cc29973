//! Storages: the places that keep a repository's files, and what every such place can do.
//!
//! A storage takes names and bytes. It does not depend on what the bytes hold, not even whether they match
//! their name.

pub mod address;
mod local;
#[cfg(feature = "s3")]
mod object;
mod open;
pub(crate) mod reread;
mod retry;

pub use local::LocalStorage;
#[cfg(feature = "s3")]
pub use object::{Limits, ObjectStorage};
pub use open::{StorageOptions, open_storage};
pub use retry::{Retry, Told};

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use std::fmt::Debug;
use std::time::Duration;

/// A place that keeps a repository's files. Files are written once and never change. Many threads may use it
/// at once.
pub trait Storage: Send + Sync + Debug {
    /// Returns the address, for people; never with a password or key in it.
    fn address(&self) -> String;

    /// Creates what must exist before the first file is written. What exists already is no error.
    ///
    /// # Errors
    /// Storage errors.
    fn create(&self) -> Result<()>;

    /// Returns ids and sizes in bytes of all files of a kind, in no order. Files with other names are
    /// ignored.
    ///
    /// # Errors
    /// Storage errors. A missing directory holds nothing and is no error.
    fn list(&self, kind: FileKind) -> Result<Vec<(Id, u64)>>;

    /// Reads a whole file.
    ///
    /// # Errors
    /// [`Error::Missing`](crate::Error::Missing), for the config
    /// [`Error::NoRepository`](crate::Error::NoRepository); [`Error::Damage`](crate::Error::Damage) if it has
    /// more than [`FileKind::bytes_max`]; or what the place says.
    fn read(&self, name: FileName) -> Result<Vec<u8>>;

    /// Reads `length` bytes from `offset` on. Fewer bytes are an error.
    ///
    /// # Errors
    /// [`Error::Missing`](crate::Error::Missing), [`Error::Damage`](crate::Error::Damage) if the file is
    /// shorter, or what the place says.
    fn read_range(&self, name: FileName, offset: u64, length: u32) -> Result<Vec<u8>>;

    /// Returns a file's size in bytes; `None` if it does not exist.
    ///
    /// # Errors
    /// Storage errors.
    fn size(&self, name: FileName) -> Result<Option<u64>>;

    /// Writes a new file. It appears completely or not at all, and is durable when this returns.
    ///
    /// # Errors
    /// Storage errors.
    fn write(&self, name: FileName, bytes: &[u8]) -> Result<()>;

    /// Removes a file. A missing file is no error.
    ///
    /// # Errors
    /// Storage errors.
    fn remove(&self, name: FileName) -> Result<()>;

    /// Returns how long it may take until others list a file that was just written.
    fn settle_time(&self) -> Duration {
        SETTLE_TIME
    }

    /// Writes as [`Storage::write`] does, and calls `may_still` before each attempt: there may be a quarter
    /// of an hour between the first and the last.
    ///
    /// # Errors
    /// Storage errors, or what `may_still` returns.
    fn write_while(&self, name: FileName, bytes: &[u8], may_still: &dyn Fn() -> Result<()>) -> Result<()> {
        may_still()?;
        self.write(name, bytes)
    }

    /// Removes as [`Storage::remove`] does, and calls `may_still` before each attempt as
    /// [`Storage::write_while`] does.
    ///
    /// # Errors
    /// Storage errors, or what `may_still` returns.
    fn remove_while(&self, name: FileName, may_still: &dyn Fn() -> Result<()>) -> Result<()> {
        may_still()?;
        self.remove(name)
    }

    /// Returns the number of temporary files that killed writes of snapshots, index files and packs left.
    /// They are not files of the repository and are never listed. Storages where a file appears at once have
    /// none.
    ///
    /// # Errors
    /// Storage errors.
    fn unfinished_count(&self) -> Result<u64> {
        Ok(0)
    }

    /// Removes these files and returns how many. Nothing may be writing at the same time.
    ///
    /// # Errors
    /// Storage errors.
    fn remove_unfinished(&self) -> Result<u64> {
        Ok(0)
    }
}

/// The time that restic 0.19 waits until others see what it wrote, on any storage.
const SETTLE_TIME: Duration = Duration::from_millis(200);

/// Refuses a file above the size limit of its kind.
pub(crate) fn check_size(name: FileName, size_bytes: u64) -> Result<()> {
    let limit = name.kind.bytes_max();
    if size_bytes <= limit {
        return Ok(());
    }
    Err(Error::damage(name, format!("it has {size_bytes} bytes, and no such file has more than {limit}")))
}

/// Returns the error for a missing file. Without a config there is no repository.
fn absent(file: FileName, address: String) -> Error {
    match file.kind {
        FileKind::Config => Error::NoRepository { address },
        _ => Error::Missing { file, address },
    }
}
