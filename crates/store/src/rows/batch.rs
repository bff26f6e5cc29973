//! Encodes and decodes batches of rows, as journal records hold them (docs/FORMAT.md, "Batch of rows").
//!
//! Does not depend on journals.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::cursor::{Cursor, put_varint};
use crate::error::Damage;
use crate::limits::{ROW_BYTES_MAX, ROWS_PER_SEGMENT_MAX};
use crate::rows::in_memory::{Rows, Values};
use crate::schema::{Kind, Schema};
use std::sync::Arc;

impl Rows {
    /// Appends the batch's bytes to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.row_count.to_le_bytes());
        for values in &self.columns {
            values.encode(out);
        }
    }

    /// Reads a batch from its bytes, which it must fill.
    ///
    /// # Errors
    /// Describes the damage and its offset. Memory is limited to a small multiple of the bytes.
    pub fn decode(schema: &Arc<Schema>, bytes: &[u8]) -> Result<Rows, Damage> {
        let mut cursor = Cursor::new(bytes);
        let row_count = cursor.u32("the row count")?;
        // Every row has at least one byte in its first column, so a wrong count is detected before memory
        // is allocated.
        if row_count > ROWS_PER_SEGMENT_MAX || row_count as usize > cursor.remaining() {
            return Err(Damage::new(0, format!("{row_count} rows in {} bytes", cursor.remaining())));
        }
        let mut columns = Vec::with_capacity(schema.columns.len());
        for column in &schema.columns {
            columns.push(Values::decode(column.kind, row_count as usize, &mut cursor)?);
        }
        cursor.finish("the batch of rows")?;
        Ok(Rows { schema: Arc::clone(schema), columns, row_count })
    }
}

impl Values {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Values::U8(values) => out.extend_from_slice(values),
            Values::U16(values) => out.extend_from_slice(bytemuck::cast_slice(values)),
            Values::U32(values) => out.extend_from_slice(bytemuck::cast_slice(values)),
            Values::U64(values) => out.extend_from_slice(bytemuck::cast_slice(values)),
            Values::I64(values) => out.extend_from_slice(bytemuck::cast_slice(values)),
            Values::Id(values) => out.extend_from_slice(values.as_flattened()),
            Values::Bytes { offsets, blob } => {
                for (end, start) in offsets.iter().skip(1).zip(offsets) {
                    put_varint(out, end.saturating_sub(*start));
                }
                out.extend_from_slice(blob);
            }
        }
    }

    fn decode(kind: Kind, row_count: usize, cursor: &mut Cursor) -> Result<Values, Damage> {
        let Some(width) = kind.width() else {
            return Values::decode_bytes(row_count, cursor);
        };
        let bytes = cursor.take(row_count.saturating_mul(width), "a column")?;
        Ok(match kind {
            Kind::U8 => Values::U8(bytes.to_vec()),
            Kind::U16 => Values::U16(collect(bytes)),
            Kind::U32 => Values::U32(collect(bytes)),
            Kind::U64 => Values::U64(collect(bytes)),
            Kind::I64 => Values::I64(collect(bytes)),
            Kind::Id => Values::Id(collect(bytes)),
            Kind::Bytes | Kind::Payload(_) => unreachable!("they have no width"),
        })
    }

    fn decode_bytes(row_count: usize, cursor: &mut Cursor) -> Result<Values, Damage> {
        if row_count > cursor.remaining() {
            return Err(cursor.damage(format!("{row_count} lengths in {} bytes", cursor.remaining())));
        }
        let mut offsets = Vec::with_capacity(row_count.saturating_add(1));
        let mut end = 0_u32;
        offsets.push(end);
        for _ in 0..row_count {
            let length = cursor.varint("a value's length")?;
            if u64::from(length) > ROW_BYTES_MAX {
                return Err(cursor.damage(format!("a value of {length} bytes, the limit is {ROW_BYTES_MAX}")));
            }
            end = end.checked_add(length).ok_or_else(|| cursor.damage("a column is over 4 GiB"))?;
            offsets.push(end);
        }
        Ok(Values::Bytes { offsets, blob: cursor.take(end as usize, "a column of bytes")?.to_vec() })
    }
}

/// Copies little-endian values to where they are aligned.
fn collect<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
    let mut values = vec![T::zeroed(); bytes.len().checked_div(size_of::<T>()).unwrap_or(0)];
    bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
    values
}
