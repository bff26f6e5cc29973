//! Writes segments. Seals, bulk loads and merges all use it (docs/FORMAT.md, "Segment").
//!
//! Input: rows of some sources, in the order of their primary keys. Output: one synced segment file. Does not
//! depend on why the rows are written. Uses all cores of the current rayon pool; the file's bytes do not
//! depend on how many there are.
//! Memory besides the sources: 8 bytes a row for an order; 24 bytes a row while an ordered index is built, 12
//! for a hash index (and 4 for each row whose key is not unique), one index at a time; 4 bytes a row while a
//! column of bytes is written; a packed column of each source, unpacked, while it is written or is part of
//! the key of the index that is built; about 16 MiB of buffers; and while a payload column is merged, one
//! decompressed block of each source, at most 256 MiB in total.

use crate::error::{Result, check_limit};
use crate::file::sealed_write::SealedWriter;
use crate::format::{
    FOOTER_BYTES, KIND_SEGMENT, SECTION_BLOB, SECTION_BLOCK_TABLE, SECTION_BLOCKS, SECTION_DICTIONARY,
    SECTION_FIXED, SECTION_HASH_BUCKETS, SECTION_HASH_GROUPS, SECTION_OFFSETS_LARGE, SECTION_OFFSETS_SMALL,
    SECTION_ORDER_HINTS, SECTION_ORDER_ROWS, SECTION_PACKED, SECTION_PACKED_TABLE, SEGMENT_VERSION,
    SEGMENT_VERSION_PLAIN,
};
use crate::key_index::hash;
use crate::limits::ROWS_PER_SEGMENT_MAX;
use crate::payload::codec::is_dictionary;
use crate::rows::source::{Order, Source};
use crate::schema::{Codec, Column, Index, IndexKind, Kind, Schema};
use crate::segment::column_write::{
    ColumnOf, with_numbers, with_offsets, write_blob, write_fixed, write_offsets,
};
use crate::segment::mapped::Segment;
use crate::segment::numbers::Number;
use crate::segment::packed_write::{Numbers, write_packed};
use crate::segment::payload_write::{make_dictionary, write_blocks, write_rows};
use crate::sort::keys::Keys;
use crate::sort::radix;
use crate::sort::row_set::{RowSet, narrow};
use disk::Disk;
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use work::Cancel;

/// The result of writing a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentWritten {
    /// How many rows the segment has.
    pub row_count: u32,
    /// The file's length in bytes.
    pub file_bytes: u64,
}

/// Writes rows of some sources as the new segment file `path` and syncs it. Its name is durable only after
/// its directory is synced.
///
/// The columns are written one after another, then the indexes. The module documentation has the bounds of
/// memory.
///
/// # Errors
/// Damage in a source, and disk errors; [`Error::Limit`](crate::Error::Limit) if there are too many rows.
/// The file is then unusable, and the caller removes it.
///
/// If the rows are not in the order of their primary keys, or a key occurs twice.
/// [`sort_by_primary`](crate::sort_by_primary) makes such an order.
pub fn write_segment(
    disk: &dyn Disk,
    path: &Path,
    schema: &Arc<Schema>,
    sources: &[&dyn Source],
    (order, form): (Order, Form),
) -> Result<SegmentWritten> {
    write_content(disk, path, schema, &Content { sources, order, lenders: &[], cancel: None, form })
}

/// How numbers lie in new segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// As they are, so that whole columns are used in place: for tables that are searched most of the time.
    #[default]
    Plain,
    /// In few bits each, where that saves an eighth or more. A column that is read as a whole is unpacked.
    Packed,
}

/// The content of a segment.
pub(crate) struct Content<'a> {
    /// The sources of the rows.
    pub(crate) sources: &'a [&'a dyn Source],
    /// Which of them, in the order of their primary keys.
    pub(crate) order: Order<'a>,
    /// Segments of the same table: each column takes the dictionary of the first that has one.
    pub(crate) lenders: &'a [&'a Segment],
    /// Stops the work.
    pub(crate) cancel: Option<&'a Cancel>,
    /// How numbers lie in it.
    pub(crate) form: Form,
}

/// Does the same as [`write_segment`], until it is told to stop.
pub(crate) fn write_content(
    disk: &dyn Disk,
    path: &Path,
    schema: &Arc<Schema>,
    content: &Content,
) -> Result<SegmentWritten> {
    let &Content { sources, order, lenders, cancel, form } = content;
    let rows = RowSet::new(sources.iter().map(|source| source.row_count()), order)?;
    check_limit("rows in a segment", u64::from(rows.len()), u64::from(ROWS_PER_SEGMENT_MAX))?;
    assert_ascending(&rows, sources, &schema.primary)?;
    let mut writer = SealedWriter::create(disk, path, KIND_SEGMENT)?;
    if let Some(cancel) = cancel {
        writer = writer.stopped_by(cancel);
    }
    let dictionaries = dictionaries(schema, &rows, sources, lenders)?;
    let version = SEGMENT_VERSION_PLAIN;
    let mut job = Job { writer, entries: Vec::new(), rows: &rows, sources, dictionaries, form, version };
    for (number, column) in schema.columns.iter().enumerate() {
        job.column(number, column.kind)?;
    }
    for (number, index) in schema.indexes.iter().enumerate() {
        match index.kind {
            IndexKind::Ordered => job.ordered_index(number, index)?,
            IndexKind::Hash => job.hash_index(number, index)?,
        }
    }
    job.finish(schema)
}

/// Returns for each column the dictionary of its payloads, lent or made, and nothing for other columns. Each
/// is made on one core: all are made at the same time.
fn dictionaries(
    schema: &Schema,
    rows: &RowSet,
    sources: &[&dyn Source],
    lenders: &[&Segment],
) -> Result<Vec<Vec<u8>>> {
    let dictionary = |(number, column): (usize, &Column)| {
        let Kind::Payload(codec @ Codec::ZstdDictionary { level, dictionary_bytes, .. }) = column.kind else {
            return Ok(Vec::new());
        };
        let mut lent = lenders.iter().filter_map(|lender| lender.dictionary_to_lend(number));
        match lent.find(|lent| is_dictionary(lent, level)) {
            Some(lent) => Ok(lent.to_vec()),
            None => {
                let column = ColumnOf { rows, sources, number };
                make_dictionary(&column, codec.sample_bytes(), dictionary_bytes)
            }
        }
    };
    schema.columns.par_iter().enumerate().map(dictionary).collect()
}

/// Refuses an order that would cause wrong answers. Only a bug can cause one.
fn assert_ascending(rows: &RowSet, sources: &[&dyn Source], primary: &[u16]) -> Result<()> {
    const BLOCK_ROWS: u32 = 1 << 16;
    let keys = Keys::new(rows, sources, primary)?;
    let blocks = (0..rows.len().div_ceil(BLOCK_ROWS)).into_par_iter();
    let is_ascending = blocks.map_init(Vec::new, |hints, block| {
        let start = block * BLOCK_ROWS;
        let end = rows.len().min(start.saturating_add(BLOCK_ROWS + 1));
        hints.clear();
        keys.hints(start..end, hints);
        (start..).zip(hints.windows(2)).all(|(row, pair)| {
            pair[0] < pair[1] || pair[0] == pair[1] && !keys.is_exact() && keys.compare(row, row + 1).is_lt()
        })
    });
    let is_ascending = is_ascending.reduce(|| true, |one, two| one && two);
    keys.check()?;
    assert!(is_ascending, "rows for a segment are in strict primary-key order");
    Ok(())
}

/// A segment being written.
struct Job<'a> {
    writer: SealedWriter,
    /// The directory so far.
    entries: Vec<u8>,
    rows: &'a RowSet<'a>,
    sources: &'a [&'a dyn Source],
    /// For each column its dictionary, empty if it has none.
    dictionaries: Vec<Vec<u8>>,
    form: Form,
    /// The lowest version that has all sections so far.
    version: u32,
}

impl Job<'_> {
    fn column(&mut self, number: usize, kind: Kind) -> Result<()> {
        let column = ColumnOf { rows: self.rows, sources: self.sources, number };
        let start = self.writer.position();
        match kind {
            Kind::Payload(codec) if codec != Codec::None => self.payload(&column, codec),
            Kind::Bytes | Kind::Payload(_) => {
                let lengths = write_blob(&mut self.writer, &column)?;
                self.end_section(SECTION_BLOB, number, start, 0)?;
                self.offsets(number, &lengths)
            }
            _ => {
                let mut pack = |numbers: &mut Numbers| self.pack(number, numbers);
                if kind != Kind::Id && with_numbers(&column, &mut pack)? {
                    return Ok(());
                }
                write_fixed(&mut self.writer, &column)?;
                self.end_section(SECTION_FIXED, number, start, 0)
            }
        }
    }

    fn payload(&mut self, column: &ColumnOf, codec: Codec) -> Result<()> {
        let number = column.number;
        let mut start = self.writer.position();
        let dictionary = std::mem::take(&mut self.dictionaries[number]);
        if let Codec::ZstdDictionary { .. } = codec {
            self.writer.write(&dictionary)?;
            self.end_section(SECTION_DICTIONARY, number, start, 0)?;
            start = self.writer.position();
        }
        if let Some(block_bytes) = codec.block_bytes() {
            let table = write_blocks(&mut self.writer, column, codec, block_bytes, &dictionary)?;
            self.end_section(SECTION_BLOCKS, number, start, 0)?;
            start = self.writer.position();
            self.writer.write(bytemuck::cast_slice(&table))?;
            return self.end_section(SECTION_BLOCK_TABLE, number, start, 0);
        }
        let lengths = write_rows(&mut self.writer, column, codec, &dictionary)?;
        self.end_section(SECTION_BLOB, number, start, 0)?;
        self.offsets(number, &lengths)
    }

    /// Writes numbers in few bits, if that is wanted and saves enough. Returns whether it did.
    fn pack(&mut self, owner: usize, numbers: &mut Numbers) -> Result<bool> {
        if self.form == Form::Plain {
            return Ok(false);
        }
        let mut start = self.writer.position();
        let Some(table) = write_packed(&mut self.writer, numbers)? else { return Ok(false) };
        self.version = SEGMENT_VERSION;
        self.end_section(SECTION_PACKED, owner, start, 0)?;
        start = self.writer.position();
        self.writer.write(bytemuck::cast_slice(&table))?;
        self.end_section(SECTION_PACKED_TABLE, owner, start, 0)?;
        Ok(true)
    }

    fn offsets(&mut self, number: usize, lengths: &[u32]) -> Result<()> {
        if with_offsets(lengths, &mut |numbers| self.pack(number, numbers))? {
            return Ok(());
        }
        let start = self.writer.position();
        let is_large = write_offsets(&mut self.writer, lengths)?;
        let tag = if is_large { SECTION_OFFSETS_LARGE } else { SECTION_OFFSETS_SMALL };
        self.end_section(tag, number, start, 0)
    }

    fn ordered_index(&mut self, number: usize, index: &Index) -> Result<()> {
        let keys = Keys::new(self.rows, self.sources, &index.columns)?;
        let sorted = radix::sort(&keys);
        keys.check()?;
        self.order_rows(number, sorted.rows.as_deref())?;
        let mut gather =
            |places: Range<u32>, out: &mut Vec<u64>| out.extend_from_slice(cut(&sorted.hints, places));
        if self.pack(number, &mut Numbers { count: keys.len(), width_bytes: 8, gather: &mut gather })? {
            return Ok(());
        }
        let start = self.writer.position();
        self.writer.write(bytemuck::cast_slice(&sorted.hints))?;
        self.end_section(SECTION_ORDER_HINTS, number, start, 0)
    }

    /// Writes the rows of an ordered index; without an order they are as they lie.
    fn order_rows(&mut self, number: usize, order: Option<&[u32]>) -> Result<()> {
        let mut gather = |places: Range<u32>, out: &mut Vec<u64>| match order {
            Some(order) => out.extend(cut(order, places).iter().map(|row| row.widen())),
            None => out.extend(places.map(Number::widen)),
        };
        let count = self.rows.len();
        if self.pack(number, &mut Numbers { count, width_bytes: 4, gather: &mut gather })? {
            return Ok(());
        }
        let start = self.writer.position();
        match order {
            Some(rows) => self.writer.write(bytemuck::cast_slice(rows))?,
            None => self.all_rows()?,
        }
        self.end_section(SECTION_ORDER_ROWS, number, start, 0)
    }

    /// Writes the numbers of all rows as they are.
    fn all_rows(&mut self) -> Result<()> {
        let mut block = Vec::new();
        for start in (0..self.rows.len()).step_by(1 << 16) {
            block.clear();
            block.extend(start..self.rows.len().min(start.saturating_add(1 << 16)));
            self.writer.write(bytemuck::cast_slice(&block))?;
        }
        Ok(())
    }

    fn hash_index(&mut self, number: usize, index: &Index) -> Result<()> {
        let keys = Keys::new(self.rows, self.sources, &index.columns)?;
        let mut start = self.writer.position();
        let writer = &mut self.writer;
        let mut sink = |buckets: &[hash::Bucket]| writer.write(bytemuck::cast_slice(buckets));
        let built = hash::build(&keys, index.unique, &mut sink)?;
        keys.check()?;
        self.end_section(SECTION_HASH_BUCKETS, number, start, built.home_count)?;
        start = self.writer.position();
        self.writer.write(bytemuck::cast_slice(&built.groups))?;
        self.end_section(SECTION_HASH_GROUPS, number, start, 0)
    }

    /// Notes a section in the directory, and leads to where the next one may begin.
    fn end_section(&mut self, tag: u32, owner: usize, start: u64, detail: u64) -> Result<()> {
        let length = self.writer.position() - start;
        self.entries.extend_from_slice(&tag.to_le_bytes());
        self.entries.extend_from_slice(&narrow(owner as u64).to_le_bytes());
        for number in [start, length, detail] {
            self.entries.extend_from_slice(&number.to_le_bytes());
        }
        self.writer.align()
    }

    fn finish(mut self, schema: &Schema) -> Result<SegmentWritten> {
        let schema_start = self.writer.position();
        let schema_bytes = schema.encode();
        self.writer.write(&schema_bytes)?;
        self.writer.align()?;
        let directory_start = self.writer.position();
        self.writer.write(&self.entries)?;
        self.writer.align()?;
        let mut footer = Vec::with_capacity(FOOTER_BYTES);
        footer.extend_from_slice(&self.version.to_le_bytes());
        footer.extend_from_slice(&self.rows.len().to_le_bytes());
        let section_count = (self.entries.len() / crate::format::ENTRY_BYTES) as u64;
        for number in [schema_start, schema_bytes.len() as u64, directory_start, section_count] {
            footer.extend_from_slice(&number.to_le_bytes());
        }
        footer.resize(FOOTER_BYTES, 0);
        self.writer.write(&footer)?;
        let file_bytes = self.writer.finish()?;
        Ok(SegmentWritten { row_count: self.rows.len(), file_bytes })
    }
}

/// Returns some of the numbers of an index.
fn cut<T>(numbers: &[T], places: Range<u32>) -> &[T] {
    &numbers[places.start as usize..places.end as usize]
}
