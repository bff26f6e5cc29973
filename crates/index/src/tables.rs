//! The mail tables: their schemas, and the names of their columns.
//!
//! docs/FORMAT.md describes each column. Must not know how rows are made or queried.

use crate::changes;
use store::{Codec, Column, Index, IndexKind, Kind, Schema};

/// Directories that hold messages, each a Maildir.
pub(crate) mod folders {
    /// The table's name.
    pub(crate) const TABLE: &str = "folders";
    /// Folder number, never reused (u32, primary key).
    pub(crate) const NUMBER: usize = 0;
    /// The root's name.
    pub(crate) const ROOT: usize = 1;
    /// The path below the root, as bytes; empty for the root itself.
    pub(crate) const PATH: usize = 2;
    /// 1 when `.noupdate` was seen (u8).
    pub(crate) const NO_UPDATE: usize = 3;
    /// First of the columns that describe `cur`; those of `new` follow in the same order.
    pub(crate) const CUR: usize = 4;
    /// Columns that describe one directory: device, inode, mtime, ctime, fingerprint low, fingerprint high.
    pub(crate) const DIRECTORY_COLUMNS: usize = 6;
    /// First of the columns that describe `new`.
    pub(crate) const NEW: usize = CUR + DIRECTORY_COLUMNS;
    /// Names of keywords, separated by line feeds, starting with that of letter `a`.
    pub(crate) const KEYWORDS: usize = NEW + DIRECTORY_COLUMNS;
}

/// Files that hold a message.
pub(crate) mod files {
    /// The table's name.
    pub(crate) const TABLE: &str = "files";
    /// Folder number (u32, first of the primary key).
    pub(crate) const FOLDER: usize = 0;
    /// 0 in `cur`, 1 in `new` (u8, second of the primary key).
    pub(crate) const PLACE: usize = 1;
    /// The file's name, byte for byte (third of the primary key).
    pub(crate) const NAME: usize = 2;
    /// The file's inode (u64).
    pub(crate) const INODE: usize = 3;
    /// The file's size in bytes (u64).
    pub(crate) const SIZE: usize = 4;
    /// The file's time of modification in nanoseconds since 1970 (i64).
    pub(crate) const MTIME: usize = 5;
    /// The file's time of status change in nanoseconds since 1970 (i64).
    pub(crate) const CTIME: usize = 6;
    /// Maildir flags, `mail::Flags` (u16).
    pub(crate) const FLAGS: usize = 7;
    /// Dovecot keywords a-z as bits (u32).
    pub(crate) const KEYWORDS: usize = 8;
    /// The number of its message (u32).
    pub(crate) const MESSAGE: usize = 9;
    /// Index: files of a message.
    pub(crate) const BY_MESSAGE: &str = "message";
}

/// Messages: one row per content, however many files hold it.
pub(crate) mod messages {
    /// The table's name.
    pub(crate) const TABLE: &str = "messages";
    /// Message number (u32, primary key): with gaps, never reused.
    pub(crate) const NUMBER: usize = 0;
    /// SHA-256 of the content (id).
    pub(crate) const SHA256: usize = 1;
    /// XXH3-64 of the Message-ID (u64).
    pub(crate) const MESSAGE_ID_HASH: usize = 2;
    /// Low half of the hash that copies share (u64).
    pub(crate) const COPY_HASH_LOW: usize = 3;
    /// High half of it (u64).
    pub(crate) const COPY_HASH_HIGH: usize = 4;
    /// Date in seconds since 1970 (i64), or [`super::NO_DATE`].
    pub(crate) const DATE: usize = 5;
    /// Size of the content in bytes (u64).
    pub(crate) const SIZE: usize = 6;
    /// Content flags, `mail::ContentFlags` (u16).
    pub(crate) const DERIVED: usize = 7;
    /// The node of its Message-ID in `threads` (u32).
    pub(crate) const NODE: usize = 8;
    /// The node of the message that it answers (u32), or [`super::NO_NODE`].
    pub(crate) const PARENT: usize = 9;
    /// What a list shows (payload).
    pub(crate) const LINE: usize = 10;
    /// All other header fields (payload).
    pub(crate) const REST: usize = 11;
    /// Index: the message with a SHA-256.
    pub(crate) const BY_SHA256: &str = "sha256";
    /// Index: messages with a Message-ID.
    pub(crate) const BY_MESSAGE_ID: &str = "message-id";
    /// Index: messages by date, then by SHA-256.
    pub(crate) const BY_DATE: &str = "date";
}

/// The date of a message that has none. It sorts as the oldest.
pub(crate) const NO_DATE: i64 = i64::MIN;

/// Returns the date as an option, `None` for [`NO_DATE`].
pub(crate) fn dated(date: i64) -> Option<i64> {
    (date != NO_DATE).then_some(date)
}

/// Returns the hash under which the index by Message-ID holds an id.
pub(crate) fn message_id_hash(id: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(id.as_bytes())
}

/// Messages whose last file is gone.
pub(crate) mod absent {
    /// The table's name.
    pub(crate) const TABLE: &str = "absent";
    /// Message number (u32, primary key).
    pub(crate) const MESSAGE: usize = 0;
    /// When the last file was found to be gone, in seconds since 1970 (i64).
    pub(crate) const SINCE: usize = 1;
}

/// Message-IDs and the conversations that they belong to: a union-find. A ghost is a node whose message was
/// never seen.
pub(crate) mod threads {
    /// The table's name.
    pub(crate) const TABLE: &str = "threads";
    /// Node number (u32, primary key): dense, from 0, never removed.
    pub(crate) const NODE: usize = 0;
    /// XXH3-64 of the Message-ID (u64).
    pub(crate) const MESSAGE_ID_HASH: usize = 1;
    /// A node of the same conversation with a lower number (u32), or the node itself if it is the root. The
    /// highest bit marks a late edge: see [`crate::edges`].
    pub(crate) const ABOVE: usize = 2;
    /// Index: the node of a Message-ID.
    pub(crate) const BY_MESSAGE_ID: &str = "message-id";
}

/// Messages that read the same as an earlier one.
pub(crate) mod copies {
    /// The table's name.
    pub(crate) const TABLE: &str = "copies";
    /// Message number (u32, primary key).
    pub(crate) const NUMBER: usize = 0;
    /// The first message of which this one is a copy (u32). The first one has no row here.
    pub(crate) const FIRST: usize = 1;
}

/// People, by their addresses.
pub(crate) mod contacts {
    /// The table's name.
    pub(crate) const TABLE: &str = "contacts";
    /// The address in lower case (bytes, primary key).
    pub(crate) const KEY: usize = 0;
    /// The address as written with the name (bytes).
    pub(crate) const ADDRESS: usize = 1;
    /// The most recent display name (bytes).
    pub(crate) const NAME: usize = 2;
    /// The date of the message with that name (i64).
    pub(crate) const NAMED: usize = 3;
    /// Messages from the address (u32).
    pub(crate) const SENT_COUNT: usize = 4;
    /// Messages to the address (u32).
    pub(crate) const RECEIVED_COUNT: usize = 5;
    /// Date of the first message (i64).
    pub(crate) const FIRST: usize = 6;
    /// Date of the last message (i64).
    pub(crate) const LAST: usize = 7;
}

/// Stands for "no node".
pub(crate) const NO_NODE: u32 = u32::MAX;

/// How an index compresses the header records of its messages. The codec is chosen when the index is made,
/// and is part of its schema from then on. A rebuilt index has the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderCodec {
    /// No compression.
    None,
    /// LZ4, each record on its own.
    Lz4,
    /// Zstandard, each record on its own.
    Zstd,
    /// Zstandard with a dictionary of each segment, each record on its own.
    ZstdDictionary,
    /// Zstandard with a dictionary of each segment, some neighbouring records together.
    #[default]
    ZstdDictionaryBlocks,
}

impl HeaderCodec {
    /// Returns the codec for a column whose dictionary would have `dictionary_bytes`, and its blocks
    /// `block_bytes` and this level.
    fn of_column(self, block_level: i32, dictionary_bytes: u32, block_bytes: u32) -> Codec {
        match self {
            HeaderCodec::None => Codec::None,
            HeaderCodec::Lz4 => Codec::Lz4 { block_bytes: 0 },
            HeaderCodec::Zstd => Codec::Zstd { level: LEVEL, block_bytes: 0 },
            HeaderCodec::ZstdDictionary => {
                Codec::ZstdDictionary { level: LEVEL, dictionary_bytes, block_bytes: 0 }
            }
            HeaderCodec::ZstdDictionaryBlocks => {
                Codec::ZstdDictionary { level: block_level, dictionary_bytes, block_bytes }
            }
        }
    }
}

/// Zstandard's level for header records.
const LEVEL: i32 = 3;
/// Zstandard's level for blocks of what a list does not show. What it shows would be read slower by a fifth.
const REST_LEVEL: i32 = 6;

/// Returns the schemas of all mail tables of a new index.
pub(crate) fn schemas(codec: HeaderCodec) -> Vec<Schema> {
    vec![
        folders_schema(),
        files_schema(),
        messages_schema(codec),
        absent_schema(),
        copies_schema(),
        threads_schema(),
        contacts_schema(),
        changes::schema(),
    ]
}

fn folders_schema() -> Schema {
    let mut columns = vec![
        column("number", Kind::U32),
        column("root", Kind::Bytes),
        column("path", Kind::Bytes),
        column("no_update", Kind::U8),
    ];
    for place in ["cur", "new"] {
        columns.push(column(&format!("{place}_device"), Kind::U64));
        columns.push(column(&format!("{place}_inode"), Kind::U64));
        columns.push(column(&format!("{place}_mtime_ns"), Kind::I64));
        columns.push(column(&format!("{place}_ctime_ns"), Kind::I64));
        columns.push(column(&format!("{place}_fingerprint_low"), Kind::U64));
        columns.push(column(&format!("{place}_fingerprint_high"), Kind::U64));
    }
    columns.push(column("keywords", Kind::Bytes));
    Schema { name: folders::TABLE.into(), columns, primary: vec![0], indexes: vec![] }
}

fn files_schema() -> Schema {
    Schema {
        name: files::TABLE.into(),
        columns: vec![
            column("folder", Kind::U32),
            column("place", Kind::U8),
            column("name", Kind::Bytes),
            column("inode", Kind::U64),
            column("size_bytes", Kind::U64),
            column("mtime_ns", Kind::I64),
            column("ctime_ns", Kind::I64),
            column("flags", Kind::U16),
            column("keywords", Kind::U32),
            column("message", Kind::U32),
        ],
        primary: vec![0, 1, 2],
        indexes: vec![index(files::BY_MESSAGE, IndexKind::Ordered, false, &[9])],
    }
}

fn messages_schema(codec: HeaderCodec) -> Schema {
    // Lines are read in date order, which is close to row order: a block has some twenty neighbours. A single
    // hit takes little longer than if it were compressed on its own. ARCHITECTURE.md has the figures.
    let line = codec.of_column(LEVEL, 64 * 1024, 2 * 1024);
    let rest = codec.of_column(REST_LEVEL, 128 * 1024, 8 * 1024);
    Schema {
        name: messages::TABLE.into(),
        columns: vec![
            column("number", Kind::U32),
            column("sha256", Kind::Id),
            // Rows are found by this hash only through an index.
            column("message_id_hash", Kind::U64),
            // Low and high half of a hash of what a reader sees. Copies that arrived by different routes have
            // the same hash.
            column("copy_hash_low", Kind::U64),
            column("copy_hash_high", Kind::U64),
            column("date", Kind::I64),
            column("size_bytes", Kind::U64),
            column("derived", Kind::U16),
            column("node", Kind::U32),
            column("parent", Kind::U32),
            column("line", Kind::Payload(line)),
            column("rest", Kind::Payload(rest)),
        ],
        primary: vec![0],
        indexes: vec![
            index(messages::BY_SHA256, IndexKind::Hash, true, &[1]),
            index(messages::BY_MESSAGE_ID, IndexKind::Hash, false, &[2]),
            index(messages::BY_DATE, IndexKind::Ordered, true, &[5, 1]),
        ],
    }
}

fn absent_schema() -> Schema {
    Schema {
        name: absent::TABLE.into(),
        columns: vec![column("message", Kind::U32), column("since", Kind::I64)],
        primary: vec![0],
        indexes: vec![],
    }
}

fn threads_schema() -> Schema {
    Schema {
        name: threads::TABLE.into(),
        columns: vec![
            column("node", Kind::U32),
            column("message_id_hash", Kind::U64),
            column("above", Kind::U32),
        ],
        primary: vec![0],
        indexes: vec![index(threads::BY_MESSAGE_ID, IndexKind::Hash, true, &[1])],
    }
}

fn copies_schema() -> Schema {
    Schema {
        name: copies::TABLE.into(),
        columns: vec![column("number", Kind::U32), column("first", Kind::U32)],
        primary: vec![0],
        indexes: vec![],
    }
}

fn contacts_schema() -> Schema {
    Schema {
        name: contacts::TABLE.into(),
        columns: vec![
            column("key", Kind::Bytes),
            column("address", Kind::Bytes),
            column("name", Kind::Bytes),
            column("named", Kind::I64),
            column("sent_count", Kind::U32),
            column("received_count", Kind::U32),
            column("first", Kind::I64),
            column("last", Kind::I64),
        ],
        primary: vec![0],
        indexes: vec![],
    }
}

fn column(name: &str, kind: Kind) -> Column {
    Column { name: name.into(), kind }
}

fn index(name: &str, kind: IndexKind, unique: bool, columns: &[u16]) -> Index {
    Index { name: name.into(), kind, unique, columns: columns.to_vec() }
}
