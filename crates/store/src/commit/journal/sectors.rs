//! How bytes are divided into sectors: 504 bytes of data, and a checksum that fits only this sector of this
//! journal.
//!
//! Input: bytes to write, or the bytes of a journal. Output: sectors, or the condition of one. Knows nothing
//! of records.
//!
//! A disk writes a sector of 512 bytes at once or not at all. So after a crash, a write that was not synced
//! leaves whole sectors, sectors of zeros where the file grew, and any length. A sector with other bytes was
//! once written whole and has changed since.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::format::{SECTOR_BYTES, SECTOR_CHECKSUM_OFFSET};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What a sector is found to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sector<'a> {
    /// Its checksum fits its bytes, which these are.
    Whole(&'a [u8]),
    /// Nothing but zeros: it was never written.
    Zero,
    /// The file ends in it, or before it.
    Short,
    /// Anything else.
    Damaged,
}

/// Returns what sector `number` of a journal is.
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

/// Returns how many sectors so many bytes take.
pub(super) fn sector_count(length: usize) -> usize {
    length.div_ceil(SECTOR_CHECKSUM_OFFSET)
}

/// Puts bytes into sectors, of which the first has this number. The last is filled with zeros.
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
