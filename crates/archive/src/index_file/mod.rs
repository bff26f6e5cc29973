//! Index files: which pack holds which blobs, as JSON.
//!
//! Comes in: an index file's JSON, decrypted and decompressed, or packs and their blobs. Goes out: the other one. Must not know how such a
//! file is stored, or what is made of it.
//!
//! ```text
//! {"packs":[{"id":HEX,"blobs":[{"id":HEX,"type":"data"|"tree","offset":N,"length":N,"uncompressed_length":N},...]},...]}
//! ```

mod cursor;
mod fast;
mod scan;
#[cfg(test)]
mod tests;
mod write;

pub use scan::scan;
pub use write::{BLOB_COUNT_FULL, IndexFileWriter};
