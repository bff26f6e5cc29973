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

/// The sectors of a journal, from one of them on.
#[derive(Clone, Copy)]
pub(super) struct Sectors<'a> {
    pub(super) bytes: &'a [u8],
    /// The number of the sector with which the bytes begin.
    pub(super) first: usize,
    pub(super) seed: u64,
}

impl<'a> Sectors<'a> {
    /// Returns the condition of a sector. Those before the first one count as [`Sector::Short`].
    pub(super) fn get(&self, number: usize) -> Sector<'a> {
        let Some(skipped) = number.checked_sub(self.first) else { return Sector::Short };
        let start = skipped.saturating_mul(SECTOR_BYTES);
        let sector = self.bytes.get(start..start.saturating_add(SECTOR_BYTES));
        let Some(bytes) = sector else { return Sector::Short };
        let Some((data, rest)) = bytes.split_at_checked(SECTOR_CHECKSUM_OFFSET) else { return Sector::Short };
        let found = rest.first_chunk().copied().map(u64::from_le_bytes);
        if found == Some(checksum(data, number as u64, self.seed)) {
            Sector::Whole(data)
        } else if bytes.iter().all(|&byte| byte == 0) {
            Sector::Zero
        } else {
            Sector::Damaged
        }
    }

    /// Returns the number of the first sector that is not there, not even in part.
    pub(super) fn end(&self) -> usize {
        self.first.saturating_add(self.bytes.len().div_ceil(SECTOR_BYTES))
    }

    /// Returns where a sector begins in the journal.
    pub(super) fn offset(number: usize) -> u64 {
        number.saturating_mul(SECTOR_BYTES) as u64
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
