//! A table that is written group by group.
//!
//! Input: fields, then groups of rows, which any thread encodes. Output: bytes, appended in the order of the
//! file. Keeps only where each group lies.

use crate::arrow_file::Batches;
use crate::column::{Column, Field};
use crate::parquet_file::{self, Chunk, Chunks};
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
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
    Arrow(Arc<Batches>),
}

/// A group of rows, encoded.
#[derive(Debug)]
pub struct EncodedGroup(Content);

#[derive(Debug)]
enum Content {
    Parquet(Vec<Chunk>),
    Arrow(RecordBatch),
}

impl Encoder {
    /// Encodes a group of rows: a column for each field, all of the same length, which is not 0. Uses all
    /// idle processors. Leaves the columns without rows, and keeps what memory the group does not take.
    ///
    /// # Panics
    /// If there are no rows, or the columns do not match the fields or do not have the same length.
    pub fn encode(&self, columns: &mut [Column]) -> EncodedGroup {
        let row_count = columns.first().map_or(0, Column::row_count);
        assert!(row_count > 0 && columns.iter().all(|column| column.row_count == row_count), "whole rows");
        let content = match &self.0 {
            Settings::Parquet(chunks) => Content::Parquet(chunks.encode(columns)),
            Settings::Arrow(batches) => Content::Arrow(batches.batch(columns)),
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

/// The library's writers. Between two calls they own no bytes, as the caller has them.
enum File {
    Parquet(SerializedFileWriter<Vec<u8>>),
    Arrow(FileWriter<Vec<u8>>),
}

/// Why writing cannot fail.
const MEMORY: &str = "memory takes what is written";

impl TableWriter {
    /// Begins a table, and appends the beginning of the file.
    pub fn begin(format: Format, fields: &[Field], out: &mut Vec<u8>) -> TableWriter {
        let memory = mem::take(out);
        let (settings, file) = match format {
            Format::Parquet => {
                let chunks = Chunks::new(fields);
                let file = SerializedFileWriter::new(memory, chunks.schema(), chunks.properties());
                (Settings::Parquet(Arc::new(chunks)), File::Parquet(file.expect(MEMORY)))
            }
            Format::Arrow => {
                let batches = Batches::new(fields);
                let file = FileWriter::try_new(memory, batches.schema());
                (Settings::Arrow(Arc::new(batches)), File::Arrow(file.expect(MEMORY)))
            }
        };
        let mut writer = TableWriter { encoder: Encoder(settings), file };
        writer.hand_back(out);
        writer
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
        mem::swap(self.memory(), out);
        match (&mut self.file, group.0) {
            (File::Parquet(file), Content::Parquet(chunks)) => {
                let group = file.next_row_group().expect("the group before is complete");
                parquet_file::append(chunks, group).expect(MEMORY);
            }
            (File::Arrow(file), Content::Arrow(batch)) => file.write(&batch).expect(MEMORY),
            _ => panic!("a group of another format"),
        }
        self.hand_back(out);
    }

    /// Appends the end of the file.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        mem::swap(self.memory(), out);
        match &mut self.file {
            File::Parquet(file) => drop(file.finish().expect(MEMORY)),
            File::Arrow(file) => file.finish().expect(MEMORY),
        }
        self.hand_back(out);
    }

    /// Gives the caller's memory back, with what was appended.
    fn hand_back(&mut self, out: &mut Vec<u8>) {
        if let File::Parquet(file) = &mut self.file {
            file.flush().expect(MEMORY);
        }
        mem::swap(self.memory(), out);
    }

    fn memory(&mut self) -> &mut Vec<u8> {
        match &mut self.file {
            File::Parquet(file) => file.inner_mut(),
            File::Arrow(file) => file.get_mut(),
        }
    }
}
