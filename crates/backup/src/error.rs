//! Errors of this crate.

use crate::remedy::Remedy;
use std::path::PathBuf;
use work::Cancelled;

/// A failure that stops an operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The index reports damage, or there is none.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// The repository reports damage, a lock, or a storage that cannot be reached.
    #[error(transparent)]
    Repository(restic::Error),
    /// The cache of earlier backups reports a failure.
    #[error(transparent)]
    Store(CacheError),
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// Mail could not be read.
    #[error(transparent)]
    Mail(#[from] mail::Error),
    /// A file or directory could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: "read".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// There is nothing to back up.
    #[error("there is no mail to back up")]
    NoMail,
    /// A root is not there, but the index knows mail in it.
    #[error("{} does not exist; is a disk not mounted? Nothing was backed up", path.display())]
    NoRoot {
        /// The root.
        path: PathBuf,
    },
    /// The list of pieces in a snapshot is malformed.
    #[error("a list of pieces in a snapshot is damaged: {what}")]
    PieceList {
        /// What is wrong with it.
        what: String,
    },
    /// A list of pieces cannot be read, so the repository may hold more messages.
    #[error("cannot tell which messages the archive holds: {what}")]
    PiecesUnknown {
        /// Why not.
        what: String,
    },
    /// A file in a restored directory `.pneu` is not imported.
    #[error("{} was not imported: {what}", path.display())]
    RestoredFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A pack that no index file names cannot be read, so the repository may hold more messages.
    #[error("cannot tell what the archive holds: a pack is in no index file, and {what}")]
    UnindexedPack {
        /// Why it cannot be read.
        what: String,
    },
    /// A snapshot is from the future, so a policy by age and number means nothing.
    #[error(
        "snapshot {} has the time {time}, but the clock says {}: one of them is wrong, so no policy removes \
         anything",
        id.short(),
        index::moment(*now_seconds)
    )]
    FutureSnapshot {
        /// The snapshot.
        id: restic::Id,
        /// Its time.
        time: restic::Time,
        /// The clock's time, in seconds since 1970.
        now_seconds: i64,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// An error of the cache of earlier backups: a sentence that names the file.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CacheError(pub(crate) store::Error);

/// Keeps the table engine out of the public signatures: the trait cannot be named outside this crate.
mod engine {
    /// The error type of the table engine.
    pub trait EngineError: Into<store::Error> {}
    impl EngineError for store::Error {}
}

impl<E: engine::EngineError> From<E> for Error {
    fn from(source: E) -> Error {
        Error::Store(CacheError(source.into()))
    }
}

impl Error {
    /// Returns the remedy, if there is one.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Error::Index(error) => error.remedy().map(Remedy::Index),
            Error::Repository(error) => error.remedy().map(Remedy::Repository),
            Error::NoMail => Some(Remedy::Index(index::Remedy::MakeIndex)),
            Error::FutureSnapshot { .. } => Some(Remedy::SetClockOrRemoveById),
            Error::PiecesUnknown { .. } => Some(Remedy::Repository(restic::Remedy::Check)),
            Error::NoRoot { .. } => Some(Remedy::Index(index::Remedy::AcceptLossOfFolder)),
            _ => None,
        }
    }

    /// Returns whether the repository cannot be used any more after this error.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, Error::Interrupted | Error::Repository(restic::Error::Storage { .. }))
    }

    /// Returns whether a part of the repository is missing, not damaged.
    pub(crate) fn is_gone(&self) -> bool {
        use restic::Error::{Missing, NoBlob};
        matches!(self, Error::Repository(Missing { .. } | NoBlob { .. }))
    }

    /// Returns whether the user interrupted the operation.
    pub(crate) fn is_interruption(&self) -> bool {
        matches!(self, Error::Interrupted)
    }

    /// Returns whether a part of the repository is damaged or missing. Other parts may be good.
    pub(crate) fn is_of_a_part(&self) -> bool {
        use restic::Error::{Damage, Missing, NoBlob};
        matches!(
            self,
            Error::Repository(Damage { .. } | Missing { .. } | NoBlob { .. }) | Error::PieceList { .. }
        )
    }
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Error {
        Error::Interrupted
    }
}

impl From<restic::Error> for Error {
    fn from(error: restic::Error) -> Error {
        match error {
            restic::Error::Interrupted => Error::Interrupted,
            other => Error::Repository(other),
        }
    }
}

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Something that was left out. Everything else was done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong, as a message for people.
    pub what: String,
    /// What helps, if that is known.
    pub remedy: Option<Remedy>,
}

impl Problem {
    /// Returns a problem without a remedy.
    pub(crate) fn new(path: impl Into<PathBuf>, what: impl Into<String>) -> Problem {
        Problem { path: path.into(), what: what.into(), remedy: None }
    }
}
