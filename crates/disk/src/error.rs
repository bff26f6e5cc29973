//! The errors of files: sentences that name the file.

use std::io;
use std::path::{Path, PathBuf};

/// A failed disk operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The failed operation, as a verb: "read", "sync".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Another process holds the lock.
    #[error("{} is locked by {holder}; wait until it has ended, and try again", path.display())]
    Locked {
        /// The lock's file.
        path: PathBuf,
        /// What the holder wrote about itself.
        holder: String,
    },
}

/// The result of a disk operation.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an [`Error::Io`].
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Error {
        Error::Io { action, path: path.to_owned(), source }
    }

    /// Returns whether a file or directory was not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Returns whether a file had fewer bytes than were asked for.
    pub fn is_too_short(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof)
    }

    /// Returns the [`io::Error`] of a file that ends before byte `needed_bytes`.
    pub fn too_short(found_bytes: u64, needed_bytes: u64) -> io::Error {
        let what = format!("it has {found_bytes} bytes, {needed_bytes} expected");
        io::Error::new(io::ErrorKind::UnexpectedEof, what)
    }

    /// Returns whether the system refused for lack of rights, or because the file system is read-only.
    pub fn is_permission_denied(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        let Error::Io { source, .. } = self else { return false };
        matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem)
    }
}
