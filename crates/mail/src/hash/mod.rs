//! Hashes of messages: one that recognises copies, and one that message IDs are derived from.
//!
//! Both are stored on disk, so neither may change. Used by `body` and `message`.

pub(crate) mod body_hash;
pub(crate) mod copy_hash;
pub(crate) mod normalized_text;
