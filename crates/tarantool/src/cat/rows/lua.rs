//! A row as a call in Lua, as `tarantoolctl cat` of Tarantool 2.6 prints it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::in_file::RowInFile;
use super::names::{kind_in_26, kind_name};
use crate::error::Damage;
use crate::file::row::RowKind;
use crate::msgpack::{Class, Reader};
use crate::text::lua::put_value;
use crate::text::yaml::Growth;
use std::io::Write;

/// Appends a row with a line feed. Rows without a space are left out there.
pub(super) fn put(in_file: &RowInFile, out: &mut Vec<u8>) -> Result<(), Damage> {
    let (row, body) = (&in_file.row, &in_file.row.body);
    let Some(space) = body.space.filter(|_| row.kind != RowKind::Nop) else { return Ok(()) };
    let name = kind_in_26(row.kind).map(str::to_ascii_lowercase);
    let name = name.or_else(|| kind_name(row.kind).map(str::to_owned));
    let name = name.unwrap_or_else(|| row.kind.number().to_string());
    write!(out, "box.space[{space}]:{name}(").expect("a vector takes all bytes");
    let values: [Option<&[u8]>; 2] = match row.kind {
        RowKind::Insert | RowKind::Replace => [body.tuple, None],
        RowKind::Delete => [body.key, None],
        RowKind::Update => [body.key, body.tuple],
        RowKind::Upsert => [body.tuple, body.ops],
        _ => [None, None],
    };
    for (number, value) in values.into_iter().flatten().enumerate() {
        if number > 0 {
            out.extend_from_slice(b", ");
        }
        let is_ops = row.kind == RowKind::Upsert && number == 1;
        let is_tuple = !is_ops && Reader::new(value).peek()? == Class::Array;
        put_value(value, if is_tuple { Growth::Tuple } else { Growth::Body }, out)?;
    }
    out.extend_from_slice(b")\n");
    Ok(())
}
