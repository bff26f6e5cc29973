//! The keys of many rows, for building indexes: their hints, their hashes, their order.
//!
//! Input: the key's columns of some sources, and the rows in their order. Output: hints and hashes of whole
//! ranges, and comparisons. Must not know files, or what is built.

use crate::error::Result;
use crate::rows::column::{BytesSlice, ColumnSlice};
use crate::rows::source::{RowRef, Source};
use crate::sort::row_set::{
    Fixed, RowSet, Runs, fixed_slices, narrow, prefetch_bytes, visit_fixed, with_fixed,
};
use crate::value::{Value, hash, hint, normalise};
use disk::prefetch;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering as Memory};

/// The keys of a [`RowSet`].
pub(crate) struct Keys<'a> {
    rows: &'a RowSet<'a>,
    sources: &'a [&'a dyn Source],
    /// The numbers of the key's columns.
    numbers: &'a [u16],
    /// For each column of the key, the values in each source.
    columns: Vec<Vec<ColumnSlice<'a>>>,
    /// Says that equal hints are equal keys.
    is_exact: bool,
    /// One more than the first position whose value could not be read, or 0.
    damaged: AtomicU64,
}

/// A buffer for one key, used again and again.
type Buffer = Vec<u8>;

impl<'a> Keys<'a> {
    /// Takes the columns with these numbers of `sources` as the keys of `rows`.
    pub(crate) fn new(
        rows: &'a RowSet<'a>,
        sources: &'a [&'a dyn Source],
        numbers: &'a [u16],
    ) -> Result<Keys<'a>> {
        let mut columns = Vec::with_capacity(numbers.len());
        for &number in numbers {
            let of_all = sources.iter().map(|source| source.column(usize::from(number)));
            columns.push(of_all.collect::<Result<Vec<_>>>()?);
        }
        let mut width = Some(0);
        for column in columns.iter().filter_map(|column| column.first()) {
            let one = with_fixed!(column, T => Some(size_of::<T>()), None);
            width = width.zip(one).map(|(width, one)| width + one);
        }
        let is_exact = width.is_some_and(|width| width <= 8);
        Ok(Keys { rows, sources, numbers, columns, is_exact, damaged: AtomicU64::new(0) })
    }

    pub(crate) fn len(&self) -> u32 {
        self.rows.len()
    }

    /// Says that keys with equal hints are equal.
    pub(crate) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Appends the hints of the keys at a range of positions to `out`.
    pub(crate) fn hints(&self, positions: Range<u32>, out: &mut Vec<u64>) {
        if let [column] = self.columns.as_slice()
            && let Some(first) = column.first()
        {
            let runs = self.rows.runs(positions.clone());
            with_fixed!(first, T => {
                return visit_fixed::<T>(&fixed_slices(column), &runs, |value| out.push(value.hint()));
            }, {});
        }
        self.visit_normalised(positions, |key| out.push(hint(key)));
    }

    /// Appends the hashes of the keys at a range of positions to `out`.
    pub(crate) fn hashes(&self, positions: Range<u32>, out: &mut Vec<u64>) {
        if let [column] = self.columns.as_slice()
            && let Some(first) = column.first()
        {
            let runs = self.rows.runs(positions.clone());
            with_fixed!(first, T => {
                return visit_fixed::<T>(&fixed_slices(column), &runs, |value| out.push(value.hash()));
            }, {});
        }
        self.visit_normalised(positions, |key| out.push(hash(key)));
    }

    fn visit_normalised(&self, positions: Range<u32>, mut visit: impl FnMut(&[u8])) {
        if let [column] = self.columns.as_slice() {
            return self.visit_bytes(column, positions, visit);
        }
        let mut buffer = Buffer::new();
        for position in positions {
            visit(self.normalised(position, &mut buffer));
        }
    }

    /// Visits the keys that are one column of bytes.
    fn visit_bytes(&self, column: &[ColumnSlice<'a>], positions: Range<u32>, mut visit: impl FnMut(&[u8])) {
        let mut position = positions.start;
        let mut visit_row = |row: RowRef| {
            if let ColumnSlice::Bytes(values) = &column[row.source as usize] {
                visit(self.bytes(values, row, position));
            }
            position += 1;
        };
        match self.rows.runs(positions) {
            Runs::Whole(runs) => {
                for (source, rows) in runs {
                    let source = narrow(source as u64);
                    rows.for_each(|row| visit_row(RowRef { source, row: narrow(row as u64) }));
                }
            }
            Runs::Chosen(rows) => {
                for (index, row) in rows.iter().enumerate() {
                    prefetch_bytes(column, rows, index);
                    visit_row(*row);
                }
            }
        }
    }

    /// Returns the normalised bytes of the key at `position`, in the column itself or in `buffer`.
    #[inline]
    pub(crate) fn normalised<'b>(&'b self, position: u32, buffer: &'b mut Buffer) -> &'b [u8] {
        let row = self.rows.at(position);
        if let [column] = self.columns.as_slice()
            && let ColumnSlice::Bytes(values) = &column[row.source as usize]
        {
            return self.bytes(values, row, position);
        }
        buffer.clear();
        for (number, column) in self.columns.iter().enumerate() {
            let value = self.value(&column[row.source as usize], row, position);
            let column_count = self.columns.len() - number;
            normalise(&[value], column_count, buffer);
        }
        buffer
    }

    /// Asks for the first value of the key at `position`, if it has a fixed width.
    #[inline]
    pub(crate) fn prefetch(&self, position: u32) {
        let row = self.rows.at(position);
        if let Some(column) = self.columns.first().map(|column| &column[row.source as usize]) {
            with_fixed!(column, T => prefetch(T::slice(column).unwrap_or_default(), row.row as usize), {});
        }
    }

    /// Compares the keys at two positions.
    pub(crate) fn compare(&self, one: u32, two: u32) -> Ordering {
        let (first, second) = (self.rows.at(one), self.rows.at(two));
        for column in &self.columns {
            let ours = self.value(&column[first.source as usize], first, one);
            let theirs = self.value(&column[second.source as usize], second, two);
            match ours.cmp(&theirs) {
                Ordering::Equal => {}
                unequal => return unequal,
            }
        }
        Ordering::Equal
    }

    #[inline]
    fn value(&self, column: &ColumnSlice<'a>, row: RowRef, position: u32) -> Value<'a> {
        column.value(row.row).unwrap_or_else(|| {
            self.note_damage(position);
            Value::Bytes(&[])
        })
    }

    #[inline]
    fn bytes(&self, values: &BytesSlice<'a>, row: RowRef, position: u32) -> &'a [u8] {
        values.get(row.row).unwrap_or_else(|| {
            self.note_damage(position);
            &[]
        })
    }

    /// Remembers that a source's places are damaged: sorting goes on with a wrong key, and its caller asks
    /// afterwards.
    #[cold]
    fn note_damage(&self, position: u32) {
        self.damaged.fetch_max(u64::from(position) + 1, Memory::Relaxed);
    }

    /// Returns the error of the source whose key could not be read, if there was one. Call it at the end.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(position) = self.damaged.load(Memory::Relaxed).checked_sub(1) else { return Ok(()) };
        let row = self.rows.at(narrow(position));
        for &number in self.numbers {
            self.sources[row.source as usize].value(usize::from(number), row.row)?;
        }
        unreachable!("a value that could not be read is an error when it is read alone")
    }
}
