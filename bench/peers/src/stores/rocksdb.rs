//! Header records in RocksDB.
//!
//! Input: records by key. Output: the same. Does not know how values are compressed; compresses blocks if
//! requested.

use super::codec::Codec;
use super::records::Record;
use super::store::{BLOCK_BYTES, DICTIONARY_BYTES, Each, HeaderStore, LEVEL};
use ::rocksdb::{
    BlockBasedOptions, DB, DBCompressionType, IngestExternalFileOptions, IteratorMode, Options, SstFileWriter,
};
use anyhow::{Context, Result};
use std::path::Path;

/// The usual window of zstd, as RocksDB names it.
const WINDOW_BITS: i32 = -14;
/// A dictionary is trained on values of this many times its size.
const TRAINED_ON_TIMES: i32 = 100;

/// Size of a table, which is also how much RocksDB keeps in memory before it writes one. With a dictionary,
/// all of it waits in memory for the training.
const TABLE_BYTES: usize = 64 << 20;

/// The library, and how it compresses blocks.
pub(super) struct Rocks(pub(super) Codec);

impl Rocks {
    fn options(&self) -> Result<Options> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_compression_type(match self.0 {
            Codec::None => DBCompressionType::None,
            Codec::Lz4 => DBCompressionType::Lz4,
            Codec::Zstd | Codec::ZstdDictionary => DBCompressionType::Zstd,
        });
        let dictionary = i32::try_from(DICTIONARY_BYTES)?;
        match self.0 {
            Codec::Zstd => options.set_compression_options(WINDOW_BITS, LEVEL, 0, 0),
            Codec::ZstdDictionary => {
                options.set_compression_options(WINDOW_BITS, LEVEL, 0, dictionary);
                options.set_zstd_max_train_bytes(dictionary * TRAINED_ON_TIMES);
            }
            Codec::None | Codec::Lz4 => {}
        }
        if self.0 != Codec::None {
            let mut blocks = BlockBasedOptions::default();
            blocks.set_block_size(BLOCK_BYTES as usize);
            options.set_block_based_table_factory(&blocks);
        }
        Ok(options)
    }

    fn hand_out(
        &self,
        place: &Path,
        mode: IteratorMode<'_>,
        count: usize,
        each: &mut Each<'_>,
    ) -> Result<()> {
        let database = DB::open_for_read_only(&self.options()?, place.join("rocksdb"), false)?;
        for found in database.iterator(mode).take(count) {
            let (key, value) = found?;
            let key = key.as_ref().try_into().context("a key has not eight bytes")?;
            each(u64::from_be_bytes(key), &value)?;
        }
        Ok(())
    }
}

impl HeaderStore for Rocks {
    fn fill(&self, place: &Path, records: &mut dyn Iterator<Item = Result<Record>>) -> Result<()> {
        let options = self.options()?;
        let database = DB::open(&options, place.join("rocksdb"))?;
        // Records come in key order, so they are written directly into synced tables, without the log and the
        // memtable.
        let mut tables = Vec::new();
        let mut records = records.peekable();
        while records.peek().is_some() {
            let path = place.join(format!("{}.sst", tables.len()));
            let mut table = SstFileWriter::create(&options);
            table.open(&path)?;
            let mut bytes = 0;
            while bytes < TABLE_BYTES
                && let Some(record) = records.next().transpose()?
            {
                table.put(record.key.to_be_bytes(), &record.value)?;
                bytes += record.value.len();
            }
            table.finish()?;
            tables.push(path);
        }
        if !tables.is_empty() {
            let mut moved = IngestExternalFileOptions::default();
            moved.set_move_files(true);
            database.ingest_external_file_opts(&moved, tables)?;
        }
        Ok(())
    }

    fn all(&self, place: &Path, each: &mut Each<'_>) -> Result<()> {
        self.hand_out(place, IteratorMode::Start, usize::MAX, each)
    }

    fn newest(&self, place: &Path, count: usize, each: &mut Each<'_>) -> Result<()> {
        self.hand_out(place, IteratorMode::End, count, each)
    }
}
