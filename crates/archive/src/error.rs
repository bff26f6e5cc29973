//! What can go wrong with a repository, in sentences that name the file and the way out.
//!
//! No sentence ever holds a password or a key.

use crate::id::Id;
use crate::storage::FileName;

/// A failed operation on a repository.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The local disk refused.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// A table on the local disk is damaged.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// There is no repository at that address.
    #[error("there is no repository at {address}; make one with: pneu archive init")]
    NoRepository {
        /// The storage's address.
        address: String,
    },
    /// There is a repository already.
    #[error("{address}: there is a repository already")]
    Exists {
        /// The storage's address.
        address: String,
    },
    /// There are keys or data, and no config.
    #[error(
        "{address} has files of a repository, but no config, without which they cannot be read; nothing was made there. If the config is \
         lost, a copy of it must come back; else choose another place"
    )]
    NoConfig {
        /// The storage's address.
        address: String,
    },
    /// A repository that somebody began to make, with another password.
    #[error(
        "{address}: making a repository was begun here and not ended, and not with this password. With the same password init goes on; if \
         nobody knows it, remove the directory keys there, which is all that there is, and begin anew"
    )]
    Begun {
        /// The storage's address.
        address: String,
    },
    /// No key opens with the password.
    #[error("wrong password, or no key in {address} is for it")]
    WrongPassword {
        /// The storage's address.
        address: String,
    },
    /// There is no key.
    #[error(
        "all keys are missing from {address}, and nothing can be read without one; put a copy of one back into keys"
    )]
    NoKey {
        /// The storage's address.
        address: String,
    },
    /// Somebody else is at work.
    #[error("{address} is locked {by}; if that is over: pneu archive unlock")]
    Locked {
        /// The storage's address.
        address: String,
        /// How, by whom and since when: "exclusively by ana on tower, process 12, since 2026-11-21 10:02".
        by: String,
    },
    /// The own lock could not be kept: somebody may have taken it for stale.
    #[error("{address}: the lock could not be renewed for too long; all work ends here")]
    LockLost {
        /// The storage's address.
        address: String,
    },
    /// Packs were removed since the index was read, which names them.
    #[error("{address}: packs were removed since it was looked at; it has to be opened again")]
    Outdated {
        /// The storage's address.
        address: String,
    },
    /// A file does not hold what its format asks for.
    #[error("{file} is damaged: {what}{}", way_out(file))]
    Damage {
        /// The file, or the blob.
        file: String,
        /// What was found or expected.
        what: String,
    },
    /// A file that is needed is not there.
    #[error("{file} is missing from {address}")]
    Missing {
        /// The file.
        file: FileName,
        /// The storage's address.
        address: String,
    },
    /// A blob that is needed is in no pack.
    #[error("{what} is in no index")]
    NoBlob {
        /// "tree 1a2b...", "data 1a2b...".
        what: String,
    },
    /// The place where files are kept refused or cannot be reached.
    #[error("cannot {action} at {address}: {what}")]
    Storage {
        /// What was tried, with the file: "read index/1a2b...".
        action: String,
        /// The storage's address.
        address: String,
        /// What it said.
        what: String,
    },
    /// The same, for a reason that may pass: trying again may help. [`Retry`](crate::Retry) makes [`Error::Storage`] of it at last.
    #[error("cannot {action} at {address}: {what}")]
    Passing {
        /// What was tried, as in [`Error::Storage`].
        action: String,
        /// The storage's address.
        address: String,
        /// What happened.
        what: String,
    },
    /// What names a repository cannot be understood.
    #[error("{what}")]
    Address {
        /// What is wrong with it, and what is right. It may not repeat the address where that may hold a password.
        what: String,
    },
    /// The repository is of a version that this program does not know, or asks for what it cannot do.
    #[error("{file}: {what}")]
    Unsupported {
        /// The file.
        file: String,
        /// What it is.
        what: String,
    },
    /// A blob that was given to be saved is not what its name says.
    #[error("what was read is not {id} any more: it was changed meanwhile")]
    NotItsName {
        /// The name that was expected.
        id: Id,
    },
    /// A file that is to be saved cannot be read.
    #[error("cannot read what is to be saved: {0}")]
    Source(std::io::Error),
    /// Saving failed before, and nothing more is saved.
    #[error("nothing more is saved after this: {first}")]
    SavingEnded {
        /// What failed.
        first: String,
    },
    /// What was named is no snapshot, or not one alone.
    #[error(transparent)]
    NoSnapshot(#[from] crate::select::NotFound),
    /// A policy would leave nothing of a group of snapshots.
    #[error(transparent)]
    KeepsNone(#[from] crate::forget::KeepsNone),
    /// Something is wrong at a path of a snapshot.
    #[error("{path}: {source}")]
    At {
        /// The path.
        path: String,
        /// What is wrong there.
        source: Box<Error>,
    },
    /// Snapshots need what is missing or damaged, so that nothing may be removed.
    #[error(
        "nothing was removed, because what snapshots need is missing or damaged; the first of {count}: {first}. \
         See: pneu archive check"
    )]
    Needed {
        /// The first of them, with its path.
        first: String,
        /// How many there are.
        count: usize,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The result of an operation on a repository.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Says whether it is about more than one file: the storage cannot be reached, the lock is lost, the user asked to stop. Then nothing
    /// else would succeed either, and nothing may be told to be damaged.
    pub fn ends_work(&self) -> bool {
        matches!(
            self,
            Error::Storage { .. }
                | Error::Passing { .. }
                | Error::LockLost { .. }
                | Error::Outdated { .. }
                | Error::Interrupted
        )
    }

    /// Returns [`Error::Damage`].
    pub fn damage(file: impl ToString, what: impl Into<String>) -> Error {
        Error::Damage { file: file.to_string(), what: what.into() }
    }
}

/// Returns what can be done about a damaged file, as the end of a sentence; empty if its name does not tell.
fn way_out(file: &str) -> &'static str {
    match file.split('/').next() {
        Some("index") => "; \"restic repair index\" makes it anew from the packs",
        Some("snapshots") => {
            "; put a copy of the file back, or remove it: then this snapshot is lost, and no other"
        }
        Some("keys") => "; put a copy of the file back, or use the password of another key",
        Some("config") => "; put a copy of the file back",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::FileKind;

    #[test]
    fn damage_of_a_file_has_its_way_out() {
        let ways: Vec<&str> = FileKind::MANY
            .map(|kind| {
                let sentence = Error::damage(FileName { kind, id: Id::default() }, "it is").to_string();
                way_out(&sentence)
            })
            .to_vec();
        // Locks say theirs where they are read, and of packs "pneu archive check" says what can be done.
        assert_eq!(
            ways.iter().map(|way| way.is_empty()).collect::<Vec<_>>(),
            [false, true, false, false, true]
        );
        let said = Error::damage(FileName::CONFIG, "its seal is broken").to_string();
        assert_eq!(said, "config is damaged: its seal is broken; put a copy of the file back");
        assert_eq!(Error::damage("tree 1a2b", "torn").to_string(), "tree 1a2b is damaged: torn");
    }
}
