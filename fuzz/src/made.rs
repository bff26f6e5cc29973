//! A small store with every kind of column, index and codec. It is made only once.
//!
//! Output: its files. Does not know how they are changed.

use disk::Disk;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use store::{Codec, Column, Form, Index, IndexKind, Kind, Options, Rows, Schema, Transaction, Value, Writer};
use testkit::SimDisk;

/// The store's directory on its disk.
pub const DIRECTORY: &str = "/store";

/// How many rows are in the segment, and how many are in the journal.
const SEALED_ROWS: u32 = 80;
const JOURNAL_ROWS: u32 = 20;

/// A store and its files.
pub struct Made {
    /// The disk that has the store. Fork it before changing anything.
    pub disk: SimDisk,
    /// The schema of its one table.
    pub schema: Arc<Schema>,
    /// The one segment.
    pub segment: (PathBuf, Vec<u8>),
    /// The journal.
    pub journal: (PathBuf, Vec<u8>),
    /// The manifest.
    pub manifest: (PathBuf, Vec<u8>),
}

/// Returns the store.
pub fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| make(Form::Plain))
}

/// Returns a store with the same rows, whose segment has packed numbers.
pub fn made_packed() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| make(Form::Packed))
}

fn make(form: Form) -> Made {
    let disk = SimDisk::new(1);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let directory = Path::new(DIRECTORY);
    let schema = Arc::new(schema());
    // A low limit of the journal, so that the first commit becomes a segment.
    let mut options = Options { form, ..Options::default() };
    options.limits.journal_rows = SEALED_ROWS - 1;
    let mut writer = Writer::create(&shared, directory, &[(*schema).clone()], options).expect("a new store");
    writer.commit(transaction(&schema, 0..SEALED_ROWS)).expect("rows for a segment");
    writer.commit(transaction(&schema, 5..5 + JOURNAL_ROWS)).expect("rows for the journal");
    let mut delete = Transaction::new();
    delete.delete("things", &[Value::U32(9)]).attach("note", b"attached".to_vec());
    writer.commit(delete).expect("a deletion for the journal");
    drop(writer);
    let files = disk.files();
    let file = |holds: fn(&str) -> bool| {
        let found =
            files.iter().filter(|path| holds(&path.file_name().unwrap_or_default().to_string_lossy()));
        let path = found.max().expect("the store has this file").clone();
        let bytes = disk.read(&path).expect("the disk holds it");
        (path, bytes)
    };
    Made {
        segment: file(|name| name.ends_with(".seg")),
        journal: file(|name| name.starts_with("journal-")),
        manifest: file(|name| name == "manifest"),
        disk,
        schema,
    }
}

fn schema() -> Schema {
    let column = |name: &str, kind| Column { name: name.to_owned(), kind };
    let index = |name: &str, kind, columns| Index { name: name.to_owned(), kind, unique: false, columns };
    let codecs = [
        Codec::None,
        Codec::Lz4 { block_bytes: 512 },
        Codec::Zstd { level: 1, block_bytes: 0 },
        Codec::ZstdDictionary { level: 1, dictionary_bytes: 1024, block_bytes: 0 },
        Codec::ZstdDictionary { level: 1, dictionary_bytes: 1024, block_bytes: 256 },
    ];
    let mut columns = vec![
        column("number", Kind::U32),
        column("small", Kind::U8),
        column("short", Kind::U16),
        column("long", Kind::U64),
        column("signed", Kind::I64),
        column("id", Kind::Id),
        column("name", Kind::Bytes),
    ];
    columns.extend(
        codecs
            .iter()
            .enumerate()
            .map(|(place, &codec)| column(&format!("payload{place}"), Kind::Payload(codec))),
    );
    Schema {
        name: "things".to_owned(),
        columns,
        primary: vec![0],
        indexes: vec![
            index("by_id", IndexKind::Hash, vec![5]),
            index("by_name", IndexKind::Ordered, vec![6, 1]),
        ],
    }
}

fn transaction(schema: &Arc<Schema>, numbers: std::ops::Range<u32>) -> Transaction {
    let mut rows = Rows::new(schema);
    for number in numbers {
        let id = [u8::try_from(number % 7).expect("below 7"); 32];
        let name = format!("name {}", number % 10);
        let payload = format!("payload of {number}: {}", "text ".repeat(number as usize % 30));
        let payload = Value::Bytes(payload.as_bytes());
        let row = [
            Value::U32(number),
            Value::U8(3),
            Value::U16(4),
            Value::U64(u64::from(number) << 33),
            Value::I64(-i64::from(number)),
            Value::Id(&id),
            Value::Bytes(name.as_bytes()),
            payload,
            payload,
            payload,
            payload,
            payload,
        ];
        rows.push(&row).expect("the row fits the schema");
    }
    let mut transaction = Transaction::new();
    transaction.put(rows);
    transaction
}
