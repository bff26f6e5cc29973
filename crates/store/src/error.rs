//! The errors of a store: sentences that name the file and the way out.
//!
//! One [`Error`] for the whole crate, made of the disk's errors and of what readers find wrong. Knows no
//! format.

use std::path::{Path, PathBuf};

/// A failed operation on a store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk refused, or another process holds a lock.
    #[error(transparent)]
    Io(#[from] disk::Error),
    /// A file does not hold what its format asks for.
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Where the damage was noticed, in bytes from the file's beginning.
        offset: u64,
        /// What was found and what was expected.
        what: String,
    },
    /// A file was written by a newer program.
    #[error(
        "{} has format version {found}, this program knows versions up to {newest}: use a newer program",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's format version.
        found: u32,
        /// The newest version that this program reads.
        newest: u32,
    },
    /// Something is larger than a store takes.
    #[error("{what} would be {value}, the limit is {limit}")]
    Limit {
        /// What has the limit.
        what: &'static str,
        /// The refused value.
        value: u64,
        /// The largest value taken.
        limit: u64,
    },
    /// A schema is not valid, or a row or key does not fit it.
    #[error("table {table}: {what}")]
    Schema {
        /// The table's name.
        table: String,
        /// What does not fit.
        what: String,
    },
    /// A named table, index or attachment is not in the store.
    #[error("there is no {what} named {name}")]
    Missing {
        /// What was asked for: "table", "index".
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// An earlier write failed, so that nobody knows what is on disk.
    #[error("an earlier write to {} failed: open the store again", directory.display())]
    Poisoned {
        /// The store's directory.
        directory: PathBuf,
    },
}

/// The result of a store operation.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Says whether a file or directory was not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Io(source) if source.is_not_found())
    }

    /// Returns the file that it is about, if it is about one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Error::Io(disk::Error::Io { path, .. })
            | Error::Corrupt { path, .. }
            | Error::Version { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns an [`Error::Schema`].
    pub(crate) fn schema(table: &str, what: impl Into<String>) -> Error {
        Error::Schema { table: table.to_owned(), what: what.into() }
    }
}

/// Damage found in bytes whose file the finder does not know; [`Damage::in_file`] makes it an
/// [`Error::Corrupt`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where, in bytes from the beginning of what was read.
    pub offset: u64,
    /// What was found and what was expected.
    pub what: String,
}

impl Damage {
    /// Returns damage at `offset`.
    pub fn new(offset: usize, what: impl Into<String>) -> Damage {
        Damage { offset: offset as u64, what: what.into() }
    }

    /// Says which file it is, and where in it the bytes began.
    pub fn in_file(self, path: &Path, base: u64) -> Error {
        Error::Corrupt { path: path.to_owned(), offset: base.saturating_add(self.offset), what: self.what }
    }
}

/// Returns an error if `value` is over `limit`; `what` names it in the message.
pub(crate) fn check_limit(what: &'static str, value: u64, limit: u64) -> Result<()> {
    if value > limit { Err(Error::Limit { what, value, limit }) } else { Ok(()) }
}
