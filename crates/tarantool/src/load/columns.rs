//! Collects the tuples of a space in columns.
//!
//! Input: tuples, as msgpack. Output: [`Rows`] with the unchanged tuples and the values of their keys. Does
//! not know where tuples come from.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Damage;
use crate::msgpack::Reader;
use crate::space::table::SpaceTable;
use store::{Kind, Rows, Value, Values};

/// A batch is closed at this many bytes in a column. Even with another block, its offsets still fit 32 bits.
const BATCH_BYTES: usize = 1 << 30;

/// Columns of one space being filled.
pub(crate) struct ColumnBuilder<'t> {
    table: &'t SpaceTable,
    columns: Vec<Values>,
    row_count: usize,
    /// Whether memory for the rest of the batch was reserved.
    is_roomy: bool,
    /// Buffer for one key at a time.
    buffer: Vec<u8>,
    closed: Vec<Vec<Values>>,
}

impl<'t> ColumnBuilder<'t> {
    pub(crate) fn new(table: &'t SpaceTable) -> ColumnBuilder<'t> {
        let columns = empty_columns(table);
        ColumnBuilder {
            table,
            columns,
            row_count: 0,
            is_roomy: false,
            buffer: Vec::new(),
            closed: Vec::new(),
        }
    }

    /// Appends the tuple at the reader's position.
    ///
    /// # Errors
    /// If it is not a tuple, or lacks a key. Values may have been appended; [`rewind`](ColumnBuilder::rewind)
    /// removes them.
    #[inline]
    pub(crate) fn take(&mut self, reader: &mut Reader) -> Result<(), Damage> {
        let ColumnBuilder { table, columns, buffer, .. } = self;
        let (whole, begin) = (reader.rest(), reader.offset());
        table.shape.take_keys(reader, buffer, |column, value| {
            if let Some(values) = columns.get_mut(column) {
                push(values, value);
            }
        })?;
        let length = reader.offset().saturating_sub(begin);
        let tuple = whole.get(..length).unwrap_or_default();
        if let Some(values) = columns.get_mut(table.shape.tuple_column()) {
            push(values, Value::Bytes(tuple));
        }
        self.row_count = self.row_count.saturating_add(1);
        Ok(())
    }

    /// Returns a mark for [`rewind`](ColumnBuilder::rewind).
    pub(crate) fn mark(&self) -> usize {
        self.row_count
    }

    /// Removes all rows after a mark.
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.row_count = mark;
        self.columns.iter_mut().for_each(|values| truncate(values, mark));
    }

    /// Ends a block. `blocks_left` is the number of blocks that may follow. After the first block, reserves
    /// memory for them. Closes the batch if it is large enough.
    pub(crate) fn end_block(&mut self, blocks_left: usize) {
        if !self.is_roomy {
            self.is_roomy = true;
            self.columns.iter_mut().for_each(|values| make_room(values, blocks_left));
        }
        if self.columns.iter().any(|values| blob_length(values) >= BATCH_BYTES) {
            self.close();
            self.is_roomy = false;
        }
    }

    fn close(&mut self) {
        let mut columns = std::mem::replace(&mut self.columns, empty_columns(self.table));
        columns.iter_mut().for_each(fit);
        self.closed.push(columns);
        self.row_count = 0;
    }

    /// Returns the columns of each batch. Arrival numbers still have to be filled in.
    pub(crate) fn finish(mut self) -> Vec<Vec<Values>> {
        if self.row_count > 0 {
            self.close();
        }
        self.closed
    }
}

/// Makes rows of the columns of a batch. `arrived` counts the rows of the space so far, and is advanced.
///
/// # Errors
/// If a row is larger than the store allows.
pub(crate) fn rows_of(
    table: &SpaceTable,
    mut columns: Vec<Values>,
    arrived: &mut u64,
) -> store::Result<Rows> {
    let count = match columns.last() {
        Some(Values::Bytes { offsets, .. }) => offsets.len().saturating_sub(1) as u64,
        _ => 0,
    };
    let end = arrived.saturating_add(count);
    if let Some(Values::U64(numbers)) =
        table.shape.arrival_column().and_then(|column| columns.get_mut(column))
    {
        *numbers = (*arrived..end).collect();
    }
    *arrived = end;
    Rows::from_columns(&table.schema, columns)
}

fn empty_columns(table: &SpaceTable) -> Vec<Values> {
    let of_kind = |kind| match kind {
        Kind::U64 => Values::U64(Vec::new()),
        _ => Values::Bytes { offsets: vec![0], blob: Vec::new() },
    };
    table.schema.columns.iter().map(|column| of_kind(column.kind)).collect()
}

#[inline]
fn push(values: &mut Values, value: Value) {
    match (values, value) {
        (Values::U64(numbers), Value::U64(number)) => numbers.push(number),
        (Values::Bytes { offsets, blob }, Value::Bytes(bytes)) => {
            blob.extend_from_slice(bytes);
            // A value that is too large for its offset is refused later, when rows are made of the columns.
            offsets.push(u32::try_from(blob.len()).unwrap_or(u32::MAX));
        }
        _ => unreachable!("columns are made for what the shape gives"),
    }
}

fn truncate(values: &mut Values, rows: usize) {
    match values {
        Values::U64(numbers) => numbers.truncate(rows),
        Values::Bytes { offsets, blob } => {
            offsets.truncate(rows.saturating_add(1));
            blob.truncate(offsets.last().map_or(0, |&end| end as usize));
        }
        _ => {}
    }
}

fn blob_length(values: &Values) -> usize {
    match values {
        Values::Bytes { blob, .. } => blob.len(),
        _ => 0,
    }
}

/// Reserves room for `more` times the present size, and some more.
fn make_room(values: &mut Values, more: usize) {
    match values {
        Values::U64(numbers) => enlarge(numbers, more, usize::MAX),
        Values::Bytes { offsets, blob } => {
            enlarge(offsets, more, usize::MAX);
            enlarge(blob, more, BATCH_BYTES);
        }
        _ => {}
    }
}

fn enlarge<T: Copy>(column: &mut Vec<T>, more: usize, most: usize) {
    let times = more.saturating_add(2).saturating_add(more / 16);
    let mut larger = Vec::with_capacity(column.len().saturating_mul(times).min(most).max(column.len()));
    larger.extend_from_slice(column);
    *column = larger;
}

/// Frees unneeded memory.
fn fit(values: &mut Values) {
    match values {
        Values::U64(numbers) => numbers.shrink_to_fit(),
        Values::Bytes { offsets, blob } => {
            offsets.shrink_to_fit();
            blob.shrink_to_fit();
        }
        _ => {}
    }
}
