//! How results look: a printer for each format. docs/OUTPUT.md describes each.
//!
//! In: messages as the library returns them. Out: text or bytes. Must not know how messages were found.

pub(crate) mod analysis;
pub(crate) mod fields;
pub(crate) mod flags;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod listed;
pub(crate) mod message;
pub(crate) mod paths;
pub(crate) mod plain;
pub(crate) mod record;
pub(crate) mod sexp;
mod stream;
pub(crate) mod tuple;

pub(crate) use listed::{Listed, Need};
pub(crate) use stream::print;

/// Which of a message's files are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// The first, in the order of paths.
    First,
    /// All.
    All,
}

impl Places {
    /// Returns those of a message's files.
    pub(crate) fn of<T>(self, files: &[T]) -> &[T] {
        match self {
            Places::First => files.get(..1).unwrap_or_default(),
            Places::All => files,
        }
    }
}

/// Turns messages into bytes: one format.
pub(crate) trait Printer: Sync {
    /// Returns what must be read of each message.
    fn need(&self) -> Need;

    /// Appends what is printed of one message.
    fn print(&self, listed: &Listed, out: &mut Vec<u8>);
}
