//! The tables of the store `user/`: their schemas, and the names of their columns.
//!
//! docs/FORMAT.md describes each column. None of this can be made again from mail, so rows are keyed by what
//! identifies a message (its SHA-256, and its Message-ID in case its headers changed on the way), never by a
//! number that the index assigns.

use crate::changes;
use store::{Column, Index, IndexKind, Kind, Schema};

/// Contents whose tags the user changed, even if only to remove one.
pub(super) mod contents {
    /// The table's name.
    pub(crate) const TABLE: &str = "contents";
    /// SHA-256 of the content (id, primary key).
    pub(crate) const SHA256: usize = 0;
    /// XXH3-64 of the Message-ID (u64).
    pub(crate) const MESSAGE_ID_HASH: usize = 1;
    /// The Message-ID, UTF-8, for readers that get the tags without the mail.
    pub(crate) const MESSAGE_ID: usize = 2;
    /// Index: contents with a Message-ID.
    pub(crate) const BY_MESSAGE_ID: &str = "message-id";
}

/// Tags of contents.
pub(super) mod tags {
    /// The table's name.
    pub(crate) const TABLE: &str = "tags";
    /// The tag, UTF-8 (first of the primary key).
    pub(crate) const TAG: usize = 0;
    /// SHA-256 of the content (second of the primary key).
    pub(crate) const SHA256: usize = 1;
    /// Index: tags of a content.
    pub(crate) const BY_SHA256: &str = "sha256";
}

/// Returns the schemas of all tables.
pub(super) fn schemas() -> Vec<Schema> {
    vec![
        Schema {
            name: contents::TABLE.into(),
            columns: vec![
                column("sha256", Kind::Id),
                column("message_id_hash", Kind::U64),
                column("message_id", Kind::Bytes),
            ],
            primary: vec![0],
            indexes: vec![index(contents::BY_MESSAGE_ID, 1)],
        },
        Schema {
            name: tags::TABLE.into(),
            columns: vec![column("tag", Kind::Bytes), column("sha256", Kind::Id)],
            primary: vec![0, 1],
            indexes: vec![index(tags::BY_SHA256, 1)],
        },
        changes::schema(),
    ]
}

fn column(name: &str, kind: Kind) -> Column {
    Column { name: name.into(), kind }
}

fn index(name: &str, column: u16) -> Index {
    Index { name: name.into(), kind: IndexKind::Hash, unique: false, columns: vec![column] }
}
