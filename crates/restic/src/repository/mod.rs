//! An open repository, and how blobs are read from it.
//!
//! Uses storage, keys, the index and snapshots. Does not depend on backup, restore, check or prune.

mod open;
pub(crate) mod read;
pub(crate) mod unindexed_packs;

pub use open::{CacheDirectory, Repository};
