//! One table's rows in one sealed file: by column, in primary-key order, with their indexes (docs/FORMAT.md, "Segment").

use crate::column::ColumnSlice;
use crate::error::{Error, Result};
use crate::payload::PayloadReader;
use crate::schema::Schema;
use crate::value::Value;
use disk::Disk;
use std::ops::{Bound, Range};
use std::path::Path;
use std::sync::Arc;

/// A mapped segment. Cheap to open whatever its size; rows are numbered from 0 in primary-key order.
#[derive(Debug)]
pub struct Segment {
    schema: Arc<Schema>,
    row_count: u32,
}

impl Segment {
    /// Maps the segment `path`, whose rows are of the table that `schema` describes.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the file is cut or damaged, [`Error::Version`] if it is too new, and what the disk says.
    pub fn open(_disk: &dyn Disk, _path: &Path, _schema: &Arc<Schema>) -> Result<Segment> {
        unimplemented!()
    }

    /// Returns the table's schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        unimplemented!()
    }

    /// Returns the file's length in bytes.
    pub fn file_bytes(&self) -> u64 {
        unimplemented!()
    }

    /// Returns how many rows there are, dead ones included.
    pub fn row_count(&self) -> u32 {
        self.row_count
    }

    /// u8s, u16s, u64s, i64s, ids likewise. Errors: Corrupt; Schema if column is of another kind or the range is outside.
    pub fn u32s(&self, _column: usize, _rows: Range<u32>) -> Result<&[u32]> {
        unimplemented!()
    }

    /// All of a column (verifies all of it); error Schema for compressed payloads.
    pub fn column(&self, _column: usize) -> Result<ColumnSlice<'_>> {
        unimplemented!()
    }

    /// One value; Error::Schema for compressed payload columns.
    pub fn value(&self, _column: usize, _row: u32) -> Result<Value<'_>> {
        unimplemented!()
    }

    /// Bytes or uncompressed payload.
    pub fn bytes(&self, _column: usize, _row: u32) -> Result<&[u8]> {
        unimplemented!()
    }

    /// A payload of any codec (or bytes).
    pub fn payload<'a>(
        &'a self,
        _column: usize,
        _row: u32,
        _reader: &'a mut PayloadReader,
    ) -> Result<&'a [u8]> {
        unimplemented!()
    }

    /// The row with exactly this primary key.
    pub fn primary_find(&self, _key: &[Value]) -> Result<Option<u32>> {
        unimplemented!()
    }

    /// The rows whose primary key lies between two ends; an end may be a prefix and then stands for all keys that begin with it.
    pub fn primary_range(&self, _from: Bound<&[Value]>, _to: Bound<&[Value]>) -> Result<Range<u32>> {
        unimplemented!()
    }

    /// Positions in an ordered index, ends as in `primary_range`.
    pub fn index_range(
        &self,
        _index: usize,
        _from: Bound<&[Value]>,
        _to: Bound<&[Value]>,
    ) -> Result<Range<u32>> {
        unimplemented!()
    }

    /// The rows at positions of an ordered index, in key order (equal keys: in row order).
    pub fn rows_at(&self, _index: usize, _positions: Range<u32>) -> Result<&[u32]> {
        unimplemented!()
    }

    /// Appends all rows with exactly this key (whole key) to `found`; hash or ordered index.
    pub fn find(&self, _index: usize, _key: &[Value], _found: &mut Vec<u32>) -> Result<()> {
        unimplemented!()
    }

    /// Looks up many keys at once in a hash index: keys given by column (one slice per index column, equal lengths);
    /// appends (key number, row) for each row found, in order of key numbers.
    pub fn find_batch(
        &self,
        _index: usize,
        _keys: &[ColumnSlice],
        _found: &mut Vec<(u32, u32)>,
    ) -> Result<()> {
        unimplemented!()
    }

    /// Checks everything: checksums, places, key order, every payload, every index entry. Returns all damage.
    pub fn verify(&self) -> Vec<Error> {
        unimplemented!()
    }
}
