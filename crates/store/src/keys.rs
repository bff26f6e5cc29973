//! The keys of many rows, for building: their hints, their hashes, their order.
//!
//! Comes in: the key's columns of some sources, and which rows in which order. Goes out: hints and hashes of whole ranges, and
//! comparisons. Must not know files, nor what is built.

use crate::column::{BytesSlice, ColumnSlice, Offsets};
use crate::error::{Result, check_limit};
use crate::segment_write::{Order, RowRef, Source};
use crate::value::{Value, hash, hint, normalise, order_i64};
use disk::prefetch;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering as Memory};

/// How many rows ahead of use a value in another place of memory is asked for.
pub(crate) const PREFETCH_DISTANCE: usize = 16;

/// Some rows of some sources in some order; a *position* counts in that order.
#[derive(Debug)]
pub(crate) struct RowSet<'a> {
    /// Where each source's rows begin if all follow one another, and after the last where they end.
    starts: Vec<u64>,
    order: Order<'a>,
    row_count: u32,
}

impl<'a> RowSet<'a> {
    /// Takes all rows of sources of these lengths, or those that `order` chooses.
    pub(crate) fn new(row_counts: impl Iterator<Item = u32>, order: Order<'a>) -> Result<RowSet<'a>> {
        let mut starts = vec![0];
        let mut end = 0;
        for row_count in row_counts {
            end += u64::from(row_count);
            starts.push(end);
        }
        let wanted = match order {
            Order::AsIs => end,
            Order::Chosen(rows) => rows.len() as u64,
        };
        check_limit("rows to put in order", wanted, u64::from(u32::MAX))?;
        Ok(RowSet { starts, order, row_count: u32::try_from(wanted).unwrap_or(u32::MAX) })
    }

    pub(crate) fn len(&self) -> u32 {
        self.row_count
    }

    /// Returns which row is at a position.
    #[inline]
    pub(crate) fn at(&self, position: u32) -> RowRef {
        match self.order {
            Order::Chosen(rows) => rows[position as usize],
            Order::AsIs => {
                let source = self.source_of(position);
                RowRef {
                    source: narrow(source as u64),
                    row: narrow(u64::from(position) - self.starts[source]),
                }
            }
        }
    }

    /// Returns the source that has the row at a position of [`Order::AsIs`].
    fn source_of(&self, position: u32) -> usize {
        self.starts.partition_point(|&start| start <= u64::from(position)) - 1
    }

    /// Returns the rows at a range of positions as runs: a source and a range of its rows, or rows chosen one by one.
    pub(crate) fn runs(&self, positions: Range<u32>) -> Runs<'_> {
        match self.order {
            Order::Chosen(rows) => Runs::Chosen(&rows[positions.start as usize..positions.end as usize]),
            Order::AsIs => {
                let mut runs = Vec::new();
                let mut position = u64::from(positions.start);
                let mut source = if positions.is_empty() { 0 } else { self.source_of(positions.start) };
                while position < u64::from(positions.end) {
                    let start = self.starts[source];
                    let end = self.starts[source + 1].min(u64::from(positions.end));
                    if end > position {
                        let rows = narrow(position - start) as usize..narrow(end - start) as usize;
                        runs.push((source, rows));
                        position = end;
                    }
                    source += 1;
                }
                Runs::Whole(runs)
            }
        }
    }
}

/// The rows at a range of positions.
pub(crate) enum Runs<'a> {
    /// Ranges of rows of one source each.
    Whole(Vec<(usize, Range<usize>)>),
    /// Any rows.
    Chosen(&'a [RowRef]),
}

/// A fixed-width value that can lie in a column.
pub(crate) trait Fixed: bytemuck::Pod + Send + Sync {
    /// Returns the column's values if they are of this type.
    fn slice<'a>(column: &ColumnSlice<'a>) -> Option<&'a [Self]>;

    /// Returns the hint of a key that is this value alone.
    fn hint(&self) -> u64;

    /// Returns the hash of a key that is this value alone.
    fn hash(&self) -> u64;
}

/// Implements [`Fixed`] for one kind of column.
macro_rules! fixed {
    ($type:ty, $kind:ident, |$value:ident| $hint:expr, $bytes:expr) => {
        impl Fixed for $type {
            #[inline]
            fn slice<'a>(column: &ColumnSlice<'a>) -> Option<&'a [$type]> {
                match column {
                    ColumnSlice::$kind(values) => Some(values),
                    _ => None,
                }
            }

            #[inline]
            fn hint(&self) -> u64 {
                let $value = self;
                $hint
            }

            #[inline]
            fn hash(&self) -> u64 {
                let $value = self;
                hash(&$bytes)
            }
        }
    };
}

fixed!(u8, U8, |value| u64::from(*value) << 56, [*value]);
fixed!(u16, U16, |value| u64::from(*value) << 48, value.to_be_bytes());
fixed!(u32, U32, |value| u64::from(*value) << 32, value.to_be_bytes());
fixed!(u64, U64, |value| *value, value.to_be_bytes());
fixed!(i64, I64, |value| order_i64(*value), order_i64(*value).to_be_bytes());
fixed!([u8; 32], Id, |value| hint(value), *value);

/// Calls `$body` with `$type` as the type of the values of `$column`, or `$other` if they have no fixed width.
macro_rules! with_fixed {
    ($column:expr, $type:ident => $body:expr, $other:expr) => {
        match $column {
            $crate::column::ColumnSlice::U8(_) => {
                type $type = u8;
                $body
            }
            $crate::column::ColumnSlice::U16(_) => {
                type $type = u16;
                $body
            }
            $crate::column::ColumnSlice::U32(_) => {
                type $type = u32;
                $body
            }
            $crate::column::ColumnSlice::U64(_) => {
                type $type = u64;
                $body
            }
            $crate::column::ColumnSlice::I64(_) => {
                type $type = i64;
                $body
            }
            $crate::column::ColumnSlice::Id(_) => {
                type $type = [u8; 32];
                $body
            }
            $crate::column::ColumnSlice::Bytes(_) => $other,
        }
    };
}
pub(crate) use with_fixed;

/// Returns the values of a column of several sources, all of type `T`.
pub(crate) fn fixed_slices<'a, T: Fixed>(columns: &[ColumnSlice<'a>]) -> Vec<&'a [T]> {
    columns.iter().map(|column| T::slice(column).expect("one schema, so one kind for each column")).collect()
}

/// Visits the values at a range of positions in order, asking for them ahead where they lie scattered.
#[inline]
pub(crate) fn visit_fixed<T: Fixed>(slices: &[&[T]], runs: &Runs, mut visit: impl FnMut(&T)) {
    match runs {
        Runs::Whole(runs) => {
            for (source, rows) in runs {
                slices[*source][rows.clone()].iter().for_each(&mut visit);
            }
        }
        Runs::Chosen(rows) => {
            for (position, row) in rows.iter().enumerate() {
                if let Some(ahead) = rows.get(position + PREFETCH_DISTANCE) {
                    prefetch(slices[ahead.source as usize], ahead.row as usize);
                }
                visit(&slices[row.source as usize][row.row as usize]);
            }
        }
    }
}

/// Asks for the place of the bytes of a row some way ahead.
#[inline]
pub(crate) fn prefetch_place(column: &[ColumnSlice], rows: &[RowRef], index: usize) {
    if let Some(row) = rows.get(index + 2 * PREFETCH_DISTANCE)
        && let ColumnSlice::Bytes(values) = &column[row.source as usize]
    {
        match values.offsets {
            Offsets::Small(offsets) => prefetch(offsets, row.row as usize),
            Offsets::Large(offsets) => prefetch(offsets, row.row as usize),
        }
    }
}

/// Asks for the bytes of a row some way ahead, and for the place of those of a row further on.
#[inline]
pub(crate) fn prefetch_bytes(column: &[ColumnSlice], rows: &[RowRef], index: usize) {
    prefetch_place(column, rows, index);
    if let Some(row) = rows.get(index + PREFETCH_DISTANCE)
        && let ColumnSlice::Bytes(values) = &column[row.source as usize]
        && let Some((start, _)) = values.offsets.place(row.row)
    {
        prefetch(values.blob, usize::try_from(start).unwrap_or(0));
    }
}

/// The keys of a [`RowSet`].
pub(crate) struct Keys<'a> {
    rows: &'a RowSet<'a>,
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
    /// Takes the columns numbered `key` of `sources` as the keys of `rows`.
    pub(crate) fn new(rows: &'a RowSet<'a>, sources: &[&'a dyn Source], key: &[u16]) -> Result<Keys<'a>> {
        let mut columns = Vec::with_capacity(key.len());
        for &number in key {
            let of_all = sources.iter().map(|source| source.column(usize::from(number)));
            columns.push(of_all.collect::<Result<Vec<_>>>()?);
        }
        let mut width = Some(0);
        for column in columns.iter().filter_map(|column| column.first()) {
            let one = with_fixed!(column, T => Some(size_of::<T>()), None);
            width = width.zip(one).map(|(width, one)| width + one);
        }
        let is_exact = width.is_some_and(|width| width <= 8);
        Ok(Keys { rows, columns, is_exact, damaged: AtomicU64::new(0) })
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

    /// Remembers that a source's places are damaged: sorting goes on with a wrong key, and its caller asks afterwards.
    #[cold]
    fn note_damage(&self, position: u32) {
        self.damaged.fetch_max(u64::from(position) + 1, Memory::Relaxed);
    }

    /// Returns a row whose key could not be read, if there was one.
    pub(crate) fn damaged(&self) -> Option<RowRef> {
        let position = self.damaged.load(Memory::Relaxed).checked_sub(1)?;
        Some(self.rows.at(narrow(position)))
    }
}

/// Returns a number known to fit 32 bits.
#[inline]
pub(crate) fn narrow(number: u64) -> u32 {
    u32::try_from(number).expect("row sets were checked to have at most 2^32 - 1 rows")
}
