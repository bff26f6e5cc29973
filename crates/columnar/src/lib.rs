//! Tables, written column by column: Parquet files and Arrow IPC files.
//!
//! Input: the names and kinds of columns, then groups of rows as columns. Output: the bytes of the file, in
//! order, so that it can go to a pipe. Does not depend on what the columns mean.
//!
//! The crates `parquet` and `arrow-ipc` do this, too, and would make the program 1.2 MB larger. This crate
//! writes four kinds of columns and reads nothing. Tests let other programs read what it writes.

mod arrow;
mod column;
mod parquet;
mod writer;

pub use column::{Column, Field, Kind};
pub use writer::{EncodedGroup, Encoders, Format, TableWriter};
