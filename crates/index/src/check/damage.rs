//! What a check finds: damage, and what repairs it.
//!
//! In: what is wrong, as a sentence or an error. Out: damage as a value. Must not know what is checked.

use crate::error::Error;
use crate::remedy::Remedy;
use std::path::PathBuf;

/// How much to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// That everything opens, and that the tables agree.
    Quick,
    /// Also every checksum, every key and every record.
    Deep,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file or directory.
    pub file: PathBuf,
    /// What is wrong.
    pub what: String,
    /// What helps against the error that `what` is, if it is one: [`Error::remedy`].
    pub remedy: Option<Remedy>,
    /// What repairs it.
    pub repair: Repair,
}

/// What repairs damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Making the index anew: it is made from the mail.
    Rebuild,
    /// Its second copy ([`crate::repair_user`]): what the user said is kept twice.
    Copy,
    /// A backup: what the user said cannot be made again, and both copies are damaged.
    Backup,
    /// The next backup: it makes this file again.
    NextBackup,
    /// Neither: nothing is damaged, but what the user said cannot be read. The sentence says why.
    AsSaid,
}

impl Damage {
    /// Returns damage in what is made from the mail.
    pub(super) fn of_index(file: PathBuf, what: String) -> Damage {
        Damage { file, what, remedy: None, repair: Repair::Rebuild }
    }

    /// Returns damage that an error tells of.
    pub(super) fn of_error(file: PathBuf, error: &Error, repair: Repair) -> Damage {
        Damage { file, what: error.to_string(), remedy: error.remedy(), repair }
    }
}

/// Says whether a store is not as it was written. A newer version and a disk that refuses are something else.
pub(super) fn is_damage(error: &store::Error) -> bool {
    use store::Error::{Corrupt, Missing, Schema};
    matches!(error, Corrupt { .. } | Schema { .. } | Missing { .. })
}
