//! The errors of the index: sentences that name the file, and the remedy as a value.

use crate::remedy::Remedy;
use std::path::PathBuf;

/// A failure that stops an operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the tables: damage, a newer version, a full disk.
    #[error(transparent)]
    Store(TableError),
    /// A disk operation failed, or another process holds the lock.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// A Maildir could not be read.
    #[error(transparent)]
    Mail(#[from] mail::Error),
    /// An error of the text index.
    #[error("{what}")]
    Text {
        /// The directory of the text index.
        path: PathBuf,
        /// What is wrong: a sentence that names the file or the directory.
        what: String,
        /// The text engine's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no index yet.
    #[error("there is no index in {}", path.display())]
    NoIndex {
        /// Where the index was expected.
        path: PathBuf,
    },
    /// There is no mail from which to make a first index.
    #[error("there is no Maildir in {}: {what}", path.display())]
    NoMaildir {
        /// The root.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// A stored value does not have the form that this version writes.
    #[error("{what} in {} is damaged", path.display())]
    Damaged {
        /// The index directory.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// The index was written by a newer or an older version.
    #[error("the index in {} has version {found}, but this program needs version {newest}", path.display())]
    Version {
        /// The index directory.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version known.
        newest: u32,
    },
    /// The store of the user's data was written by a newer version.
    #[error("the tags in {} have version {found}, but this program knows up to {newest}", path.display())]
    UserVersion {
        /// The store's directory.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version known.
        newest: u32,
    },
    /// The store of the user's data does not say which version it has.
    #[error("the tags in {} are damaged: their version cannot be read", path.display())]
    UserDamaged {
        /// The store's directory.
        path: PathBuf,
    },
    /// The user's data is damaged, and its second copy is intact.
    #[error("{source}; a second copy in {} is intact", copy.display())]
    WithSecondCopy {
        /// The damage.
        source: Box<Error>,
        /// The copy.
        copy: PathBuf,
    },
    /// A text cannot be a tag.
    #[error("\"{}\" cannot be a tag: {what}", tag.escape_debug())]
    Tag {
        /// The text.
        tag: String,
        /// Why not.
        what: String,
    },
    /// A text of tags is malformed.
    #[error("line {line} of the tags: {what}")]
    TagText {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A text cannot be the name of a saved query.
    #[error("\"{}\" cannot be the name of a query: {what}", name.escape_debug())]
    QueryName {
        /// The text.
        name: String,
        /// Why not.
        what: String,
    },
    /// The file of saved queries is malformed.
    #[error("line {line} of the saved queries in {}: {what}", path.display())]
    QueryText {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// What the user's data keeps of folders or identities is malformed.
    #[error("line {line} of what is kept of {of} in {}: {what}", path.display())]
    KeptText {
        /// Of what.
        of: &'static str,
        /// The directory of the user's data.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A query is well formed but cannot be answered.
    #[error("{what}")]
    Query {
        /// The place in the query, in bytes.
        span: std::ops::Range<usize>,
        /// What is wrong.
        what: String,
        /// The remedy, if there is one.
        remedy: Option<Remedy>,
    },
    /// A handle names no message.
    #[error("there is no message {handle}")]
    NoSuchMessage {
        /// The handle.
        handle: String,
    },
    /// The message of a hit was removed from the index since it was found.
    #[error("message number {number} was removed from the index since it was found")]
    MessageRemoved {
        /// Its number.
        number: u32,
    },
    /// A short SHA-256 names several messages.
    #[error("{handle} is the beginning of {count} ids")]
    Ambiguous {
        /// The handle.
        handle: String,
        /// How many messages have ids that begin with it.
        count: usize,
    },
    /// A token of changes cannot be used.
    #[error("{fault}")]
    Token {
        /// Why not.
        fault: TokenFault,
    },
    /// A commit being built contradicts itself: a bug, not damage. Nothing was written.
    #[error("the index contradicts itself: {what}; this is a bug in pneu, and nothing was written")]
    Inconsistent {
        /// The contradiction.
        what: &'static str,
    },
    /// A limit was reached.
    #[error("{what} is limited to {limit}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// The most there may be.
        limit: u64,
    },
    /// An error of an archive of messages.
    #[error(transparent)]
    Archive(Box<dyn std::error::Error + Send + Sync>),
    /// The clock is implausible.
    #[error(
        "the clock says {}, which cannot be right: dates may be wrong, and nothing is removed by age",
        moment(*now_seconds)
    )]
    Clock {
        /// The time that it shows, in seconds since 1970.
        now_seconds: i64,
    },
    /// The user interrupted the operation.
    #[error("interrupted")]
    Interrupted,
}

/// Why a token of changes cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    /// It is not a token.
    #[error("this is not a token of changes")]
    Malformed,
    /// It is of another index, or of a history that this index does not have.
    #[error(
        "the token is not of this index: the index was rebuilt or put back from a copy, or the token is wrong"
    )]
    OfAnother,
    /// The changes since then were dropped.
    #[error("the token is too old: the changes since then are not kept any more")]
    TooOld,
}

impl From<TokenFault> for Error {
    fn from(fault: TokenFault) -> Error {
        Error::Token { fault }
    }
}

/// An error of the index's tables or of the tags: a sentence that names the file.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct TableError(pub(crate) store::Error);

/// Keeps the table engine out of the public signatures: the trait cannot be named outside this crate.
mod engine {
    /// The error type of the table engine.
    pub trait EngineError: Into<store::Error> {}
    impl EngineError for store::Error {}
}

impl<E: engine::EngineError> From<E> for Error {
    fn from(source: E) -> Error {
        match source.into() {
            store::Error::Cancelled => Error::Interrupted,
            other => Error::Store(TableError(other)),
        }
    }
}

impl Error {
    /// Returns the remedy, if the program has a command or an option for it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Error::NoIndex { .. } => Some(Remedy::MakeIndex),
            Error::Damaged { .. } | Error::Store(TableError(store::Error::Corrupt { .. })) => {
                Some(Remedy::RebuildIndex)
            }
            Error::Version { found, newest, .. } if found < newest => Some(Remedy::UpgradeIndex),
            Error::Version { .. } => Some(Remedy::UseNewerProgramOrRebuild),
            Error::UserVersion { .. } => Some(Remedy::UseNewerProgram),
            Error::UserDamaged { .. } | Error::KeptText { .. } => Some(Remedy::RestoreUserData),
            Error::WithSecondCopy { .. } => Some(Remedy::RepairFromCopy),
            Error::Ambiguous { .. } => Some(Remedy::GiveMoreOfHandle),
            Error::Clock { .. } => Some(Remedy::SetClock),
            Error::Token { fault: TokenFault::Malformed } => None,
            Error::Token { .. } => Some(Remedy::ListEverything),
            Error::Query { remedy, .. } => *remedy,
            _ => None,
        }
    }

    /// Adds that an intact second copy exists.
    pub(crate) fn kept_in(self, copy: PathBuf) -> Error {
        Error::WithSecondCopy { source: Box::new(self), copy }
    }
}

/// The result of an index operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Formats a time for people, in UTC. Times kept in nanoseconds end in 1677 and 2262.
pub fn moment(seconds: i64) -> String {
    const END_SECONDS: i64 = i64::MAX / 1_000_000_000;
    let time = jiff::Timestamp::from_second(seconds);
    let time = time.map(|time| time.strftime("%Y-%m-%d %H:%M UTC").to_string());
    let time = time.unwrap_or_else(|_| format!("{seconds} seconds since 1970"));
    if seconds >= END_SECONDS {
        format!("{time} or later")
    } else if seconds <= -END_SECONDS {
        format!("{time} or before")
    } else {
        time
    }
}
