//! What a pass did, and what it could not do.

use crate::remedy::Remedy;
use std::path::PathBuf;

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files seen.
    pub file_count: u64,
    /// New files, of them those with new content.
    pub added: u64,
    /// Messages that were not known before.
    pub new_messages: u64,
    /// Files moved, renamed or reflagged.
    pub moved: u64,
    /// Files whose content or times changed.
    pub changed: u64,
    /// Files gone.
    pub gone: u64,
    /// What could not be read, a sentence each; the rest was done.
    pub problems: Vec<Problem>,
    /// Directories that a file `.noindex` leaves out, with everything below them.
    pub excluded: Vec<PathBuf>,
}

/// Ends the sentence of a problem with a directory that could not be read.
pub(crate) const STAYS: &str = "; what is indexed of it stays";

/// Something that could not be read or was not done; everything else was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong, for people.
    pub what: String,
    /// What helps, where the program has a command or an option for it.
    pub remedy: Option<Remedy>,
}

impl Problem {
    /// Returns a problem against which the program has no remedy.
    pub(crate) fn new(path: PathBuf, what: String) -> Problem {
        Problem { path, what, remedy: None }
    }
}
