//! Header records in redb.
//!
//! Input: records by key. Output: the same. Does not know how they are compressed.

use super::records::Record;
use super::store::{Each, HeaderStore};
use ::redb::{Database, ReadOnlyDatabase, ReadableDatabase, TableDefinition};
use anyhow::Result;
use std::path::Path;

const TABLE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("headers");
const FILE: &str = "headers.redb";

/// The library.
pub(super) struct Redb;

impl HeaderStore for Redb {
    fn fill(&self, place: &Path, records: &mut dyn Iterator<Item = Result<Record>>) -> Result<()> {
        let database = Database::create(place.join(FILE))?;
        let transaction = database.begin_write()?;
        let mut table = transaction.open_table(TABLE)?;
        for record in records {
            let record = record?;
            table.insert(record.key, record.value.as_slice())?;
        }
        drop(table);
        transaction.commit()?;
        Ok(())
    }

    fn all(&self, place: &Path, each: &mut Each<'_>) -> Result<()> {
        let database = ReadOnlyDatabase::open(place.join(FILE))?;
        let table = database.begin_read()?.open_table(TABLE)?;
        for found in table.range::<u64>(..)? {
            let (key, value) = found?;
            each(key.value(), value.value())?;
        }
        Ok(())
    }

    fn newest(&self, place: &Path, count: usize, each: &mut Each<'_>) -> Result<()> {
        let database = ReadOnlyDatabase::open(place.join(FILE))?;
        let table = database.begin_read()?.open_table(TABLE)?;
        for found in table.range::<u64>(..)?.rev().take(count) {
            let (key, value) = found?;
            each(key.value(), value.value())?;
        }
        Ok(())
    }
}
