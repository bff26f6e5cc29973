//! What the readers of all formats share: the file, and how its errors and its rows are told.
//!
//! Does not know any format.

use printable::sanitise::one_line;
use std::path::Path;
use tarantool::Error;
use work::Progress;

/// Takes a tuple, and says what is wrong with it.
pub(super) type TakeTuple<'a> = dyn FnMut(&[u8]) -> Result<(), String> + 'a;

/// Returns whether a path stands for standard input.
pub(super) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// What all formats need.
pub(super) struct Rows<'a> {
    pub(super) path: &'a Path,
    pub(super) progress: &'a dyn Progress,
}

impl Rows<'_> {
    /// Returns the error of a place in the file, such as `line 7`.
    pub(super) fn error(&self, place: &str, what: &str) -> Error {
        Error::Unsupported {
            path: self.path.to_owned(),
            what: one_line(&format!("{place}: {what}")).into_owned(),
        }
    }

    /// Returns the error of a file that cannot be read.
    pub(super) fn unreadable(&self, error: std::io::Error) -> Error {
        Error::Disk(disk::Error::io("read", self.path, error))
    }

    /// Counts a row.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub(super) fn done(&self) -> tarantool::Result<()> {
        self.progress.add(1, 0);
        Ok(self.progress.check()?)
    }
}
