//! Tables, written column by column: Parquet files and Arrow IPC files.
//!
//! Input: the names and kinds of columns, then groups of rows as columns. Output: the bytes of the file, in
//! order, so that it can go to a pipe. Does not depend on what the columns mean.
//!
//! The crates `parquet` and `arrow-ipc` write the files. This crate gives them a few kinds of columns, and
//! says what is the same in all tables: compression, dictionaries, statistics. It uses the typed writers of
//! columns, as a writer that takes any type brings code for all types into the program.

mod arrow_file;
mod column;
mod parquet_file;
mod writer;

pub use column::{Column, Field, Kind};
pub use writer::{EncodedGroup, Encoder, Format, TableWriter};
