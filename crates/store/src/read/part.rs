//! One part of a table: a segment, or the memtable. Rows are numbered within a part.
//!
//! Input: row numbers, columns, keys. Output: values, and row numbers in key order. Dead rows are included
//! unless the documentation says otherwise. Does not depend on other parts.

use crate::commit::dead::DeadRows;
use crate::error::{Error, Result};
use crate::payload::reader::PayloadReader;
use crate::read::memtable::Memtable;
use crate::rows::column::ColumnSlice;
use crate::rows::source::Source;
use crate::schema::Schema;
use crate::segment::mapped::Segment;
use crate::value::{Value, compare_prefix};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::{Bound, Range};
use std::sync::Arc;

/// Rows of a piece.
const PIECE_ROWS: u32 = 8192;

/// A segment or the memtable, and which of its rows are dead.
#[derive(Clone, Debug)]
pub struct Part {
    pub(crate) rows: PartRows,
    pub(crate) dead: DeadRows,
}

/// The position of a row in one snapshot of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId {
    /// The number of the part in [`Table::parts`](crate::Table::parts).
    pub part: u32,
    /// The number of the row in the part.
    pub row: u32,
}

/// The storage of a part's rows.
#[derive(Clone, Debug)]
pub(crate) enum PartRows {
    Segment(Arc<Segment>),
    Memory(Arc<Memtable>),
}

macro_rules! column_range {
    ($(#[$doc:meta])* $name:ident, $at:ident, $variant:ident, $type:ty) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// If the column is of another kind, the range is not within the part, or the file is damaged.
        pub fn $name(&self, column: usize, rows: Range<u32>) -> Result<Cow<'_, [$type]>> {
            match &self.rows {
                PartRows::Segment(segment) => segment.$name(column, rows),
                PartRows::Memory(memtable) => {
                    let found = match memory_column(memtable, column)? {
                        ColumnSlice::$variant(values) => cut_out(values, &rows),
                        _ => None,
                    };
                    found.ok_or_else(|| self.no_such(column, rows))
                }
            }
        }

        /// Returns one such value.
        ///
        /// # Errors
        /// If the column is of another kind, there is no such row, or the file is damaged.
        #[inline]
        pub fn $at(&self, column: usize, row: u32) -> Result<$type> {
            if let PartRows::Segment(segment) = &self.rows {
                return segment.$at(column, row);
            }
            match self.value(column, row)? {
                Value::$variant(value) => Ok(value),
                _ => Err(self.no_such(column, row..row)),
            }
        }
    };
}

impl Part {
    /// Returns an empty memtable for a table.
    pub(crate) fn memtable(schema: &Arc<Schema>) -> Part {
        Part::in_memory(Memtable::new(schema))
    }

    /// Returns a part of rows in memory, none of them dead.
    pub(crate) fn in_memory(memtable: Memtable) -> Part {
        Part { rows: PartRows::Memory(Arc::new(memtable)), dead: DeadRows::default() }
    }

    /// Returns how many rows there are, dead ones included.
    pub fn row_count(&self) -> u32 {
        match &self.rows {
            PartRows::Segment(segment) => segment.row_count(),
            PartRows::Memory(memtable) => memtable.rows().len(),
        }
    }

    /// Returns how many rows were replaced or deleted.
    pub fn dead_count(&self) -> u32 {
        self.dead.dead_count()
    }

    /// Returns the number of live rows.
    pub fn live_count(&self) -> u32 {
        self.row_count() - self.dead_count()
    }

    /// Returns whether any row is dead.
    pub fn has_dead(&self) -> bool {
        !self.dead.is_empty()
    }

    /// Returns whether `row` was replaced or deleted.
    #[inline]
    pub fn is_dead(&self, row: u32) -> bool {
        self.dead.is_dead(row)
    }

    /// Returns ranges of neighbouring rows, all rows in order. Columns that are read one range after another
    /// take little memory, if they are packed: it stays in the processor's cache.
    pub fn pieces(&self) -> impl Iterator<Item = Range<u32>> + use<> {
        let end = self.row_count();
        (0..end)
            .step_by(PIECE_ROWS as usize)
            .map(move |start| start..end.min(start.saturating_add(PIECE_ROWS)))
    }

    /// Returns the numbers of the live rows.
    pub fn live_rows(&self) -> impl Iterator<Item = u32> {
        self.live_values(0..self.row_count()).map(|(row, _)| row)
    }

    /// Returns row number and value of each live row. `values` has one element for each row of the part,
    /// starting at row 0.
    ///
    /// It may be a column from [`Part::u32s`], or several of them, zipped.
    pub fn live_values<I: IntoIterator>(&self, values: I) -> impl Iterator<Item = (u32, I::Item)> {
        self.live_values_from(0, values)
    }

    /// Does the same with values that start at a row.
    pub fn live_values_from<I: IntoIterator>(
        &self,
        start: u32,
        values: I,
    ) -> impl Iterator<Item = (u32, I::Item)> {
        let has_dead = self.has_dead();
        (start..).zip(values).filter(move |(row, _)| !has_dead || !self.dead.is_dead(*row))
    }

    column_range!(
        /// Returns the values of some rows in a `U8` column.
        u8s, u8_at, U8, u8
    );
    column_range!(
        /// Returns the values of some rows in a `U16` column.
        u16s, u16_at, U16, u16
    );
    column_range!(
        /// Returns the values of some rows in a `U32` column.
        u32s, u32_at, U32, u32
    );
    column_range!(
        /// Returns the values of some rows in a `U64` column.
        u64s, u64_at, U64, u64
    );
    column_range!(
        /// Returns the values of some rows in an `I64` column.
        i64s, i64_at, I64, i64
    );

    /// Returns the values of some rows in an `Id` column.
    ///
    /// # Errors
    /// As [`Part::u8s`].
    pub fn ids(&self, column: usize, rows: Range<u32>) -> Result<&[[u8; 32]]> {
        match &self.rows {
            PartRows::Segment(segment) => segment.ids(column, rows),
            PartRows::Memory(memtable) => {
                let found = match memory_column(memtable, column)? {
                    ColumnSlice::Id(values) => values.get(rows.start as usize..rows.end as usize),
                    _ => None,
                };
                found.ok_or_else(|| self.no_such(column, rows))
            }
        }
    }

    /// Returns one such value.
    ///
    /// # Errors
    /// As [`Part::u8_at`].
    #[inline]
    pub fn id_at(&self, column: usize, row: u32) -> Result<[u8; 32]> {
        match self.value(column, row)? {
            Value::Id(id) => Ok(*id),
            _ => Err(self.no_such(column, row..row)),
        }
    }

    /// Returns a whole column of any kind except a compressed payload. Verifies all of it.
    ///
    /// # Errors
    /// If there is no such column, it is compressed, or the file is damaged.
    pub fn column(&self, column: usize) -> Result<ColumnSlice<'_>> {
        match &self.rows {
            PartRows::Segment(segment) => segment.column(column),
            PartRows::Memory(memtable) => memory_column(memtable, column),
        }
    }

    /// Returns one value of any column except a compressed payload.
    ///
    /// # Errors
    /// If there is no such row or column, it is compressed, or the file is damaged.
    #[inline]
    pub fn value(&self, column: usize, row: u32) -> Result<Value<'_>> {
        match &self.rows {
            PartRows::Segment(segment) => segment.value(column, row),
            PartRows::Memory(memtable) => memtable
                .rows()
                .get(column, row)
                .ok_or_else(|| self.no_such(column, row..row.saturating_add(1))),
        }
    }

    /// Returns the bytes in a column of bytes, or of payloads that are not compressed.
    ///
    /// # Errors
    /// Same as [`Part::value`].
    pub fn bytes(&self, column: usize, row: u32) -> Result<&[u8]> {
        let value = match &self.rows {
            PartRows::Segment(segment) => return segment.bytes(column, row),
            PartRows::Memory(memtable) => memory_column(memtable, column)?.value(row),
        };
        match value {
            Some(Value::Bytes(bytes)) => Ok(bytes),
            _ => Err(self.no_such(column, row..row.saturating_add(1))),
        }
    }

    /// Returns the bytes in a column of payloads, whatever its codec. `reader` caches what was
    /// decompressed.
    ///
    /// # Errors
    /// If there is no such row or column, or the file is damaged.
    pub fn payload<'a>(&'a self, column: usize, row: u32, reader: &'a mut PayloadReader) -> Result<&'a [u8]> {
        match &self.rows {
            PartRows::Segment(segment) => segment.payload(column, row, reader),
            PartRows::Memory(_) => self.bytes(column, row),
        }
    }

    /// Returns the live rows whose primary key begins with `prefix`, in key order.
    ///
    /// # Errors
    /// If the values do not fit the key's columns, or the file is damaged.
    pub fn primary_range(&self, prefix: &[Value]) -> Result<impl Iterator<Item = u32> + use<'_>> {
        check_key(self.schema(), None, prefix)?;
        let positions = self.positions(None, Bound::Included(prefix), Bound::Included(prefix))?;
        let rows = positions.filter_map(|position| match &self.rows {
            PartRows::Segment(_) => Some(position),
            PartRows::Memory(memtable) => memtable.row_at(None, position),
        });
        Ok(rows.filter(|&row| !self.is_dead(row)))
    }

    /// Returns the live row with exactly this primary key.
    pub(crate) fn primary_find(&self, key: &[Value]) -> Result<Option<u32>> {
        let found = match &self.rows {
            PartRows::Segment(segment) => segment.primary_find(key)?,
            // Of several rows with one key only the last one, the youngest, can be live.
            PartRows::Memory(memtable) => {
                let mut equal = self.positions(None, Bound::Included(key), Bound::Included(key))?;
                equal.next_back().and_then(|position| memtable.row_at(None, position))
            }
        };
        Ok(found.filter(|&row| !self.is_dead(row)))
    }

    /// Appends the live rows with exactly this key of index number `index` to `found`.
    ///
    /// # Errors
    /// If there is no such index, the key does not fit it, or the file is damaged.
    #[inline]
    pub fn find(&self, index: usize, key: &[Value], found: &mut Vec<u32>) -> Result<()> {
        let before = found.len();
        match &self.rows {
            PartRows::Segment(segment) => segment.find(index, key, found)?,
            PartRows::Memory(memtable) => {
                let positions = self.positions(Some(index), Bound::Included(key), Bound::Included(key))?;
                found.extend(positions.filter_map(|position| memtable.row_at(Some(index), position)));
            }
        }
        if self.has_dead() {
            let mut place = before;
            for index in before..found.len() {
                let row = found[index];
                found[place] = row;
                place += usize::from(!self.is_dead(row));
            }
            found.truncate(place);
        }
        Ok(())
    }

    /// Looks up many keys in hash index number `index`, and appends (number of the key, row) for each live
    /// row found, in the order of the keys. The keys are given by column: `keys` has one slice for each
    /// column of the index, all of the same length.
    ///
    /// If the index does not fit in a cache, this is faster than single look-ups, because cache lines are
    /// prefetched.
    ///
    /// # Errors
    /// Same as [`Part::find`].
    pub fn find_batch(&self, index: usize, keys: &[ColumnSlice], found: &mut Vec<(u32, u32)>) -> Result<()> {
        let before = found.len();
        match &self.rows {
            PartRows::Segment(segment) => segment.find_batch(index, keys, found)?,
            PartRows::Memory(memtable) => {
                let no_key =
                    || Error::schema(&self.schema().name, "the columns of keys have unequal lengths");
                let key_count = keys.first().map_or(0, ColumnSlice::len);
                for number in (0..).take(key_count) {
                    let key: Option<Vec<Value>> = keys.iter().map(|column| column.value(number)).collect();
                    let key = key.ok_or_else(no_key)?;
                    check_whole_key(self.schema(), Some(index), &key)?;
                    let ends = (Bound::Included(&key[..]), Bound::Included(&key[..]));
                    let rows = memory_positions(memtable, Some(index), ends.0, ends.1);
                    let rows = rows.filter_map(|position| memtable.row_at(Some(index), position));
                    found.extend(rows.map(|row| (number, row)));
                }
            }
        }
        if self.has_dead() {
            let mut place = 0;
            found.retain(|&(_, row)| {
                place += 1;
                place <= before || !self.is_dead(row)
            });
        }
        Ok(())
    }

    /// Verifies every byte of the part's file against its checksums, on all cores. Later reads do not verify
    /// it again.
    ///
    /// # Errors
    /// The first damage.
    pub fn verify_checksums(&self) -> Result<()> {
        let PartRows::Segment(segment) = &self.rows else { return Ok(()) };
        segment.sealed.verify_all().into_iter().next().map_or(Ok(()), Err)
    }

    /// Returns the positions between two ends in the order by an index, or by the primary key if there is
    /// none.
    pub(crate) fn positions(
        &self,
        index: Option<usize>,
        from: Bound<&[Value]>,
        to: Bound<&[Value]>,
    ) -> Result<Range<u32>> {
        match (&self.rows, index) {
            (PartRows::Segment(segment), None) => segment.primary_range(from, to),
            (PartRows::Segment(segment), Some(index)) => segment.index_range(index, from, to),
            (PartRows::Memory(memtable), _) => Ok(memory_positions(memtable, index, from, to)),
        }
    }

    /// Returns the row at a position of the order by an index, or by the primary key if there is none.
    #[inline]
    pub(crate) fn row_at(&self, index: Option<usize>, position: u32) -> Result<u32> {
        let row = match (&self.rows, index) {
            (PartRows::Segment(_), None) => Some(position),
            (PartRows::Segment(segment), Some(index)) => {
                return segment.row_at(index, position);
            }
            (PartRows::Memory(memtable), _) => memtable.row_at(index, position),
        };
        Ok(row.expect("positions come from this part's orders"))
    }

    /// Compares the values of some columns of `row` with `key`, as many as it has.
    pub(crate) fn compare(&self, columns: &[u16], row: u32, key: &[Value]) -> Result<Ordering> {
        for (&column, theirs) in columns.iter().zip(key) {
            match self.value(usize::from(column), row)?.cmp(theirs) {
                Ordering::Equal => {}
                unequal => return Ok(unequal),
            }
        }
        Ok(Ordering::Equal)
    }

    /// Returns the rows as the writer of segments takes them.
    pub(crate) fn source(&self) -> &dyn Source {
        match &self.rows {
            PartRows::Segment(segment) => &**segment,
            PartRows::Memory(memtable) => memtable.rows(),
        }
    }

    pub(crate) fn schema(&self) -> &Arc<Schema> {
        match &self.rows {
            PartRows::Segment(segment) => segment.schema(),
            PartRows::Memory(memtable) => memtable.rows().schema(),
        }
    }

    fn no_such(&self, column: usize, rows: Range<u32>) -> Error {
        let what = format!("there are no rows {rows:?} of that kind in column {column}");
        Error::schema(&self.schema().name, what)
    }
}

/// Returns some of a column's values; `None` if it lacks some.
fn cut_out<'a, T: Clone>(values: Cow<'a, [T]>, rows: &Range<u32>) -> Option<Cow<'a, [T]>> {
    let rows = rows.start as usize..rows.end as usize;
    Some(match values {
        Cow::Borrowed(values) => Cow::Borrowed(values.get(rows)?),
        Cow::Owned(values) => Cow::Owned(values.get(rows)?.to_vec()),
    })
}

fn memory_column(memtable: &Memtable, column: usize) -> Result<ColumnSlice<'_>> {
    let rows = memtable.rows();
    if column < rows.schema().columns.len() {
        Ok(rows.column(column))
    } else {
        Err(Error::schema(&rows.schema().name, format!("there is no column {column}")))
    }
}

fn memory_positions(
    memtable: &Memtable,
    index: Option<usize>,
    from: Bound<&[Value]>,
    to: Bound<&[Value]>,
) -> Range<u32> {
    let rows = memtable.rows();
    let columns = key_columns(rows.schema(), index);
    let order = |row: u32, key: &[Value]| {
        compare_prefix(columns.iter().map(|&column| rows.value(usize::from(column), row)), key)
    };
    let start = match from {
        Bound::Unbounded => 0,
        Bound::Included(key) => memtable.partition_point(index, |row| order(row, key).is_lt()),
        Bound::Excluded(key) => memtable.partition_point(index, |row| order(row, key).is_le()),
    };
    let end = match to {
        Bound::Unbounded => rows.len(),
        Bound::Included(key) => memtable.partition_point(index, |row| order(row, key).is_le()),
        Bound::Excluded(key) => memtable.partition_point(index, |row| order(row, key).is_lt()),
    };
    start..end.max(start)
}

/// Returns the columns of an index, or of the primary key if there is none.
pub(crate) fn key_columns(schema: &Schema, index: Option<usize>) -> &[u16] {
    index.map_or(&schema.primary, |index| &schema.indexes[index].columns)
}

/// Refuses values that are not the first ones of a key.
pub(crate) fn check_key(schema: &Schema, index: Option<usize>, key: &[Value]) -> Result<()> {
    let columns = key_columns(schema, index);
    if key.len() > columns.len() {
        let what = format!("a key has {} values for {} columns", key.len(), columns.len());
        return Err(Error::schema(&schema.name, what));
    }
    for (&column, value) in columns.iter().zip(key) {
        let column = &schema.columns[usize::from(column)];
        if !value.fits(column.kind) {
            let what = format!("column {} is {:?}, not {value:?}", column.name, column.kind);
            return Err(Error::schema(&schema.name, what));
        }
    }
    Ok(())
}

/// Refuses values that are not a whole key.
pub(crate) fn check_whole_key(schema: &Schema, index: Option<usize>, key: &[Value]) -> Result<()> {
    check_key(schema, index, key)?;
    let columns = key_columns(schema, index);
    if key.len() < columns.len() {
        let what = format!("a key has {} values for {} columns", key.len(), columns.len());
        return Err(Error::schema(&schema.name, what));
    }
    Ok(())
}
