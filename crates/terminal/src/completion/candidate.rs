//! What may stand at the cursor, and the value that is asked for.

use std::ffi::{OsStr, OsString};

/// One way to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The whole word.
    pub text: String,
    /// A few words about it, or nothing.
    pub about: String,
    /// Whether more of the same word may follow, as after `--name=` and `from:`.
    pub is_open: bool,
}

impl Candidate {
    /// Returns a word that is complete.
    pub fn word(text: impl Into<String>, about: impl Into<String>) -> Candidate {
        Candidate { text: text.into(), about: about.into(), is_open: false }
    }

    /// Returns the beginning of a word.
    pub fn beginning(text: impl Into<String>, about: impl Into<String>) -> Candidate {
        Candidate { is_open: true, ..Candidate::word(text, about) }
    }
}

/// A value that is to be completed.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What help calls it: `QUERY`, `DIR`.
    pub value_name: &'a str,
    /// What there is of it.
    pub value: &'a str,
    /// The options before it, without dashes, with their values.
    pub(super) given: &'a [(String, OsString)],
}

impl Wanted<'_> {
    /// Returns the value of an option that stands before, the last if there are several.
    pub fn given(&self, long: &str) -> Option<&OsStr> {
        self.given.iter().rev().find(|(name, _)| name == long).map(|(_, value)| value.as_os_str())
    }
}

/// What a program offers for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offered {
    /// These values; those that do not begin with what is there are left out.
    Values(Vec<Candidate>),
    /// Names of files, which the shell knows.
    Files,
    /// Names of directories, which the shell knows.
    Directories,
}

impl Offered {
    /// Returns no value.
    pub fn nothing() -> Offered {
        Offered::Values(Vec::new())
    }
}
