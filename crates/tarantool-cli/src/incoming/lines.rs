//! Opens a file, or standard input, and gives its lines with their numbers.

use super::rows::{Rows, is_standard_input};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, stdin};

/// The longest line or record, in bytes: more is no row.
pub(super) const LINE_BYTES_MAX: usize = 64 << 20;
const BUFFER_BYTES: usize = 1 << 20;

/// Opens what a path names.
///
/// # Errors
/// It cannot be opened.
pub(super) fn open(rows: &Rows) -> tarantool::Result<Box<dyn BufRead>> {
    if is_standard_input(rows.path) {
        return Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, stdin())));
    }
    let file = File::open(rows.path).map_err(|error| rows.unreadable(error))?;
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, file)))
}

/// Reads the next line, without its end. Returns whether there is one.
///
/// # Errors
/// The file cannot be read, or the line is too long.
pub(super) fn next(
    rows: &Rows,
    input: &mut dyn BufRead,
    number: u64,
    line: &mut Vec<u8>,
) -> tarantool::Result<bool> {
    line.clear();
    let count = Read::take(input, LINE_BYTES_MAX as u64)
        .read_until(b'\n', line)
        .map_err(|error| rows.unreadable(error))?;
    if count == LINE_BYTES_MAX {
        return Err(rows.error(&format!("line {number}"), "it is longer than 64 MiB"));
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(count > 0)
}
