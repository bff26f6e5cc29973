//! The error type of this crate: a sentence that names the directory or message file.
//!
//! Does not depend on the caller or on how an error is handled.

use std::io;
use std::path::{Path, PathBuf};

/// A directory or a message file that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system returned an error.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation, as a verb with or without its object: "read", "open the directory".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The path is not a regular file but, for example, a directory or a pipe.
    #[error("{} is not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A compressed message file that cannot be decompressed.
    #[error("{} is a damaged compressed file: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The decompressor's error.
        what: String,
    },
    /// A message file in a compression format that is not supported.
    #[error("{} was compressed by {program}, which cannot be read; {UNREADABLE_WAY_OUT}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The program that compressed it.
        program: &'static str,
    },
    /// Another program kept writing to the file.
    #[error("{} changed while it was being read; index again when its writer is done", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

/// The way out for [`Error::Unreadable`].
const UNREADABLE_WAY_OUT: &str = "unpack it, or compress it by gzip, zstd, xz or bzip2";

/// The result of reading a directory or a message file.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an [`Error::Io`].
    pub fn io(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Error {
        Error::Io { action, path: path.to_owned(), source: source.into() }
    }

    /// Returns whether the file or directory does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Returns whether symbolic links form a loop.
    pub fn is_link_loop(&self) -> bool {
        let is_loop =
            |error: &io::Error| error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
        matches!(self, Error::Io { source, .. } if is_loop(source))
    }

    /// Returns the message without the path, for callers that print the path themselves.
    pub fn reason(&self) -> String {
        match self {
            Error::Io { action, source, .. } => {
                // "read it", but "open the directory".
                let object = if action.contains(" the ") { "" } else { " it" };
                format!("cannot {action}{object}: {source}")
            }
            Error::NotAFile { .. } => "it is not a file".to_owned(),
            Error::Damaged { what, .. } => format!("it is a damaged compressed file: {what}"),
            Error::Unreadable { program, .. } => {
                format!("it was compressed by {program}, which cannot be read; {UNREADABLE_WAY_OUT}")
            }
            Error::Changed { .. } => {
                "it changed while it was being read; index again when its writer is done".to_owned()
            }
        }
    }

    /// Returns the path of the file or directory.
    pub fn path(&self) -> &Path {
        match self {
            Error::Io { path, .. }
            | Error::NotAFile { path }
            | Error::Damaged { path, .. }
            | Error::Unreadable { path, .. }
            | Error::Changed { path } => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_no_path_and_has_one_object() {
        let reason = |action| Error::io(action, Path::new("/m"), io::Error::other("no")).reason();
        assert_eq!(reason("read"), "cannot read it: no");
        assert_eq!(reason("stat"), "cannot stat it: no");
        assert_eq!(reason("open the directory"), "cannot open the directory: no");
    }
}
