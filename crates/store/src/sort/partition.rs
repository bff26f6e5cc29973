//! Partitions (number, row) pairs by a digit of the number, on all cores: the first step of sorting and of
//! hashing.
//!
//! Input: the number of each row, by range of rows. Output: the pairs of one part after another, rows
//! ascending. Does not depend on what the numbers are. Each block of rows is partitioned into its own memory,
//! so threads share nothing and the result does not depend on how many there are. Memory: 12 bytes a row.

use rayon::prelude::*;
use std::ops::Range;

/// A 64-bit number and a row's position, in 12 bytes and not 16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Pair {
    high: u32,
    low: u32,
    /// The position.
    pub(crate) row: u32,
}

impl Pair {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the number is cut in two halves")]
    pub(crate) fn new(number: u64, row: u32) -> Pair {
        Pair { high: (number >> 32) as u32, low: number as u32, row }
    }

    #[inline]
    pub(crate) fn number(&self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}

/// Rows parted together. Their 6 MiB of pairs do not fit a cache, but their parts' ends do.
const BLOCK_ROWS: u32 = 1 << 19;
/// Target number of rows in a part, so that the following steps fit a core's cache.
const PART_ROWS: u32 = 1 << 13;
/// The most parts: their ends, written to in turn, stay within a core's cache.
const PART_COUNT_MAX: u32 = 1 << 12;

/// Pairs in parts.
pub(crate) struct Parts {
    blocks: Vec<Block>,
    count: usize,
}

struct Block {
    /// [`Pair`]s, as words: the system gives zeros without touching them, which it does for no type but its
    /// own.
    words: Vec<[u32; 3]>,
    /// The start of each part in `pairs`, and the end of the last one.
    starts: Vec<u32>,
}

/// Returns the number of parts for this many rows: a power of two.
pub(crate) fn part_count(row_count: u32) -> u32 {
    (row_count / PART_ROWS).next_power_of_two().min(PART_COUNT_MAX)
}

/// Parts the rows `0..row_count` into `count` parts: `numbers` appends the numbers of a range of rows, `part`
/// tells the part of one.
pub(crate) fn partition(
    row_count: u32,
    count: u32,
    numbers: impl Fn(Range<u32>, &mut Vec<u64>) + Sync,
    part: impl Fn(u64) -> u32 + Sync,
) -> Parts {
    let block_count = row_count.div_ceil(BLOCK_ROWS);
    let blocks = (0..block_count).into_par_iter().map_init(Vec::new, |values, block| {
        let rows = block * BLOCK_ROWS..row_count.min(block.saturating_add(1).saturating_mul(BLOCK_ROWS));
        values.clear();
        numbers(rows.clone(), values);
        part_block(values, rows.start, count, &part)
    });
    Parts { blocks: blocks.collect(), count: count as usize }
}

fn part_block(numbers: &[u64], first_row: u32, count: u32, part: &impl Fn(u64) -> u32) -> Block {
    let mut starts = vec![0_u32; count as usize + 1];
    for &number in numbers {
        starts[part(number) as usize + 1] += 1;
    }
    for index in 1..starts.len() {
        starts[index] += starts[index - 1];
    }
    let mut ends = starts.clone();
    let mut words = vec![[0; 3]; numbers.len()];
    let pairs: &mut [Pair] = bytemuck::cast_slice_mut(&mut words);
    for (row, &number) in (first_row..).zip(numbers) {
        let end = &mut ends[part(number) as usize];
        pairs[*end as usize] = Pair::new(number, row);
        *end += 1;
    }
    Block { words, starts }
}

impl Parts {
    /// Returns how many parts there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns how many rows a part has.
    pub(crate) fn row_count(&self, part: usize) -> usize {
        self.blocks.iter().map(|block| (block.starts[part + 1] - block.starts[part]) as usize).sum()
    }

    /// Replaces the content of `out` by the pairs of one part, rows ascending.
    pub(crate) fn gather(&self, part: usize, out: &mut Vec<Pair>) {
        out.clear();
        for block in &self.blocks {
            let words = &block.words[block.starts[part] as usize..block.starts[part + 1] as usize];
            out.extend_from_slice(bytemuck::cast_slice(words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_its_part_once_and_in_order() {
        let row_count = BLOCK_ROWS * 2 + 12_345;
        let number = |row: u32| u64::from(row).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let parts = partition(
            row_count,
            16,
            |rows, out| out.extend(rows.map(number)),
            |number| u32::try_from(number >> 60).unwrap(),
        );
        let mut pairs = Vec::new();
        let mut total = 0;
        for part in 0..parts.count() {
            parts.gather(part, &mut pairs);
            assert_eq!(pairs.len(), parts.row_count(part));
            assert!(pairs.windows(2).all(|pair| pair[0].row < pair[1].row));
            assert!(
                pairs
                    .iter()
                    .all(|pair| pair.number() == number(pair.row) && pair.number() >> 60 == part as u64)
            );
            total += pairs.len();
        }
        assert_eq!(total, row_count as usize);
    }

    #[test]
    fn part_counts_are_powers_of_two_within_limits() {
        assert_eq!(
            [0, 1, PART_ROWS, 100 * PART_ROWS, u32::MAX].map(part_count),
            [1, 1, 1, 128, PART_COUNT_MAX]
        );
    }
}
