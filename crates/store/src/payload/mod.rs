//! Payloads: how values are compressed, and how they are read back.
//!
//! Used by segments and their writer. Does not depend on files.

pub(crate) mod codec;
pub(crate) mod decompress;
pub(crate) mod reader;
