//! The errors of this crate: sentences that name the file, the place and the way out.

use crate::remedy::Remedy;
use std::path::{Path, PathBuf};
use work::Cancelled;

/// A failed operation on snapshots and logs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the store.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// An error of the disk.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// A file does not hold what its format asks for.
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    Damage {
        /// The damaged file.
        path: PathBuf,
        /// Where the damage was found, in bytes from the beginning of the file.
        offset: u64,
        /// What was found, or what was expected.
        what: String,
    },
    /// Rows between two files are missing.
    #[error(
        "rows are missing between {} and {}: the first ends at {{{ends}}}, the second begins at \
         {{{begins}}}; find the missing log or the missing part",
        before.display(), after.display()
    )]
    Gap {
        /// The snapshot or log before the gap.
        before: PathBuf,
        /// The log after it.
        after: PathBuf,
        /// The vector clock after the last row that was read.
        ends: String,
        /// The vector clock before the first row after the gap.
        begins: String,
    },
    /// A key occurs twice in a snapshot.
    #[error(
        "{}: row {row}, in the block at byte {offset}, has the primary key of row {before} in space {space}, \
         where each key must be unique; {remark}",
        path.display()
    )]
    DuplicateKey {
        /// The snapshot.
        path: PathBuf,
        /// The offset of the block with the later row.
        offset: u64,
        /// The space.
        space: u32,
        /// The number of the later row in the file, counted from 0.
        row: i64,
        /// The number of the earlier one.
        before: i64,
        /// What Tarantool does with such a file.
        remark: &'static str,
    },
    /// A file has content that this program cannot read.
    #[error("{}: {what}", path.display())]
    Unsupported {
        /// The file or directory.
        path: PathBuf,
        /// What is unsupported, and the remedy.
        what: String,
    },
    /// Tarantool itself would refuse the directory, but part of it can be recovered.
    #[error("{}: {what}", path.display())]
    Refused {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The state at a point in time is not known, or several states are meant.
    #[error("{}: {what}", path.display())]
    Point {
        /// The directory.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// A row cannot be applied to the rows before it.
    #[error("{}: row {lsn}: {what}", path.display())]
    Row {
        /// The file that the row is from.
        path: PathBuf,
        /// Its number in the log.
        lsn: i64,
        /// Why it cannot be applied.
        what: String,
    },
    /// The work was stopped before it was done.
    #[error("interrupted")]
    Cancelled,
}

impl Error {
    /// Returns the remedy, if one is known.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Error::Damage { .. } | Error::Gap { .. } | Error::DuplicateKey { .. } | Error::Refused { .. } => {
                Some(Remedy::Salvage)
            }
            _ => None,
        }
    }
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Error {
        Error::Cancelled
    }
}

/// The result of an operation on snapshots and logs.
pub type Result<T> = std::result::Result<T, Error>;

/// Damage found in bytes whose file the finder does not know; [`Damage::in_file`] makes it an
/// [`Error::Damage`].
///
/// Small and without a destructor, because the innermost loops return it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The offset of the damage, in bytes from the beginning of what was read.
    pub offset: usize,
    /// What was found, or what was expected.
    pub what: &'static str,
}

impl Damage {
    /// Returns damage at `offset`.
    pub fn new(offset: usize, what: &'static str) -> Damage {
        Damage { offset, what }
    }

    /// Moves the damage by `base`, the offset at which the bytes began.
    pub fn behind(self, base: usize) -> Damage {
        Damage { offset: base.saturating_add(self.offset), ..self }
    }

    /// Returns the error for this damage in a file. `base` is the offset at which the bytes began.
    pub fn in_file(self, path: &Path, base: u64) -> Error {
        let offset = base.saturating_add(self.offset as u64);
        Error::Damage { path: path.to_owned(), offset, what: self.what.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_name_file_and_place() {
        let damage = Damage::new(7, "a string is cut off").behind(100).in_file(Path::new("d/1.snap"), 19);
        assert_eq!(damage.to_string(), "d/1.snap is damaged at byte 126: a string is cut off");
        let gap = Error::Gap {
            before: "1.xlog".into(),
            after: "9.xlog".into(),
            ends: "1: 7".into(),
            begins: "1: 9".into(),
        };
        assert_eq!(
            gap.to_string(),
            "rows are missing between 1.xlog and 9.xlog: the first ends at {1: 7}, the second begins at {1: \
             9}; find the missing log or the missing part"
        );
    }
}
