//! Writes segments: for the memtable's seal, bulk load and merge alike.

use crate::column::ColumnSlice;
use crate::error::Result;
use crate::payload::PayloadReader;
use crate::rows::Rows;
use crate::schema::Schema;
use crate::segment::Segment;
use disk::Disk;
use std::path::Path;
use std::sync::Arc;

/// Where rows come from.
pub trait Source: Sync {
    /// Returns how many rows there are.
    fn row_count(&self) -> u32;

    /// Returns a whole column of any kind but a compressed payload.
    fn column(&self, column: usize) -> Result<ColumnSlice<'_>>;

    /// Returns one value of a payload column.
    fn payload<'a>(&'a self, column: usize, row: u32, reader: &'a mut PayloadReader) -> Result<&'a [u8]>;
}

impl Source for Rows {
    fn row_count(&self) -> u32 {
        self.len()
    }

    fn column(&self, column: usize) -> Result<ColumnSlice<'_>> {
        Ok(Rows::column(self, column))
    }

    fn payload<'a>(&'a self, column: usize, row: u32, _reader: &'a mut PayloadReader) -> Result<&'a [u8]> {
        Ok(self.bytes(column, row))
    }
}

impl Source for Segment {
    fn row_count(&self) -> u32 {
        self.row_count()
    }

    fn column(&self, column: usize) -> Result<ColumnSlice<'_>> {
        self.column(column)
    }

    fn payload<'a>(&'a self, column: usize, row: u32, reader: &'a mut PayloadReader) -> Result<&'a [u8]> {
        self.payload(column, row, reader)
    }
}

/// A row of one of several sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct RowRef {
    /// The number of the source.
    pub source: u32,
    /// The number of the row in it.
    pub row: u32,
}

/// Which rows of the sources become the segment's, in which order.
#[derive(Clone, Copy, Debug)]
pub enum Order<'a> {
    /// All rows of the first source, then all of the second, and so on.
    AsIs,
    /// These.
    Chosen(&'a [RowRef]),
}

/// The order of rows by primary key.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// The rows in key order, or none if that is all rows as they are.
    pub rows: Option<Vec<RowRef>>,
    /// How many rows were left out because a later one has the same key.
    pub replaced: u64,
}

impl Sorted {
    /// Returns the order as [`write_segment`] takes it.
    pub fn order(&self) -> Order<'_> {
        self.rows.as_deref().map_or(Order::AsIs, Order::Chosen)
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentWritten {
    /// How many rows the segment has.
    pub row_count: u32,
    /// The file's length in bytes.
    pub file_bytes: u64,
}

/// Sorts the live rows of some sources by primary key, on all cores. Of rows with the same key the last one is kept: of the last
/// source that has it, and there the last row. Needs 24 bytes of memory a row while it runs, and 8 a row for its answer.
pub fn sort_by_primary(
    _schema: &Schema,
    _sources: &[&dyn Source],
    _is_live: &(dyn Fn(RowRef) -> bool + Sync),
) -> Result<Sorted> {
    unimplemented!()
}

/// Writes rows as a new segment file, synced (its directory is not): all columns, one after another, then all indexes.
///
/// `order` must have the rows in strictly ascending primary-key order (panics otherwise: a bug).
pub fn write_segment(
    _disk: &dyn Disk,
    _path: &Path,
    _schema: &Arc<Schema>,
    _sources: &[&dyn Source],
    _order: Order,
) -> Result<SegmentWritten> {
    unimplemented!()
}
