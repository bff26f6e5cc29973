//! How results look: a printer for each format. docs/OUTPUT.md describes each.
//!
//! Takes messages as the library returns them. Returns text or bytes. Does not know how messages were found.

pub(crate) mod analysis;
pub(crate) mod bars;
pub(crate) mod fields;
pub(crate) mod layout;
pub(crate) mod paths;
pub(crate) mod plain;
pub(crate) mod threads;

/// Which of a message's files are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileChoice {
    /// The first, in the order of paths.
    First,
    /// All.
    All,
}

impl FileChoice {
    /// Returns those of a message's files.
    pub(crate) fn of<T>(self, files: &[T]) -> &[T] {
        match self {
            FileChoice::First => files.get(..1).unwrap_or_default(),
            FileChoice::All => files,
        }
    }
}
