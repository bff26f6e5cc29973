//! Packs: files that hold many sealed blobs and, at their end, a sealed header that lists them.
//!
//! Builds packs from sealed blobs, and reads packs. Does not depend on the contents of blobs or on how a pack
//! is stored.
//!
//! ```text
//! blob | blob | ... | header, sealed | length of the sealed header, u32
//! ```
//!
//! Blobs are contiguous, so the header has lengths but no offsets; `header.rs` describes its entries.

mod builder;
mod header;
mod read;
#[cfg(test)]
mod tests;

pub use builder::PackBuilder;
pub use header::{ENTRY_COUNT_MAX, entry_bytes, header_bytes};
pub use read::{compare_blob, list, open, open_blob};
