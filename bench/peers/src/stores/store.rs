//! Shared by all stores: their operations, and their compression.
//!
//! Does not depend on any store.

use super::records::Record;
use anyhow::Result;
use std::path::Path;

/// Bytes that are compressed together in stores that compress blocks themselves.
pub(super) const BLOCK_BYTES: u32 = 64 << 10;
/// Bytes of a dictionary.
pub(super) const DICTIONARY_BYTES: u32 = 64 << 10;
/// The compression level of zstd.
pub(super) const LEVEL: i32 = 3;
/// The level for data that is never read.
pub(super) const LEVEL_MAX: i32 = 19;

/// A store with records.
pub(super) trait HeaderStore {
    /// Stores all records, which come in key order. They are durable when this returns.
    fn fill(&self, place: &Path, records: &mut dyn Iterator<Item = Result<Record>>) -> Result<()>;

    /// Passes all records to `each`, in key order.
    fn all(&self, place: &Path, each: &mut Each<'_>) -> Result<()>;

    /// Passes this many records with the highest keys to `each`, highest first.
    fn newest(&self, place: &Path, count: usize, each: &mut Each<'_>) -> Result<()>;
}

/// Receives a key and a value.
pub(super) type Each<'a> = dyn FnMut(u64, &[u8]) -> Result<()> + 'a;
