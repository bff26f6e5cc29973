//! Packs: files that hold many sealed blobs, and at their end a sealed header that says which.
//!
//! Comes in: sealed blobs, or a pack. Goes out: the other one. Must not know what blobs are good for, or how a pack is stored.
//!
//! ```text
//! blob | blob | ... | header, sealed | length of the sealed header, u32
//! ```
//!
//! Blobs lie without gaps, so that the header gives lengths and no offsets; `header.rs` has its entries.

mod builder;
mod header;
mod read;
#[cfg(test)]
mod tests;

pub use builder::PackBuilder;
pub use header::{ENTRY_COUNT_MAX, entry_bytes, header_bytes};
pub use read::{compare_blob, list, open, open_blob};
