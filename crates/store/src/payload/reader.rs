//! Reads compressed payloads, and caches decompressed blocks for the next reads.
//!
//! Input: stored rows and blocks. Output: the bytes of a row. Does not depend on where the stored bytes
//! come from.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::cursor::Cursor;
use crate::payload::decompress::{Decompressor, StoredBlock};
use crate::schema::Codec;
use std::collections::HashMap;
use zstd::zstd_safe::DDict;

/// Bytes of decompressed blocks that a reader keeps by default.
const CACHE_BYTES: usize = 1 << 20;
/// More memory than this is not kept for another block.
const SPARE_BYTES_MAX: usize = 64 << 10;

/// The state needed to read payloads: a cache of decompressed blocks, and decompression contexts. Each thread
/// has its own. One reader serves all segments.
///
/// A full cache drops a block that was not asked for again since the last time it was looked at (the clock
/// algorithm). It keeps the block of the row before: the next row may lie there, too.
pub struct PayloadReader {
    decompressor: Decompressor,
    /// The last row that was decompressed on its own.
    row: Vec<u8>,
    /// Decompressed blocks, in no order. Each keeps its place until it is dropped.
    blocks: Vec<Block>,
    /// Places in `blocks` without a block.
    free: Vec<usize>,
    /// Where each block is in `blocks`, by its owner and first row.
    places: HashMap<(Owner, u32), usize>,
    /// The block of the row that was read last.
    current: usize,
    /// The block that was the current one before. Who reads two columns of each row turns between two blocks.
    last: usize,
    /// The block that is looked at next when one must go.
    hand: usize,
    /// Memory of all blocks.
    kept_bytes: usize,
    cache_bytes: usize,
}

/// The column and segment that a block belongs to. Segments are numbered as they are opened.
pub(crate) type Owner = (u64, usize);

/// A decompressed block.
#[derive(Default)]
struct Block {
    owner: Owner,
    first_row: u32,
    /// Whether it is in the cache. If not, it is memory for another one.
    is_kept: bool,
    /// Whether it was asked for again since the cache last looked for one to drop.
    is_used: bool,
    /// The end of each row, counted from the end of the row lengths.
    ends: Vec<u32>,
    /// The row lengths and the rows.
    bytes: Vec<u8>,
    /// The start of the first row in `bytes`.
    start: usize,
}

impl Default for PayloadReader {
    fn default() -> PayloadReader {
        PayloadReader::new()
    }
}

impl PayloadReader {
    /// Returns a reader that keeps up to 1 MiB of decompressed blocks.
    pub fn new() -> PayloadReader {
        PayloadReader::with_cache(CACHE_BYTES)
    }

    /// Returns a reader that keeps up to `cache_bytes` of decompressed blocks, but always the last two.
    pub fn with_cache(cache_bytes: usize) -> PayloadReader {
        PayloadReader {
            decompressor: Decompressor::default(),
            row: Vec::new(),
            blocks: Vec::new(),
            free: Vec::new(),
            places: HashMap::new(),
            current: 0,
            last: 0,
            hand: 0,
            kept_bytes: 0,
            cache_bytes,
        }
    }

    /// Decompresses a row that was compressed on its own.
    pub(crate) fn row(
        &mut self,
        codec: Codec,
        dictionary: Option<&DDict>,
        stored: &[u8],
    ) -> Result<&[u8], String> {
        self.decompressor.row(codec, dictionary, stored, &mut self.row)?;
        Ok(&self.row)
    }

    /// Returns whether the current block has a row.
    #[inline]
    pub(crate) fn has_row(&self, owner: Owner, row: u32) -> bool {
        self.current_row(owner, row).is_some()
    }

    /// Returns a row of the current block.
    #[inline]
    pub(crate) fn current_row(&self, owner: Owner, row: u32) -> Option<&[u8]> {
        self.blocks.get(self.current).filter(|block| block.owner == owner)?.row(row)
    }

    /// Makes the block before the current one the current one, if it has a row. Returns whether it has.
    #[inline]
    pub(crate) fn turn_back(&mut self, owner: Owner, row: u32) -> bool {
        let Some(block) = self.blocks.get_mut(self.last) else { return false };
        if block.owner != owner || block.row(row).is_none() {
            return false;
        }
        block.is_used = true;
        std::mem::swap(&mut self.current, &mut self.last);
        true
    }

    /// Makes a block the current one. Decompresses it if it is not in the cache.
    pub(crate) fn turn_to(&mut self, owner: Owner, stored: &StoredBlock) -> Result<(), String> {
        self.last = self.current;
        if let Some(&place) = self.places.get(&(owner, stored.first_row)) {
            self.current = place;
            if let Some(block) = self.blocks.get_mut(place) {
                block.is_used = true;
            }
            return Ok(());
        }
        self.make_room(stored.length as usize);
        let place = self.free.pop().unwrap_or(self.blocks.len());
        if place == self.blocks.len() {
            self.blocks.push(Block::default());
        }
        let Some(block) = self.blocks.get_mut(place) else { return Err("no place for a block".into()) };
        let read = self.decompressor.block(stored, &mut block.bytes);
        if let Err(what) = read.and_then(|()| block.read_lengths(stored.row_count)) {
            block.clear();
            self.free.push(place);
            return Err(what);
        }
        (block.owner, block.first_row, block.is_kept) = (owner, stored.first_row, true);
        self.kept_bytes = self.kept_bytes.saturating_add(block.memory_bytes());
        self.places.insert(block.key(), place);
        self.current = place;
        Ok(())
    }

    /// Drops blocks until `length` more bytes fit, or only the block of the row before is left.
    fn make_room(&mut self, length: usize) {
        // The first look at a block may only take its mark.
        for _ in 0..self.blocks.len().saturating_mul(2) {
            if self.kept_bytes.saturating_add(length) <= self.cache_bytes {
                return;
            }
            let place = if self.hand < self.blocks.len() { self.hand } else { 0 };
            self.hand = place.saturating_add(1);
            let Some(block) = self.blocks.get_mut(place) else { return };
            if place == self.last || !block.is_kept || std::mem::take(&mut block.is_used) {
                continue;
            }
            self.places.remove(&block.key());
            self.kept_bytes = self.kept_bytes.saturating_sub(block.memory_bytes());
            block.clear();
            self.free.push(place);
        }
    }
}

impl Block {
    fn key(&self) -> (Owner, u32) {
        (self.owner, self.first_row)
    }

    fn read_lengths(&mut self, row_count: u32) -> Result<(), String> {
        if row_count as usize > self.bytes.len() {
            return Err(format!("{row_count} rows in {} bytes", self.bytes.len()));
        }
        let mut cursor = Cursor::new(&self.bytes);
        let mut end = 0_u32;
        self.ends.clear();
        for _ in 0..row_count {
            let length = cursor.varint("a row's length").map_err(|damage| damage.what)?;
            end = end.checked_add(length).ok_or("a block's rows are over 4 GiB")?;
            self.ends.push(end);
        }
        if end as usize != cursor.remaining() {
            return Err(format!("{} bytes for rows that have {end}", cursor.remaining()));
        }
        self.start = cursor.offset();
        Ok(())
    }

    #[inline]
    fn row(&self, row: u32) -> Option<&[u8]> {
        let index = row.checked_sub(self.first_row)? as usize;
        let end = *self.ends.get(index)? as usize;
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        self.bytes.get(self.start..)?.get(start..end)
    }

    /// Drops the content, and keeps memory for another one.
    fn clear(&mut self) {
        let mut spare = std::mem::take(self);
        spare.bytes.clear();
        spare.ends.clear();
        spare.bytes.shrink_to(SPARE_BYTES_MAX);
        spare.ends.shrink_to(SPARE_BYTES_MAX);
        (self.bytes, self.ends) = (spare.bytes, spare.ends);
    }

    fn memory_bytes(&self) -> usize {
        self.bytes.len().saturating_add(self.ends.len().saturating_mul(4))
    }
}

impl std::fmt::Debug for PayloadReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "PayloadReader({} blocks)", self.blocks.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::put_varint;
    use crate::payload::codec::Compressor;

    const CODEC: Codec = Codec::Lz4 { block_bytes: 1000 };

    fn block(first_row: u32) -> (Vec<u8>, u32) {
        let rows: Vec<String> =
            (first_row..first_row.saturating_add(10)).map(|row| format!("{row:>50}")).collect();
        let mut raw = Vec::new();
        for row in &rows {
            put_varint(&mut raw, u32::try_from(row.len()).unwrap());
        }
        raw.extend_from_slice(rows.concat().as_bytes());
        let mut stored = Vec::new();
        Compressor::new(CODEC, None).block(&raw, &mut stored);
        (stored, u32::try_from(raw.len()).unwrap())
    }

    #[test]
    fn a_block_that_was_asked_for_again_stays_longer() {
        let mut reader = PayloadReader::with_cache(1800);
        let turn_to = |reader: &mut PayloadReader, first_row| {
            let (bytes, length) = block(first_row);
            let stored = stored(first_row, 10, length, &bytes);
            reader.turn_to((1, 2), &stored).unwrap();
        };
        let cached = |reader: &PayloadReader| {
            let mut rows: Vec<u32> = reader.places.keys().map(|(_, first_row)| *first_row).collect();
            rows.sort_unstable();
            rows
        };
        for first_row in [0, 10, 20, 0] {
            turn_to(&mut reader, first_row);
        }
        assert_eq!(cached(&reader), [0, 10, 20]);
        assert_eq!(reader.current_row((1, 2), 9).unwrap(), format!("{:>50}", 9).as_bytes());
        assert!(!reader.has_row((1, 2), 10) && !reader.has_row((1, 3), 9) && !reader.has_row((2, 2), 9));
        turn_to(&mut reader, 30);
        assert_eq!(cached(&reader), [0, 20, 30]);
        assert_eq!(reader.current_row((1, 2), 35).unwrap(), format!("{:>50}", 35).as_bytes());
        for first_row in [40, 50, 20, 60, 10, 10] {
            turn_to(&mut reader, first_row);
            assert!(reader.places.iter().all(|(key, &place)| reader.blocks[place].key() == *key));
            let kept: usize = reader.blocks.iter().map(Block::memory_bytes).sum();
            assert!(kept == reader.kept_bytes && kept <= 1800, "{kept}");
            let row = first_row + 3;
            assert_eq!(reader.current_row((1, 2), row).unwrap(), format!("{row:>50}").as_bytes());
        }
    }

    #[test]
    fn of_two_columns_in_turn_each_keeps_its_block() {
        let mut reader = PayloadReader::new();
        let read = |reader: &mut PayloadReader, owner, row: u32| {
            let is_there = reader.has_row(owner, row) || reader.turn_back(owner, row);
            if !is_there {
                let (bytes, length) = block(row / 10 * 10);
                reader.turn_to(owner, &stored(row / 10 * 10, 10, length, &bytes)).unwrap();
            }
            assert_eq!(reader.current_row(owner, row).unwrap(), format!("{row:>50}").as_bytes());
            is_there
        };
        for row in 0..100 {
            for owner in [(1, 2), (1, 3)] {
                assert_eq!(read(&mut reader, owner, row), row % 10 > 0, "{owner:?} {row}");
            }
        }
        assert!(!reader.turn_back((1, 4), 99) && !reader.turn_back((1, 2), 100));
        assert!(!PayloadReader::new().turn_back((1, 2), 0));
    }

    #[test]
    fn columns_read_in_turn_are_decompressed_once() {
        // A full cache drops blocks that nobody needs any more, not those that the next row needs.
        for cache_bytes in [1800, 4000, 10_000] {
            let mut reader = PayloadReader::with_cache(cache_bytes);
            let mut decompressed = 0;
            for row in 0..2000 {
                for (owner, row) in [((1, 2), row), ((1, 3), row / 3)] {
                    if !reader.has_row(owner, row) && !reader.turn_back(owner, row) {
                        let (bytes, length) = block(row / 10 * 10);
                        decompressed += usize::from(!reader.places.contains_key(&(owner, row / 10 * 10)));
                        reader.turn_to(owner, &stored(row / 10 * 10, 10, length, &bytes)).unwrap();
                    }
                    assert_eq!(reader.current_row(owner, row).unwrap(), format!("{row:>50}").as_bytes());
                }
            }
            assert_eq!(decompressed, 200 + 67, "with {cache_bytes} bytes");
        }
    }

    #[test]
    fn wrong_counts_are_errors() {
        let (bytes, length) = block(0);
        for row_count in [0, 9, 11, 1000, u32::MAX] {
            let stored = stored(0, row_count, length, &bytes);
            assert!(PayloadReader::new().turn_to((0, 0), &stored).is_err(), "{row_count}");
        }
    }

    fn stored(first_row: u32, row_count: u32, length: u32, bytes: &[u8]) -> StoredBlock<'_> {
        StoredBlock { codec: CODEC, dictionary: None, first_row, row_count, length, bytes }
    }
}
