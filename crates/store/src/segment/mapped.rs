//! A mapped segment: the rows of one table by column, in primary-key order, with their indexes
//! (docs/FORMAT.md, "Segment").
//!
//! Input: the map of a segment file, numbers of columns and rows. Output: values, used in place. Does not
//! depend on dead rows. `find.rs` searches by key, `verify.rs` checks everything.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use crate::file::sealed::{MappedFile, Sealed};
use crate::format::{BLOCK_ENTRY_BYTES, KIND_SEGMENT};
use crate::payload::decompress::StoredBlock;
use crate::payload::reader::PayloadReader;
use crate::rows::column::{BytesSlice, ColumnSlice, Offsets};
use crate::schema::{Codec, Kind, Schema};
use crate::segment::find_block::find_block;
use crate::segment::hash_lookup::HashIndex;
use crate::segment::layout::{
    BlocksLayout, ColumnLayout, Layout, NumbersLayout, OffsetsLayout, PackedLayout, Section, read_layout,
};
use crate::value::Value;
use disk::Disk;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use zstd::zstd_safe::DDict;

/// A mapped segment. Opening it is cheap whatever its size. Rows are numbered from 0 in primary-key order.
pub struct Segment {
    pub(crate) sealed: Sealed,
    pub(crate) schema: Arc<Schema>,
    pub(crate) layout: Layout,
    /// Tells this segment's blocks from all others' in a reader's cache.
    number: u64,
    pub(crate) hash_indexes: Box<[Option<HashIndex>]>,
    /// For each column its dictionary, prepared when it is first used.
    dictionaries: Box<[OnceLock<DDict<'static>>]>,
}

/// The number of the next segment to be opened in this process.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// A block table entry, as stored in the file.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct BlockEntry {
    pub(crate) start: u64,
    pub(crate) first_row: u32,
    pub(crate) length: u32,
}

const _: () = assert!(size_of::<BlockEntry>() == BLOCK_ENTRY_BYTES);

/// Defines the accessor of a range of one kind of fixed-width column.
macro_rules! range_of {
    ($(#[$doc:meta])* $name:ident, $at:ident, $type:ty, $kind:pat) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// [`Error::Corrupt`] if the file is damaged there, [`Error::Schema`] if the column is of another
        /// kind or lacks the rows.
        pub fn $name(&self, column: usize, rows: Range<u32>) -> Result<Cow<'_, [$type]>> {
            match (self.layout.columns.get(column), self.schema.kind(column)) {
                (Some(ColumnLayout::Numbers(numbers)), Some($kind)) => {
                    self.check_rows(&rows)?;
                    self.numbers(*numbers, u64::from(rows.start)..u64::from(rows.end))
                }
                _ => Err(self.misused(format!("column {column} is not {}", stringify!($kind)))),
            }
        }

        /// Returns one such value, in fewer steps than a range of one.
        ///
        /// # Errors
        /// As for a range.
        #[inline]
        pub fn $at(&self, column: usize, row: u32) -> Result<$type> {
            match (self.layout.columns.get(column), self.schema.kind(column)) {
                (Some(_), Some($kind)) if row >= self.row_count() => Err(self.no_row(row)),
                (Some(ColumnLayout::Numbers(numbers)), Some($kind)) => self.number(*numbers, u64::from(row)),
                _ => Err(self.misused(format!("column {column} is not {}", stringify!($kind)))),
            }
        }
    };
}

impl Segment {
    /// Maps the segment `path`, whose rows are of the table that `schema` describes, and checks where
    /// everything lies.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the file is cut or damaged, [`Error::Version`] if it is too new,
    /// [`Error::Schema`] if it has rows of another schema, and disk errors.
    pub fn open(disk: &dyn Disk, path: &Path, schema: &Arc<Schema>) -> Result<Segment> {
        let file = MappedFile::new(disk, path)?;
        file.ask_for_end();
        Segment::of_file(file, schema)
    }

    /// Checks a mapped segment as [`Segment::open`] does.
    ///
    /// # Errors
    /// As [`Segment::open`].
    pub(crate) fn of_file(file: MappedFile, schema: &Arc<Schema>) -> Result<Segment> {
        let sealed = file.open(KIND_SEGMENT)?;
        let layout = read_layout(&sealed, schema)?;
        let dictionaries = schema.columns.iter().map(|_| OnceLock::new()).collect();
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let hash_indexes = HashIndex::all_of(schema, &layout);
        Ok(Segment { sealed, schema: Arc::clone(schema), layout, number, hash_indexes, dictionaries })
    }

    /// Returns the table's schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        self.sealed.path()
    }

    /// Returns the file's length in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.sealed.file_bytes()
    }

    /// Returns what tells the file from every other ([`Sealed::digest`]).
    pub fn digest(&self) -> u64 {
        self.sealed.digest()
    }

    /// Checks that this is the file that the caller means.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if its digest is another one.
    pub(crate) fn expect_digest(&self, expected: u64) -> Result<()> {
        self.sealed.expect_digest(expected)
    }

    /// Returns how many rows there are, dead ones included.
    pub fn row_count(&self) -> u32 {
        self.layout.row_count
    }

    range_of! {
        /// Returns the values of some rows of a `U8` column.
        u8s, u8_at, u8, Kind::U8
    }
    range_of! {
        /// Returns the values of some rows of a `U16` column.
        u16s, u16_at, u16, Kind::U16
    }
    range_of! {
        /// Returns the values of some rows of a `U32` column.
        u32s, u32_at, u32, Kind::U32
    }
    range_of! {
        /// Returns the values of some rows of a `U64` column.
        u64s, u64_at, u64, Kind::U64
    }
    range_of! {
        /// Returns the values of some rows of an `I64` column.
        i64s, i64_at, i64, Kind::I64
    }

    /// Returns the values of some rows of an `Id` column.
    ///
    /// # Errors
    /// Same as [`Segment::u8s`].
    pub fn ids(&self, column: usize, rows: Range<u32>) -> Result<&[[u8; 32]]> {
        let Some(ColumnLayout::Ids(section)) = self.layout.columns.get(column) else {
            return Err(self.misused(format!("column {column} is not Id")));
        };
        self.check_rows(&rows)?;
        self.slice(*section, u64::from(rows.start)..u64::from(rows.end))
    }

    /// Returns a whole column of any kind except a compressed payload. Verifies all of it.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the column is damaged, [`Error::Schema`] if there is none or it is compressed.
    pub fn column(&self, column: usize) -> Result<ColumnSlice<'_>> {
        let all = 0..self.row_count();
        Ok(match self.schema.kind(column) {
            Some(Kind::U8) => ColumnSlice::U8(self.u8s(column, all)?),
            Some(Kind::U16) => ColumnSlice::U16(self.u16s(column, all)?),
            Some(Kind::U32) => ColumnSlice::U32(self.u32s(column, all)?),
            Some(Kind::U64) => ColumnSlice::U64(self.u64s(column, all)?),
            Some(Kind::I64) => ColumnSlice::I64(self.i64s(column, all)?),
            Some(Kind::Id) => ColumnSlice::Id(self.ids(column, all)?),
            Some(Kind::Bytes | Kind::Payload(_)) | None => {
                let (blob, offsets) = self.plain_bytes(column)?;
                let offsets = match offsets {
                    OffsetsLayout::Small(section) => Offsets::Small(self.all_of(section)?.into()),
                    OffsetsLayout::Large(section) => Offsets::Large(self.all_of(section)?.into()),
                    OffsetsLayout::Packed(packed) => self.unpacked_offsets(packed, blob)?,
                };
                ColumnSlice::Bytes(BytesSlice { offsets, blob: self.all_of(blob)? })
            }
        })
    }

    /// Returns one value of any kind of column except a compressed payload.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the file is damaged there, [`Error::Schema`] if there is no such value or it is
    /// compressed.
    #[inline]
    pub fn value(&self, column: usize, row: u32) -> Result<Value<'_>> {
        let numbers = match self.layout.columns.get(column) {
            Some(ColumnLayout::Numbers(numbers)) => *numbers,
            Some(ColumnLayout::Ids(section)) => return Ok(Value::Id(self.row_of(*section, row)?)),
            _ => return Ok(Value::Bytes(self.bytes(column, row)?)),
        };
        if row >= self.row_count() {
            return Err(self.no_row(row));
        }
        let index = u64::from(row);
        Ok(match self.schema.kind(column) {
            Some(Kind::U8) => Value::U8(self.number(numbers, index)?),
            Some(Kind::U16) => Value::U16(self.number(numbers, index)?),
            Some(Kind::U32) => Value::U32(self.number(numbers, index)?),
            Some(Kind::U64) => Value::U64(self.number(numbers, index)?),
            _ => Value::I64(self.number(numbers, index)?),
        })
    }

    /// Returns the bytes in a row of a `Bytes` column or of a payload column that is not compressed.
    ///
    /// # Errors
    /// Same as [`Segment::value`].
    #[inline]
    pub fn bytes(&self, column: usize, row: u32) -> Result<&[u8]> {
        let (blob, offsets) = self.plain_bytes(column)?;
        self.stored_row(blob, offsets, row)
    }

    /// Returns a payload, decompressed if needed. `reader` keeps decompressed data.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the file is damaged there, [`Error::Schema`] if there is no such value.
    pub fn payload<'a>(&'a self, column: usize, row: u32, reader: &'a mut PayloadReader) -> Result<&'a [u8]> {
        match (self.layout.columns.get(column), self.schema.kind(column)) {
            (Some(ColumnLayout::Rows { blob, offsets, dictionary }), Some(Kind::Payload(codec)))
                if codec != Codec::None =>
            {
                let stored = self.stored_row(*blob, *offsets, row)?;
                let dictionary =
                    dictionary.map(|section| self.dictionary(column, section)).transpose()?.flatten();
                reader
                    .row(codec, dictionary, stored)
                    .map_err(|what| self.damaged_row(*blob, column, row, &what))
            }
            (Some(ColumnLayout::Blocks(layout)), Some(Kind::Payload(codec))) => {
                let owner = (self.number, column);
                let damaged = |what: &str| self.damaged_row(layout.blocks, column, row, what);
                if !reader.has_row(owner, row) && !reader.turn_back(owner, row) {
                    let block = self.block_of(column, codec, layout, row)?;
                    reader.turn_to(owner, &block).map_err(|what| damaged(&what))?;
                }
                reader.current_row(owner, row).ok_or_else(|| damaged("it is not in its block"))
            }
            _ => self.bytes(column, row),
        }
    }

    fn damaged_row(&self, section: Section, column: usize, row: u32, what: &str) -> Error {
        self.sealed.corrupt(section.start, format!("row {row} of column {column}: {what}"))
    }

    /// Returns the sections of a column that has its bytes uncompressed.
    #[inline]
    fn plain_bytes(&self, column: usize) -> Result<(Section, OffsetsLayout)> {
        match (self.layout.columns.get(column), self.schema.kind(column)) {
            (
                Some(ColumnLayout::Rows { blob, offsets, .. }),
                Some(Kind::Bytes | Kind::Payload(Codec::None)),
            ) => Ok((*blob, *offsets)),
            _ => Err(self.misused(format!("column {column} has no plain bytes"))),
        }
    }

    /// Returns the bytes stored for a row. Checks that they are within the column.
    #[inline]
    pub(crate) fn stored_row(&self, blob: Section, offsets: OffsetsLayout, row: u32) -> Result<&[u8]> {
        if row >= self.row_count() {
            return Err(self.no_row(row));
        }
        let (index, next) = (u64::from(row), u64::from(row).saturating_add(1));
        let (start, end) = (self.offset(offsets, index)?, self.offset(offsets, next)?);
        if start > end || end > blob.length {
            let what = format!("row {row} lies outside of its column");
            return Err(self.sealed.corrupt(offsets.start(), what));
        }
        self.sealed.range(blob.start.saturating_add(start)..blob.start.saturating_add(end))
    }

    /// Returns one of the offsets of a column.
    #[inline]
    pub(crate) fn offset(&self, offsets: OffsetsLayout, index: u64) -> Result<u64> {
        match offsets {
            OffsetsLayout::Small(section) => self.at::<u32>(section, index).map(|&place| u64::from(place)),
            OffsetsLayout::Large(section) => self.at::<u64>(section, index).copied(),
            OffsetsLayout::Packed(packed) => self.packed_number(packed, index),
        }
    }

    fn unpacked_offsets(&self, packed: PackedLayout, blob: Section) -> Result<Offsets<'_>> {
        let (numbers, all) =
            (NumbersLayout::Packed(packed), 0..u64::from(self.row_count()).saturating_add(1));
        Ok(match u32::try_from(blob.length) {
            Ok(_) => Offsets::Small(self.numbers(numbers, all)?),
            Err(_) => Offsets::Large(self.numbers(numbers, all)?),
        })
    }

    /// Returns a column's dictionary, or none if its rows are compressed without.
    fn dictionary(&self, column: usize, section: Section) -> Result<Option<&DDict<'static>>> {
        let Some(prepared) = self.dictionaries.get(column).filter(|_| section.length > 0) else {
            return Ok(None);
        };
        if let Some(dictionary) = prepared.get() {
            return Ok(Some(dictionary));
        }
        let made = DDict::try_create(self.all_of(section)?)
            .ok_or_else(|| self.sealed.corrupt(section.start, "this is not a dictionary"))?;
        Ok(Some(prepared.get_or_init(|| made)))
    }

    /// Returns a column's dictionary as stored, for use in another segment. `None` if there is none or it
    /// is damaged: reading this segment's rows reports the damage, and new rows can be written without it.
    pub(crate) fn dictionary_to_lend(&self, column: usize) -> Option<&[u8]> {
        let Some(
            ColumnLayout::Rows { dictionary: Some(section), .. }
            | ColumnLayout::Blocks(BlocksLayout { dictionary: Some(section), .. }),
        ) = self.layout.columns.get(column)
        else {
            return None;
        };
        self.all_of(*section).ok()
    }

    /// Returns the stored block that contains a row.
    fn block_of(
        &self,
        column: usize,
        codec: Codec,
        layout: &BlocksLayout,
        row: u32,
    ) -> Result<StoredBlock<'_>> {
        if row >= self.row_count() {
            return Err(self.no_row(row));
        }
        let BlocksLayout { dictionary, blocks, table } = *layout;
        let count = table.length.div_euclid(BLOCK_ENTRY_BYTES as u64).saturating_sub(1);
        let first_row = |index| self.at::<BlockEntry>(table, index).map(|entry| entry.first_row);
        let index = find_block(row, self.row_count(), count, first_row)?;
        let entry = *self.at::<BlockEntry>(table, index)?;
        let next = *self.at::<BlockEntry>(table, index.saturating_add(1))?;
        let rows = entry.first_row..next.first_row;
        if !rows.contains(&row) || entry.start > next.start || next.start > blocks.length {
            return Err(self.sealed.corrupt(table.start, format!("no block has row {row}")));
        }
        let place = blocks.start.saturating_add(entry.start)..blocks.start.saturating_add(next.start);
        let dictionary = dictionary.map(|section| self.dictionary(column, section)).transpose()?.flatten();
        Ok(StoredBlock {
            codec,
            dictionary,
            first_row: rows.start,
            row_count: rows.end.saturating_sub(rows.start),
            length: entry.length,
            bytes: self.sealed.range(place)?,
        })
    }

    /// Returns all of a section as values.
    pub(crate) fn all_of<T: bytemuck::Pod>(&self, section: Section) -> Result<&[T]> {
        let count = section.length.checked_div(size_of::<T>() as u64).unwrap_or(0);
        self.slice(section, 0..count)
    }

    fn check_rows(&self, rows: &Range<u32>) -> Result<()> {
        if rows.start > rows.end || rows.end > self.row_count() {
            return Err(self.misused(format!("rows {} to {} of {}", rows.start, rows.end, self.row_count())));
        }
        Ok(())
    }

    /// Returns the value of one row in a section that has one for each row.
    #[inline]
    pub(crate) fn row_of<T: bytemuck::Pod>(&self, section: Section, row: u32) -> Result<&T> {
        if row >= self.row_count() {
            return Err(self.no_row(row));
        }
        self.at(section, u64::from(row))
    }

    /// Returns one of the values in a section, verified.
    #[inline]
    pub(crate) fn at<T: bytemuck::Pod>(&self, section: Section, index: u64) -> Result<&T> {
        let width = size_of::<T>() as u64;
        match section.length.checked_div(width) {
            Some(count) if index < count => {}
            _ => return Err(self.outside(section, index)),
        }
        // Within the section, and so without overflow.
        self.sealed.one(section.start.wrapping_add(index.wrapping_mul(width)))
    }

    #[cold]
    fn outside(&self, section: Section, index: u64) -> Error {
        let what = format!("value {index} is outside of a section of {} bytes", section.length);
        self.sealed.corrupt(section.start, what)
    }

    /// Returns some of the values in a section, verified.
    #[inline]
    pub(crate) fn slice<T: bytemuck::Pod>(&self, section: Section, values: Range<u64>) -> Result<&[T]> {
        let width = size_of::<T>() as u64;
        let start = values.start.saturating_mul(width);
        let end = values.end.saturating_mul(width);
        if end > section.length {
            return Err(self.outside(section, values.end));
        }
        let bytes =
            self.sealed.range(section.start.saturating_add(start)..section.start.saturating_add(end))?;
        bytemuck::try_cast_slice(bytes).map_err(|_| self.misused("a map is not aligned to 8 bytes".into()))
    }

    #[cold]
    fn no_row(&self, row: u32) -> Error {
        self.misused(format!("row {row} of {}", self.row_count()))
    }

    /// Returns the error for a request that does not fit this table.
    #[cold]
    pub(crate) fn misused(&self, what: String) -> Error {
        Error::schema(&self.schema.name, what)
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Segment({}, {} rows)", self.path().display(), self.row_count())
    }
}
