//! How results look: plain lines, JSON Lines, paths. docs/OUTPUT.md describes each.
//!
//! In: messages as the library returns them. Out: text or bytes. Must not know how messages were found.

pub(crate) mod flags;
pub(crate) mod json;
pub(crate) mod message;
pub(crate) mod paths;
pub(crate) mod plain;
pub(crate) mod record;
