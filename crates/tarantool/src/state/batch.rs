//! The rows that logs put into a space, by column. More rows can be added at any time.
//!
//! Input: tuples, as msgpack. Output: values by row number, and finally [`Rows`]. Does not know which rows
//! still count.

use crate::error::Damage;
use crate::msgpack::Reader;
use crate::space::table::SpaceTable;
use std::sync::Arc;
use store::{Kind, Rows, Schema, Value, Values};

/// Rows of one batch, as a power of two. A row's number consists of its batch and its place in the batch.
const BATCH_BITS: u32 = 18;
/// Batches of a space. No table can have more rows.
const BATCHES_MAX: usize = 1 << (31 - BATCH_BITS);
/// A batch is closed early if a column has this many bytes: offsets of one more tuple still fit 32 bits.
const BATCH_BYTES: usize = 1 << 30;
/// Approximate bytes per row besides its tuple: its keys, and an entry in each column.
const ROW_BYTES: usize = 32;

/// Rows by number. Numbers increase and may have gaps.
pub(super) struct Batches {
    batches: Vec<Batch>,
    /// Buffer for one key at a time.
    buffer: Vec<u8>,
    arrived: u64,
    /// Bytes of all rows.
    bytes: usize,
}

struct Batch {
    columns: Vec<Values>,
    row_count: u32,
}

impl Batches {
    /// Returns batches without rows. The next row gets the arrival number `arrived`, if rows have such
    /// numbers.
    pub(super) fn new(arrived: u64) -> Batches {
        Batches { batches: Vec::new(), buffer: Vec::new(), arrived, bytes: 0 }
    }

    /// Appends a tuple and returns its row's number.
    ///
    /// # Errors
    /// If it is not a tuple, or lacks a key. Then nothing is appended.
    #[inline]
    pub(super) fn push(&mut self, table: &SpaceTable, tuple: &[u8]) -> Result<u32, Damage> {
        let is_full = |batch: &Batch| {
            batch.row_count >> BATCH_BITS != 0
                || batch.columns.iter().any(|values| blob_bytes(values) >= BATCH_BYTES)
        };
        if self.batches.last().is_none_or(is_full) {
            if self.batches.len() == BATCHES_MAX {
                return Err(Damage::new(0, "a space has more rows than a table takes"));
            }
            let next = Batch::new(&table.schema, self.batches.last());
            self.batches.push(next);
        }
        let number = self.batches.len() - 1;
        let Batch { columns, row_count } = &mut self.batches[number];
        let taken = table.shape.take_keys(&mut Reader::new(tuple), &mut self.buffer, |column, value| {
            put(&mut columns[column], value);
        });
        if let Err(damage) = taken {
            columns.iter_mut().for_each(|values| truncate(values, *row_count as usize));
            return Err(damage);
        }
        if let Some(column) = table.shape.arrival_column() {
            put(&mut columns[column], Value::U64(self.arrived));
            self.arrived += 1;
        }
        put(&mut columns[table.shape.tuple_column()], Value::Bytes(tuple));
        *row_count += 1;
        self.bytes += tuple.len() + ROW_BYTES;
        Ok((narrow(number) << BATCH_BITS) | (*row_count - 1))
    }

    #[inline]
    pub(super) fn value(&self, column: usize, row: u32) -> Value<'_> {
        let (batch, row) = split(row);
        match &self.batches[batch].columns[column] {
            Values::U64(values) => Value::U64(values[row]),
            Values::Bytes { offsets, blob } => {
                Value::Bytes(&blob[offsets[row] as usize..offsets[row + 1] as usize])
            }
            _ => unreachable!("tables of spaces have two kinds of columns"),
        }
    }

    /// Returns the tuple of a row: its last column.
    pub(super) fn tuple(&self, row: u32) -> &[u8] {
        let column = self.batches[split(row).0].columns.len() - 1;
        match self.value(column, row) {
            Value::Bytes(tuple) => tuple,
            _ => unreachable!("the last column is the tuple"),
        }
    }

    /// Returns approximately how many bytes all rows take.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns how many of these bytes one row takes.
    pub(super) fn bytes_of(&self, row: u32) -> usize {
        self.tuple(row).len() + ROW_BYTES
    }

    /// Returns the numbers of all rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        let numbered = self.batches.iter().enumerate();
        numbered.flat_map(|(number, batch)| {
            (0..batch.row_count).map(move |row| (narrow(number) << BATCH_BITS) | row)
        })
    }

    /// Makes batches for the store. Row numbers are positions in them; see [`split`].
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn finish(self, schema: &Arc<Schema>) -> store::Result<Vec<Rows>> {
        self.batches.into_iter().map(|batch| Rows::from_columns(schema, batch.columns)).collect()
    }
}

impl Batch {
    /// Reserves room for as many rows as the previous batch has, so that nothing is copied as it fills, and
    /// memory is faulted in by large pages.
    fn new(schema: &Schema, before: Option<&Batch>) -> Batch {
        let columns = schema.columns.iter().enumerate().map(|(number, column)| {
            let before = before.map(|before| &before.columns[number]);
            match (column.kind, before) {
                (Kind::U64, Some(Values::U64(values))) => Values::U64(Vec::with_capacity(values.len())),
                (Kind::U64, _) => Values::U64(Vec::new()),
                (_, Some(Values::Bytes { offsets, blob })) => {
                    let mut places = Vec::with_capacity(offsets.len());
                    places.push(0);
                    Values::Bytes { offsets: places, blob: Vec::with_capacity(blob.len() + blob.len() / 16) }
                }
                (_, _) => Values::Bytes { offsets: vec![0], blob: Vec::new() },
            }
        });
        Batch { columns: columns.collect(), row_count: 0 }
    }
}

/// Returns the number of a row's batch, and the row's place in it.
#[inline]
pub(super) fn split(row: u32) -> (usize, usize) {
    ((row >> BATCH_BITS) as usize, (row & ((1 << BATCH_BITS) - 1)) as usize)
}

#[inline]
fn put(values: &mut Values, value: Value) {
    match (values, value) {
        (Values::U64(values), Value::U64(value)) => values.push(value),
        (Values::Bytes { offsets, blob }, Value::Bytes(value)) => {
            blob.extend_from_slice(value);
            offsets.push(narrow(blob.len()));
        }
        _ => unreachable!("a table's shape fits its columns"),
    }
}

fn truncate(values: &mut Values, row_count: usize) {
    match values {
        Values::U64(values) => values.truncate(row_count),
        Values::Bytes { offsets, blob } => {
            offsets.truncate(row_count + 1);
            blob.truncate(offsets[row_count] as usize);
        }
        _ => {}
    }
}

fn blob_bytes(values: &Values) -> usize {
    match values {
        Values::Bytes { blob, .. } => blob.len(),
        _ => 0,
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number)
        .expect("batches are closed long before they have 4 GiB, and there are fewer than 2^16")
}
