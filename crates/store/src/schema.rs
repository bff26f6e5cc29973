//! A table's schema: columns, primary key, indexes (docs/FORMAT.md, "Schema").
//!
//! Input: a schema built by a program, or its bytes from a file. Output: a checked [`Schema`], or its bytes.
//! Does not depend on where rows are stored.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::cursor::Cursor;
use crate::error::{Damage, Error, Result};
use crate::limits::{
    BLOCK_BYTES_MAX, COLUMNS_MAX, DICTIONARY_BYTES_MAX, INDEXES_MAX, KEY_COLUMNS_MAX, NAME_BYTES_MAX,
};

/// A table's columns, primary key and indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The table's name.
    pub name: String,
    /// The columns, in the order of a row's values.
    pub columns: Vec<Column>,
    /// The numbers of the columns of the primary key, which no two rows share.
    pub primary: Vec<u16>,
    /// The indexes besides the primary key.
    pub indexes: Vec<Index>,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 64 bits.
    I64,
    /// 32 bytes.
    Id,
    /// Any bytes, kept as they are.
    Bytes,
    /// Any bytes, kept as the codec says. Not for keys.
    Payload(Codec),
}

/// How the values of a payload column are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    None,
    /// LZ4: fast to read, small gain.
    Lz4 {
        /// Bytes compressed together; 0 compresses each row on its own.
        block_bytes: u32,
    },
    /// Zstandard.
    Zstd {
        /// The compression level.
        level: i32,
        /// Bytes compressed together; 0 compresses each row on its own.
        block_bytes: u32,
    },
    /// Zstandard with one dictionary per segment. It is trained on the segment's rows or, if they are few,
    /// taken from a segment with at least as many.
    ZstdDictionary {
        /// The compression level.
        level: i32,
        /// Bytes of the dictionary.
        dictionary_bytes: u32,
        /// Bytes compressed together; 0 compresses each row on its own.
        block_bytes: u32,
    },
}

/// An index over some columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The index's name.
    pub name: String,
    /// How it is built.
    pub kind: IndexKind,
    /// Whether no two live rows share a key. This is not enforced: a look-up returns all matching rows.
    pub unique: bool,
    /// The numbers of its columns, most significant first.
    pub columns: Vec<u16>,
}

/// How an index is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// Finds whole keys, at the cost of one or two cache misses.
    Hash,
    /// Finds keys, prefixes of keys and ranges of them, in key order.
    Ordered,
}

/// The zstd levels that a schema may name.
const ZSTD_LEVELS: std::ops::RangeInclusive<i32> = -7..=22;

impl Kind {
    /// Returns the size of each value in bytes, or `None` if values vary in length.
    pub fn width(self) -> Option<usize> {
        match self {
            Kind::U8 => Some(1),
            Kind::U16 => Some(2),
            Kind::U32 => Some(4),
            Kind::U64 | Kind::I64 => Some(8),
            Kind::Id => Some(32),
            Kind::Bytes | Kind::Payload(_) => None,
        }
    }
}

impl Schema {
    /// Returns the number of the column named `name`.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the number of the index named `name`.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| index.name == name)
    }

    /// Returns the kind of column number `column`.
    pub fn kind(&self, column: usize) -> Option<Kind> {
        self.columns.get(column).map(|column| column.kind)
    }

    /// Checks that the schema makes sense: names, column numbers, limits.
    ///
    /// # Errors
    /// [`Error::Schema`] with the first thing that is wrong.
    pub fn validate(&self) -> Result<()> {
        self.check().map_err(|what| Error::schema(&self.name, what))
    }

    fn check(&self) -> std::result::Result<(), String> {
        check_name("the table", &self.name)?;
        check_count("columns", self.columns.len(), 1, COLUMNS_MAX)?;
        check_count("indexes", self.indexes.len(), 0, INDEXES_MAX)?;
        check_names("column", self.columns.iter().map(|column| column.name.as_str()))?;
        check_names("index", self.indexes.iter().map(|index| index.name.as_str()))?;
        for column in &self.columns {
            if let Kind::Payload(codec) = column.kind {
                check_codec(codec).map_err(|what| format!("column {}: {what}", column.name))?;
            }
        }
        self.check_key("the primary key", &self.primary)?;
        for index in &self.indexes {
            self.check_key(&format!("index {}", index.name), &index.columns)?;
        }
        Ok(())
    }

    fn check_key(&self, what: &str, columns: &[u16]) -> std::result::Result<(), String> {
        check_count(&format!("columns in {what}"), columns.len(), 1, KEY_COLUMNS_MAX)?;
        for (position, &number) in columns.iter().enumerate() {
            let Some(column) = self.columns.get(usize::from(number)) else {
                return Err(format!("{what} names column {number} of {}", self.columns.len()));
            };
            if matches!(column.kind, Kind::Payload(_)) {
                return Err(format!("{what} has the payload column {}", column.name));
            }
            if columns.iter().take(position).any(|&earlier| earlier == number) {
                return Err(format!("{what} has column {} twice", column.name));
            }
        }
        Ok(())
    }

    /// Returns the schema's bytes. Equal schemas have equal bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_name(&mut out, &self.name);
        put_count(&mut out, self.columns.len());
        for column in &self.columns {
            put_name(&mut out, &column.name);
            put_kind(&mut out, column.kind);
        }
        put_key(&mut out, &self.primary);
        put_count(&mut out, self.indexes.len());
        for index in &self.indexes {
            put_name(&mut out, &index.name);
            out.push(match index.kind {
                IndexKind::Hash => 1,
                IndexKind::Ordered => 2,
            });
            out.push(u8::from(index.unique));
            put_key(&mut out, &index.columns);
        }
        out
    }

    /// Reads a schema back from its bytes, and checks it as [`Schema::validate`] does.
    ///
    /// # Errors
    /// What is wrong with the bytes, and where.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Schema, Damage> {
        let mut cursor = Cursor::new(bytes);
        let name = take_name(&mut cursor)?;
        let columns = take_list(&mut cursor, COLUMNS_MAX, |cursor| {
            Ok(Column { name: take_name(cursor)?, kind: take_kind(cursor)? })
        })?;
        let primary = take_key(&mut cursor)?;
        let indexes = take_list(&mut cursor, INDEXES_MAX, take_index)?;
        let end = cursor.offset();
        cursor.finish("the schema")?;
        let schema = Schema { name, columns, primary, indexes };
        schema.check().map_err(|what| Damage::new(end, what))?;
        Ok(schema)
    }
}

fn check_count(what: &str, count: usize, least: usize, most: usize) -> std::result::Result<(), String> {
    if (least..=most).contains(&count) {
        Ok(())
    } else {
        Err(format!("{count} {what}, allowed are {least} to {most}"))
    }
}

fn check_names<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> std::result::Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        check_name(what, name)?;
        if !seen.insert(name) {
            return Err(format!("two of {what} {name}"));
        }
    }
    Ok(())
}

fn check_name(what: &str, name: &str) -> std::result::Result<(), String> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(format!(
            "the name of {what} has {} bytes, allowed are 1 to {NAME_BYTES_MAX}",
            name.len()
        ));
    }
    if name.chars().any(char::is_control) {
        return Err(format!("the name {name:?} of {what} has a control character"));
    }
    Ok(())
}

fn check_codec(codec: Codec) -> std::result::Result<(), String> {
    let (level, block_bytes, dictionary_bytes) = match codec {
        Codec::None => return Ok(()),
        Codec::Lz4 { block_bytes } => (1, block_bytes, 1),
        Codec::Zstd { level, block_bytes } => (level, block_bytes, 1),
        Codec::ZstdDictionary { level, dictionary_bytes, block_bytes } => {
            (level, block_bytes, dictionary_bytes)
        }
    };
    if !ZSTD_LEVELS.contains(&level) {
        return Err(format!(
            "compression level {level}, allowed are {} to {}",
            ZSTD_LEVELS.start(),
            ZSTD_LEVELS.end()
        ));
    }
    if block_bytes > BLOCK_BYTES_MAX {
        return Err(format!("blocks of {block_bytes} bytes, allowed are {BLOCK_BYTES_MAX}"));
    }
    if dictionary_bytes == 0 || dictionary_bytes > DICTIONARY_BYTES_MAX {
        return Err(format!(
            "a dictionary of {dictionary_bytes} bytes, allowed are 1 to {DICTIONARY_BYTES_MAX}"
        ));
    }
    Ok(())
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    // A schema that was never validated may hold any number. The reader then finds that the bytes are
    // inconsistent.
    out.extend_from_slice(&u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes());
}

fn put_name(out: &mut Vec<u8>, name: &str) {
    put_count(out, name.len());
    out.extend_from_slice(name.as_bytes());
}

fn put_key(out: &mut Vec<u8>, columns: &[u16]) {
    put_count(out, columns.len());
    for column in columns {
        out.extend_from_slice(&column.to_le_bytes());
    }
}

fn put_kind(out: &mut Vec<u8>, kind: Kind) {
    let (tag, codec, level, size) = match kind {
        Kind::U8 => (1, 0, 0, 0),
        Kind::U16 => (2, 0, 0, 0),
        Kind::U32 => (3, 0, 0, 0),
        Kind::U64 => (4, 0, 0, 0),
        Kind::I64 => (5, 0, 0, 0),
        Kind::Id => (6, 0, 0, 0),
        Kind::Bytes => (7, 0, 0, 0),
        Kind::Payload(Codec::None) => (8, 1, 0, 0),
        Kind::Payload(Codec::Lz4 { block_bytes }) => (8, 2, 0, block_bytes),
        Kind::Payload(Codec::Zstd { level, block_bytes }) => (8, 3, level, block_bytes),
        Kind::Payload(Codec::ZstdDictionary { level, dictionary_bytes, block_bytes: 0 }) => {
            (8, 4, level, dictionary_bytes)
        }
        Kind::Payload(Codec::ZstdDictionary { level, dictionary_bytes, .. }) => {
            (8, 5, level, dictionary_bytes)
        }
    };
    out.extend_from_slice(&[tag, codec]);
    out.extend_from_slice(&i32::to_le_bytes(level));
    out.extend_from_slice(&u32::to_le_bytes(size));
    if let (5, Kind::Payload(Codec::ZstdDictionary { block_bytes, .. })) = (codec, kind) {
        out.extend_from_slice(&u32::to_le_bytes(block_bytes));
    }
}

fn take_kind(cursor: &mut Cursor) -> std::result::Result<Kind, Damage> {
    let start = cursor.offset();
    let (tag, codec) = (cursor.u8("a column's kind")?, cursor.u8("a column's codec")?);
    let (level, size) = (cursor.i32("a codec's level")?, cursor.u32("a codec's size")?);
    let kind = match (tag, codec, level, size) {
        (1, 0, 0, 0) => Kind::U8,
        (2, 0, 0, 0) => Kind::U16,
        (3, 0, 0, 0) => Kind::U32,
        (4, 0, 0, 0) => Kind::U64,
        (5, 0, 0, 0) => Kind::I64,
        (6, 0, 0, 0) => Kind::Id,
        (7, 0, 0, 0) => Kind::Bytes,
        (8, 1, 0, 0) => Kind::Payload(Codec::None),
        (8, 2, 0, block_bytes) => Kind::Payload(Codec::Lz4 { block_bytes }),
        (8, 3, level, block_bytes) => Kind::Payload(Codec::Zstd { level, block_bytes }),
        (8, 4, level, dictionary_bytes) => {
            Kind::Payload(Codec::ZstdDictionary { level, dictionary_bytes, block_bytes: 0 })
        }
        (8, 5, level, dictionary_bytes) => match cursor.u32("a codec's block size")? {
            0 => return Err(Damage::new(start, "blocks have no bytes")),
            block_bytes => Kind::Payload(Codec::ZstdDictionary { level, dictionary_bytes, block_bytes }),
        },
        _ => {
            return Err(Damage::new(
                start,
                format!("there is no kind {tag} with codec {codec}, {level}, {size}"),
            ));
        }
    };
    Ok(kind)
}

fn take_index(cursor: &mut Cursor) -> std::result::Result<Index, Damage> {
    let name = take_name(cursor)?;
    let kind = match cursor.u8("an index's kind")? {
        1 => IndexKind::Hash,
        2 => IndexKind::Ordered,
        other => return Err(cursor.damage(format!("there is no index kind {other}"))),
    };
    let unique = match cursor.u8("an index's mark")? {
        0 => false,
        1 => true,
        other => return Err(cursor.damage(format!("an index is unique or not, not {other}"))),
    };
    Ok(Index { name, kind, unique, columns: take_key(cursor)? })
}

fn take_name(cursor: &mut Cursor) -> std::result::Result<String, Damage> {
    let length = usize::from(cursor.u16("a name's length")?);
    let bytes = cursor.take(length, "a name")?;
    String::from_utf8(bytes.to_vec()).map_err(|_| cursor.damage("a name is not UTF-8"))
}

fn take_key(cursor: &mut Cursor) -> std::result::Result<Vec<u16>, Damage> {
    take_list(cursor, KEY_COLUMNS_MAX, |cursor| cursor.u16("a key's column"))
}

fn take_list<T>(
    cursor: &mut Cursor,
    most: usize,
    mut take: impl FnMut(&mut Cursor) -> std::result::Result<T, Damage>,
) -> std::result::Result<Vec<T>, Damage> {
    let count = usize::from(cursor.u16("a count")?);
    if count > most {
        return Err(cursor.damage(format!("{count} entries, allowed are {most}")));
    }
    (0..count).map(|_| take(cursor)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Schema {
        let column = |name: &str, kind| Column { name: name.into(), kind };
        Schema {
            name: "things".into(),
            columns: vec![
                column("a", Kind::U8),
                column("b", Kind::U16),
                column("c", Kind::U32),
                column("d", Kind::U64),
                column("e", Kind::I64),
                column("f", Kind::Id),
                column("g", Kind::Bytes),
                column("h", Kind::Payload(Codec::None)),
                column("i", Kind::Payload(Codec::Lz4 { block_bytes: 65_536 })),
                column("j", Kind::Payload(Codec::Zstd { level: -3, block_bytes: 0 })),
                column("k", dictionary(4_096, 0)),
                column("l", dictionary(1, 256)),
            ],
            primary: vec![3, 6],
            indexes: vec![
                Index { name: "by_id".into(), kind: IndexKind::Hash, unique: true, columns: vec![5] },
                Index { name: "by_g".into(), kind: IndexKind::Ordered, unique: false, columns: vec![6, 4] },
            ],
        }
    }

    fn dictionary(dictionary_bytes: u32, block_bytes: u32) -> Kind {
        Kind::Payload(Codec::ZstdDictionary { level: 3, dictionary_bytes, block_bytes })
    }

    #[test]
    fn a_schema_comes_back_from_its_bytes() {
        let schema = sample();
        schema.validate().unwrap();
        assert_eq!(Schema::decode(&schema.encode()), Ok(schema));
    }

    #[test]
    fn cut_or_flipped_bytes_never_panic_and_never_give_the_same_schema() {
        let bytes = sample().encode();
        for length in 0..bytes.len() {
            assert!(Schema::decode(&bytes[..length]).is_err(), "cut at {length}");
        }
        for offset in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[offset] ^= 1 << bit;
                assert_ne!(Schema::decode(&damaged), Ok(sample()), "bit {bit} of byte {offset}");
            }
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        type Change = (&'static str, fn(&mut Schema));
        let refused: [Change; 14] = [
            ("the name of the table has 0 bytes", |schema| schema.name.clear()),
            ("control character", |schema| schema.columns[0].name = "a\n".into()),
            ("two of column b", |schema| schema.columns[0].name = "b".into()),
            ("two of index by_g", |schema| schema.indexes[0].name = "by_g".into()),
            ("has 256 bytes", |schema| schema.name = "x".repeat(NAME_BYTES_MAX + 1)),
            ("0 columns in the primary key", |schema| schema.primary.clear()),
            ("names column 12 of 12", |schema| schema.primary = vec![12]),
            ("payload column h", |schema| schema.primary = vec![7]),
            ("column d twice", |schema| schema.primary = vec![3, 3]),
            ("17 columns in index by_g", |schema| schema.indexes[1].columns = vec![0; KEY_COLUMNS_MAX + 1]),
            ("257 columns", |schema| {
                let more = (0..=COLUMNS_MAX).map(|n| Column { name: format!("c{n}"), kind: Kind::U8 });
                schema.columns = more.collect();
            }),
            ("65 indexes", |schema| {
                let index = schema.indexes[0].clone();
                schema.indexes =
                    (0..=INDEXES_MAX).map(|n| Index { name: format!("i{n}"), ..index.clone() }).collect();
            }),
            ("blocks of 4194305 bytes", |schema| {
                schema.columns[8].kind = Kind::Payload(Codec::Lz4 { block_bytes: BLOCK_BYTES_MAX + 1 });
            }),
            ("a dictionary of 0 bytes", |schema| {
                schema.columns[8].kind = dictionary(0, 0);
            }),
        ];
        for (expected, change) in refused {
            let mut schema = sample();
            change(&mut schema);
            let message = schema.validate().unwrap_err().to_string();
            assert!(message.contains(expected), "{message} should say {expected}");
            assert!(Schema::decode(&schema.encode()).is_err(), "{expected}");
        }
    }
}
