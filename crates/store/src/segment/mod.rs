//! Segments: rows of one table in one sealed file, by column, in primary-key order (docs/FORMAT.md,
//! "Segment").
//!
//! Readers and writers of a store use it. It does not depend on dead rows, manifests or other segments.

pub(crate) mod column_write;
pub(crate) mod find;
pub(crate) mod find_block;
pub(crate) mod hash_lookup;
pub(crate) mod layout;
pub(crate) mod mapped;
pub(crate) mod numbers;
pub(crate) mod packed_write;
pub(crate) mod packing;
pub(crate) mod payload_write;
pub(crate) mod source;
pub(crate) mod verify;
pub(crate) mod write;
