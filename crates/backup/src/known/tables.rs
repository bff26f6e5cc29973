//! The tables of what is known of earlier backups: their schemas, and the names of their columns.
//!
//! docs/FORMAT.md describes each column. Must not know how rows come to be.

use crate::error::Result;
use crate::known::KnownNode;
use std::sync::Arc;
use store::{Column, Kind, Rows, Schema, Snapshot, Value};

/// Directories of the last snapshot.
pub(super) mod directories {
    /// The table's name.
    pub(crate) const TABLE: &str = "directories";
    /// The absolute path, without a slash behind (bytes, primary key).
    pub(crate) const PATH: usize = 0;
    /// Its number (u32).
    pub(crate) const NUMBER: usize = 1;
    /// Its tree in the last snapshot (id).
    pub(crate) const TREE: usize = 2;
}

/// Files of the last snapshot.
pub(super) mod nodes {
    /// The table's name.
    pub(crate) const TABLE: &str = "nodes";
    /// The name, exact bytes (second of the primary key, behind the directory's number).
    pub(crate) const NAME: usize = 1;
    /// Its inode (u64).
    pub(crate) const INODE: usize = 2;
    /// Its size in bytes (u64).
    pub(crate) const SIZE: usize = 3;
    /// Its time of modification (i64).
    pub(crate) const MTIME: usize = 4;
    /// Its time of status change (i64).
    pub(crate) const CTIME: usize = 5;
    /// Its type and permissions (u32).
    pub(crate) const MODE: usize = 6;
    /// Its owner (u32).
    pub(crate) const UID: usize = 7;
    /// Its group (u32).
    pub(crate) const GID: usize = 8;
    /// SHA-256 of its content (id).
    pub(crate) const CONTENT: usize = 9;
}

/// Contents that the archive cut into pieces.
pub(super) mod chunks {
    /// The table's name.
    pub(crate) const TABLE: &str = "chunks";
    /// The SHA-256 of the whole (id, primary key).
    pub(crate) const CONTENT: usize = 0;
    /// The names of the pieces, one behind the other (bytes).
    pub(crate) const PIECES: usize = 1;
}

/// Messages whose file is compressed.
pub(super) mod compressed {
    /// The table's name.
    pub(crate) const TABLE: &str = "compressed";
    /// SHA-256 of the message (id, primary key).
    pub(crate) const MESSAGE: usize = 0;
    /// SHA-256 of the file's content (id).
    pub(crate) const CONTENT: usize = 1;
}

/// Name of the attachment that says which version the tables have.
pub(super) const ATTACHMENT: &str = "backup";
/// First bytes of the attachment.
const MAGIC: [u8; 8] = *b"PNEUBACK";
/// Version of the tables. Tables of another version are made again.
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

/// Returns the number that the next directory gets; `None` if the tables are of another version, or never written to.
pub(super) fn next_directory(snapshot: &Snapshot) -> Option<u32> {
    let rest = snapshot.attachment(ATTACHMENT)?.strip_prefix(&MAGIC)?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let next = rest.first_chunk::<4>().filter(|_| rest.len() == 4)?;
    (u32::from_le_bytes(*version) == VERSION).then(|| u32::from_le_bytes(*next))
}

/// Refuses tables that are not of this version.
pub(super) fn check(snapshot: &Snapshot) -> Result<()> {
    if next_directory(snapshot).is_none() {
        return Err(store::Error::Missing { what: "attachment", name: ATTACHMENT.to_owned() }.into());
    }
    Ok(snapshot.expect_schemas(&schemas())?)
}

/// Appends a file of directory `number` to rows of `nodes`.
pub(super) fn push_node(rows: &mut Rows, number: u32, node: &KnownNode) -> Result<()> {
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
