//! What may be at the cursor, and the value to complete.

use std::ffi::{OsStr, OsString};

/// One completion.
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
    /// Its name in the help: `QUERY`, `DIR`.
    pub value_name: &'a str,
    /// The part that was typed.
    pub value: &'a str,
    /// The options before it, without dashes, with their values.
    pub(super) given: &'a [(String, OsString)],
}

impl Wanted<'_> {
    /// Returns the value of an earlier option, the last if there are several.
    pub fn given(&self, long: &str) -> Option<&OsStr> {
        self.given.iter().rev().find(|(name, _)| name == long).map(|(_, value)| value.as_os_str())
    }
}

/// What a program offers for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offered {
    /// These values; those that do not begin with the typed part are left out.
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
