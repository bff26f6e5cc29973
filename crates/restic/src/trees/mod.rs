//! The trees of snapshots: walks them, lists them, finds nodes in them, and marks the blobs that they use.
//!
//! Reads through an open repository. Changes nothing.

pub(crate) mod find;
pub(crate) mod list;
pub mod pattern;
pub(crate) mod rewrite;
pub(crate) mod used;
pub(crate) mod walk;
