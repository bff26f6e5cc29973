//! Apache Parquet: groups of rows, then a description of all of them.
//!
//! Input: encoded columns. Output: bytes of the file. What readers need to know stands at the end, so the
//! file is written from its beginning to its end. <https://parquet.apache.org/docs/file-format/>

mod chunk;
mod hybrid;
mod thrift;

use crate::column::{Field, Kind};
pub(crate) use chunk::{Chunk, Encoder, chunk};
use thrift::Fields;

/// Begins and ends a file.
pub(crate) const MAGIC: &[u8; 4] = b"PAR1";

/// The program as the file names it.
const CREATED_BY: &str = concat!("pneu version ", env!("CARGO_PKG_VERSION"));

/// Numbers of Parquet's enumerations.
const INT64: i32 = 2;
const BYTE_ARRAY: i32 = 6;
const REQUIRED: i32 = 0;
const OPTIONAL: i32 = 1;
const REPEATED: i32 = 2;
const CONVERTED_UTF8: i32 = 0;
const CONVERTED_LIST: i32 = 3;
const CONVERTED_TIMESTAMP_MILLIS: i32 = 9;
const ZSTD: i32 = 6;

/// A group of rows, as the end of the file describes it: its columns without their pages.
#[derive(Debug)]
pub(crate) struct Group {
    row_count: usize,
    /// Where it begins in the file.
    offset: u64,
    columns: Vec<ColumnInGroup>,
}

/// A column of a group.
#[derive(Debug)]
struct ColumnInGroup {
    chunk: Chunk,
    /// Where its pages begin in the file, and how long they are.
    offset: u64,
    size_bytes: usize,
}

/// Appends the pages of a group, which begins at this offset of the file.
pub(crate) fn group(chunks: Vec<Chunk>, (row_count, offset): (usize, u64), out: &mut Vec<u8>) -> Group {
    let before = out.len();
    let mut columns = Vec::with_capacity(chunks.len());
    for mut chunk in chunks {
        let pages = std::mem::take(&mut chunk.pages);
        let offset = offset + (out.len() - before) as u64;
        out.extend_from_slice(&pages);
        columns.push(ColumnInGroup { chunk, offset, size_bytes: pages.len() });
    }
    Group { row_count, offset, columns }
}

/// Appends the description of the groups, and the end of the file.
pub(crate) fn end(fields: &[Field], groups: &[Group], out: &mut Vec<u8>) {
    let row_count = groups.iter().map(|group| group.row_count).sum();
    let root = Fields::default().bytes(4, b"schema").i32(5, narrow(fields.len()));
    let schema = std::iter::once(root).chain(fields.iter().flat_map(|field| elements(*field))).collect();
    let orders = fields.iter().map(|_| Fields::default().structure(1, Fields::default())).collect();
    let end = Fields::default()
        .i32(1, 1)
        .structures(2, schema)
        .i64(3, wide(row_count))
        .structures(4, groups.iter().map(|group| described(group, fields)).collect())
        .bytes(6, CREATED_BY.as_bytes())
        .structures(7, orders)
        .end();
    out.extend_from_slice(&end);
    out.extend_from_slice(&crate::column::length(end.len()).to_le_bytes());
    out.extend_from_slice(MAGIC);
}

/// Returns the elements of the schema for a column: more than one for a list.
fn elements(field: Field) -> Vec<Fields> {
    let text = |repetition, name: &str| {
        let string = Fields::default().structure(1, Fields::default());
        Fields::default()
            .i32(1, BYTE_ARRAY)
            .i32(3, repetition)
            .bytes(4, name.as_bytes())
            .i32(6, CONVERTED_UTF8)
            .structure(10, string)
    };
    let name = field.name.as_bytes();
    match field.kind {
        Kind::Text => vec![text(REQUIRED, field.name)],
        Kind::Number => vec![Fields::default().i32(1, INT64).i32(3, REQUIRED).bytes(4, name)],
        Kind::Time => {
            let millis = Fields::default().structure(1, Fields::default());
            let timestamp =
                Fields::default().structure(8, Fields::default().bool(1, true).structure(2, millis));
            let number = Fields::default().i32(1, INT64).i32(3, OPTIONAL).bytes(4, name);
            vec![number.i32(6, CONVERTED_TIMESTAMP_MILLIS).structure(10, timestamp)]
        }
        Kind::Texts => {
            let list = Fields::default().structure(3, Fields::default());
            let outer = Fields::default().i32(3, REQUIRED).bytes(4, name).i32(5, 1);
            let repeated = Fields::default().i32(3, REPEATED).bytes(4, b"list").i32(5, 1);
            vec![outer.i32(6, CONVERTED_LIST).structure(10, list), repeated, text(REQUIRED, "element")]
        }
    }
}

fn described(group: &Group, fields: &[Field]) -> Fields {
    let sum = |of: fn(&ColumnInGroup) -> usize| wide(group.columns.iter().map(of).sum());
    let columns = group.columns.iter().zip(fields).map(|(column, field)| described_column(column, *field));
    Fields::default()
        .structures(1, columns.collect())
        .i64(2, sum(|column| column.chunk.uncompressed_bytes))
        .i64(3, wide(group.row_count))
        .i64(5, group.offset.cast_signed())
        .i64(6, sum(|column| column.size_bytes))
}

fn described_column(column: &ColumnInGroup, field: Field) -> Fields {
    let ColumnInGroup { chunk, offset, size_bytes } = column;
    let physical = if matches!(field.kind, Kind::Number | Kind::Time) { INT64 } else { BYTE_ARRAY };
    let path: &[&str] =
        if field.kind == Kind::Texts { &[field.name, "list", "element"] } else { &[field.name] };
    let offset = offset.cast_signed();
    let mut data = Fields::default()
        .i32(1, physical)
        .i32s(2, &chunk.encodings)
        .texts(3, path)
        .i32(4, ZSTD)
        .i64(5, wide(chunk.value_count))
        .i64(6, wide(chunk.uncompressed_bytes))
        .i64(7, wide(*size_bytes))
        .i64(9, offset + wide(chunk.dictionary_bytes));
    if chunk.dictionary_bytes > 0 {
        data = data.i64(11, offset);
    }
    if physical == INT64 {
        // Readers skip groups whose numbers are out of the wanted range.
        let mut statistics = Fields::default().i64(3, wide(chunk.null_count));
        if let Some((lowest, highest)) = chunk.range {
            statistics = statistics.bytes(5, &highest.to_le_bytes()).bytes(6, &lowest.to_le_bytes());
        }
        data = data.structure(12, statistics);
    }
    Fields::default().i64(2, 0).structure(3, data)
}

fn wide(count: usize) -> i64 {
    i64::try_from(count).expect("no file has 2^63 bytes")
}

fn narrow(count: usize) -> i32 {
    i32::try_from(count).expect("a table has few columns")
}
