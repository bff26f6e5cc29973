//! The errors of a store: sentences that name the file and the way out.
//!
//! One [`Error`] for the whole crate: errors of the disk, and problems that readers find. Does not depend
//! on any format.

use std::path::{Path, PathBuf};
use work::Cancelled;

/// A failed operation on a store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk operation failed, or another process holds a lock.
    #[error(transparent)]
    Io(#[from] disk::Error),
    /// A file violates its format.
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Where the damage was found, in bytes from the beginning of the file.
        offset: u64,
        /// What was found, and what was expected.
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
    /// A value exceeds a limit of the store.
    #[error("{what} would be {value}, the limit is {limit}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// The refused value.
        value: u64,
        /// The largest allowed value.
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
    /// The store has no table, index or attachment of this name.
    #[error("there is no {what} named {name}")]
    Missing {
        /// What was requested: "table", "index".
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The work was stopped before it was done. Nothing of it is visible.
    #[error("interrupted")]
    Cancelled,
    /// A range of a file is not in memory, and was requested from the disk. Only look-ups in
    /// [`read_together`](crate::read_together) see it.
    #[error("{} is being read", path.display())]
    Requested {
        /// The file.
        path: PathBuf,
    },
    /// An earlier write failed, so the state on disk is unknown.
    #[error("an earlier write to {} failed: open the store again", directory.display())]
    Poisoned {
        /// The store's directory.
        directory: PathBuf,
    },
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Error {
        Error::Cancelled
    }
}

/// The result of a store operation.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns whether the error means that a file or directory does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Io(source) if source.is_not_found())
    }

    /// Returns the file that the error is about, if any.
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

/// Damage found by code that does not know the name of the file; [`Damage::in_file`] makes it an
/// [`Error::Corrupt`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where, in bytes from the beginning of the bytes that were read.
    pub offset: u64,
    /// What was found, and what was expected.
    pub what: String,
}

impl Damage {
    /// Returns damage at `offset`.
    pub fn new(offset: usize, what: impl Into<String>) -> Damage {
        Damage { offset: offset as u64, what: what.into() }
    }

    /// Adds the file, and the offset at which the bytes begin in it.
    pub fn in_file(self, path: &Path, base: u64) -> Error {
        Error::Corrupt { path: path.to_owned(), offset: base.saturating_add(self.offset), what: self.what }
    }
}

/// Returns an error if `value` is over `limit`; `what` names it in the message.
pub(crate) fn check_limit(what: &'static str, value: u64, limit: u64) -> Result<()> {
    if value > limit { Err(Error::Limit { what, value, limit }) } else { Ok(()) }
}
