//! Header records in LMDB.
//!
//! Input: records by key. Output: the same. Does not know how they are compressed.
//!
//! Through `lmdb-rkv`, because it opens an environment without `unsafe`, which only `disk` may use. heed
//! needs `unsafe`.

use super::records::Record;
use super::store::{Each, HeaderStore};
use anyhow::{Context, Result};
use lmdb::{Cursor, DatabaseFlags, Environment, EnvironmentFlags, Transaction, WriteFlags};
use std::path::Path;

/// The size of the map. It costs nothing until it is used.
const MAP_BYTES: usize = 8 << 30;
/// Cursor operations, as numbered in lmdb.h: go to the last key, go to the one before.
const LAST: u32 = 6;
const PREVIOUS: u32 = 12;

/// The library.
pub(super) struct Lmdb;

fn open(place: &Path, flags: EnvironmentFlags) -> Result<Environment> {
    Ok(Environment::new().set_map_size(MAP_BYTES).set_flags(flags).open(place)?)
}

fn number(key: &[u8]) -> Result<u64> {
    Ok(u64::from_be_bytes(key.try_into().context("a key has not eight bytes")?))
}

impl HeaderStore for Lmdb {
    fn fill(&self, place: &Path, records: &mut dyn Iterator<Item = Result<Record>>) -> Result<()> {
        let environment = open(place, EnvironmentFlags::empty())?;
        let database = environment.create_db(None, DatabaseFlags::empty())?;
        let mut transaction = environment.begin_rw_txn()?;
        for record in records {
            let record = record?;
            // Records come in key order, so pages are filled one after another.
            transaction.put(database, &record.key.to_be_bytes(), &record.value, WriteFlags::APPEND)?;
        }
        transaction.commit()?;
        Ok(())
    }

    fn all(&self, place: &Path, each: &mut Each<'_>) -> Result<()> {
        let environment = open(place, EnvironmentFlags::READ_ONLY)?;
        let database = environment.open_db(None)?;
        let transaction = environment.begin_ro_txn()?;
        let mut cursor = transaction.open_ro_cursor(database)?;
        for found in cursor.iter_start() {
            let (key, value) = found?;
            each(number(key)?, value)?;
        }
        Ok(())
    }

    fn newest(&self, place: &Path, count: usize, each: &mut Each<'_>) -> Result<()> {
        let environment = open(place, EnvironmentFlags::READ_ONLY)?;
        let database = environment.open_db(None)?;
        let transaction = environment.begin_ro_txn()?;
        let cursor = transaction.open_ro_cursor(database)?;
        for place in 0..count {
            match cursor.get(None, None, if place == 0 { LAST } else { PREVIOUS }) {
                Ok((key, value)) => each(number(key.context("a record has no key")?)?, value)?,
                Err(lmdb::Error::NotFound) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
