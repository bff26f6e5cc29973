//! Arrow IPC files: the columns as they lie in the memory of programs that compute with them.
//!
//! Input: fields and columns. Output: the schema, and a batch for each group of rows, which takes the memory
//! of the columns. Does not know where the file goes.

use crate::column::{Column, Field, Kind};
use arrow_array::types::TimestampMillisecondType;
use arrow_array::{ArrayRef, Int64Array, ListArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef, TimeUnit};
use std::mem;
use std::sync::Arc;

/// What is the same in all batches of a table.
#[derive(Debug)]
pub(crate) struct Batches {
    schema: SchemaRef,
}

impl Batches {
    pub(crate) fn new(fields: &[Field]) -> Batches {
        let fields: Vec<FieldRef> = fields.iter().map(|field| described(field.name, field.kind)).collect();
        Batches { schema: Arc::new(Schema::new(fields)) }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Moves the values of columns into a batch.
    pub(crate) fn batch(&self, columns: &mut [Column]) -> RecordBatch {
        let arrays = columns.iter_mut().map(array).collect();
        RecordBatch::try_new(SchemaRef::clone(&self.schema), arrays)
            .expect("the columns have the kinds of the fields, and the same length")
    }
}

fn described(name: &str, kind: Kind) -> FieldRef {
    let data_type = match kind {
        Kind::Text => DataType::Utf8,
        Kind::Number => DataType::Int64,
        Kind::Time => DataType::Timestamp(TimeUnit::Millisecond, Some(Arc::from("UTC"))),
        Kind::Texts => DataType::List(element()),
    };
    Arc::new(arrow_schema::Field::new(name, data_type, kind == Kind::Time))
}

/// Returns the field of the texts of a list.
fn element() -> FieldRef {
    described("element", Kind::Text)
}

fn array(column: &mut Column) -> ArrayRef {
    match column.kind {
        Kind::Text => Arc::new(texts(column)),
        Kind::Number => Arc::new(Int64Array::new(mem::take(&mut column.numbers).into(), None)),
        Kind::Time => Arc::new(times(column)),
        Kind::Texts => {
            let ends = offsets(&mut column.list_offsets);
            Arc::new(ListArray::new(element(), ends, Arc::new(texts(column)), None))
        }
    }
}

/// Checks that the texts are UTF-8.
fn texts(column: &mut Column) -> StringArray {
    let bytes = Buffer::from_vec(mem::take(&mut column.text));
    StringArray::new(offsets(&mut column.text_offsets), bytes, None)
}

fn offsets(offsets: &mut Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(mem::replace(offsets, vec![0])))
}

fn times(column: &mut Column) -> PrimitiveArray<TimestampMillisecondType> {
    let is_present = mem::take(&mut column.is_present);
    let mut numbers = column.numbers.iter().copied();
    let mut next = |is_present: &bool| if *is_present { numbers.next().unwrap_or(0) } else { 0 };
    let all: Vec<i64> = is_present.iter().map(&mut next).collect();
    PrimitiveArray::new(all.into(), Some(NullBuffer::from(is_present))).with_timezone("UTC")
}
