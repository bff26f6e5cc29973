//! What can go wrong with a repository, as sentences that name the file and the way out.
//!
//! No message ever holds a password or a key.

use crate::encoding::id::Id;
use crate::file_name::FileName;
use crate::remedy::Remedy;
use work::Cancelled;

/// A failed operation on a repository.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An operation on the local disk failed.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The cache on the local disk failed.
    #[error(transparent)]
    Store(CacheError),
    /// There is no repository at that address.
    #[error("there is no repository at {address}")]
    NoRepository {
        /// The storage's address.
        address: String,
    },
    /// A repository exists already.
    #[error("there is already a repository at {address}")]
    Exists {
        /// The storage's address.
        address: String,
    },
    /// There are keys or data, but no config.
    #[error(
        "{address} has files of a repository but no config, and cannot be read without it; \
         nothing was created. If the config was lost, put a copy of it back; otherwise choose another place"
    )]
    NoConfig {
        /// The storage's address.
        address: String,
    },
    /// An `init` with another password was interrupted.
    #[error(
        "{address}: init was interrupted here, and it used another password. \
         Run init again with that password; if the password is lost, remove the directory keys, \
         which is all there is, and run init again"
    )]
    Begun {
        /// The storage's address.
        address: String,
    },
    /// The password opens no key.
    #[error("wrong password: it opens no key in {address}")]
    WrongPassword {
        /// The storage's address.
        address: String,
    },
    /// There is no key file.
    #[error(
        "all keys are missing from {address}, and nothing can be read without one; \
         put a copy of a key file back into keys"
    )]
    NoKey {
        /// The storage's address.
        address: String,
    },
    /// Another process holds a lock that excludes this one.
    #[error("{address} is locked {by}")]
    Locked {
        /// The storage's address.
        address: String,
        /// How, by which process and since when: "exclusively by ana on tower, process 12, since 2026-11-21
        /// 10:02".
        by: String,
    },
    /// This process lost its lock: others may consider it stale.
    #[error(
        "{address}: the lock could not be renewed in time and is lost; \
         this command stopped, run it again"
    )]
    LockLost {
        /// The storage's address.
        address: String,
    },
    /// Packs that the index names were removed after it was read.
    #[error("{address}: packs were removed since the repository was opened; run the command again")]
    Outdated {
        /// The storage's address.
        address: String,
    },
    /// A file does not match its format.
    #[error("{file} is damaged: {what}{}", way_out(file))]
    Damage {
        /// The file, or the blob.
        file: String,
        /// What was found or expected.
        what: String,
    },
    /// A needed file does not exist.
    #[error("{file} is missing from {address}")]
    Missing {
        /// The file.
        file: FileName,
        /// The storage's address.
        address: String,
    },
    /// A needed blob is in no index file.
    #[error("{what} is in no index")]
    NoBlob {
        /// "tree 1a2b...", "data 1a2b...".
        what: String,
    },
    /// The storage refused an operation, or cannot be reached.
    #[error("cannot {action} at {address}: {what}")]
    Storage {
        /// The operation, with the file: "read index/1a2b...".
        action: String,
        /// The storage's address.
        address: String,
        /// The storage's reason.
        what: String,
    },
    /// Like [`Error::Storage`], but another attempt may help. [`Retry`](crate::Retry) turns it into
    /// [`Error::Storage`] in the end.
    #[error("cannot {action} at {address}: {what}")]
    Passing {
        /// The operation, as in [`Error::Storage`].
        action: String,
        /// The storage's address.
        address: String,
        /// What happened.
        what: String,
    },
    /// An address cannot be parsed.
    #[error("{what}")]
    Address {
        /// What is wrong with it, and what would be right. Never repeats a part that may hold a password.
        what: String,
    },
    /// An address holds keys.
    #[error("an address must hold no keys, because every user can read it in the list of processes")]
    KeysInAddress,
    /// The object store asks for keys, and there are none.
    #[error("{address} asks for an access key and a secret key")]
    NoKeys {
        /// The storage's address.
        address: String,
    },
    /// The repository has an unknown version, or needs something that this program cannot do.
    #[error("{file}: {what}")]
    Unsupported {
        /// The file.
        file: String,
        /// What is not supported.
        what: String,
    },
    /// The content of a blob to be saved does not match its id.
    #[error("the content is no longer {id}: it changed while it was read")]
    NotItsName {
        /// The expected id.
        id: Id,
    },
    /// A file to be saved cannot be read.
    #[error("cannot read what is to be saved: {0}")]
    Source(std::io::Error),
    /// An earlier error ended saving.
    #[error("nothing more is saved after an earlier error: {first}")]
    SavingEnded {
        /// The earlier error.
        first: String,
    },
    /// The user named no snapshot, or more than one.
    #[error(transparent)]
    NoSnapshot(#[from] NotFound),
    /// A policy would remove all snapshots of a group.
    #[error(transparent)]
    KeepsNone(#[from] KeepsNone),
    /// Something is wrong at a path of a snapshot.
    #[error("{path}: {source}")]
    At {
        /// The path.
        path: String,
        /// What is wrong there.
        source: Box<Error>,
    },
    /// Data that snapshots need is missing or damaged, so nothing may be removed.
    #[error(
        "nothing was removed, because data that snapshots need is missing or damaged; \
         the first of {count}: {first}"
    )]
    Needed {
        /// The first of them, with its path.
        first: String,
        /// Their number.
        count: usize,
    },
    /// A lock file cannot be read.
    #[error("{file} is damaged: {what}")]
    UnreadableLock {
        /// The lock file.
        file: String,
        /// What is wrong with it.
        what: String,
    },
    /// No index file names all blobs of a pack, so nothing may be removed.
    #[error("{file} is damaged: no index file has all of its blobs")]
    SplitPack {
        /// The pack.
        file: FileName,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The result of an operation on a repository.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the cache on the local disk: a sentence that names the file.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct CacheError(store::Error);

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

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Error {
        Error::Interrupted
    }
}

impl Error {
    /// Returns whether the error concerns more than one file: the storage cannot be reached, the lock is
    /// lost, or the user asked to stop. Nothing else would succeed then, and nothing may be reported as
    /// damaged.
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

    /// Returns the remedy, if there is one.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Error::NoRepository { .. } => Some(Remedy::MakeRepository),
            Error::Locked { .. } => Some(Remedy::RemoveStaleLocks),
            Error::UnreadableLock { .. } => Some(Remedy::RemoveAllLocks),
            Error::Needed { .. } | Error::SplitPack { .. } => Some(Remedy::Check),
            Error::NoSnapshot(error) => error.remedy(),
            Error::Damage { file, .. } if file.starts_with("index/") => Some(Remedy::RepairIndex),
            Error::NoKeys { .. } | Error::KeysInAddress => Some(Remedy::SetKeys),
            Error::At { source, .. } => source.remedy(),
            _ => None,
        }
    }

    /// Returns [`Error::Damage`].
    pub fn damage(file: impl ToString, what: impl Into<String>) -> Error {
        Error::Damage { file: file.to_string(), what: what.into() }
    }
}

/// The user named no snapshot, or more than one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// No id begins with the prefix.
    #[error("no snapshot id begins with \"{prefix}\"")]
    NoId {
        /// The prefix.
        prefix: String,
    },
    /// Several ids begin with the prefix.
    #[error("several snapshot ids begin with \"{prefix}\", such as {first} and {second}: give more digits")]
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// The first of them.
        first: Id,
        /// The second of them.
        second: Id,
    },
    /// The prefix is empty.
    #[error("a snapshot is named by the first digits of its id, or as \"latest\"")]
    Empty,
    /// No snapshot has the wanted host, tags and paths.
    #[error("there is no snapshot{filter}")]
    NoLatest {
        /// " of host a with tags b of path /c".
        filter: String,
    },
}

impl NotFound {
    /// Returns the remedy, if there is one.
    pub fn remedy(&self) -> Option<Remedy> {
        matches!(self, NotFound::NoId { .. }).then_some(Remedy::ListSnapshots)
    }
}

/// A policy would remove all snapshots of a group. That is never done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy keeps no snapshot{group}: nothing is removed")]
pub struct KeepsNone {
    /// " of host a of path /b with tags c".
    pub group: String,
}

/// Returns what is to be done about a damaged file, as the end of a sentence. Returns an empty string if its
/// kind is unknown.
fn way_out(file: &str) -> &'static str {
    match file.split('/').next() {
        Some("index") => "; it can be rebuilt from the packs",
        Some("snapshots") => "; put a copy of the file back, or remove it; then only this snapshot is lost",
        Some("keys") => "; put a copy of the file back, or use the password of another key",
        Some("config") => "; put a copy of the file back",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_name::FileKind;

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
        let said = Error::damage(FileName::CONFIG, "its MAC is wrong").to_string();
        assert_eq!(said, "config is damaged: its MAC is wrong; put a copy of the file back");
        assert_eq!(Error::damage("tree 1a2b", "torn").to_string(), "tree 1a2b is damaged: torn");
    }
}
