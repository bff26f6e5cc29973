//! Header records in the store of this project: a table of one segment, as the index has them.
//!
//! Input: records by key. Output: the same. Does not depend on mail.

use super::codec::Codec;
use super::records::Record;
use super::store::{BLOCK_BYTES, DICTIONARY_BYTES, Each, HeaderStore, LEVEL};
use anyhow::Result;
use disk::{Disk, RealDisk};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use store::{
    Column, Kind, Options, PRIMARY, PayloadReader, RowId, Rows, Schema, Snapshot, Table, Value, Writer,
};

/// The table's name.
const TABLE: &str = "headers";

/// The store, and how the table compresses its records.
pub(super) struct Ours(pub(super) Codec);

impl Ours {
    fn schema(&self) -> Schema {
        let codec = match self.0 {
            Codec::None => store::Codec::None,
            Codec::Lz4 => store::Codec::Lz4 { block_bytes: BLOCK_BYTES },
            Codec::Zstd => store::Codec::Zstd { level: LEVEL, block_bytes: BLOCK_BYTES },
            Codec::ZstdDictionary => store::Codec::ZstdDictionary {
                level: LEVEL,
                dictionary_bytes: DICTIONARY_BYTES,
                // As an index keeps most header fields.
                block_bytes: 4 << 10,
            },
        };
        let column = |name: &str, kind| Column { name: name.into(), kind };
        Schema {
            name: TABLE.into(),
            columns: vec![column("key", Kind::U64), column("record", Kind::Payload(codec))],
            primary: vec![0],
            indexes: Vec::new(),
        }
    }
}

impl HeaderStore for Ours {
    fn fill(&self, place: &Path, records: &mut dyn Iterator<Item = Result<Record>>) -> Result<()> {
        let schema = self.schema();
        let mut rows = Rows::new(&Arc::new(schema.clone()));
        for record in records {
            let record = record?;
            rows.push(&[Value::U64(record.key), Value::Bytes(&record.value)])?;
        }
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        Writer::create(&disk, &place.join("store"), &[schema], Options::default())?
            .load(TABLE, vec![rows])?;
        Ok(())
    }

    fn all(&self, place: &Path, each: &mut Each<'_>) -> Result<()> {
        let table = open(place)?;
        let rows = table.range(PRIMARY, Bound::Unbounded, Bound::Unbounded)?;
        hand_out(&table, rows, each)
    }

    fn newest(&self, place: &Path, count: usize, each: &mut Each<'_>) -> Result<()> {
        let table = open(place)?;
        let rows = table.range(PRIMARY, Bound::Unbounded, Bound::Unbounded)?;
        hand_out(&table, rows.rev().take(count), each)
    }
}

fn open(place: &Path) -> Result<Table> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    Ok(Snapshot::open(&disk, &place.join("store"))?.table(TABLE)?)
}

fn hand_out(
    table: &Table,
    rows: impl Iterator<Item = store::Result<RowId>>,
    each: &mut Each<'_>,
) -> Result<()> {
    let mut reader = PayloadReader::new();
    for row in rows {
        let row = row?;
        if let Value::U64(key) = table.value(0, row)? {
            each(key, table.part(row).payload(1, row.row, &mut reader)?)?;
        }
    }
    Ok(())
}
