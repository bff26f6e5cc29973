//! Rows in memory, by column: rows to load, rows just committed, rows of a journal record.
//!
//! Input: rows of values. Output: columns and values. Does not depend on files. `batch.rs` encodes them.

use crate::error::{Error, Result, check_limit};
use crate::limits::{COLUMN_BYTES_IN_MEMORY_MAX, ROW_BYTES_MAX, ROWS_PER_SEGMENT_MAX};
use crate::rows::column::{BytesSlice, ColumnSlice, Offsets};
use crate::schema::{Kind, Schema};
use crate::value::Value;
use std::sync::Arc;

/// Rows of one table, in the order they were pushed.
#[derive(Clone, Debug)]
pub struct Rows {
    pub(crate) schema: Arc<Schema>,
    pub(crate) columns: Vec<Values>,
    pub(crate) row_count: u32,
}

/// The values of one column, for callers that make many rows at once.
#[derive(Clone, Debug)]
pub enum Values {
    /// Of a [`Kind::U8`] column.
    U8(Vec<u8>),
    /// Of a [`Kind::U16`] column.
    U16(Vec<u16>),
    /// Of a [`Kind::U32`] column.
    U32(Vec<u32>),
    /// Of a [`Kind::U64`] column.
    U64(Vec<u64>),
    /// Of a [`Kind::I64`] column.
    I64(Vec<i64>),
    /// Of a [`Kind::Id`] column.
    Id(Vec<[u8; 32]>),
    /// Of a [`Kind::Bytes`] or [`Kind::Payload`] column.
    Bytes {
        /// The start of each value in `blob`, and the end of the last one.
        offsets: Vec<u32>,
        /// The values one after another.
        blob: Vec<u8>,
    },
}

impl Values {
    /// Returns the value in `row`, if there is such a row.
    #[inline]
    pub(crate) fn get(&self, row: u32) -> Option<Value<'_>> {
        let index = row as usize;
        Some(match self {
            Values::U8(values) => Value::U8(*values.get(index)?),
            Values::U16(values) => Value::U16(*values.get(index)?),
            Values::U32(values) => Value::U32(*values.get(index)?),
            Values::U64(values) => Value::U64(*values.get(index)?),
            Values::I64(values) => Value::I64(*values.get(index)?),
            Values::Id(values) => Value::Id(values.get(index)?),
            Values::Bytes { offsets, blob } => {
                let (start, end) = (*offsets.get(index)?, *offsets.get(index + 1)?);
                Value::Bytes(blob.get(start as usize..end as usize)?)
            }
        })
    }
}

impl Rows {
    /// Returns no rows of the table that `schema` describes.
    pub fn new(schema: &Arc<Schema>) -> Rows {
        let columns = schema.columns.iter().map(|column| Values::new(column.kind)).collect();
        Rows { schema: Arc::clone(schema), columns, row_count: 0 }
    }

    /// Makes rows of whole columns, which is far faster than row by row.
    ///
    /// # Errors
    /// [`Error::Schema`] if the columns are not those of `schema`, have unequal lengths, or offsets of
    /// bytes are not ascending; [`Error::Limit`] if a row or the batch is too large.
    pub fn from_columns(schema: &Arc<Schema>, columns: Vec<Values>) -> Result<Rows> {
        let fits =
            columns.iter().map(Values::kind).eq(schema.columns.iter().map(|column| match column.kind {
                Kind::Payload(_) => Kind::Bytes,
                kind => kind,
            }));
        let row_count = columns.first().map_or(0, Values::len);
        if !fits || columns.iter().any(|values| values.len() != row_count) {
            return Err(Error::schema(
                &schema.name,
                "the columns are of other kinds, or have unequal lengths",
            ));
        }
        check_limit("rows in a batch", row_count as u64, u64::from(ROWS_PER_SEGMENT_MAX))?;
        let fixed_bytes: u64 =
            schema.columns.iter().filter_map(|column| Some(column.kind.width()? as u64)).sum();
        let mut row_bytes = fixed_bytes;
        for values in &columns {
            row_bytes += values.check(schema)?;
        }
        if row_bytes > ROW_BYTES_MAX {
            // The longest values need not be in one row.
            let of_row =
                |row: usize| columns.iter().map(|values| values.length(row)).sum::<u64>() + fixed_bytes;
            check_limit("bytes in a row", (0..row_count).map(of_row).max().unwrap_or(0), ROW_BYTES_MAX)?;
        }
        let row_count = u32::try_from(row_count).expect("the limit of a batch is below");
        Ok(Rows { schema: Arc::clone(schema), columns, row_count })
    }

    /// Appends a row: one value for each column.
    ///
    /// # Errors
    /// [`Error::Schema`] if the values do not fit the columns, [`Error::Limit`] if the row or the batch
    /// gets too large. Then nothing is appended.
    pub fn push(&mut self, row: &[Value]) -> Result<()> {
        self.check(row)?;
        for (values, value) in self.columns.iter_mut().zip(row) {
            values.push(*value);
        }
        self.row_count += 1;
        Ok(())
    }

    fn check(&self, row: &[Value]) -> Result<()> {
        let columns = &self.schema.columns;
        if row.len() != columns.len() {
            let what = format!("a row has {} values for {} columns", row.len(), columns.len());
            return Err(Error::schema(&self.schema.name, what));
        }
        let mut row_bytes = 0;
        for ((value, column), values) in row.iter().zip(columns).zip(&self.columns) {
            if !value.fits(column.kind) {
                let what = format!("column {} is {:?}, not {value:?}", column.name, column.kind);
                return Err(Error::schema(&self.schema.name, what));
            }
            let value_bytes = value.byte_count() as u64;
            row_bytes += value_bytes;
            if let Values::Bytes { blob, .. } = values {
                check_column(blob.len() as u64, value_bytes)?;
            }
        }
        check_limit("bytes in a row", row_bytes, ROW_BYTES_MAX)?;
        check_rows(self.row_count, 1)
    }

    /// Appends all rows of `other`, which has the same schema.
    ///
    /// # Errors
    /// [`Error::Limit`] if the batch gets too large, [`Error::Schema`] if the schemas differ. Nothing is
    /// appended then.
    pub fn append(&mut self, other: &Rows) -> Result<()> {
        if !Arc::ptr_eq(&self.schema, &other.schema) && self.schema != other.schema {
            return Err(Error::schema(
                &self.schema.name,
                format!("no rows of table {} fit", other.schema.name),
            ));
        }
        check_rows(self.row_count, other.row_count)?;
        for (ours, theirs) in self.columns.iter().zip(&other.columns) {
            check_column(ours.blob_bytes(), theirs.blob_bytes())?;
        }
        for (ours, theirs) in self.columns.iter_mut().zip(&other.columns) {
            ours.append(theirs);
        }
        self.row_count += other.row_count;
        Ok(())
    }

    /// Returns the table's schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> u32 {
        self.row_count
    }

    /// Returns whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.row_count == 0
    }

    /// Returns all values of a column.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, column: usize) -> ColumnSlice<'_> {
        match &self.columns[column] {
            Values::U8(values) => ColumnSlice::U8(values.into()),
            Values::U16(values) => ColumnSlice::U16(values.into()),
            Values::U32(values) => ColumnSlice::U32(values.into()),
            Values::U64(values) => ColumnSlice::U64(values.into()),
            Values::I64(values) => ColumnSlice::I64(values.into()),
            Values::Id(values) => ColumnSlice::Id(values),
            Values::Bytes { offsets, blob } => {
                ColumnSlice::Bytes(BytesSlice { offsets: Offsets::Small(offsets.into()), blob })
            }
        }
    }

    /// Returns one value.
    ///
    /// # Panics
    /// If there is no such column or row.
    #[inline]
    pub fn value(&self, column: usize, row: u32) -> Value<'_> {
        self.get(column, row).expect("the row exists")
    }

    /// Returns one value, if there are such a column and row.
    #[inline]
    pub(crate) fn get(&self, column: usize, row: u32) -> Option<Value<'_>> {
        self.columns.get(column)?.get(row)
    }

    /// Returns the bytes in a column of bytes or of payloads.
    ///
    /// # Panics
    /// If there is no such row, or the column is of another kind.
    #[inline]
    pub fn bytes(&self, column: usize, row: u32) -> &[u8] {
        match self.value(column, row) {
            Value::Bytes(bytes) => bytes,
            other => panic!("column {column} has no bytes but {other:?}"),
        }
    }

    /// Returns the values of a `U8` column.
    ///
    /// # Panics
    /// If the column is of another kind.
    pub fn u8s(&self, column: usize) -> &[u8] {
        match &self.columns[column] {
            Values::U8(values) => values,
            _ => panic!("column {column} is not U8"),
        }
    }

    /// Returns the values of a `U16` column.
    ///
    /// # Panics
    /// If the column is of another kind.
    pub fn u16s(&self, column: usize) -> &[u16] {
        match &self.columns[column] {
            Values::U16(values) => values,
            _ => panic!("column {column} is not U16"),
        }
    }

    /// Returns the values of a `U32` column.
    ///
    /// # Panics
    /// If the column is of another kind.
    pub fn u32s(&self, column: usize) -> &[u32] {
        match &self.columns[column] {
            Values::U32(values) => values,
            _ => panic!("column {column} is not U32"),
        }
    }

    /// Returns the values of a `U64` column.
    ///
    /// # Panics
    /// If the column is of another kind.
    pub fn u64s(&self, column: usize) -> &[u64] {
        match &self.columns[column] {
            Values::U64(values) => values,
            _ => panic!("column {column} is not U64"),
        }
    }

    /// Returns the values of an `I64` column.
    ///
    /// # Panics
    /// If the column is of another kind.
    pub fn i64s(&self, column: usize) -> &[i64] {
        match &self.columns[column] {
            Values::I64(values) => values,
            _ => panic!("column {column} is not I64"),
        }
    }

    /// Returns the values of an `Id` column.
    ///
    /// # Panics
    /// If the column is of another kind.
    pub fn ids(&self, column: usize) -> &[[u8; 32]] {
        match &self.columns[column] {
            Values::Id(values) => values,
            _ => panic!("column {column} is not Id"),
        }
    }

    /// Returns how many bytes of memory the rows hold, spare room included.
    pub fn memory_bytes(&self) -> usize {
        self.columns.iter().map(Values::memory_bytes).sum()
    }
}

impl Values {
    fn new(kind: Kind) -> Values {
        match kind {
            Kind::U8 => Values::U8(Vec::new()),
            Kind::U16 => Values::U16(Vec::new()),
            Kind::U32 => Values::U32(Vec::new()),
            Kind::U64 => Values::U64(Vec::new()),
            Kind::I64 => Values::I64(Vec::new()),
            Kind::Id => Values::Id(Vec::new()),
            Kind::Bytes | Kind::Payload(_) => Values::Bytes { offsets: vec![0], blob: Vec::new() },
        }
    }

    #[inline]
    fn push(&mut self, value: Value) {
        match (self, value) {
            (Values::U8(values), Value::U8(value)) => values.push(value),
            (Values::U16(values), Value::U16(value)) => values.push(value),
            (Values::U32(values), Value::U32(value)) => values.push(value),
            (Values::U64(values), Value::U64(value)) => values.push(value),
            (Values::I64(values), Value::I64(value)) => values.push(value),
            (Values::Id(values), Value::Id(value)) => values.push(*value),
            (Values::Bytes { offsets, blob }, Value::Bytes(value)) => {
                blob.extend_from_slice(value);
                offsets.push(small(blob.len()));
            }
            _ => unreachable!("the row was checked against the schema"),
        }
    }

    fn append(&mut self, other: &Values) {
        match (self, other) {
            (Values::U8(ours), Values::U8(theirs)) => ours.extend_from_slice(theirs),
            (Values::U16(ours), Values::U16(theirs)) => ours.extend_from_slice(theirs),
            (Values::U32(ours), Values::U32(theirs)) => ours.extend_from_slice(theirs),
            (Values::U64(ours), Values::U64(theirs)) => ours.extend_from_slice(theirs),
            (Values::I64(ours), Values::I64(theirs)) => ours.extend_from_slice(theirs),
            (Values::Id(ours), Values::Id(theirs)) => ours.extend_from_slice(theirs),
            (Values::Bytes { offsets, blob }, Values::Bytes { offsets: more, blob: theirs }) => {
                let base = small(blob.len());
                offsets.extend(more.iter().skip(1).map(|offset| offset + base));
                blob.extend_from_slice(theirs);
            }
            _ => unreachable!("the schemas were compared"),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Values::U8(_) => Kind::U8,
            Values::U16(_) => Kind::U16,
            Values::U32(_) => Kind::U32,
            Values::U64(_) => Kind::U64,
            Values::I64(_) => Kind::I64,
            Values::Id(_) => Kind::Id,
            Values::Bytes { .. } => Kind::Bytes,
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::U8(values) => values.len(),
            Values::U16(values) => values.len(),
            Values::U32(values) => values.len(),
            Values::U64(values) => values.len(),
            Values::I64(values) => values.len(),
            Values::Id(values) => values.len(),
            Values::Bytes { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }

    /// Checks that the offsets of bytes are consecutive. Returns the length of the longest value; 0 for
    /// values of fixed width.
    fn check(&self, schema: &Schema) -> Result<u64> {
        let Values::Bytes { offsets, blob } = self else { return Ok(0) };
        check_column(0, blob.len() as u64)?;
        let ends = offsets.first().zip(offsets.last()).map(|(&first, &last)| (first, last as usize));
        let mut is_ascending = true;
        let mut longest = 0;
        for pair in offsets.windows(2) {
            is_ascending &= pair[0] <= pair[1];
            longest = longest.max(pair[1].wrapping_sub(pair[0]));
        }
        if ends != Some((0, blob.len())) || !is_ascending {
            return Err(Error::schema(&schema.name, "the values of a column do not follow one another"));
        }
        Ok(u64::from(longest))
    }

    /// Returns the length of bytes, or 0 for a value of fixed width.
    fn length(&self, row: usize) -> u64 {
        match self {
            Values::Bytes { offsets, .. } => u64::from(offsets[row + 1] - offsets[row]),
            _ => 0,
        }
    }

    fn blob_bytes(&self) -> u64 {
        match self {
            Values::Bytes { blob, .. } => blob.len() as u64,
            _ => 0,
        }
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Values::U8(values) => values.capacity(),
            Values::U16(values) => values.capacity() * 2,
            Values::U32(values) => values.capacity() * 4,
            Values::U64(values) => values.capacity() * 8,
            Values::I64(values) => values.capacity() * 8,
            Values::Id(values) => values.capacity() * 32,
            Values::Bytes { offsets, blob } => offsets.capacity() * 4 + blob.capacity(),
        }
    }
}

/// Returns a place in a column's bytes in its stored width.
#[inline]
fn small(offset: usize) -> u32 {
    u32::try_from(offset).expect("a column in memory is under 4 GiB, which was checked")
}

/// Refuses a column that would get too large with `present` and `added` bytes.
fn check_column(present: u64, added: u64) -> Result<()> {
    check_limit("bytes in a column in memory", present.saturating_add(added), COLUMN_BYTES_IN_MEMORY_MAX)
}

/// Refuses a batch with too many rows.
fn check_rows(present: u32, added: u32) -> Result<()> {
    check_limit("rows in a batch", u64::from(present) + u64::from(added), u64::from(ROWS_PER_SEGMENT_MAX))
}

#[cfg(test)]
mod tests;
