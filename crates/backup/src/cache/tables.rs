//! The tables of the cache: their schemas, and how rows are written. docs/FORMAT.md describes each column.

use crate::cache::columns::{chunks, compressed, directories, nodes};
use crate::cache::file::FileRow;
use crate::error::Result;
use crate::pieces::list::PieceList;
use restic::Id;
use std::sync::Arc;
use store::{Column, Kind, Rows, Schema, Snapshot, Value};

/// Name of the attachment that says which version the tables have.
pub(super) const ATTACHMENT: &str = "backup";
/// First bytes of the attachment.
const MAGIC: [u8; 8] = *b"PNEUBACK";
/// Version of the tables. Tables of another version are rebuilt.
const VERSION: u32 = 1;

/// SHA-256 of nothing.
pub(super) const EMPTY: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27,
    0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// Returns the schemas of all tables: directories, nodes, chunks, compressed.
pub(super) fn schemas() -> [Schema; 4] {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let table =
        |name: &str, columns, primary| Schema { name: name.into(), columns, primary, indexes: vec![] };
    [
        table(
            directories::TABLE,
            vec![column("path", Kind::Bytes), column("number", Kind::U32), column("tree", Kind::Id)],
            vec![0],
        ),
        table(
            nodes::TABLE,
            vec![
                column("directory", Kind::U32),
                column("name", Kind::Bytes),
                column("inode", Kind::U64),
                column("size_bytes", Kind::U64),
                column("mtime_ns", Kind::I64),
                column("ctime_ns", Kind::I64),
                column("mode", Kind::U32),
                column("uid", Kind::U32),
                column("gid", Kind::U32),
                column("content", Kind::Id),
            ],
            vec![0, 1],
        ),
        table(chunks::TABLE, vec![column("content", Kind::Id), column("pieces", Kind::Bytes)], vec![0]),
        table(compressed::TABLE, vec![column("message", Kind::Id), column("content", Kind::Id)], vec![0]),
    ]
}

/// Returns the attachment, with the number that the next directory gets.
pub(super) fn attachment(next_directory: u32) -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes(), &next_directory.to_le_bytes()].concat()
}

/// Returns the number that the next directory gets; `None` if the tables are of another version, or never
/// written to.
pub(super) fn next_directory(snapshot: &Snapshot) -> Option<u32> {
    let rest = snapshot.attachment(ATTACHMENT)?.strip_prefix(&MAGIC)?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let next = rest.first_chunk::<4>().filter(|_| rest.len() == 4)?;
    (u32::from_le_bytes(*version) == VERSION).then(|| u32::from_le_bytes(*next))
}

/// Returns an error for tables of another version.
pub(super) fn check(snapshot: &Snapshot) -> Result<()> {
    if next_directory(snapshot).is_none() {
        return Err(store::Error::Missing { what: "attachment", name: ATTACHMENT.to_owned() }.into());
    }
    Ok(snapshot.expect_schemas(&schemas())?)
}

/// Appends a file of directory `number` to rows of `nodes`.
pub(super) fn push_node(rows: &mut Rows, number: u32, node: &FileRow) -> Result<()> {
    Ok(rows.push(&[
        Value::U32(number),
        Value::Bytes(&node.name),
        Value::U64(node.row.inode),
        Value::U64(node.row.size_bytes),
        Value::I64(node.row.mtime_ns),
        Value::I64(node.row.ctime_ns),
        Value::U32(node.mode),
        Value::U32(node.uid),
        Value::U32(node.gid),
        Value::Id(&node.row.content),
    ])?)
}

/// Returns empty rows of each table.
pub(super) fn empty() -> [Rows; 4] {
    schemas().map(|schema| Rows::new(&Arc::new(schema)))
}

/// Returns a list of pieces as rows of `chunks` and `compressed`.
///
/// # Errors
/// A row does not fit.
pub(super) fn piece_rows(list: &PieceList) -> Result<[Rows; 2]> {
    let [_, _, mut chunks, mut compressed] = empty();
    for (message, pieces) in &list.0 {
        push_pieces((&mut chunks, &mut compressed), *message, pieces)?;
    }
    Ok([chunks, compressed])
}

/// Appends the row of a message. A list does not tell whether a message in several pieces is compressed, so
/// the message's SHA-256 is used for the content.
pub(super) fn push_pieces(
    (chunks, compressed): (&mut Rows, &mut Rows),
    message: [u8; 32],
    pieces: &[Id],
) -> Result<()> {
    match pieces {
        [piece] => compressed.push(&[Value::Id(&message), Value::Id(&piece.0)])?,
        many => {
            let bytes: Vec<u8> = many.iter().flat_map(|piece| piece.0).collect();
            chunks.push(&[Value::Id(&message), Value::Bytes(&bytes)])?;
        }
    }
    Ok(())
}

/// Splits concatenated ids.
pub(super) fn ids(bytes: &[u8]) -> Vec<Id> {
    bytes.as_chunks::<32>().0.iter().map(|id| Id(*id)).collect()
}
