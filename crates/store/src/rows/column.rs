//! The values of one column, in memory or in a mapped file.
//!
//! Input: slices, or numbers that were unpacked. Output: single values, with bounds checked. Does not depend
//! on who owns the slices, and does not trust offsets found in files.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::value::Value;
use std::borrow::Cow;

#[cfg(target_endian = "big")]
compile_error!("columns are little-endian arrays that are used in place");

/// All values of one column.
#[derive(Clone, Debug)]
pub enum ColumnSlice<'a> {
    /// Of a `U8` column.
    U8(Cow<'a, [u8]>),
    /// Of a `U16` column.
    U16(Cow<'a, [u16]>),
    /// Of a `U32` column.
    U32(Cow<'a, [u32]>),
    /// Of a `U64` column.
    U64(Cow<'a, [u64]>),
    /// Of an `I64` column.
    I64(Cow<'a, [i64]>),
    /// Of an `Id` column.
    Id(&'a [[u8; 32]]),
    /// Of a `Bytes` column, or a payload column that is not compressed.
    Bytes(BytesSlice<'a>),
}

/// All values of a column of bytes: one after another in `blob`, and where each begins.
#[derive(Clone, Debug)]
pub struct BytesSlice<'a> {
    /// The start of each value in `blob`, and the end of the last one.
    pub offsets: Offsets<'a>,
    /// The values, one after another.
    pub blob: &'a [u8],
}

/// Places in a blob, in bytes: one more than there are values.
#[derive(Clone, Debug)]
pub enum Offsets<'a> {
    /// For blobs under 4 GiB.
    Small(Cow<'a, [u32]>),
    /// For larger ones.
    Large(Cow<'a, [u64]>),
}

impl<'a> ColumnSlice<'a> {
    /// Returns how many values there are.
    pub fn len(&self) -> usize {
        match self {
            ColumnSlice::U8(values) => values.len(),
            ColumnSlice::U16(values) => values.len(),
            ColumnSlice::U32(values) => values.len(),
            ColumnSlice::U64(values) => values.len(),
            ColumnSlice::I64(values) => values.len(),
            ColumnSlice::Id(values) => values.len(),
            ColumnSlice::Bytes(BytesSlice { offsets: Offsets::Small(offsets), .. }) => {
                offsets.len().saturating_sub(1)
            }
            ColumnSlice::Bytes(BytesSlice { offsets: Offsets::Large(offsets), .. }) => {
                offsets.len().saturating_sub(1)
            }
        }
    }

    /// Returns whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value in `row`, or `None` if there is no such row or its offsets are damaged.
    #[inline]
    pub fn value(&self, row: u32) -> Option<Value<'a>> {
        let index = row as usize;
        Some(match self {
            ColumnSlice::U8(values) => Value::U8(*values.get(index)?),
            ColumnSlice::U16(values) => Value::U16(*values.get(index)?),
            ColumnSlice::U32(values) => Value::U32(*values.get(index)?),
            ColumnSlice::U64(values) => Value::U64(*values.get(index)?),
            ColumnSlice::I64(values) => Value::I64(*values.get(index)?),
            ColumnSlice::Id(values) => Value::Id(values.get(index)?),
            ColumnSlice::Bytes(values) => Value::Bytes(values.get(row)?),
        })
    }
}

impl<'a> BytesSlice<'a> {
    /// Returns the value in `row`, or `None` if there is no such row or its offsets are damaged.
    #[inline]
    pub fn get(&self, row: u32) -> Option<&'a [u8]> {
        let (start, end) = self.offsets.place(row)?;
        self.blob.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }
}

impl Offsets<'_> {
    /// Returns the stored start and end of the value in `row`, unchecked.
    #[inline]
    pub fn place(&self, row: u32) -> Option<(u64, u64)> {
        let index = row as usize;
        let next = index.checked_add(1)?;
        Some(match self {
            Offsets::Small(offsets) => (u64::from(*offsets.get(index)?), u64::from(*offsets.get(next)?)),
            Offsets::Large(offsets) => (*offsets.get(index)?, *offsets.get(next)?),
        })
    }
}
