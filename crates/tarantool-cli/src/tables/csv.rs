//! CSV by RFC 4180: a line with the names, then a line for each tuple, each with CR and LF at its end.
//!
//! Nothing stands for nil and for fields that a tuple does not have, `""` for an empty text.

use super::cell::{Cell, nested};
use super::table::Table;
use super::text_file::TextFile;
use anyhow::Result;
use tarantool::SpaceTuples;
use tarantool::msgpack::Reader;
use work::Progress;

/// Writes a space into a new file.
///
/// # Errors
/// Damage; the disk.
pub(super) fn write(
    mut file: TextFile,
    table: &Table,
    rows: &SpaceTuples,
    progress: &dyn Progress,
) -> Result<()> {
    let path = file.path().to_owned();
    for (number, name) in table.columns.iter().enumerate() {
        begin(number, &mut file.buffer);
        put_text(name, &mut file.buffer);
    }
    file.buffer.extend_from_slice(b"\r\n");
    let mut json = nested();
    let mut damage = None;
    rows.each(|tuple| {
        let mut reader = Reader::new(tuple);
        let count = reader.array_len().map_err(|damage| damage.in_file(&path, 0))? as usize;
        for number in 0..table.columns.len() {
            begin(number, &mut file.buffer);
            if number >= count {
                continue;
            }
            match Cell::read(&mut reader, &mut json) {
                Ok(cell) => cell.text().iter().for_each(|text| put_text(text, &mut file.buffer)),
                Err(error) => {
                    damage.get_or_insert(error);
                    break;
                }
            }
        }
        file.buffer.extend_from_slice(b"\r\n");
        progress.add(1, 0);
        progress.check()?;
        Ok(file.end_row()?)
    })?;
    match damage {
        Some(damage) => Err(damage),
        None => file.finish(),
    }
}

fn begin(number: usize, out: &mut Vec<u8>) {
    if number > 0 {
        out.push(b',');
    }
}

/// Appends text, in quotes where it needs them.
fn put_text(text: &str, out: &mut Vec<u8>) {
    let is_special = |byte: u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    let has_blank = text.starts_with(' ') || text.ends_with(' ');
    if !text.is_empty() && !has_blank && !text.bytes().any(is_special) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}
