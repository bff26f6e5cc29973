//! The result of a check: damage, and what repairs it.
//!
//! Input: a sentence or an error. Output: damage as a value. Must not know what is checked.

use crate::error::Error;
use crate::remedy::Remedy;
use std::path::PathBuf;

/// How much to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Whether everything opens, and whether the tables agree.
    Quick,
    /// Also verify every checksum, every key and every record.
    Deep,
}

/// Damage in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file or directory.
    pub file: PathBuf,
    /// What is wrong.
    pub what: String,
    /// The remedy of the error that `what` describes, if it is an error: [`Error::remedy`].
    pub remedy: Option<Remedy>,
    /// What repairs it.
    pub repair: Repair,
}

/// A way to repair damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Rebuild the index from the mail.
    Rebuild,
    /// Restore it from its second copy ([`crate::repair_user`]). The user's data is stored twice.
    Copy,
    /// Restore it from a backup. The user's data cannot be rebuilt, and both copies are damaged.
    Backup,
    /// The next backup makes this file again.
    NextBackup,
    /// None of these: nothing is damaged, but the user's data cannot be read. The sentence has the reason.
    AsSaid,
}

impl Damage {
    /// Returns damage in data that is made from the mail.
    pub(super) fn of_index(file: PathBuf, what: String) -> Damage {
        Damage { file, what, remedy: None, repair: Repair::Rebuild }
    }

    /// Returns damage reported by an error.
    pub(super) fn of_error(file: PathBuf, error: &Error, repair: Repair) -> Damage {
        Damage { file, what: error.to_string(), remedy: error.remedy(), repair }
    }
}

/// Returns whether an error means that a store is damaged. A newer version or a failing disk is not damage.
pub(super) fn is_damage(error: &store::Error) -> bool {
    use store::Error::{Corrupt, Missing, Schema};
    matches!(error, Corrupt { .. } | Schema { .. } | Missing { .. })
}
