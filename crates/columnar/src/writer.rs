//! A table that is written group by group.
//!
//! Input: fields, then groups of rows, which any thread encodes. Output: bytes, appended in the order of the
//! file. Keeps only where each group lies.

use crate::arrow::{self, Batch, Block};
use crate::column::{Column, Field, Kind};
use crate::parquet::{self, Chunk, Encoder, Group};
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Which file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet, compressed with zstd.
    Parquet,
    /// An Arrow IPC file, also called Feather 2, not compressed, so that programs can map it.
    Arrow,
}

/// What encodes columns: compressors and memory, which groups use one after the other. Threads share it.
#[derive(Default)]
pub struct Encoders(Mutex<Vec<Encoder>>);

impl Encoders {
    fn encode(&self, column: &Column) -> Chunk {
        let mut encoder = self.spare().pop().unwrap_or_default();
        let chunk = parquet::chunk(&mut encoder, column);
        self.spare().push(encoder);
        chunk
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Encoder>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A group of rows, encoded.
#[derive(Debug)]
pub struct EncodedGroup {
    kinds: Vec<Kind>,
    row_count: usize,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Parquet(Vec<Chunk>),
    Arrow(Batch),
}

impl EncodedGroup {
    /// Encodes a group of rows: columns of the same length, which is not 0. Uses all idle processors.
    ///
    /// # Panics
    /// If there are no rows, or the columns do not have the same length.
    pub fn new(encoders: &Encoders, format: Format, columns: &[Column]) -> EncodedGroup {
        let row_count = columns.first().map_or(0, Column::row_count);
        assert!(row_count > 0 && columns.iter().all(|column| column.row_count == row_count), "whole rows");
        let content = match format {
            Format::Parquet => {
                Content::Parquet(columns.par_iter().map(|column| encoders.encode(column)).collect())
            }
            Format::Arrow => Content::Arrow(arrow::batch(columns)),
        };
        EncodedGroup { kinds: columns.iter().map(|column| column.kind).collect(), row_count, content }
    }
}

/// Writes a table.
#[derive(Debug)]
pub struct TableWriter {
    fields: Vec<Field>,
    /// How long the file is so far.
    size_bytes: u64,
    groups: Groups,
}

/// Where the groups lie.
#[derive(Debug)]
enum Groups {
    Parquet(Vec<Group>),
    Arrow(Vec<Block>),
}

impl TableWriter {
    /// Begins a table, and appends the beginning of the file.
    pub fn begin(format: Format, fields: &[Field], out: &mut Vec<u8>) -> TableWriter {
        let before = out.len();
        let groups = match format {
            Format::Parquet => {
                out.extend_from_slice(parquet::MAGIC);
                Groups::Parquet(Vec::new())
            }
            Format::Arrow => {
                arrow::begin(fields, out);
                Groups::Arrow(Vec::new())
            }
        };
        TableWriter { fields: fields.to_vec(), size_bytes: added(out, before), groups }
    }

    /// Appends a group of rows of the same format, with a column for each field.
    ///
    /// # Panics
    /// If the columns do not match the fields, or the format is another one.
    pub fn group(&mut self, group: EncodedGroup, out: &mut Vec<u8>) {
        let EncodedGroup { kinds, row_count, content } = group;
        assert!(kinds.iter().eq(self.fields.iter().map(|field| &field.kind)), "the columns {kinds:?}");
        let before = out.len();
        match (&mut self.groups, content) {
            (Groups::Parquet(groups), Content::Parquet(chunks)) => {
                groups.push(parquet::group(chunks, (row_count, self.size_bytes), out));
            }
            (Groups::Arrow(blocks), Content::Arrow(batch)) => {
                blocks.push(arrow::append(batch, self.size_bytes, out));
            }
            _ => panic!("a group of another format"),
        }
        self.size_bytes += added(out, before);
    }

    /// Appends the end of the file.
    pub fn finish(self, out: &mut Vec<u8>) {
        match &self.groups {
            Groups::Parquet(groups) => parquet::end(&self.fields, groups, out),
            Groups::Arrow(blocks) => arrow::end(&self.fields, blocks, out),
        }
    }
}

fn added(out: &[u8], before: usize) -> u64 {
    (out.len() - before) as u64
}
