//! Header records in fjall.
//!
//! Input: records by key. Output: the same. Does not know how values are compressed; compresses blocks if
//! requested.

use super::codec::Codec;
use super::records::Record;
use super::store::{BLOCK_BYTES, Each, HeaderStore};
use ::fjall::config::{BlockSizePolicy, CompressionPolicy};
use ::fjall::{CompressionType, Database, Guard, Keyspace, KeyspaceCreateOptions, PersistMode};
use anyhow::{Context, Result};
use std::path::Path;

/// The library, and how it compresses blocks.
pub(super) struct Fjall(pub(super) Codec);

impl Fjall {
    fn open(&self, place: &Path) -> Result<(Database, Keyspace)> {
        let database = Database::builder(place.join("fjall")).open()?;
        let compress = self.0 != Codec::None;
        let options = || {
            let options = KeyspaceCreateOptions::default();
            if compress {
                options
                    .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
                    .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
            } else {
                options.data_block_compression_policy(CompressionPolicy::all(CompressionType::None))
            }
        };
        let keyspace = database.keyspace("headers", options)?;
        Ok((database, keyspace))
    }
}

fn hand_out(found: impl Iterator<Item = Guard>, each: &mut Each<'_>) -> Result<()> {
    for found in found {
        let (key, value) = found.into_inner()?;
        let key = key.as_ref().try_into().context("a key has not eight bytes")?;
        each(u64::from_be_bytes(key), &value)?;
    }
    Ok(())
}

impl HeaderStore for Fjall {
    fn fill(&self, place: &Path, records: &mut dyn Iterator<Item = Result<Record>>) -> Result<()> {
        let (database, keyspace) = self.open(place)?;
        // Records come in key order, so they are written directly into tables, without the journal.
        let mut ingestion = keyspace.start_ingestion()?;
        for record in records {
            let record = record?;
            ingestion.write(record.key.to_be_bytes(), record.value)?;
        }
        ingestion.finish()?;
        database.persist(PersistMode::SyncAll)?;
        Ok(())
    }

    fn all(&self, place: &Path, each: &mut Each<'_>) -> Result<()> {
        let (_database, keyspace) = self.open(place)?;
        hand_out(keyspace.iter(), each)
    }

    fn newest(&self, place: &Path, count: usize, each: &mut Each<'_>) -> Result<()> {
        let (_database, keyspace) = self.open(place)?;
        hand_out(keyspace.iter().rev().take(count), each)
    }
}
