//! A segment as a source of rows, for merges.

use crate::error::Result;
use crate::payload::reader::PayloadReader;
use crate::rows::column::ColumnSlice;
use crate::rows::source::Source;
use crate::segment::mapped::Segment;
use crate::value::Value;

impl Source for Segment {
    fn row_count(&self) -> u32 {
        Segment::row_count(self)
    }

    fn column(&self, column: usize) -> Result<ColumnSlice<'_>> {
        Segment::column(self, column)
    }

    fn value(&self, column: usize, row: u32) -> Result<Value<'_>> {
        Segment::value(self, column, row)
    }

    fn payload<'a>(&'a self, column: usize, row: u32, reader: &'a mut PayloadReader) -> Result<&'a [u8]> {
        Segment::payload(self, column, row, reader)
    }
}
