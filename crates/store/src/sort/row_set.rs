//! Some rows of some sources in some order, and the values of a column in that order.
//!
//! Input: the lengths of sources, and an order. Output: the row at each position, and the values of a column
//! one after another, prefetched where they are scattered. Does not depend on what the values are for.

use crate::error::{Result, check_limit};
use crate::rows::column::{ColumnSlice, Offsets};
use crate::rows::source::{Order, RowRef};
use crate::segment::numbers::Number;
use crate::value::{hash, hint, order_i64};
use disk::prefetch;
use std::ops::Range;

/// How many rows ahead of use a value in another place of memory is asked for.
pub(crate) const PREFETCH_DISTANCE: usize = 16;

/// Positions in a block of [`RowSet::block_sources`].
const BLOCK_ROWS: u32 = 1 << 12;

/// Some rows of some sources in some order; a *position* counts in that order.
#[derive(Debug)]
pub(crate) struct RowSet<'a> {
    /// The start of each source's rows if the sources are concatenated, and the end of the last one.
    starts: Vec<u64>,
    /// For each block of positions the source of its first one, so that few of many sources are left to
    /// search.
    block_sources: Vec<u32>,
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
        let block_sources = match order {
            Order::AsIs => sources_of_blocks(&starts),
            Order::Chosen(_) => Vec::new(),
        };
        Ok(RowSet { starts, block_sources, order, row_count: narrow(wanted) })
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

    /// Returns the position of a row in [`Order::AsIs`]; none if its source has no such row.
    pub(crate) fn position(&self, row: RowRef) -> Option<u32> {
        let start = *self.starts.get(row.source as usize)?;
        let end = *self.starts.get(row.source as usize + 1)?;
        let position = start + u64::from(row.row);
        (position < end).then(|| narrow(position))
    }

    /// Returns the source that has the row at a position of [`Order::AsIs`].
    fn source_of(&self, position: u32) -> usize {
        let block = (position / BLOCK_ROWS) as usize;
        let first = self.block_sources[block] as usize;
        let last = self.block_sources.get(block + 1).map_or(self.starts.len(), |&source| source as usize + 1);
        first + self.starts[first..last].partition_point(|&start| start <= u64::from(position)) - 1
    }

    /// Returns the rows at a range of positions as runs: a source and a range of its rows, or rows chosen one
    /// by one.
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

/// Returns the source of the first position of each block.
fn sources_of_blocks(starts: &[u64]) -> Vec<u32> {
    let end = starts.last().copied().unwrap_or(0);
    let mut source = 0;
    let blocks = (0..end).step_by(BLOCK_ROWS as usize).map(|position| {
        while starts[source + 1] <= position {
            source += 1;
        }
        narrow(source as u64)
    });
    blocks.collect()
}

/// The rows at a range of positions.
pub(crate) enum Runs<'a> {
    /// Ranges of rows of one source each.
    Whole(Vec<(usize, Range<usize>)>),
    /// Any rows.
    Chosen(&'a [RowRef]),
}

/// A fixed-width value of a column.
pub(crate) trait Fixed: bytemuck::Pod + Send + Sync {
    /// Returns the column's values if they are of this type.
    fn slice<'c>(column: &'c ColumnSlice) -> Option<&'c [Self]>;

    /// Returns the value as a number of 64 bits, as packed blocks have it; `None` if it is none.
    fn number(&self) -> Option<u64>;

    /// Returns the hint of a key that is this value alone.
    fn hint(&self) -> u64;

    /// Returns the hash of a key that is this value alone.
    fn hash(&self) -> u64;
}

/// Implements [`Fixed`] for one kind of column.
macro_rules! fixed {
    ($type:ty, $kind:ident, $number_of:expr, |$value:ident| $hint:expr, $bytes:expr) => {
        impl Fixed for $type {
            #[inline]
            fn slice<'c>(column: &'c ColumnSlice) -> Option<&'c [$type]> {
                match column {
                    ColumnSlice::$kind(values) => Some(values),
                    _ => None,
                }
            }

            #[inline]
            fn number(&self) -> Option<u64> {
                $number_of(*self)
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

fn wide<T: Number>(number: T) -> Option<u64> {
    Some(number.widen())
}

fn no_number(_: [u8; 32]) -> Option<u64> {
    None
}

fixed!(u8, U8, wide, |value| u64::from(*value) << 56, [*value]);
fixed!(u16, U16, wide, |value| u64::from(*value) << 48, value.to_be_bytes());
fixed!(u32, U32, wide, |value| u64::from(*value) << 32, value.to_be_bytes());
fixed!(u64, U64, wide, |value| *value, value.to_be_bytes());
fixed!(i64, I64, wide, |value| order_i64(*value), order_i64(*value).to_be_bytes());
fixed!([u8; 32], Id, no_number, |value| hint(value), *value);

/// Calls `$body` with `$type` as the type of the values of `$column`, or `$other` if they have no fixed
/// width.
macro_rules! with_fixed {
    ($column:expr, $type:ident => $body:expr, $other:expr) => {
        match $column {
            $crate::rows::column::ColumnSlice::U8(_) => {
                type $type = u8;
                $body
            }
            $crate::rows::column::ColumnSlice::U16(_) => {
                type $type = u16;
                $body
            }
            $crate::rows::column::ColumnSlice::U32(_) => {
                type $type = u32;
                $body
            }
            $crate::rows::column::ColumnSlice::U64(_) => {
                type $type = u64;
                $body
            }
            $crate::rows::column::ColumnSlice::I64(_) => {
                type $type = i64;
                $body
            }
            $crate::rows::column::ColumnSlice::Id(_) => {
                type $type = [u8; 32];
                $body
            }
            $crate::rows::column::ColumnSlice::Bytes(_) => $other,
        }
    };
}
pub(crate) use with_fixed;

/// Returns the values of a column of several sources, all of type `T`.
pub(crate) fn fixed_slices<'c, T: Fixed>(columns: &'c [ColumnSlice]) -> Vec<&'c [T]> {
    columns.iter().map(|column| T::slice(column).expect("one schema, so one kind for each column")).collect()
}

/// Visits the values at a range of positions in order. Prefetches them if they are scattered.
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
        match &values.offsets {
            Offsets::Small(offsets) => prefetch(offsets, row.row as usize),
            Offsets::Large(offsets) => prefetch(offsets, row.row as usize),
        }
    }
}

/// Prefetches the bytes of a row some way ahead, and the offsets of a row further ahead.
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

/// Returns a number known to fit 32 bits.
#[inline]
pub(crate) fn narrow(number: u64) -> u32 {
    u32::try_from(number).expect("row sets were checked to have at most 2^32 - 1 rows")
}
