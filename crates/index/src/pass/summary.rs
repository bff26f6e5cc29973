//! What a pass did, and what it could not do.

use crate::remedy::Remedy;
use std::path::PathBuf;

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files seen.
    pub file_count: u64,
    /// New files, with new or known content.
    pub added: u64,
    /// Messages that were not known before.
    pub new_messages: u64,
    /// Files moved, renamed or reflagged.
    pub moved: u64,
    /// Files whose content or times changed.
    pub changed: u64,
    /// Files gone.
    pub gone: u64,
    /// What could not be read, one sentence each; everything else was done.
    pub problems: Vec<Problem>,
    /// What of attachments could not be read, one sentence for each kind of problem.
    pub attachment_problems: Vec<String>,
    /// Directories excluded by a file `.noindex`, with everything below them.
    pub excluded: Vec<PathBuf>,
}

impl Summary {
    /// Adds what was published by an earlier attempt at the same pass. What could not be read is found again.
    pub(crate) fn add_earlier(&mut self, earlier: &Summary) {
        self.added += earlier.added;
        self.new_messages += earlier.new_messages;
        self.moved += earlier.moved;
        self.changed += earlier.changed;
        self.gone += earlier.gone;
    }
}

/// Ends the message about a directory that could not be read.
pub(crate) const STAYS: &str = "; its messages stay in the index";

/// Something that could not be read or was not done; everything else was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong, as a message for people.
    pub what: String,
    /// The remedy, if the program has a command or an option for it.
    pub remedy: Option<Remedy>,
}

impl Problem {
    /// Returns a problem without a remedy.
    pub(crate) fn new(path: PathBuf, what: String) -> Problem {
        Problem { path, what, remedy: None }
    }
}
