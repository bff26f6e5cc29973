//! Cuts the blocks of a file into runs of neighbours, for threads that each take the next run.

use crate::file::block::BlockPlace;
use std::ops::Range;

/// Stored bytes of the largest chunk: large enough to keep the number of batches low, small enough that all
/// cores finish at about the same time.
const CHUNK_BYTES_MAX: usize = 24 << 20;
/// Stored bytes of the smallest chunk.
const CHUNK_BYTES_MIN: usize = 1 << 20;

/// Cuts blocks into runs of neighbours. Long runs come first and short ones last, so that no core works alone
/// for long at the end.
pub(crate) fn chunks(blocks: &[BlockPlace], thread_count: usize) -> Vec<Range<usize>> {
    let thread_count = thread_count.max(1);
    let mut left: usize = blocks.iter().map(|block| block.payload.len()).sum();
    let mut chunks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (number, block) in blocks.iter().enumerate() {
        bytes += block.payload.len();
        if bytes >= (left / (2 * thread_count)).clamp(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX) {
            chunks.push(start..number + 1);
            left -= bytes;
            (start, bytes) = (number + 1, 0);
        }
    }
    if start < blocks.len() {
        chunks.push(start..blocks.len());
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_hold_all_blocks_in_order_and_get_shorter() {
        let place = |start: usize, length: usize| BlockPlace {
            offset: start,
            payload: start..start + length,
            is_compressed: true,
            checksum: 0,
        };
        for (count, length) in [(0, 1), (1, 1), (1000, 100), (5000, 70_000), (3, 100 << 20)] {
            let blocks: Vec<BlockPlace> = (0..count).map(|number| place(number * length, length)).collect();
            let chunks = chunks(&blocks, 2);
            assert!(chunks.iter().cloned().flatten().eq(0..count), "{count} blocks");
            let lengths: Vec<usize> = chunks.iter().map(ExactSizeIterator::len).collect();
            assert!(lengths.is_sorted_by(|one, two| one >= two), "{lengths:?}");
            assert!(lengths.iter().all(|&blocks| blocks == 1 || blocks * length <= CHUNK_BYTES_MAX + length));
        }
    }
}
