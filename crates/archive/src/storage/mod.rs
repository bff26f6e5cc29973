//! Where a repository's files are kept: what every such place can do.
//!
//! Comes in: names and bytes. Goes out: bytes. Must not know what is in them: not even whether they are what their name says.

pub mod address;
mod local;
#[cfg(feature = "s3")]
mod object;
mod retry;

pub use local::LocalStorage;
#[cfg(feature = "s3")]
pub use object::{Limits, ObjectStorage};
pub use retry::{Retry, Told};

use crate::error::{Error, Result};
use crate::id::Id;
use std::fmt::{Debug, Display, Formatter};
use std::time::Duration;

/// The kinds of files that a repository has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// What a repository is; there is one.
    Config,
    /// Keys, each sealed with a password.
    Key,
    /// Who is at work.
    Lock,
    /// Snapshots.
    Snapshot,
    /// Where blobs lie.
    Index,
    /// Blobs.
    Pack,
}

impl FileKind {
    /// All kinds but the config, of which there may be many files.
    pub const MANY: [FileKind; 5] =
        [FileKind::Key, FileKind::Lock, FileKind::Snapshot, FileKind::Index, FileKind::Pack];

    /// Returns the directory that such files lie in; for the config, its name.
    pub fn directory(self) -> &'static str {
        match self {
            FileKind::Config => "config",
            FileKind::Key => "keys",
            FileKind::Lock => "locks",
            FileKind::Snapshot => "snapshots",
            FileKind::Index => "index",
            FileKind::Pack => "data",
        }
    }

    /// Returns how many bytes a stored file of this kind may have: one that has more is damaged, and is not
    /// read into memory.
    pub fn bytes_max(self) -> u64 {
        match self {
            // Each has some hundred bytes.
            FileKind::Config | FileKind::Key | FileKind::Lock => 1 << 20,
            FileKind::Snapshot => 64 << 20,
            FileKind::Index => 256 << 20,
            // Blobs in it are found by 32 bits; then there is a header.
            FileKind::Pack => (4 << 30) + (17 << 20),
        }
    }
}

/// One file of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName {
    /// Its kind.
    pub kind: FileKind,
    /// Its name: the SHA-256 of what is stored; all zero for the config.
    pub id: Id,
}

impl FileName {
    /// The config.
    pub const CONFIG: FileName = FileName { kind: FileKind::Config, id: Id([0; Id::BYTES]) };

    /// Returns the path below the repository, with slashes.
    pub fn path(&self) -> String {
        match self.kind {
            FileKind::Config => "config".to_owned(),
            FileKind::Pack => {
                let digits = self.id.to_string();
                format!("data/{}/{digits}", &digits[..2])
            }
            other => format!("{}/{}", other.directory(), self.id),
        }
    }
}

impl Display for FileName {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.path())
    }
}

/// A place that keeps a repository's files. Files are written once and never change; many threads may use it at once.
pub trait Storage: Send + Sync + Debug {
    /// Returns the address, for people; never with a password or key in it.
    fn address(&self) -> String;

    /// Makes ready what has to be there before the first file is written. What is there already is no error.
    ///
    /// # Errors
    /// What the place says.
    fn create(&self) -> Result<()>;

    /// Returns names and sizes in bytes of all files of a kind, in no order. What is named otherwise is left out.
    ///
    /// # Errors
    /// What the place says. A directory that is missing holds nothing, which is no error.
    fn list(&self, kind: FileKind) -> Result<Vec<(Id, u64)>>;

    /// Reads a whole file.
    ///
    /// # Errors
    /// [`Error::Missing`](crate::Error::Missing), for the config
    /// [`Error::NoRepository`](crate::Error::NoRepository); [`Error::Damage`](crate::Error::Damage) if it has
    /// more than [`FileKind::bytes_max`]; or what the place says.
    fn read(&self, name: FileName) -> Result<Vec<u8>>;

    /// Reads `length` bytes from `offset` on. All of them come, or it is an error.
    ///
    /// # Errors
    /// [`Error::Missing`](crate::Error::Missing), [`Error::Damage`](crate::Error::Damage) if the file is shorter, or what the place says.
    fn read_range(&self, name: FileName, offset: u64, length: u32) -> Result<Vec<u8>>;

    /// Returns a file's size in bytes, `None` if it is not there.
    ///
    /// # Errors
    /// What the place says.
    fn size(&self, name: FileName) -> Result<Option<u64>>;

    /// Writes a file that is not there yet. It appears whole or not at all, and is durable when this returns.
    ///
    /// # Errors
    /// What the place says.
    fn write(&self, name: FileName, bytes: &[u8]) -> Result<()>;

    /// Removes a file. One that is not there is no error.
    ///
    /// # Errors
    /// What the place says.
    fn remove(&self, name: FileName) -> Result<()>;

    /// Returns how long a file that was just written may be missing from what others list.
    fn settle_time(&self) -> Duration {
        SETTLE_TIME
    }

    /// Writes as [`Storage::write`], and asks before each attempt whether that may still be: there may be a quarter of an hour between
    /// the first and the last.
    ///
    /// # Errors
    /// What the place says, or what `may_still` returns.
    fn write_while(&self, name: FileName, bytes: &[u8], may_still: &dyn Fn() -> Result<()>) -> Result<()> {
        may_still()?;
        self.write(name, bytes)
    }

    /// Removes as [`Storage::remove`], and asks before each attempt as [`Storage::write_while`].
    ///
    /// # Errors
    /// What the place says, or what `may_still` returns.
    fn remove_while(&self, name: FileName, may_still: &dyn Fn() -> Result<()>) -> Result<()> {
        may_still()?;
        self.remove(name)
    }

    /// Returns how many files there are that writes of snapshots, index files and packs left which were killed. They are no files of the
    /// repository, and no list has them. Places where a file appears at once have none.
    ///
    /// # Errors
    /// What the place says.
    fn unfinished_count(&self) -> Result<u64> {
        Ok(0)
    }

    /// Removes these files; nobody may be writing meanwhile. Returns how many they were.
    ///
    /// # Errors
    /// What the place says.
    fn remove_unfinished(&self) -> Result<u64> {
        Ok(0)
    }
}

/// So long restic 0.19 waits for others to see what it wrote, wherever that is.
const SETTLE_TIME: Duration = Duration::from_millis(200);

/// Refuses a file that is larger than any of its kind.
pub(crate) fn check_size(name: FileName, size_bytes: u64) -> Result<()> {
    let limit = name.kind.bytes_max();
    if size_bytes <= limit {
        return Ok(());
    }
    Err(Error::damage(name, format!("it has {size_bytes} bytes, and no such file has more than {limit}")))
}

/// Returns the error for a file that is not there. Without a config there is no repository.
fn absent(file: FileName, address: String) -> Error {
    match file.kind {
        FileKind::Config => Error::NoRepository { address },
        _ => Error::Missing { file, address },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_where_restic_looks_for_them() {
        let id: Id = format!("ab{}", "0".repeat(62)).parse().unwrap();
        let path = |kind| FileName { kind, id }.to_string();
        assert_eq!(FileName::CONFIG.to_string(), "config");
        assert_eq!(path(FileKind::Pack), format!("data/ab/{id}"));
        let rest = [FileKind::Key, FileKind::Lock, FileKind::Snapshot, FileKind::Index].map(path);
        assert_eq!(
            rest,
            [format!("keys/{id}"), format!("locks/{id}"), format!("snapshots/{id}"), format!("index/{id}")]
        );
    }
}
