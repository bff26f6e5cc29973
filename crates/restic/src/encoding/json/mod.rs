//! JSON: written exactly as Go does, scanned value by value, and small helpers to read it with serde.
//!
//! [`scan`] reads index files and trees, of which there are millions of values; serde reads everything else.

pub(crate) mod parse;
pub(crate) mod scan;
mod write;

pub use write::JsonWriter;
