//! Which files of a crate use which others.
//!
//! Does not depend on where the uses come from, or on what is done with them.

use std::collections::BTreeMap;

/// A file uses a name that another file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) name: String,
    pub(super) line: usize,
}

/// The first use that each file makes of each other file.
pub(super) type Uses = BTreeMap<String, BTreeMap<String, Use>>;
