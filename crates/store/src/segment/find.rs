//! Finds rows of a segment by key: by the primary key, which is their order, or through an index.
//!
//! Input: keys and ends of ranges. Output: row numbers. Does not depend on dead rows.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Result;
use crate::format::{BUCKET_BYTES, GROUP_MARK};
use crate::key_index::hash::{Bucket, home, probe};
use crate::key_index::ordered::{Needle, guess, partition_point};
use crate::key_index::search::{self, InOrder, Slots};
use crate::rows::column::ColumnSlice;
use crate::segment::hash_lookup::HashIndex;
use crate::segment::layout::{ColumnLayout, IndexLayout, NumbersLayout, Section};

use crate::segment::mapped::Segment;
use crate::value::{Value, hash_key, hint_of};
use disk::prefetch;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::{Bound, Range};

/// Keys of a batch that are looked up side by side: enough to hide a cache miss, few enough to stay in the
/// first cache.
const BATCH_KEYS: u32 = 32;

impl Segment {
    /// Returns the row with this primary key.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the file is damaged where the search comes by,
    /// [`Error::Schema`](crate::Error::Schema) if the key does not fit.
    pub fn primary_find(&self, key: &[Value]) -> Result<Option<u32>> {
        self.check_key(&self.schema.primary, key, true)?;
        let columns = self.schema.primary.as_slice();
        let needle = Needle::new(key, columns.len());
        let guess = self.guess_row(columns, &needle)?;
        if let Some(guess) = guess
            && self.compare_row(columns, guess, key)?.is_eq()
        {
            return Ok(Some(guess));
        }
        let found =
            partition_point(self.row_count(), guess, |row| Ok(self.compare_row(columns, row, key)?.is_lt()))?;
        let is_there = found < self.row_count() && self.compare_row(columns, found, key)?.is_eq();
        Ok(is_there.then_some(found))
    }

    /// Returns the rows whose primary key is between two ends. An end may be a prefix of keys, which means
    /// all keys that begin with it.
    ///
    /// # Errors
    /// Same as [`Segment::primary_find`].
    pub fn primary_range(&self, from: Bound<&[Value]>, to: Bound<&[Value]>) -> Result<Range<u32>> {
        let columns = self.schema.primary.as_slice();
        self.check_ends(columns, from, to)?;
        search::positions(&PrimaryOrder { segment: self, columns }, from, to)
    }

    /// Returns the positions in an ordered index of the keys between two ends, which may be prefixes as in
    /// [`Segment::primary_range`].
    ///
    /// # Errors
    /// As [`Segment::primary_find`]; [`Error::Schema`](crate::Error::Schema) also if there is no such ordered
    /// index.
    pub fn index_range(
        &self,
        index: usize,
        from: Bound<&[Value]>,
        to: Bound<&[Value]>,
    ) -> Result<Range<u32>> {
        let (columns, rows, hints) = self.ordered(index)?;
        self.check_ends(columns, from, to)?;
        search::positions(&IndexOrder { segment: self, columns, rows, hints }, from, to)
    }

    /// Returns the rows at some positions of an ordered index: in key order, rows with equal keys in row
    /// order.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the file is damaged there,
    /// [`Error::Schema`](crate::Error::Schema) if there is no such ordered index or position.
    pub fn rows_at(&self, index: usize, positions: Range<u32>) -> Result<Cow<'_, [u32]>> {
        let (_, rows, _) = self.ordered(index)?;
        if positions.start > positions.end || positions.end > self.row_count() {
            let what = format!("positions {} to {} of {}", positions.start, positions.end, self.row_count());
            return Err(self.misused(what));
        }
        let found = self.numbers::<u32>(rows, u64::from(positions.start)..u64::from(positions.end))?;
        match found.iter().max() {
            Some(&largest) => self.check_row(largest, rows.start()).map(|()| found),
            None => Ok(found),
        }
    }

    /// Returns the row at one position of an ordered index.
    ///
    /// # Errors
    /// As [`Segment::rows_at`].
    #[inline]
    pub(crate) fn row_at(&self, index: usize, position: u32) -> Result<u32> {
        let (_, rows, _) = self.ordered(index)?;
        if position >= self.row_count() {
            return Err(self.misused(format!("position {position} of {}", self.row_count())));
        }
        let row = self.number::<u32>(rows, u64::from(position))?;
        self.check_row(row, rows.start()).map(|()| row)
    }

    /// Appends all rows with this key to `found`, lower rows first, through a hash or an ordered index.
    ///
    /// # Errors
    /// As [`Segment::primary_find`]; [`Error::Schema`](crate::Error::Schema) also if there is no such index.
    pub fn find(&self, index: usize, key: &[Value], found: &mut Vec<u32>) -> Result<()> {
        let Some(hash_index) = self.hash_index(index) else {
            let (columns, ..) = self.ordered(index)?;
            self.check_key(columns, key, true)?;
            let positions = self.index_range(index, Bound::Included(key), Bound::Included(key))?;
            found.extend_from_slice(&self.rows_at(index, positions)?);
            return Ok(());
        };
        let are_ids = matches!(key, [Value::Id(_)]) && hash_index.ids.is_some();
        if !are_ids {
            self.check_key(&hash_index.columns, key, true)?;
        }
        self.probe(hash_index, hash_key(key), |slot| self.confirm(hash_index, slot, key, found))
    }

    /// Looks up many keys in a hash index. Appends (number of the key, row) to `found` for each row found, in
    /// the order of the keys. `keys` has a slice for each column of the index, all of the same length.
    ///
    /// If the index does not fit a cache, this is faster than one look-up at a time, because cache lines are
    /// prefetched.
    ///
    /// # Errors
    /// As [`Segment::primary_find`]; [`Error::Schema`](crate::Error::Schema) also if there is no such hash
    /// index.
    pub fn find_batch(&self, index: usize, keys: &[ColumnSlice], found: &mut Vec<(u32, u32)>) -> Result<()> {
        let hash_index =
            self.hash_index(index).ok_or_else(|| self.misused(format!("there is no hash index {index}")))?;
        let key_count = self.check_batch(&hash_index.columns, keys)?;
        let width = keys.len();
        let (mut batch, mut hashes, mut slots, mut rows) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for first in (0..key_count).step_by(BATCH_KEYS as usize) {
            let numbers = first..key_count.min(first.saturating_add(BATCH_KEYS));
            batch.clear();
            hashes.clear();
            for number in numbers {
                for column in keys {
                    let value = column.value(number);
                    batch.push(value.ok_or_else(|| self.misused(format!("there is no key {number}")))?);
                }
                let start = batch.len().saturating_sub(width);
                let hash = hash_key(batch.get(start..).unwrap_or_default());
                self.prefetch(hash_index.buckets, home(hash, hash_index.home_count), BUCKET_BYTES);
                hashes.push(hash);
            }
            slots.clear();
            for (place, &hash) in hashes.iter().enumerate() {
                self.probe(hash_index, hash, |slot| {
                    self.prefetch_key(hash_index, slot);
                    slots.push((place, slot));
                    Ok(())
                })?;
            }
            for &(place, slot) in &slots {
                let key = batch.chunks_exact(width).nth(place).unwrap_or_default();
                rows.clear();
                self.confirm(hash_index, slot, key, &mut rows)?;
                let number = first.saturating_add(u32::try_from(place).unwrap_or(0));
                found.extend(rows.iter().map(|&row| (number, row)));
            }
        }
        Ok(())
    }

    /// Checks that keys given by column fit an index, and returns how many there are.
    fn check_batch(&self, columns: &[u16], keys: &[ColumnSlice]) -> Result<u32> {
        let key_count = keys.first().map_or(0, ColumnSlice::len);
        if keys.iter().any(|column| column.len() != key_count) || u32::try_from(key_count).is_err() {
            return Err(self.misused("the columns of keys have unequal lengths, or over 2^32 keys".into()));
        }
        let mut first = Vec::with_capacity(keys.len());
        for column in keys {
            let Some(value) = column.value(0) else { return Ok(0) };
            first.push(value);
        }
        // All values of a column are of one kind.
        self.check_key(columns, &first, true)?;
        Ok(u32::try_from(key_count).unwrap_or(u32::MAX))
    }

    fn prefetch(&self, section: Section, element: u64, width: usize) {
        let place = section.start.saturating_add(element.saturating_mul(width as u64));
        prefetch(self.sealed.map(), usize::try_from(place).unwrap_or(0));
    }

    /// Asks for the first column of the key that a slot may have.
    fn prefetch_key(&self, hash_index: &HashIndex, slot: u32) {
        let column = hash_index.columns.first().copied().map_or(0, usize::from);
        let layout = (self.layout.columns.get(column), self.schema.kind(column));
        if let (
            Some(ColumnLayout::Numbers(NumbersLayout::Plain(section)) | ColumnLayout::Ids(section)),
            Some(kind),
        ) = layout
            && slot & GROUP_MARK == 0
        {
            self.prefetch(*section, u64::from(slot), kind.width().unwrap_or(1));
        }
    }

    #[inline]
    fn probe(
        &self,
        hash_index: &HashIndex,
        hash: u64,
        mut visit: impl FnMut(u32) -> Result<()>,
    ) -> Result<()> {
        let bucket = |number: u64| self.at::<Bucket>(hash_index.buckets, number);
        probe(hash, hash_index.home_count, hash_index.bucket_count, bucket, |slot| visit(slot).map(|()| true))
    }

    /// Appends the rows of a slot to `found` if they have this key.
    #[inline(always)]
    fn confirm(&self, hash_index: &HashIndex, slot: u32, key: &[Value], found: &mut Vec<u32>) -> Result<()> {
        search::confirm(&SegmentSlots { segment: self, hash_index }, slot, key, found)
    }

    /// Returns whether a row that an index names has a whole key.
    #[inline(always)]
    fn has_key(&self, hash_index: &HashIndex, row: u32, key: &[Value]) -> Result<bool> {
        if let (Some(ids), [Value::Id(id)]) = (hash_index.ids, key) {
            return Ok(self.at::<[u8; 32]>(ids, u64::from(row))? == *id);
        }
        self.check_row(row, hash_index.buckets.start)?;
        Ok(self.compare_row(&hash_index.columns, row, key)?.is_eq())
    }

    #[inline]
    fn check_row(&self, row: u32, start: u64) -> Result<()> {
        if row < self.row_count() {
            return Ok(());
        }
        let what = format!("an index names row {row} of {}", self.row_count());
        Err(self.sealed.corrupt(start, what))
    }

    /// Compares the first columns of a row's key, as many as `key` has, with `key`.
    #[inline]
    pub(crate) fn compare_row(&self, columns: &[u16], row: u32, key: &[Value]) -> Result<Ordering> {
        for (column, wanted) in columns.iter().zip(key) {
            match self.value(usize::from(*column), row)?.cmp(wanted) {
                Ordering::Equal => {}
                unequal => return Ok(unequal),
            }
        }
        Ok(Ordering::Equal)
    }

    /// Guesses the row of a key of one column of fixed width: primary keys are often dense or random numbers.
    fn guess_row(&self, columns: &[u16], needle: &Needle) -> Result<Option<u32>> {
        match self.fixed_column(columns) {
            Some(column) => {
                guess(needle.hint(), self.row_count(), |row| Ok(hint_of(self.value(column, row)?)))
            }
            None => Ok(None),
        }
    }

    /// Returns the column of a key of one column of fixed width: its hints may be spread evenly.
    fn fixed_column(&self, columns: &[u16]) -> Option<usize> {
        let [column] = columns else { return None };
        let column = usize::from(*column);
        matches!(self.layout.columns.get(column), Some(ColumnLayout::Numbers(_) | ColumnLayout::Ids(_)))
            .then_some(column)
    }

    fn check_ends(&self, columns: &[u16], from: Bound<&[Value]>, to: Bound<&[Value]>) -> Result<()> {
        for end in [from, to] {
            if let Bound::Included(key) | Bound::Excluded(key) = end {
                self.check_key(columns, key, false)?;
            }
        }
        Ok(())
    }

    /// Checks that a key fits its columns: all of them, or the first ones.
    fn check_key(&self, columns: &[u16], key: &[Value], is_whole: bool) -> Result<()> {
        if key.len() > columns.len() || is_whole && key.len() < columns.len() {
            return Err(self.misused(format!(
                "a key has {} values for {} columns",
                key.len(),
                columns.len()
            )));
        }
        for (column, value) in columns.iter().zip(key) {
            let kind = self.schema.kind(usize::from(*column));
            if !kind.is_some_and(|kind| value.fits(kind)) {
                return Err(self.misused(format!("column {column} is {kind:?}, not {value:?}")));
            }
        }
        Ok(())
    }

    #[inline]
    fn hash_index(&self, index: usize) -> Option<&HashIndex> {
        self.hash_indexes.get(index)?.as_ref()
    }

    fn ordered(&self, index: usize) -> Result<(&[u16], NumbersLayout, NumbersLayout)> {
        match (self.layout.indexes.get(index), self.schema.indexes.get(index)) {
            (Some(IndexLayout::Ordered { rows, hints }), Some(of_schema)) => {
                Ok((of_schema.columns.as_slice(), *rows, *hints))
            }
            _ => Err(self.misused(format!("there is no ordered index {index}"))),
        }
    }
}

/// The rows as they lie.
struct PrimaryOrder<'a> {
    segment: &'a Segment,
    columns: &'a [u16],
}

impl InOrder for PrimaryOrder<'_> {
    fn row_count(&self) -> u32 {
        self.segment.row_count()
    }

    fn column_count(&self) -> usize {
        self.columns.len()
    }

    fn compare(&self, row: u32, end: &Needle) -> Result<Ordering> {
        self.segment.compare_row(self.columns, row, end.key)
    }

    fn guess(&self, end: &Needle) -> Result<Option<u32>> {
        self.segment.guess_row(self.columns, end)
    }
}

/// An ordered index.
struct IndexOrder<'a> {
    segment: &'a Segment,
    columns: &'a [u16],
    rows: NumbersLayout,
    hints: NumbersLayout,
}

impl InOrder for IndexOrder<'_> {
    fn row_count(&self) -> u32 {
        self.segment.row_count()
    }

    fn column_count(&self) -> usize {
        self.columns.len()
    }

    fn compare(&self, position: u32, end: &Needle) -> Result<Ordering> {
        let position = u64::from(position);
        let hint = self.segment.number::<u64>(self.hints, position)?;
        end.compare(hint, || {
            let row = self.segment.number::<u32>(self.rows, position)?;
            self.segment.check_row(row, self.rows.start())?;
            self.segment.compare_row(self.columns, row, end.key)
        })
    }

    fn guess(&self, end: &Needle) -> Result<Option<u32>> {
        if self.segment.fixed_column(self.columns).is_none() {
            return Ok(None);
        }
        let hint_at = |position| self.segment.number::<u64>(self.hints, u64::from(position));
        guess(end.hint(), self.segment.row_count(), hint_at)
    }
}

/// A hash index with the rows it names.
struct SegmentSlots<'a> {
    segment: &'a Segment,
    hash_index: &'a HashIndex,
}

impl Slots for SegmentSlots<'_> {
    #[inline(always)]
    fn has_key(&self, row: u32, key: &[Value]) -> Result<bool> {
        self.segment.has_key(self.hash_index, row, key)
    }

    fn group_entry(&self, place: u64) -> Result<u32> {
        self.segment.at::<u32>(self.hash_index.groups, place).copied()
    }

    fn check_row(&self, row: u32) -> Result<()> {
        self.segment.check_row(row, self.hash_index.groups.start)
    }
}
