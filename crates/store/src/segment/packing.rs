//! Packs numbers into fewer bits, a block at a time (docs/FORMAT.md, "Packed numbers").
//!
//! Input: numbers of a block, or its words. Output: its words, or all of its numbers, or one of them. Does
//! not depend on where blocks lie. Numbers are 64 bits wide here, and narrower ones are extended by their
//! sign.
//!
//! A block has four lanes of 64 numbers, one beside the other: so processors unpack several at a time, and
//! one number is found at once.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::format::{PACKED_ENTRY_BYTES, PACKED_LANES, PACKED_ROWS};

/// Numbers of one lane of a block.
const LANE_ROWS: usize = PACKED_ROWS / PACKED_LANES;
/// Lanes of a block.
const LANES: u64 = PACKED_LANES as u64;
/// Bits of a word.
const WORD_BITS: u32 = u64::BITS;
/// Bits of a word.
const WORD: u64 = WORD_BITS as u64;

/// All numbers of a block.
pub(crate) type Block = [u64; PACKED_ROWS];
/// One word of each lane.
type Line = [u64; PACKED_LANES];

/// An entry of the table of blocks, as stored in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct PackedEntry {
    /// The smallest number of the block.
    pub(crate) base: u64,
    /// Where the block begins, in lines.
    pub(crate) start: u32,
    /// How many bits each number has: as many lines has the block.
    pub(crate) width: u8,
    /// How many zeros have been cut off the end of each number.
    pub(crate) shift: u8,
    pub(crate) padding: u16,
}

const _: () = assert!(size_of::<PackedEntry>() == PACKED_ENTRY_BYTES);

impl PackedEntry {
    /// Returns the entry of a block of numbers that begins at `start`. Numbers are signed.
    pub(crate) fn of(numbers: &[u64], start: u32) -> PackedEntry {
        let signed = || numbers.iter().map(|number| number.cast_signed());
        let base = signed().min().unwrap_or(0).cast_unsigned();
        let (mut bits, mut largest) = (0, 0_u64);
        for number in numbers {
            let above = number.wrapping_sub(base);
            bits |= above;
            largest = largest.max(above);
        }
        let shift = if bits == 0 { 0 } else { bits.trailing_zeros() };
        let width = WORD_BITS.saturating_sub(largest.leading_zeros()).saturating_sub(shift);
        let small = |bits: u32| u8::try_from(bits).unwrap_or(u8::MAX);
        PackedEntry { base, start, width: small(width), shift: small(shift), padding: 0 }
    }

    /// Returns whether a block can have this entry.
    pub(crate) fn is_valid(&self) -> bool {
        u32::from(self.width).saturating_add(u32::from(self.shift)) <= WORD_BITS && self.padding == 0
    }

    /// Returns where the next block begins, in lines.
    pub(crate) fn end(&self) -> u64 {
        u64::from(self.start).saturating_add(u64::from(self.width))
    }

    /// Returns the number whose packed bits are these.
    #[inline]
    fn number(&self, packed: u64) -> u64 {
        self.base.wrapping_add((packed & self.mask()).wrapping_shl(u32::from(self.shift)))
    }

    /// Returns one number of a block. `word` reads a word of it, counted from the block's begin.
    #[inline]
    pub(crate) fn get<E>(&self, row: u64, word: impl Fn(u64) -> Result<u64, E>) -> Result<u64, E> {
        if self.width == 0 {
            return Ok(self.base);
        }
        let (lane, place) = (row % LANES, row / LANES);
        let bit = place.wrapping_mul(u64::from(self.width));
        let (line, from) = (bit / WORD, u32::try_from(bit % WORD).unwrap_or(0));
        let first = line.wrapping_mul(LANES).wrapping_add(lane);
        let mut packed = word(first)?.wrapping_shr(from);
        if from.wrapping_add(u32::from(self.width)) > WORD_BITS {
            let rest = WORD_BITS.wrapping_sub(from);
            packed |= word(first.wrapping_add(LANES))?.wrapping_shl(rest);
        }
        Ok(self.number(packed))
    }

    /// Appends the words of a block with this entry. The last block is filled with its smallest number.
    pub(crate) fn pack(&self, numbers: &[u64], out: &mut Vec<u64>) {
        let mut lines = [Line::default(); WORD_BITS as usize];
        let mut rest = numbers.iter();
        let mut bit = 0_u32;
        for _ in 0..LANE_ROWS {
            let (line, from) = ((bit / WORD_BITS) as usize, bit % WORD_BITS);
            for lane in 0..PACKED_LANES {
                let number = rest.next().copied().unwrap_or(self.base);
                let packed = number.wrapping_sub(self.base).wrapping_shr(u32::from(self.shift));
                put(&mut lines, line, lane, packed.wrapping_shl(from));
                if from.wrapping_add(u32::from(self.width)) > WORD_BITS {
                    let rest = WORD_BITS.wrapping_sub(from);
                    put(&mut lines, line.wrapping_add(1), lane, packed.wrapping_shr(rest));
                }
            }
            bit = bit.wrapping_add(u32::from(self.width));
        }
        out.extend(lines.iter().take(usize::from(self.width)).flatten());
    }

    /// Unpacks all numbers of a block. Words that are missing count as zeros.
    pub(crate) fn unpack(&self, words: &[u64], out: &mut Block) {
        let (lines, _) = words.as_chunks::<PACKED_LANES>();
        let line = |number: usize| lines.get(number).copied().unwrap_or_default();
        let (out, _) = out.as_chunks_mut::<PACKED_LANES>();
        let (base, shift, mask) = (self.base, u32::from(self.shift), self.mask());
        let mut bit = 0_u32;
        for out in out {
            let (number, from) = ((bit / WORD_BITS) as usize, bit % WORD_BITS);
            let (low, high) = (line(number), line(number.wrapping_add(1)));
            for (out, (low, high)) in out.iter_mut().zip(low.into_iter().zip(high)) {
                // In two steps, because nothing of the next word is needed if the number begins with a word.
                let rest = high.wrapping_shl(1).wrapping_shl(WORD_BITS.wrapping_sub(1).wrapping_sub(from));
                let packed = (low.wrapping_shr(from) | rest) & mask;
                *out = base.wrapping_add(packed.wrapping_shl(shift));
            }
            bit = bit.wrapping_add(u32::from(self.width));
        }
    }

    /// Returns ones in the place of a number's bits.
    #[inline]
    fn mask(&self) -> u64 {
        u64::MAX.checked_shr(WORD_BITS.saturating_sub(u32::from(self.width))).unwrap_or(0)
    }
}

fn put(lines: &mut [Line], line: usize, lane: usize, bits: u64) {
    if let Some(word) = lines.get_mut(line).and_then(|line| line.get_mut(lane)) {
        *word |= bits;
    }
}

/// Returns whether packing makes numbers of `width_bytes` each smaller by an eighth or more. It costs
/// something to unpack them.
pub(crate) fn is_worthwhile(numbers: &[u64], width_bytes: usize) -> bool {
    let blocks = numbers.chunks(PACKED_ROWS).map(|block| {
        let lines = usize::from(PackedEntry::of(block, 0).width);
        PACKED_ENTRY_BYTES.saturating_add(lines.saturating_mul(size_of::<Line>()))
    });
    let plain_bytes = numbers.len().saturating_mul(width_bytes);
    blocks.sum::<usize>().saturating_mul(8) <= plain_bytes.saturating_mul(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn check(numbers: &[u64]) -> PackedEntry {
        let entry = PackedEntry::of(numbers, 7);
        let mut words = Vec::new();
        entry.pack(numbers, &mut words);
        assert!(entry.is_valid() && entry.end() == 7 + u64::from(entry.width));
        assert_eq!(words.len(), usize::from(entry.width) * PACKED_LANES);
        let mut block = [1; PACKED_ROWS];
        entry.unpack(&words, &mut block);
        assert_eq!(&block[..numbers.len()], numbers);
        assert!(block[numbers.len()..].iter().all(|number| *number == entry.base));
        for (row, number) in (0..).zip(block) {
            let word = |place: u64| Ok::<u64, Infallible>(words[usize::try_from(place).unwrap()]);
            assert_eq!(entry.get(row, word), Ok(number), "row {row}");
        }
        entry
    }

    #[test]
    fn numbers_of_every_width_come_back() {
        let mut random = testkit::Random::new(5);
        for width in 0..=64_u32 {
            for count in [1, 2, 5, 255, PACKED_ROWS] {
                let mask = u64::MAX.checked_shr(64 - width).unwrap_or(0);
                let base = random.next_u64();
                let mut numbers: Vec<u64> =
                    (0..count).map(|_| base.wrapping_add(random.next_u64() & mask)).collect();
                numbers[0] = base;
                let entry = check(&numbers);
                // Sums beyond the largest signed number are smaller than the base.
                assert!(u32::from(entry.width) <= width || entry.base != base, "{width}: {entry:?}");
            }
        }
    }

    #[test]
    fn a_mark_beside_small_numbers_is_near_them_if_it_is_minus_one() {
        let entry = check(&[3, 200_000, u64::MAX, 7]);
        assert_eq!((entry.base, entry.width, entry.shift), (u64::MAX, 18, 0));
        let entry = check(&[0, i64::MIN.cast_unsigned(), i64::MAX.cast_unsigned()]);
        assert_eq!(entry.width, 64);
    }

    #[test]
    fn zeros_at_the_end_are_cut_off() {
        let entry = check(&[5 << 32, 9 << 32, 12 << 32]);
        assert_eq!((entry.base, entry.width, entry.shift), (5 << 32, 3, 32));
        assert_eq!(check(&[4; 9]), PackedEntry { base: 4, start: 7, ..PackedEntry::default() });
    }

    #[test]
    fn only_what_becomes_an_eighth_smaller_is_packed() {
        let near: Vec<u64> = (0..10_000).collect();
        let mut random = testkit::Random::new(6);
        let far: Vec<u64> = (0..10_000).map(|_| random.next_u64()).collect();
        assert!(is_worthwhile(&near, 4) && is_worthwhile(&near, 2) && !is_worthwhile(&far, 8));
        assert!(!is_worthwhile(&[1, 2, 3], 8), "a block of its own takes more");
    }
}
