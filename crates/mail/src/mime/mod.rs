//! Splits a message into its MIME parts.
//!
//! `parts` does it for a message in memory, with `boundary`, `content_fields`, `parameters` and `smime`.
//! `content_source` is how contents that are not in memory are read. Used by `body`, `message` and `large`.
//! Does not depend on the text in a part.

pub(crate) mod boundary;
pub(crate) mod content_fields;
pub(crate) mod content_source;
pub(crate) mod parameters;
pub(crate) mod parts;
pub(crate) mod protected;
pub(crate) mod protected_header;
pub(crate) mod smime;
