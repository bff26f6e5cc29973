//! What can go wrong with the index: sentences that name the file, and what helps as a value.

use crate::remedy::Remedy;
use std::path::PathBuf;

/// What is said of a clock that makes no sense, behind what it says.
const NO_CLOCK: &str = "which cannot be: dates may be wrong, and nothing is forgotten; set it right";

/// A failure that stops what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tables report damage, a newer version, a full disk.
    #[error(transparent)]
    Store(TableError),
    /// The disk refused, or another process holds the lock.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// A Maildir could not be read.
    #[error(transparent)]
    Mail(#[from] mail::Error),
    /// The text index reports a failure.
    #[error("{what}")]
    Text {
        /// The directory of the text index.
        path: PathBuf,
        /// What is wrong: a sentence that names the file or the directory.
        what: String,
        /// The reason, as the text engine has it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no index yet.
    #[error("no index in {}", path.display())]
    NoIndex {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is no mail where a first index should begin.
    #[error("no Maildir in {}: {what}", path.display())]
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
    /// The stored value was written by a newer version, or an older one.
    #[error("the index in {} has version {found}, this program has version {newest}", path.display())]
    Version {
        /// The index directory.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version known.
        newest: u32,
    },
    /// The store of what the user said was written by a newer version.
    #[error("the tags in {} have version {found}, this program knows up to {newest}", path.display())]
    UserVersion {
        /// The store's directory.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version known.
        newest: u32,
    },
    /// The store of what the user said does not say which version it has.
    #[error("the tags in {} are damaged: their version cannot be read; put them back from a \
        backup", path.display())]
    UserDamaged {
        /// The store's directory.
        path: PathBuf,
    },
    /// What the user said is damaged, and a second copy of it is whole.
    #[error("{source}; a second copy in {} is whole", copy.display())]
    WithSecondCopy {
        /// What is damaged.
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
    /// A text of tags does not have its form.
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
    /// The file of saved queries does not have its form.
    #[error("line {line} of the saved queries in {}: {what}", path.display())]
    QueryText {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A query is well formed but asks for what cannot be answered.
    #[error("{what}")]
    Query {
        /// The place in the query, in bytes.
        span: std::ops::Range<usize>,
        /// What is wrong.
        what: String,
        /// What helps, if anything does.
        remedy: Option<Remedy>,
    },
    /// A handle names no message.
    #[error("there is no message {handle}")]
    NoSuchMessage {
        /// What was asked for.
        handle: String,
    },
    /// A short SHA-256 names several messages.
    #[error("{handle} is the beginning of {count} ids; give more of it")]
    Ambiguous {
        /// What was asked for.
        handle: String,
        /// How many messages begin so.
        count: usize,
    },
    /// A commit in the making contradicts itself: a bug, not damage. Nothing was written.
    #[error("the pass contradicts itself: {what}; nothing was written")]
    Inconsistent {
        /// What.
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
    /// An archive of messages reports a failure.
    #[error(transparent)]
    Archive(Box<dyn std::error::Error + Send + Sync>),
    /// The clock makes no sense.
    #[error("the clock says {}, {NO_CLOCK}", moment(*now_seconds))]
    Clock {
        /// What it says, in seconds since 1970.
        now_seconds: i64,
    },
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What is wrong with the tables of the index, or of the tags: a sentence that names the file.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct TableError(pub(crate) store::Error);

impl From<store::Error> for Error {
    fn from(source: store::Error) -> Error {
        Error::Store(TableError(source))
    }
}

impl Error {
    /// Returns what helps, where the program has a command or an option for it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Error::NoIndex { .. } => Some(Remedy::MakeIndex),
            Error::Damaged { .. } => Some(Remedy::RebuildIndex),
            Error::Version { found, newest, .. } if found < newest => Some(Remedy::UpgradeIndex),
            Error::Version { .. } => Some(Remedy::UseNewerProgramOrRebuild),
            Error::UserVersion { .. } => Some(Remedy::UseNewerProgram),
            Error::WithSecondCopy { .. } => Some(Remedy::RepairFromCopy),
            Error::Query { remedy, .. } => *remedy,
            _ => None,
        }
    }

    /// Adds that there is a second copy of what is damaged.
    pub(crate) fn kept_in(self, copy: PathBuf) -> Error {
        Error::WithSecondCopy { source: Box::new(self), copy }
    }
}

/// The result of an index operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Returns a time for people, in UTC. Those of clocks end in 1677 and 2262.
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
