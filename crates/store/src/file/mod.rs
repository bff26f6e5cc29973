//! Sealed files: their frame and checksums, their names, and the second copy of each.
//!
//! Everything that reads or writes a file of a store may use it. It knows nothing of what the files hold.

pub(crate) mod mirror;
pub(crate) mod names;
pub(crate) mod read_ahead;
pub(crate) mod sealed;
pub(crate) mod sealed_write;
