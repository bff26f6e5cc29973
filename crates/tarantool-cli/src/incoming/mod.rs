//! Files of other programs as rows for a space: JSON Lines, CSV, Parquet.
//!
//! Input: files. Output: a tuple for each row, one at a time. Errors name the file and the line or row. Does
//! not know what becomes of the tuples.

mod csv;
mod csv_record;
mod jsonl;
mod lines;
mod parquet;
mod rows;

use anyhow::{Result, bail};
use clap::ValueEnum;
use rows::{Rows, TakeTuple, is_standard_input};
use std::path::{Path, PathBuf};
use tarantool::import::TupleMaker;
use work::Progress;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// JSON Lines: an object with the names of fields on each line, or an array
    Jsonl,
    /// CSV, with the names of fields on the first line
    Csv,
    /// Parquet
    Parquet,
}

/// A file with rows.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    /// Its path; `-` is standard input.
    pub(crate) path: PathBuf,
    pub(crate) format: FileFormat,
}

impl Incoming {
    /// Returns the file of a path. Without a format, the ending of the name tells it.
    ///
    /// # Errors
    /// The name does not tell the format; it is Parquet from standard input.
    pub(crate) fn new(path: &Path, format: Option<FileFormat>) -> Result<Incoming> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let of_name = match ending.to_ascii_lowercase().as_str() {
            "jsonl" | "ndjson" | "json" => Some(FileFormat::Jsonl),
            "csv" => Some(FileFormat::Csv),
            "parquet" => Some(FileFormat::Parquet),
            _ => None,
        };
        let Some(format) = format.or(of_name) else {
            bail!("the name {} does not tell its format: use --format", path.display());
        };
        if format == FileFormat::Parquet && is_standard_input(path) {
            bail!("Parquet has its description at its end: it needs a file, not standard input");
        }
        Ok(Incoming { path: path.to_owned(), format })
    }

    /// Calls `take` with the tuple of each row. `progress` counts rows.
    ///
    /// # Errors
    /// The file cannot be read; a row does not fit; what `take` says.
    pub(crate) fn each(
        &self,
        maker: &mut TupleMaker,
        progress: &dyn Progress,
        take: &mut TakeTuple<'_>,
    ) -> tarantool::Result<()> {
        let rows = Rows { path: &self.path, progress };
        match self.format {
            FileFormat::Jsonl => jsonl::each(&rows, maker, take),
            FileFormat::Csv => csv::each(&rows, maker, take),
            FileFormat::Parquet => parquet::each(&rows, maker, take),
        }
    }
}
