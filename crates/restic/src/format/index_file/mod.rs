//! Index files: which pack holds which blobs, as JSON.
//!
//! Converts between an index file's JSON, decrypted and decompressed, and packs with their blobs. Does not
//! depend on how such a file is stored.
//!
//! ```text
//! {"packs":[{"id":HEX,"blobs":[{"id":HEX,"type":"data"|"tree","offset":N,"length":N,"uncompressed_length":N},...]},...]}
//! ```

mod fast;
mod scan;
#[cfg(test)]
mod tests;
mod write;

pub use scan::scan;
pub use write::{BLOB_COUNT_FULL, IndexFileWriter};
