//! What a rule reports.
//!
//! Does not depend on the rules.

use std::fmt;

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, below the workspace.
    pub path: String,
    /// The line, from 1; 0 stands for the whole file.
    pub line: usize,
    /// What is wrong, and the remedy.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(formatter, "{}: {}", self.path, self.what),
            line => write!(formatter, "{}:{line}: {}", self.path, self.what),
        }
    }
}
