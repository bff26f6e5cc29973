//! Lists of pieces: for each message that is not one blob of its own id, the blobs that make it up.
//!
//! Each snapshot has a list as text, so that a repository alone is enough to find all of its messages. Does
//! not depend on the cache or the index.

pub(crate) mod ids_hash;
pub(crate) mod list;
pub(crate) mod lists;
