//! Payloads: how values are compressed, and how they are read back.
//!
//! Segments and their writer use it. It knows nothing of files.

pub(crate) mod codec;
pub(crate) mod decompress;
pub(crate) mod reader;
