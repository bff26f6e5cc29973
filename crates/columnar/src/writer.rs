//! A table that is written group by group.
//!
//! Input: fields, then groups of rows. Output: bytes, appended in the order of the file. Keeps only where
//! each group lies. Encodes the columns of a group at the same time.

use crate::arrow::{self, Block};
use crate::column::{Column, Field};
use crate::parquet::{self, Group};
use rayon::prelude::*;

/// Which file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet, compressed with zstd.
    Parquet,
    /// An Arrow IPC file, also called Feather 2, not compressed, so that programs can map it.
    Arrow,
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

    /// Appends a group of rows: a column for each field, all of the same length, which is not 0.
    ///
    /// # Panics
    /// If the columns do not match the fields.
    pub fn group(&mut self, columns: &[Column], out: &mut Vec<u8>) {
        let row_count = columns.first().map_or(0, Column::row_count);
        assert!(row_count > 0 && columns.len() == self.fields.len(), "a group has rows, and all columns");
        for (column, field) in columns.iter().zip(&self.fields) {
            assert!(column.kind == field.kind && column.row_count == row_count, "column {}", field.name);
        }
        let before = out.len();
        match &mut self.groups {
            Groups::Parquet(groups) => {
                let chunks: Vec<_> = columns.par_iter().map(parquet::chunk).collect();
                groups.push(parquet::group(chunks, (row_count, self.size_bytes), out));
            }
            Groups::Arrow(blocks) => blocks.push(arrow::batch(columns, self.size_bytes, out)),
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
