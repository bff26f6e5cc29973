//! A row as YAML, as `tarantoolctl cat` of Tarantool 2.6 prints it.
//!
//! A row is a table of two tables there, which are filled key by key: the order of keys is that of Lua.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::in_file::RowInFile;
use super::names::{body_key_in_26, kind_in_26};
use crate::error::Damage;
use crate::file::row::Row;
use crate::msgpack::{Class, Reader, put_boolean, put_double, put_int, put_str, put_uint};
use crate::text::yaml::{Growth, Key, Part, put_record};

/// Keys of a body whose arrays are tuples.
const TUPLES: [u64; 2] = [0x20, 0x21];

/// Appends a row with a line feed.
pub(super) fn put(in_file: &RowInFile, out: &mut Vec<u8>) -> Result<(), Damage> {
    let row = &in_file.row;
    let mut values = Vec::new();
    let header = header(row, &mut values);
    let header: Vec<Part> = header
        .iter()
        .map(|(name, range)| Part {
            key: Key::Text(name.as_bytes()),
            value: values.get(range.clone()).unwrap_or_default(),
            growth: Growth::Body,
        })
        .collect();
    let body = body(row)?;
    put_record(&header, body.as_deref(), out)
}

/// Returns the pairs of the header in the order in which they are set, each with the bytes of its value.
fn header(row: &Row, values: &mut Vec<u8>) -> Vec<(&'static str, std::ops::Range<usize>)> {
    let mut pairs = Vec::new();
    let mut add = |name: &'static str, put: &dyn Fn(&mut Vec<u8>)| {
        let begin = values.len();
        put(values);
        pairs.push((name, begin..values.len()));
    };
    add("type", &|out| match kind_in_26(row.kind) {
        Some(name) => put_str(out, name.as_bytes()),
        None => put_uint(out, row.kind.number()),
    });
    if row.lsn != 0 {
        add("lsn", &|out| put_int(out, row.lsn));
    }
    if row.replica != 0 {
        add("replica_id", &|out| put_uint(out, u64::from(row.replica)));
    }
    if row.group != 0 {
        add("group_id", &|out| put_uint(out, row.group));
    }
    if row.timestamp != 0.0 {
        add("timestamp", &|out| put_double(out, row.timestamp));
    }
    if row.tsn != row.lsn || !row.is_commit {
        add("tsn", &|out| put_int(out, row.tsn));
    }
    if row.is_commit && row.tsn != row.lsn {
        add("commit", &|out| put_boolean(out, true));
    }
    pairs
}

/// Returns the pairs of the body in the order in which they are set.
fn body<'a>(row: &Row<'a>) -> Result<Option<Vec<Part<'a>>>, Damage> {
    if row.body.bytes.is_empty() {
        return Ok(None);
    }
    let mut reader = Reader::new(row.body.bytes);
    let mut parts = Vec::new();
    for _ in 0..reader.map_len()? {
        let key = if reader.peek()? == Class::Unsigned { Some(reader.uint()?) } else { None };
        let Some(number) = key else {
            reader.skip_many(2)?;
            continue;
        };
        let key = match body_key_in_26(row.kind, number) {
            Some(name) => Key::Text(name.as_bytes()),
            None => Key::Number(number as f64),
        };
        let is_tuple = TUPLES.contains(&number) && reader.peek()? == Class::Array;
        let growth = if is_tuple { Growth::Tuple } else { Growth::Body };
        parts.push(Part { key, value: reader.skip()?, growth });
    }
    Ok(Some(parts))
}
