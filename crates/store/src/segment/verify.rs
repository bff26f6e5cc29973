//! Verifies a whole segment, including parts that normal reads never touch.
//!
//! Input: an open segment. Output: all damage found. Repairs nothing. Memory: one bit a row.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use crate::format::{GROUP_MARK, PACKED_LINE_BYTES, PACKED_ROWS, SECTION_ALIGNMENT};
use crate::key_index::hash::{Bucket, home, tag_of};
use crate::payload::reader::PayloadReader;
use crate::schema::{Index, Kind};
use crate::segment::layout::{
    BlocksLayout, ColumnLayout, IndexLayout, NumbersLayout, OffsetsLayout, PackedLayout, Section,
};
use crate::segment::mapped::{BlockEntry, Segment};
use crate::sort::row_set::narrow;
use crate::value::{Value, hash_key, hint, normalise};
use rayon::prelude::*;
use std::cmp::Ordering;

/// Rows that one thread checks at a time.
const PIECE_ROWS: u32 = 1 << 14;

impl Segment {
    /// Verifies all checksums. If they match, also verifies what they do not cover: that offsets are within
    /// their columns, rows are in the order of their keys, every payload can be decompressed, and every index
    /// has every row once, under its own key.
    ///
    /// Returns all damaged chunks, or else the first damage in each column and index. Reads the whole file,
    /// on all cores.
    pub fn verify(&self) -> Vec<Error> {
        let damage = self.sealed.verify_all();
        if !damage.is_empty() {
            return damage;
        }
        let columns = (0..self.layout.columns.len()).into_par_iter();
        let indexes = (0..self.layout.indexes.len()).into_par_iter();
        let mut found: Vec<Error> = self.verify_padding().err().into_iter().collect();
        found.extend(columns.filter_map(|column| self.verify_column(column).err()).collect::<Vec<_>>());
        found.extend(self.verify_order().err());
        if found.is_empty() {
            found.extend(indexes.filter_map(|index| self.verify_index(index).err()).collect::<Vec<_>>());
        }
        found
    }

    /// Calls `check` for every row, on all cores.
    fn for_rows<S>(
        &self,
        start: impl Fn() -> S + Sync,
        check: impl Fn(&mut S, u32) -> Result<()> + Sync,
    ) -> Result<()> {
        (0..self.row_count().div_ceil(PIECE_ROWS)).into_par_iter().try_for_each(|piece| {
            let mut state = start();
            let first = piece.saturating_mul(PIECE_ROWS);
            let end = self.row_count().min(first.saturating_add(PIECE_ROWS));
            (first..end).try_for_each(|row| check(&mut state, row))
        })
    }

    fn verify_padding(&self) -> Result<()> {
        for section in &self.layout.sections {
            let end = section.start.saturating_add(section.length);
            let padding = self.sealed.range(end..end.next_multiple_of(SECTION_ALIGNMENT))?;
            if padding.iter().any(|&byte| byte != 0) {
                return Err(self.sealed.corrupt(end, "padding is not zero"));
            }
        }
        Ok(())
    }

    fn verify_column(&self, column: usize) -> Result<()> {
        match self.layout.columns.get(column) {
            Some(ColumnLayout::Numbers(NumbersLayout::Packed(packed))) => {
                let kind = self.schema.kind(column).and_then(Kind::width).unwrap_or(8);
                self.verify_packed(*packed, self.row_count().into(), kind)
            }
            Some(ColumnLayout::Numbers(_) | ColumnLayout::Ids(_)) | None => Ok(()),
            Some(ColumnLayout::Rows { blob, offsets, .. }) => {
                if let OffsetsLayout::Packed(packed) = offsets {
                    self.verify_packed(*packed, u64::from(self.row_count()).saturating_add(1), 8)?;
                }
                let place = |index: u32| self.offset(*offsets, u64::from(index));
                let ends = [place(0)?, place(self.row_count())?];
                if ends != [0, blob.length] {
                    let what = format!("places run from {} to {} in {} bytes", ends[0], ends[1], blob.length);
                    return Err(self.sealed.corrupt(offsets.start(), what));
                }
                self.verify_payloads(column)
            }
            Some(ColumnLayout::Blocks(BlocksLayout { blocks, table, .. })) => {
                self.verify_table(*blocks, *table)?;
                self.verify_payloads(column)
            }
        }
    }

    /// Checks that packed blocks follow one another, that their numbers fit `width` bytes, and that the last
    /// block ends with its smallest number.
    fn verify_packed(&self, packed: PackedLayout, count: u64, width: usize) -> Result<()> {
        let mut end = 0;
        for number in 0..count.div_ceil(PACKED_ROWS as u64) {
            let entry = self.packed_entry(packed, number)?;
            if u64::from(entry.start) != end {
                let what = format!("block {number} of packed numbers does not follow the one before");
                return Err(self.sealed.corrupt(packed.table.start, what));
            }
            end = entry.end();
            let rows = number.saturating_mul(PACKED_ROWS as u64);
            let mut is_right = true;
            let all = rows..rows.saturating_add(PACKED_ROWS as u64);
            self.each_block(packed, all, &mut |numbers| {
                let inside = usize::try_from(count.saturating_sub(rows)).unwrap_or(usize::MAX);
                is_right = numbers.iter().all(|&number| fits_width(number, width))
                    && numbers.iter().skip(inside).all(|&number| number == entry.base);
            })?;
            if !is_right {
                let what = format!("block {number} of packed numbers has numbers that no column has");
                return Err(self.sealed.corrupt(packed.table.start, what));
            }
        }
        if end.saturating_mul(PACKED_LINE_BYTES as u64) == packed.blocks.length {
            return Ok(());
        }
        Err(self.sealed.corrupt(packed.table.start, "packed blocks do not fill their section"))
    }

    fn verify_payloads(&self, column: usize) -> Result<()> {
        self.for_rows(PayloadReader::new, |reader, row| self.payload(column, row, reader).map(drop))
    }

    /// Checks that blocks follow one another and have all rows.
    fn verify_table(&self, blocks: Section, table: Section) -> Result<()> {
        let entries = self.all_of::<BlockEntry>(table)?;
        let first = entries.first().map(|entry| (entry.start, entry.first_row));
        let last = entries.last().map(|entry| (entry.start, entry.first_row, entry.length));
        let follows = |pair: &[BlockEntry]| match pair {
            [one, two] => one.start < two.start && one.first_row < two.first_row,
            _ => true,
        };
        if first == Some((0, 0))
            && last == Some((blocks.length, self.row_count(), 0))
            && entries.windows(2).all(follows)
        {
            return Ok(());
        }
        Err(self.sealed.corrupt(table.start, "the blocks do not follow one another, or lack rows"))
    }

    /// Checks that primary keys ascend.
    fn verify_order(&self) -> Result<()> {
        let columns = &self.schema.primary;
        self.for_rows(Vec::new, |key, row| {
            let Some(before) = row.checked_sub(1) else { return Ok(()) };
            self.read_key(columns, before, key)?;
            match self.compare_row(columns, row, key)? {
                Ordering::Greater => Ok(()),
                _ => Err(self.sealed.corrupt(0, format!("row {row} does not come after row {before}"))),
            }
        })
    }

    fn read_key<'a>(&'a self, columns: &[u16], row: u32, key: &mut Vec<Value<'a>>) -> Result<()> {
        key.clear();
        columns.iter().try_for_each(|&column| {
            key.push(self.value(usize::from(column), row)?);
            Ok(())
        })
    }

    fn verify_index(&self, number: usize) -> Result<()> {
        match (self.layout.indexes.get(number), self.schema.indexes.get(number)) {
            (Some(IndexLayout::Ordered { rows, hints }), Some(index)) => {
                self.verify_ordered(index, *rows, *hints)
            }
            (Some(layout @ IndexLayout::Hash { .. }), Some(index)) => self.verify_hash(index, layout),
            _ => Ok(()),
        }
    }

    /// Checks that each row is there once, beside its hint, in the order of keys and then rows.
    fn verify_ordered(&self, index: &Index, rows: NumbersLayout, hints: NumbersLayout) -> Result<()> {
        for (numbers, width) in [(rows, 4), (hints, 8)] {
            if let NumbersLayout::Packed(packed) = numbers {
                self.verify_packed(packed, self.row_count().into(), width)?;
            }
        }
        let all = self.numbers::<u32>(rows, 0..u64::from(self.row_count()))?;
        self.verify_all_rows(rows.start(), all.iter().copied())?;
        self.for_rows(Default::default, |state: &mut (Vec<Value>, Vec<u8>), position| {
            let (key, normalised) = state;
            let row = self.number::<u32>(rows, position.into())?;
            if let Some(before) = position.checked_sub(1) {
                let row_before = self.number::<u32>(rows, before.into())?;
                self.read_key(&index.columns, row_before, key)?;
                if self.compare_row(&index.columns, row, key)?.then(row.cmp(&row_before)).is_le() {
                    let what = format!("position {position} of index {} is out of order", index.name);
                    return Err(self.sealed.corrupt(rows.start(), what));
                }
            }
            self.read_key(&index.columns, row, key)?;
            normalised.clear();
            normalise(key, index.columns.len(), normalised);
            if self.number::<u64>(hints, position.into())? != hint(normalised) {
                let what = format!("the hint at position {position} of index {} is wrong", index.name);
                return Err(self.sealed.corrupt(hints.start(), what));
            }
            Ok(())
        })
    }

    /// Checks that each row is there once, and found by its key: from slot to row, because a key may have any
    /// number of rows.
    fn verify_hash(&self, index: &Index, layout: &IndexLayout) -> Result<()> {
        let IndexLayout::Hash { buckets: section, home_count, groups } = *layout else { return Ok(()) };
        let buckets = self.all_of::<Bucket>(section)?;
        let groups = self.all_of::<u32>(groups)?;
        let slots = |bucket: &Bucket| bucket.tags.into_iter().zip(bucket.rows).filter(|&(tag, _)| tag != 0);
        let alone = buckets.iter().flat_map(slots).map(|(_, row)| row).filter(|row| row & GROUP_MARK == 0);
        self.verify_all_rows(section.start, alone.chain(groups.iter().map(|row| row & !GROUP_MARK)))?;
        let in_groups = buckets.iter().flat_map(slots).filter(|(_, row)| row & GROUP_MARK != 0);
        let mut named: Vec<usize> = in_groups.map(|(_, row)| (row & !GROUP_MARK) as usize).collect();
        named.sort_unstable();
        if !group_starts(groups).eq(named) {
            let what = format!("index {} has groups of rows that no slot names, or several", index.name);
            return Err(self.sealed.corrupt(section.start, what));
        }
        let numbered = buckets
            .par_iter()
            .enumerate()
            .flat_map_iter(|(number, bucket)| slots(bucket).map(move |(tag, slot)| (number, tag, slot)));
        numbered.try_for_each_init(
            Default::default,
            |state: &mut (Vec<Value>, Vec<u32>), (number, tag, slot)| {
                let (key, one) = state;
                one.clear();
                one.push(slot | GROUP_MARK);
                let rows = if slot & GROUP_MARK == 0 { one.as_slice() } else { group_at(groups, slot) };
                let first = rows.first().map_or(u32::MAX, |row| row & !GROUP_MARK);
                self.read_key(&index.columns, first, key)?;
                let mut is_right = finds(buckets, home_count, hash_key(key), (number, tag));
                for row in rows {
                    is_right &= self.compare_row(&index.columns, row & !GROUP_MARK, key)?.is_eq();
                }
                let what = || format!("row {first} is not found by its key in index {}", index.name);
                if is_right { Ok(()) } else { Err(self.sealed.corrupt(section.start, what())) }
            },
        )
    }

    /// Checks that an index has each row once.
    fn verify_all_rows(&self, start: u64, rows: impl Iterator<Item = u32>) -> Result<()> {
        let mut seen = vec![0_u64; self.row_count().div_ceil(64) as usize];
        let mut count = 0_u64;
        for row in rows {
            let word = seen.get_mut((row / 64) as usize).filter(|_| row < self.row_count());
            let bit = 1 << (row % 64);
            match word {
                Some(word) if *word & bit == 0 => *word |= bit,
                _ => {
                    return Err(self.sealed.corrupt(start, format!("row {row} is in an index twice")));
                }
            }
            count = count.saturating_add(1);
        }
        if count == u64::from(self.row_count()) {
            return Ok(());
        }
        let what = format!("an index has {count} rows of {}", narrow(u64::from(self.row_count())));
        Err(self.sealed.corrupt(start, what))
    }
}

/// Returns whether a number is a signed one of `width` bytes, its sign extended.
fn fits_width(number: u64, width: usize) -> bool {
    let free_bits = u64::BITS.saturating_sub(u32::try_from(width).unwrap_or(8).saturating_mul(8));
    let sign = number.cast_signed().wrapping_shl(free_bits).wrapping_shr(free_bits);
    sign == number.cast_signed()
}

/// Returns where each group begins: at the start, and after each marked row but the last.
fn group_starts(groups: &[u32]) -> impl Iterator<Item = usize> {
    let marks = groups.iter().enumerate().filter(|(_, row)| **row & GROUP_MARK != 0);
    let starts = std::iter::once(0).chain(marks.map(|(place, _)| place.saturating_add(1)));
    starts.filter(|&start| start < groups.len())
}

/// Returns the rows of a group, the last one marked; none if the slot names no place of a group.
fn group_at(groups: &[u32], slot: u32) -> &[u32] {
    let rest = groups.get((slot & !GROUP_MARK) as usize..).unwrap_or_default();
    let end = rest.iter().position(|row| row & GROUP_MARK != 0);
    end.and_then(|end| rest.get(..=end)).unwrap_or_default()
}

/// Returns whether a search for a key visits a slot: the slot has the key's tag, and each bucket from the
/// key's home to the one before it has the key's overflow bit.
fn finds(buckets: &[Bucket], home_count: u64, hash: u64, (number, tag): (usize, u8)) -> bool {
    let home = usize::try_from(home(hash, home_count)).unwrap_or(usize::MAX);
    let before = buckets.get(home..number);
    tag == tag_of(hash) && before.is_some_and(|before| before.iter().all(|bucket| bucket.leads_on(hash)))
}
