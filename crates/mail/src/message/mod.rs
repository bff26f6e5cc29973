//! Parses a whole message and defines the result.
//!
//! Used by the other crates through `lib.rs`, and by `large`. Does not depend on files or on how messages
//! are stored.

pub(crate) mod content_flags;
pub(crate) mod model;
pub(crate) mod parse;
