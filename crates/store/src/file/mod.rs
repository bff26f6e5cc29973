//! Sealed files: their frame and checksums, their names, and the second copy of each.
//!
//! Used by all code that reads or writes files of a store. Does not depend on what the files hold.

pub(crate) mod mirror;
pub(crate) mod names;
pub(crate) mod read_ahead;
pub(crate) mod sealed;
pub(crate) mod sealed_write;
