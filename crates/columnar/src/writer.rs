//! A table that is written group by group.
//!
//! Input: fields, then groups of rows, which any thread encodes. Output: bytes, appended in the order of the
//! file. Keeps only where each group lies.

use crate::arrow_file::{self, ArrowFile};
use crate::column::{Column, Field};
use crate::parquet_file::{self, Chunk, Chunks};
use arrow_ipc::writer::EncodedData;
use parquet::file::writer::SerializedFileWriter;
use std::mem;
use std::sync::Arc;

/// Which file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet, compressed with zstd.
    Parquet,
    /// An Arrow IPC file, also called Feather 2, not compressed, so that programs can map it.
    Arrow,
}

/// Encodes groups of rows of a table. Any number of threads use it at the same time.
#[derive(Clone, Debug)]
pub struct Encoder(Settings);

/// What is the same in all groups.
#[derive(Clone, Debug)]
enum Settings {
    Parquet(Arc<Chunks>),
    Arrow,
}

/// A group of rows, encoded.
pub struct EncodedGroup(Content);

enum Content {
    Parquet(Vec<Chunk>),
    Arrow(EncodedData),
}

impl Encoder {
    /// Encodes a group of rows: a column for each field, all of the same length, which is not 0. Uses all
    /// idle processors. Leaves the columns without rows, and keeps their memory.
    ///
    /// # Panics
    /// If there are no rows, or the columns do not match the fields or do not have the same length.
    pub fn encode(&self, columns: &mut [Column]) -> EncodedGroup {
        let row_count = columns.first().map_or(0, Column::row_count);
        assert!(row_count > 0 && columns.iter().all(|column| column.row_count == row_count), "whole rows");
        let content = match &self.0 {
            Settings::Parquet(chunks) => Content::Parquet(chunks.encode(columns)),
            Settings::Arrow => Content::Arrow(arrow_file::batch(columns)),
        };
        columns.iter_mut().for_each(Column::clear);
        EncodedGroup(content)
    }
}

/// Writes a table.
pub struct TableWriter {
    encoder: Encoder,
    file: File,
}

enum File {
    /// Between two calls it owns no bytes, as the caller has them.
    Parquet(Box<SerializedFileWriter<Vec<u8>>>),
    Arrow(ArrowFile),
}

/// Why writing cannot fail.
const MEMORY: &str = "memory takes what is written";

impl TableWriter {
    /// Begins a table, and appends the beginning of the file.
    pub fn begin(format: Format, fields: &[Field], out: &mut Vec<u8>) -> TableWriter {
        match format {
            Format::Parquet => {
                let chunks = Chunks::new(fields);
                let memory = mem::take(out);
                let file = SerializedFileWriter::new(memory, chunks.schema(), chunks.properties());
                let mut file = Box::new(file.expect(MEMORY));
                hand_back(&mut file, out);
                let encoder = Encoder(Settings::Parquet(Arc::new(chunks)));
                TableWriter { encoder, file: File::Parquet(file) }
            }
            Format::Arrow => {
                let file = ArrowFile::begin(fields, out).expect(MEMORY);
                TableWriter { encoder: Encoder(Settings::Arrow), file: File::Arrow(file) }
            }
        }
    }

    /// Returns what encodes its groups.
    pub fn encoder(&self) -> Encoder {
        self.encoder.clone()
    }

    /// Appends a group of rows, which its encoder has encoded.
    ///
    /// # Panics
    /// If the encoder is that of another table with other fields or another format.
    pub fn group(&mut self, group: EncodedGroup, out: &mut Vec<u8>) {
        match (&mut self.file, group.0) {
            (File::Parquet(file), Content::Parquet(chunks)) => {
                mem::swap(file.inner_mut(), out);
                let group = file.next_row_group().expect("the group before is complete");
                parquet_file::append(chunks, group).expect(MEMORY);
                hand_back(file, out);
            }
            (File::Arrow(file), Content::Arrow(batch)) => file.append(batch, out).expect(MEMORY),
            _ => panic!("a group of another format"),
        }
    }

    /// Appends the end of the file.
    pub fn finish(self, out: &mut Vec<u8>) {
        match self.file {
            File::Parquet(mut file) => {
                mem::swap(file.inner_mut(), out);
                file.finish().expect(MEMORY);
                hand_back(&mut file, out);
            }
            File::Arrow(file) => file.finish(out),
        }
    }
}

/// Gives the caller's memory back, with what was appended.
fn hand_back(file: &mut SerializedFileWriter<Vec<u8>>, out: &mut Vec<u8>) {
    file.flush().expect(MEMORY);
    mem::swap(file.inner_mut(), out);
}
