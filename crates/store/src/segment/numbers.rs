//! Reads the numbers of a segment, plain or packed (docs/FORMAT.md, "Packed numbers").
//!
//! Input: where numbers lie, and rows. Output: plain numbers in place, packed ones unpacked. Does not depend
//! on what the numbers mean.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use crate::format::{PACKED_LANES, PACKED_ROWS};
use crate::segment::layout::{NumbersLayout, PackedLayout};
use crate::segment::mapped::Segment;
use crate::segment::packing::{Block, PackedEntry};
use std::borrow::Cow;
use std::ops::Range;

/// So many numbers are read one by one: that takes less time than unpacking a block.
const FEW: u64 = 16;
/// Numbers of a block.
const BLOCK_ROWS: u64 = PACKED_ROWS as u64;

/// A number of a column, as packed blocks have it.
pub(crate) trait Number: bytemuck::Pod {
    /// Returns the number with 64 bits.
    fn widen(self) -> u64;

    /// Returns the number with these lowest bits.
    fn cut(wide: u64) -> Self;
}

/// Implements [`Number`] for one type. Unsigned numbers count as signed ones of the same width, so that a
/// column's mark of ones is near its small numbers.
macro_rules! number {
    ($type:ty, |$value:ident| $signed:expr) => {
        impl Number for $type {
            #[inline]
            fn widen(self) -> u64 {
                let $value = self;
                i64::from($signed).cast_unsigned()
            }

            #[inline]
            fn cut(wide: u64) -> $type {
                let bytes = wide.to_le_bytes();
                bytes.first_chunk().map_or(0, |lowest| <$type>::from_le_bytes(*lowest))
            }
        }
    };
}

number!(u8, |value| value.cast_signed());
number!(u16, |value| value.cast_signed());
number!(u32, |value| value.cast_signed());
number!(u64, |value| value.cast_signed());
number!(i64, |value| value);

impl Segment {
    /// Returns one number.
    #[inline]
    pub(crate) fn number<T: Number>(&self, numbers: NumbersLayout, index: u64) -> Result<T> {
        match numbers {
            NumbersLayout::Plain(section) => self.at::<T>(section, index).copied(),
            NumbersLayout::Packed(packed) => self.packed_number(packed, index).map(T::cut),
        }
    }

    /// Returns one of the packed numbers.
    #[inline]
    pub(crate) fn packed_number(&self, packed: PackedLayout, index: u64) -> Result<u64> {
        let entry = self.packed_entry(packed, index.wrapping_div(BLOCK_ROWS))?;
        let start = u64::from(entry.start).wrapping_mul(PACKED_LANES as u64);
        entry.get(index % BLOCK_ROWS, |word| self.at::<u64>(packed.blocks, start.wrapping_add(word)).copied())
    }

    /// Returns some of the numbers: in place, or unpacked.
    pub(crate) fn numbers<T: Number>(
        &self,
        numbers: NumbersLayout,
        range: Range<u64>,
    ) -> Result<Cow<'_, [T]>> {
        let packed = match numbers {
            NumbersLayout::Plain(section) => return self.slice(section, range).map(Cow::Borrowed),
            NumbersLayout::Packed(packed) => packed,
        };
        let count = range.end.saturating_sub(range.start);
        let mut out = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        if count <= FEW {
            for index in range {
                out.push(T::cut(self.packed_number(packed, index)?));
            }
            return Ok(Cow::Owned(out));
        }
        self.each_block(packed, range, &mut |numbers| out.extend(numbers.iter().map(|&wide| T::cut(wide))))?;
        Ok(Cow::Owned(out))
    }

    /// Visits some of the packed numbers in order.
    pub(crate) fn each_block(
        &self,
        packed: PackedLayout,
        range: Range<u64>,
        visit: &mut dyn FnMut(&[u64]),
    ) -> Result<()> {
        let mut block: Block = [0; PACKED_ROWS];
        let mut at = range.start;
        while at < range.end {
            let number = at.wrapping_div(BLOCK_ROWS);
            let entry = self.packed_entry(packed, number)?;
            let words = |line: u64| line.saturating_mul(PACKED_LANES as u64);
            let place = words(u64::from(entry.start))..words(entry.end());
            entry.unpack(self.slice::<u64>(packed.blocks, place)?, &mut block);
            let first = number.wrapping_mul(BLOCK_ROWS);
            let end = range.end.min(first.saturating_add(BLOCK_ROWS));
            let in_block = |row: u64| usize::try_from(row.wrapping_sub(first)).unwrap_or(PACKED_ROWS);
            let place = in_block(at)..in_block(end);
            visit(block.get(place).unwrap_or_default());
            at = end;
        }
        Ok(())
    }

    /// Returns an entry of the table of packed blocks.
    #[inline]
    pub(crate) fn packed_entry(&self, packed: PackedLayout, block: u64) -> Result<PackedEntry> {
        let entry = *self.at::<PackedEntry>(packed.table, block)?;
        if entry.is_valid() { Ok(entry) } else { Err(self.bad_entry(packed, block)) }
    }

    #[cold]
    fn bad_entry(&self, packed: PackedLayout, block: u64) -> Error {
        self.sealed.corrupt(packed.table.start, format!("block {block} of packed numbers has no such form"))
    }
}
