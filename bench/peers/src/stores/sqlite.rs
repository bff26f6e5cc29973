//! Header records in SQLite.
//!
//! Input: records by key. Output: the same. Does not know how they are compressed.

use super::records::Record;
use super::store::{Each, HeaderStore};
use anyhow::Result;
use rusqlite::{Connection, OpenFlags, params};
use std::path::Path;

const FILE: &str = "headers.sqlite";

/// The library.
pub(super) struct Sqlite;

fn hand_out(place: &Path, sql: &str, count: usize, each: &mut Each<'_>) -> Result<()> {
    let connection = Connection::open_with_flags(place.join(FILE), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(params![i64::try_from(count).unwrap_or(i64::MAX)])?;
    while let Some(row) = rows.next()? {
        let key: i64 = row.get(0)?;
        each(u64::try_from(key)?, row.get_ref(1)?.as_blob()?)?;
    }
    Ok(())
}

impl HeaderStore for Sqlite {
    fn fill(&self, place: &Path, records: &mut dyn Iterator<Item = Result<Record>>) -> Result<()> {
        let mut connection = Connection::open(place.join(FILE))?;
        connection.execute_batch("create table headers (key integer primary key, record blob not null)")?;
        let transaction = connection.transaction()?;
        let mut insert = transaction.prepare("insert into headers values (?1, ?2)")?;
        for record in records {
            let record = record?;
            insert.execute(params![i64::try_from(record.key)?, record.value])?;
        }
        drop(insert);
        transaction.commit()?;
        Ok(())
    }

    fn all(&self, place: &Path, each: &mut Each<'_>) -> Result<()> {
        hand_out(place, "select key, record from headers order by key limit ?1", usize::MAX, each)
    }

    fn newest(&self, place: &Path, count: usize, each: &mut Each<'_>) -> Result<()> {
        hand_out(place, "select key, record from headers order by key desc limit ?1", count, each)
    }
}
