//! The operations of a disk as values: for the trace, for faults and for messages.
//!
//! Input: the arguments of a call. Output: its class, its error and its description. Does not know how it is
//! executed.

use disk::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// One call of a [`disk::Disk`] or a [`disk::File`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are called as the methods and their arguments are")]
pub enum Operation {
    List(PathBuf),
    Read(PathBuf),
    ReadRange { path: PathBuf, offset: u64, length_bytes: usize },
    Size(PathBuf),
    Map(PathBuf),
    Create(PathBuf),
    Append { path: PathBuf, length_bytes: u64 },
    Write { path: PathBuf, length_bytes: usize },
    Sync(PathBuf),
    Rename { from: PathBuf, to: PathBuf },
    Remove(PathBuf),
    CreateDirectory(PathBuf),
    SyncDirectory(PathBuf),
    Lock(PathBuf),
}

impl Operation {
    /// Returns whether it may change the disk, or what is durable on it.
    pub fn changes(&self) -> bool {
        use Operation::{List, Map, Read, ReadRange, Size};
        !matches!(self, List(_) | Read(_) | ReadRange { .. } | Size(_) | Map(_))
    }

    /// Returns whether a full disk refuses it.
    pub fn needs_space(&self) -> bool {
        matches!(self, Operation::Create(_) | Operation::Write { .. } | Operation::CreateDirectory(_))
    }

    /// Returns the error with which it fails because of `source`, with the wording of the real disk.
    pub(super) fn error(&self, source: io::Error) -> Error {
        let (action, path) = self.action();
        Error::io(action, path, source)
    }

    fn action(&self) -> (&'static str, &Path) {
        match self {
            Operation::List(path) => ("list", path),
            Operation::Read(path) | Operation::ReadRange { path, .. } => ("read", path),
            Operation::Size(path) => ("stat", path),
            Operation::Map(path) => ("map", path),
            Operation::Create(path) | Operation::CreateDirectory(path) => ("create", path),
            Operation::Append { path, .. } => ("append to", path),
            Operation::Write { path, .. } => ("write", path),
            Operation::Sync(path) | Operation::SyncDirectory(path) => ("sync", path),
            Operation::Rename { from, .. } => ("rename", from),
            Operation::Remove(path) => ("remove", path),
            Operation::Lock(path) => ("write the lock file", path),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (action, path) = self.action();
        let path = path.display();
        match self {
            Operation::ReadRange { offset, length_bytes, .. } => {
                write!(formatter, "read {length_bytes} bytes of {path} from {offset} on")
            }
            Operation::Append { length_bytes, .. } => {
                write!(formatter, "append to {path} after {length_bytes} bytes")
            }
            Operation::Write { length_bytes, .. } => {
                write!(formatter, "write {length_bytes} bytes to {path}")
            }
            Operation::Rename { to, .. } => write!(formatter, "rename {path} to {}", to.display()),
            Operation::CreateDirectory(_) => write!(formatter, "create the directory {path}"),
            Operation::SyncDirectory(_) => write!(formatter, "sync the directory {path}"),
            Operation::Lock(_) => write!(formatter, "lock {path}"),
            _ => write!(formatter, "{action} {path}"),
        }
    }
}
