//! What can go wrong with a directory or a message file, in sentences that name it.
//!
//! Comes in: what the operating system or a decompressor says. Goes out: an [`Error`] that names the path. This file must not
//! know who asked, or what is done about it.

use std::io;
use std::path::{Path, PathBuf};

/// A directory or a message file that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb: "read", "open the directory".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A message's place is taken by something else, such as a directory or a pipe.
    #[error("{} is not a file", path.display())]
    NotAFile {
        /// What has the name.
        path: PathBuf,
    },
    /// A compressed message whose content cannot be brought back.
    #[error("{} is a damaged compressed file: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the decompressor says.
        what: String,
    },
    /// A compressed message that cannot be read.
    #[error("{} was compressed by {program}, which pneu cannot read; {UNREADABLE_WAY_OUT}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What compressed it.
        program: &'static str,
    },
    /// Another program kept writing to the file.
    #[error("{} changed while it was being read; index again when its writer is done", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

/// What helps against a file whose compression cannot be read.
const UNREADABLE_WAY_OUT: &str = "unpack it, or compress it by gzip, zstd, xz or bzip2";

/// The result of reading a directory or a message file.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an [`Error::Io`].
    pub fn io(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Error {
        Error::Io { action, path: path.to_owned(), source: source.into() }
    }

    /// Says whether the file or directory was not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Says whether symbolic links led in a circle.
    pub fn is_link_loop(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()))
    }

    /// Returns what is wrong without the name of the file or directory, for who names that.
    pub fn reason(&self) -> String {
        match self {
            Error::Io { action, source, .. } => format!("cannot {action} it: {source}"),
            Error::NotAFile { .. } => "it is not a file".to_owned(),
            Error::Damaged { what, .. } => format!("it is a damaged compressed file: {what}"),
            Error::Unreadable { program, .. } => {
                format!("it was compressed by {program}, which pneu cannot read; {UNREADABLE_WAY_OUT}")
            }
            Error::Changed { .. } => {
                "it changed while it was being read; index again when its writer is done".to_owned()
            }
        }
    }

    /// Returns the file or directory that it is about.
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
