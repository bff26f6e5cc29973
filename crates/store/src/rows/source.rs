//! A source of rows: rows in memory, or a segment.
//!
//! Defines how whole columns and single values are read from any source, and how rows of several sources are
//! selected. Does not depend on what the rows are used for.

use crate::error::Result;
use crate::payload::reader::PayloadReader;
use crate::rows::column::ColumnSlice;
use crate::rows::in_memory::Rows;
use crate::value::Value;

/// A source of rows.
pub trait Source: Sync {
    /// Returns how many rows there are.
    fn row_count(&self) -> u32;

    /// Returns a whole column of any kind but a compressed payload.
    ///
    /// # Errors
    /// What is wrong with the source.
    fn column(&self, column: usize) -> Result<ColumnSlice<'_>>;

    /// Returns one value of any kind of column but a compressed payload.
    ///
    /// # Errors
    /// What is wrong with the source.
    fn value(&self, column: usize, row: u32) -> Result<Value<'_>>;

    /// Returns one value of a payload column.
    ///
    /// # Errors
    /// What is wrong with the source.
    fn payload<'a>(&'a self, column: usize, row: u32, reader: &'a mut PayloadReader) -> Result<&'a [u8]>;
}

impl Source for Rows {
    fn row_count(&self) -> u32 {
        self.len()
    }

    fn column(&self, column: usize) -> Result<ColumnSlice<'_>> {
        Ok(Rows::column(self, column))
    }

    fn value(&self, column: usize, row: u32) -> Result<Value<'_>> {
        Ok(Rows::value(self, column, row))
    }

    fn payload<'a>(&'a self, column: usize, row: u32, _reader: &'a mut PayloadReader) -> Result<&'a [u8]> {
        Ok(self.bytes(column, row))
    }
}

/// A row of one of several sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct RowRef {
    /// The number of the source.
    pub source: u32,
    /// The number of the row in it.
    pub row: u32,
}

/// Which rows of some sources, in which order.
#[derive(Clone, Copy, Debug)]
pub enum Order<'a> {
    /// All rows of the first source, then all of the second, and so on.
    AsIs,
    /// These.
    Chosen(&'a [RowRef]),
}
