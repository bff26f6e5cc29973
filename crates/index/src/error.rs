//! What can go wrong with the index, in sentences that name the file and the way out.

use std::path::PathBuf;
use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

/// A failure that stops what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine reports damage, a newer version, a full disk.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The disk refused, or another process holds the lock.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// A Maildir could not be read.
    #[error(transparent)]
    Mail(#[from] mail::Error),
    /// The text index reports a failure.
    #[error("text index in {}: {}", path.display(), reason(source))]
    Text {
        /// The directory of the text index.
        path: PathBuf,
        /// The reason.
        source: TantivyError,
    },
    /// There is no index yet.
    #[error("no index in {}; run \"pneu index --maildir DIR\" first", path.display())]
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
    #[error("{what} in {} is damaged; run \"pneu check --repair\"", path.display())]
    Damaged {
        /// The index directory.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// The stored value was written by a newer version, or an older one.
    #[error("the index in {} has version {found}, this program has version {newest}; {}", path.display(), way_out(*found, *newest))]
    Version {
        /// The index directory.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version known.
        newest: u32,
    },
    /// The store of what the user said was written by a newer version.
    #[error("the tags in {} have version {found}, this program knows up to {newest}; use a newer pneu", path.display())]
    UserVersion {
        /// The store's directory.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version known.
        newest: u32,
    },
    /// The store of what the user said does not say which version it has.
    #[error("the tags in {} are damaged: their version cannot be read; put them back from a backup", path.display())]
    UserDamaged {
        /// The store's directory.
        path: PathBuf,
    },
    /// What the user said is damaged, and a second copy of it is whole.
    #[error("{source}; a second copy in {} is whole: run \"pneu check --repair\"", copy.display())]
    Kept {
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
    },
    /// A handle names no message.
    #[error("no message is called {handle}")]
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
    /// A place that keeps messages besides the Maildirs reports a failure.
    #[error(transparent)]
    Elsewhere(Box<dyn std::error::Error + Send + Sync>),
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Adds that there is a second copy of what is damaged.
    pub(crate) fn kept_in(self, copy: PathBuf) -> Error {
        Error::Kept { source: Box::new(self), copy }
    }
}

/// The result of an index operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Says what is wrong with a file of the text index, in our own words where it was us who found it.
fn reason(error: &TantivyError) -> String {
    match error {
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => io_error.to_string(),
        _ => error.to_string(),
    }
}

/// Says what helps against an index of another version.
fn way_out(found: u32, newest: u32) -> &'static str {
    if found < newest {
        "run \"pneu index\", which makes it anew"
    } else {
        "use a newer pneu, or delete it and run \"pneu index\""
    }
}
