//! What can go wrong with a backup, in sentences that name the file and the way out.

use std::path::PathBuf;

/// A failure that stops what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The index reports damage, or there is none.
    #[error(transparent)]
    Index(#[from] index::Error),
    /// The archive reports damage, a lock, a storage that cannot be reached.
    #[error(transparent)]
    Archive(archive::Error),
    /// The tables of what is known of earlier backups report a failure.
    #[error(transparent)]
    Store(#[from] store::Error),
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
    #[error("there is no mail to back up; run \"pneu index --maildir DIR\" first")]
    NoMail,
    /// A root of which the index knows mail is not there.
    #[error("{} is not there; is a disk not mounted? Nothing was backed up. If it is gone for good: pneu index --accept-loss", path.display())]
    NoRoot {
        /// The root.
        path: PathBuf,
    },
    /// The list of pieces in a snapshot is not what this program writes.
    #[error("a list of pieces in a snapshot is damaged: {what}")]
    PieceList {
        /// What is wrong with it.
        what: String,
    },
    /// A list of pieces cannot be read: what else the archive holds is not known.
    #[error("what the archive holds of large messages is not known: {what}")]
    Unlisted {
        /// Why not.
        what: String,
    },
    /// A file that lies beside mail is not what a restore leaves there.
    #[error("{} is not taken in: {what}", path.display())]
    Beside {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A pack that no index file names cannot be read: what it holds is not known.
    #[error("what the archive holds is not known: no index file names a pack, and {what}")]
    Unnamed {
        /// Why it cannot be read.
        what: String,
    },
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Says whether nothing more can be asked of the archive after this.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, Error::Interrupted | Error::Archive(archive::Error::Storage { .. }))
    }

    /// Says whether a part of the archive is not there any more, and not damaged.
    pub(crate) fn is_gone(&self) -> bool {
        use archive::Error::{Missing, NoBlob};
        matches!(self, Error::Archive(Missing { .. } | NoBlob { .. }))
    }

    /// Says whether somebody asked to stop.
    pub(crate) fn is_interruption(&self) -> bool {
        matches!(self, Error::Interrupted)
    }

    /// Says whether a part of the archive is damaged or missing, so that others may be sound.
    pub(crate) fn is_of_a_part(&self) -> bool {
        use archive::Error::{Damage, Missing, NoBlob};
        matches!(
            self,
            Error::Archive(Damage { .. } | Missing { .. } | NoBlob { .. }) | Error::PieceList { .. }
        )
    }
}

impl From<archive::Error> for Error {
    fn from(error: archive::Error) -> Error {
        match error {
            archive::Error::Interrupted => Error::Interrupted,
            other => Error::Archive(other),
        }
    }
}

/// The result of an operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Something that was left out; everything else was done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong, for people.
    pub what: String,
}
