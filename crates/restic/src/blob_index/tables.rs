//! The tables that keep a repository's blob index, in the cache.
//!
//! Defines their schemas and the numbers of their columns. Does not depend on where rows come from.
//!
//! - `data` and `trees`: the blobs of either kind, ordered by pack and by offset. That order needs no sort,
//!   because packs are numbered as they come. A pack's blobs lie together, as check, prune and restore need
//!   them. The whole row is the key, so that no contradiction between index files is lost. There are two
//!   tables and no column for the kind: a successful look-up touches one cache line less, and the small
//!   table of trees stays in the processor's cache. A row takes 48 bytes, and 7 for the hash index by id.
//! - `packs`: the name of each pack by its number, which counts from 0 without gaps.
//! - `files`: the index files that are in the other tables, likewise.
//! - `mentions`: which index file names which pack, and with how many blobs.

use std::sync::{Arc, LazyLock};
use store::{Column, Index, IndexKind, Kind, Schema};

/// The tables by their numbers.
pub(super) const DATA: &str = "data";
pub(super) const TREES: &str = "trees";
pub(super) const PACKS: &str = "packs";
pub(super) const FILES: &str = "files";
pub(super) const MENTIONS: &str = "mentions";

/// The number of the only index that a table has.
pub(super) const BY_ID: usize = 0;

/// Columns of `data` and `trees`.
pub(super) mod blob {
    pub(in super::super) const PACK: usize = 0;
    pub(in super::super) const OFFSET: usize = 1;
    pub(in super::super) const ID: usize = 2;
    pub(in super::super) const LENGTH: usize = 3;
    pub(in super::super) const UNCOMPRESSED_LENGTH: usize = 4;
}

/// Columns of `packs` and `files`.
pub(super) mod named {
    pub(in super::super) const NUMBER: usize = 0;
    pub(in super::super) const ID: usize = 1;
}

/// Columns of `mentions`.
pub(super) mod mention {
    pub(in super::super) const FILE: usize = 0;
    pub(in super::super) const PACK: usize = 1;
    pub(in super::super) const BLOB_COUNT: usize = 2;
}

/// All schemas, in the order in which a store has the tables.
pub(super) static SCHEMAS: LazyLock<[Arc<Schema>; 5]> = LazyLock::new(|| {
    [blobs(DATA), blobs(TREES), named_table(PACKS, by_id(named::ID)), named_table(FILES, None), mentions()]
        .map(Arc::new)
});

fn column(name: &str, kind: Kind) -> Column {
    Column { name: name.into(), kind }
}

fn by_id(column: usize) -> Option<Index> {
    let columns = vec![u16::try_from(column).expect("a table has few columns")];
    // Usually unique: a blob may be in several packs.
    Some(Index { name: "by_id".into(), kind: IndexKind::Hash, unique: true, columns })
}

fn blobs(name: &str) -> Schema {
    Schema {
        name: name.into(),
        columns: vec![
            column("pack", Kind::U32),
            column("offset", Kind::U32),
            column("id", Kind::Id),
            column("length", Kind::U32),
            column("uncompressed_length", Kind::U32),
        ],
        primary: vec![0, 1, 2, 3, 4],
        indexes: by_id(blob::ID).into_iter().collect(),
    }
}

fn named_table(name: &str, index: Option<Index>) -> Schema {
    Schema {
        name: name.into(),
        columns: vec![column("number", Kind::U32), column("id", Kind::Id)],
        primary: vec![0],
        indexes: index.into_iter().collect(),
    }
}

fn mentions() -> Schema {
    Schema {
        name: MENTIONS.into(),
        columns: vec![column("file", Kind::U32), column("pack", Kind::U32), column("blob_count", Kind::U32)],
        primary: vec![0, 1],
        indexes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_are_valid_and_the_columns_are_where_they_are_said_to_be() {
        for schema in SCHEMAS.iter() {
            schema.validate().unwrap();
        }
        let [data, _, packs, _, mentions] = &*SCHEMAS;
        let place = |schema: &Schema, name| schema.column(name).unwrap();
        assert_eq!(
            [place(data, "pack"), place(data, "offset"), place(data, "id")],
            [blob::PACK, blob::OFFSET, blob::ID]
        );
        assert_eq!(
            [place(data, "length"), place(data, "uncompressed_length")],
            [blob::LENGTH, blob::UNCOMPRESSED_LENGTH]
        );
        assert_eq!([place(packs, "number"), place(packs, "id")], [named::NUMBER, named::ID]);
        assert_eq!(
            [place(mentions, "file"), place(mentions, "pack"), place(mentions, "blob_count")],
            [mention::FILE, mention::PACK, mention::BLOB_COUNT]
        );
    }
}
