//! Reads compressed payloads, and caches decompressed blocks for the next reads.
//!
//! Input: stored rows and blocks. Output: the bytes of a row. Does not depend on where the stored bytes
//! come from.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::cursor::Cursor;
use crate::payload::decompress::Decompressor;
use crate::schema::Codec;
use zstd::zstd_safe::DDict;

/// Bytes of decompressed blocks that a reader keeps by default.
const CACHE_BYTES: usize = 1 << 20;

/// The state needed to read payloads: a cache of decompressed blocks, which drops the least recently used
/// first, and decompression contexts. Each thread has its own. One reader serves all segments.
pub struct PayloadReader {
    decompressor: Decompressor,
    /// The last row that was decompressed on its own.
    row: Vec<u8>,
    /// Decompressed blocks, the most recently used last.
    blocks: Vec<Block>,
    cache_bytes: usize,
}

/// The column and segment that a block belongs to. Segments are numbered as they are opened.
pub(crate) type Owner = (u64, usize);

/// A decompressed block.
#[derive(Default)]
struct Block {
    owner: Owner,
    first_row: u32,
    /// The end of each row, counted from the end of the row lengths.
    ends: Vec<u32>,
    /// The row lengths and the rows.
    bytes: Vec<u8>,
    /// The start of the first row in `bytes`.
    start: usize,
}

/// A block as it is stored.
pub(crate) struct StoredBlock<'a> {
    pub(crate) codec: Codec,
    pub(crate) first_row: u32,
    pub(crate) row_count: u32,
    /// Its decompressed length.
    pub(crate) length: u32,
    pub(crate) bytes: &'a [u8],
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

    /// Returns a reader that keeps up to `cache_bytes` of decompressed blocks, but always at least one
    /// block.
    pub fn with_cache(cache_bytes: usize) -> PayloadReader {
        PayloadReader {
            decompressor: Decompressor::default(),
            row: Vec::new(),
            blocks: Vec::new(),
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

    /// Returns a row from a cached block, which becomes the most recently used.
    pub(crate) fn kept_row(&mut self, owner: Owner, row: u32) -> Option<&[u8]> {
        let has_row = |block: &Block| block.owner == owner && block.row(row).is_some();
        let place = self.blocks.iter().rposition(has_row)?;
        if let Some(after) = self.blocks.get_mut(place..) {
            after.rotate_left(1);
        }
        self.blocks.last()?.row(row)
    }

    /// Decompresses a block and keeps it, for [`PayloadReader::kept_row`].
    pub(crate) fn keep(&mut self, owner: Owner, stored: &StoredBlock) -> Result<(), String> {
        // The memory of a dropped block is reused.
        let mut block = self.make_room(stored.length as usize).unwrap_or_default();
        self.decompressor.block(stored.codec, stored.bytes, stored.length, &mut block.bytes)?;
        block.owner = owner;
        block.first_row = stored.first_row;
        block.read_lengths(stored.row_count)?;
        self.blocks.push(block);
        Ok(())
    }

    /// Drops blocks until `length` more bytes fit, and returns the last one dropped.
    fn make_room(&mut self, length: usize) -> Option<Block> {
        let mut kept_bytes: usize = self.blocks.iter().map(Block::memory_bytes).sum();
        let mut dropped = None;
        while !self.blocks.is_empty() && kept_bytes.saturating_add(length) > self.cache_bytes {
            let block = self.blocks.remove(0);
            kept_bytes = kept_bytes.saturating_sub(block.memory_bytes());
            dropped = Some(block);
        }
        dropped
    }
}

impl Block {
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

    fn row(&self, row: u32) -> Option<&[u8]> {
        let index = row.checked_sub(self.first_row)? as usize;
        let end = *self.ends.get(index)? as usize;
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        self.bytes.get(self.start..)?.get(start..end)
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
    fn the_least_recently_used_block_goes_first() {
        let mut reader = PayloadReader::with_cache(1800);
        let keep = |reader: &mut PayloadReader, first_row| {
            let (bytes, length) = block(first_row);
            let stored = StoredBlock { codec: CODEC, first_row, row_count: 10, length, bytes: &bytes };
            reader.keep((1, 2), &stored).unwrap();
        };
        for first_row in [0, 10, 20] {
            keep(&mut reader, first_row);
        }
        assert_eq!(reader.kept_row((1, 2), 9).unwrap(), format!("{:>50}", 9).as_bytes());
        keep(&mut reader, 30);
        assert!(reader.kept_row((1, 2), 0).is_some() && reader.kept_row((1, 2), 10).is_none());
        assert!(reader.kept_row((1, 3), 0).is_none() && reader.kept_row((2, 2), 0).is_none());
        assert_eq!(reader.kept_row((1, 2), 35).unwrap(), format!("{:>50}", 35).as_bytes());
    }

    #[test]
    fn wrong_counts_are_errors() {
        let (bytes, length) = block(0);
        for row_count in [0, 9, 11, 1000, u32::MAX] {
            let stored = StoredBlock { codec: CODEC, first_row: 0, row_count, length, bytes: &bytes };
            assert!(PayloadReader::new().keep((0, 0), &stored).is_err(), "{row_count}");
        }
    }
}
