//! Divides bytes into sectors: 504 bytes of data, and a checksum that is valid only for this sector of this
//! journal.
//!
//! Input: bytes to write, or the bytes of a journal. Output: sectors, or the condition of one. Does not
//! depend on records.
//!
//! A disk writes a sector of 512 bytes atomically. So a crash during an unsynced write leaves whole
//! sectors, sectors of zeros where the file grew, and a file of any length. A sector with any other content
//! was once written whole and has changed since.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::format::{SECTOR_BYTES, SECTOR_CHECKSUM_OFFSET};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The condition of a sector.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sector<'a> {
    /// The checksum matches. Holds the sector's data.
    Whole(&'a [u8]),
    /// All zeros: it was never written.
    Zero,
    /// The file ends in this sector or before it.
    Short,
    /// Anything else: damage.
    Damaged,
}

/// Returns the condition of sector `number` of a journal.
pub(super) fn sector(journal: &[u8], number: usize, seed: u64) -> Sector<'_> {
    let start = number.saturating_mul(SECTOR_BYTES);
    let Some(bytes) = journal.get(start..start.saturating_add(SECTOR_BYTES)) else { return Sector::Short };
    let Some((data, rest)) = bytes.split_at_checked(SECTOR_CHECKSUM_OFFSET) else { return Sector::Short };
    let found = rest.first_chunk().copied().map(u64::from_le_bytes);
    if found == Some(checksum(data, number as u64, seed)) {
        Sector::Whole(data)
    } else if bytes.iter().all(|&byte| byte == 0) {
        Sector::Zero
    } else {
        Sector::Damaged
    }
}

/// Returns how many sectors hold this many bytes.
pub(super) fn sector_count(length: usize) -> usize {
    length.div_ceil(SECTOR_CHECKSUM_OFFSET)
}

/// Divides bytes into sectors, numbered from the given number. The last one is filled with zeros.
pub(super) fn frame(bytes: &[u8], first: u64, seed: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(sector_count(bytes.len()).saturating_mul(SECTOR_BYTES));
    for (number, data) in (first..).zip(bytes.chunks(SECTOR_CHECKSUM_OFFSET)) {
        let start = out.len();
        out.extend_from_slice(data);
        out.resize(start.saturating_add(SECTOR_CHECKSUM_OFFSET), 0);
        let checksum = checksum(out.get(start..).unwrap_or_default(), number, seed);
        out.extend_from_slice(&checksum.to_le_bytes());
    }
    out
}

fn checksum(data: &[u8], number: u64, seed: u64) -> u64 {
    xxh3_64_with_seed(data, seed.wrapping_add(number))
}
