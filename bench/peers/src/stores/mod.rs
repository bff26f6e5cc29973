//! Header records in key-value stores, including ours: filled, read completely, read at the newest end.
//!
//! Input: a Maildir's folder, or a file of records made from it. Output: a store on disk, or a line with what
//! was read, the same for all stores. Does not know who measures.
//!
//! Each job runs in its own process. This program compresses values one by one, so that they are the same
//! bytes in every store; stores that compress blocks themselves occur a second time under another name. Each
//! store except ours is behind a feature of its name.

mod codec;
#[cfg(feature = "fjall")]
mod fjall;
#[cfg(feature = "lmdb")]
mod lmdb;
mod ours;
mod records;
#[cfg(feature = "redb")]
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
pub(crate) use codec::Codec;
use codec::{Decoder, Encoder};
use records::Record;
use std::fs;
use std::path::{Path, PathBuf};
use store::{Each, HeaderStore};
use xxhash_rust::xxh3::Xxh3;

/// One job.
#[derive(Args)]
pub(crate) struct StoresArguments {
    #[command(subcommand)]
    job: Job,
}

#[derive(Subcommand)]
enum Job {
    /// Make a file of the header records of a folder, by key.
    Records { folder: PathBuf, file: PathBuf },
    /// Read that file: the least work of every store.
    Bytes { file: PathBuf },
    /// Compress that file as well as possible, in one frame from which no single record can be read.
    Pack { file: PathBuf, packed: PathBuf },
    /// Put all records into a new store.
    Fill { store: StoreKind, codec: Codec, file: PathBuf, place: PathBuf },
    /// Read all records of a store in key order.
    All { store: StoreKind, codec: Codec, place: PathBuf },
    /// Read those with the highest keys.
    Newest { store: StoreKind, codec: Codec, place: PathBuf, count: usize },
}

/// The stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    /// The store of this project, with blocks; with a dictionary, row by row.
    Pneu,
    Lmdb,
    Rocksdb,
    /// RocksDB, which compresses its blocks itself.
    RocksdbBlocks,
    Redb,
    Fjall,
    /// fjall, which compresses its blocks itself.
    FjallBlocks,
    Sqlite,
}

impl StoreKind {
    /// All of them, ours first.
    pub(crate) const ALL: [StoreKind; 8] = [
        StoreKind::Pneu,
        StoreKind::Lmdb,
        StoreKind::Rocksdb,
        StoreKind::RocksdbBlocks,
        StoreKind::Redb,
        StoreKind::Fjall,
        StoreKind::FjallBlocks,
        StoreKind::Sqlite,
    ];

    /// Returns the name on the command line.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            StoreKind::Pneu => "pneu",
            StoreKind::Lmdb => "lmdb",
            StoreKind::Rocksdb => "rocksdb",
            StoreKind::RocksdbBlocks => "rocksdb-blocks",
            StoreKind::Redb => "redb",
            StoreKind::Fjall => "fjall",
            StoreKind::FjallBlocks => "fjall-blocks",
            StoreKind::Sqlite => "sqlite",
        }
    }

    /// Returns whether this program was built with the store.
    pub(crate) fn is_built(self) -> bool {
        self.open(Codec::None).is_ok()
    }

    /// Returns how the values are compressed before the store gets them, or `None` if the store has no such
    /// mode.
    pub(crate) fn before(self, codec: Codec) -> Option<Codec> {
        match (self, codec) {
            // Uncompressed blocks would be the same as those of the other name.
            (StoreKind::RocksdbBlocks, Codec::None) => None,
            (StoreKind::Pneu | StoreKind::RocksdbBlocks, _) | (StoreKind::FjallBlocks, Codec::Lz4) => {
                Some(Codec::None)
            }
            (StoreKind::FjallBlocks, _) => None,
            _ => Some(codec),
        }
    }

    fn open(self, codec: Codec) -> Result<Box<dyn HeaderStore>> {
        match self {
            StoreKind::Pneu => Ok(Box::new(ours::Ours(codec))),
            #[cfg(feature = "lmdb")]
            StoreKind::Lmdb => Ok(Box::new(lmdb::Lmdb)),
            #[cfg(feature = "rocksdb")]
            StoreKind::Rocksdb => Ok(Box::new(rocksdb::Rocks(Codec::None))),
            #[cfg(feature = "rocksdb")]
            StoreKind::RocksdbBlocks => Ok(Box::new(rocksdb::Rocks(codec))),
            #[cfg(feature = "redb")]
            StoreKind::Redb => Ok(Box::new(redb::Redb)),
            #[cfg(feature = "fjall")]
            StoreKind::Fjall => Ok(Box::new(fjall::Fjall(Codec::None))),
            #[cfg(feature = "fjall")]
            StoreKind::FjallBlocks => Ok(Box::new(fjall::Fjall(codec))),
            #[cfg(feature = "sqlite")]
            StoreKind::Sqlite => Ok(Box::new(sqlite::Sqlite)),
            #[cfg(not(all(
                feature = "lmdb",
                feature = "rocksdb",
                feature = "redb",
                feature = "fjall",
                feature = "sqlite"
            )))]
            _ => anyhow::bail!(
                "this program was built without the store {}; build it with --features stores,rocksdb",
                self.argument()
            ),
        }
    }
}

/// Does one job and prints what it found.
///
/// # Errors
/// An error of the disk or the store.
pub(crate) fn run(arguments: &StoresArguments) -> Result<()> {
    match &arguments.job {
        Job::Records { folder, file } => {
            tell(records::make(folder, file)?, 0);
            Ok(())
        }
        Job::Bytes { file } => {
            let mut told = Told::default();
            records::read(file)?
                .try_for_each(|record| record.map(|record| told.take(record.key, &record.value)))?;
            told.tell();
            Ok(())
        }
        Job::Pack { file, packed } => codec::pack(file, packed),
        Job::Fill { store, codec, file, place } => fill(*store, *codec, file, place),
        Job::All { store, codec, place } => read(*store, *codec, place, |store, each| store.all(place, each)),
        Job::Newest { store, codec, place, count } => {
            read(*store, *codec, place, |store, each| store.newest(place, *count, each))
        }
    }
}

fn fill(kind: StoreKind, codec: Codec, file: &Path, place: &Path) -> Result<()> {
    fs::create_dir_all(place).with_context(|| format!("cannot make {}", place.display()))?;
    let before = kind.before(codec).context("this store has no such codec")?;
    let mut encoder = Encoder::new(before, place, || records::read(file))?;
    let mut count = 0;
    let mut encoded = records::read(file)?.map(|record| {
        let record = record?;
        count += 1;
        Ok(Record { key: record.key, value: encoder.encode(&record.value)? })
    });
    kind.open(codec)?.fill(place, &mut encoded)?;
    drop(encoded);
    tell(count, 0);
    Ok(())
}

fn read(
    kind: StoreKind,
    codec: Codec,
    place: &Path,
    job: impl Fn(&dyn HeaderStore, &mut Each<'_>) -> Result<()>,
) -> Result<()> {
    let before = kind.before(codec).context("this store has no such codec")?;
    let mut decoder = Decoder::open(before, place)?;
    let mut told = Told::default();
    job(&*kind.open(codec)?, &mut |key, value| {
        told.take(key, decoder.decode(value)?);
        Ok(())
    })?;
    told.tell();
    Ok(())
}

/// What was read: the number of records, and a digest of their keys and values in order.
#[derive(Default)]
struct Told {
    count: u64,
    digest: Xxh3,
}

impl Told {
    fn take(&mut self, key: u64, value: &[u8]) {
        self.count += 1;
        self.digest.update(&key.to_be_bytes());
        self.digest.update(value);
    }

    fn tell(&self) {
        tell(self.count, self.digest.digest());
    }
}

#[expect(clippy::print_stdout, reason = "the line is this errand's answer")]
fn tell(count: u64, digest: u64) {
    println!("{count} records {digest:016x}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(count: u64) -> Vec<Record> {
        let value = |key: u64| {
            format!(
                "From: person {}\nSubject: {}\n",
                key % 7,
                "word ".repeat(usize::try_from(key % 90).unwrap())
            )
        };
        (1..=count).map(|key| Record { key: key << 20, value: value(key).into_bytes() }).collect()
    }

    fn kept(kind: StoreKind, codec: Codec, all: &[Record]) -> (Vec<Record>, Vec<Record>) {
        let directory = tempfile::tempdir().unwrap();
        let (file, place) = (directory.path().join("records"), directory.path().join("store"));
        records::write(&file, all).unwrap();
        fill(kind, codec, &file, &place).unwrap();
        let take = |job: &dyn Fn(&dyn HeaderStore, &mut Each<'_>) -> Result<()>| {
            let mut found = Vec::new();
            let mut decoder = Decoder::open(kind.before(codec).unwrap(), &place).unwrap();
            job(&*kind.open(codec).unwrap(), &mut |key, value| {
                found.push(Record { key, value: decoder.decode(value)?.to_vec() });
                Ok(())
            })
            .unwrap();
            found
        };
        (take(&|store, each| store.all(&place, each)), take(&|store, each| store.newest(&place, 50, each)))
    }

    #[test]
    fn every_store_gives_back_what_it_was_given() {
        let all = records(600);
        let newest: Vec<Record> = all.iter().rev().take(50).cloned().collect();
        for kind in StoreKind::ALL.into_iter().filter(|kind| kind.is_built()) {
            for codec in Codec::ALL.into_iter().filter(|&codec| kind.before(codec).is_some()) {
                let (whole, end) = kept(kind, codec, &all);
                assert!(whole == all, "{kind:?} {codec:?}: {} records", whole.len());
                assert!(end == newest, "{kind:?} {codec:?}: {} newest", end.len());
            }
        }
    }

    #[test]
    fn a_store_that_was_left_out_is_named() {
        for kind in StoreKind::ALL.into_iter().filter(|kind| !kind.is_built()) {
            let error = kind.open(Codec::None).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(kind.argument()) && error.contains("--features stores"), "{error}");
        }
        assert!(StoreKind::Pneu.is_built());
    }

    #[test]
    fn what_is_told_depends_on_the_order() {
        let digest = |keys: [u64; 2]| {
            let mut told = Told::default();
            keys.iter().for_each(|&key| told.take(key, b"value"));
            (told.count, told.digest.digest())
        };
        assert_eq!(digest([1, 2]), digest([1, 2]));
        assert_ne!(digest([1, 2]), digest([2, 1]));
        assert_eq!(digest([1, 2]).0, 2);
    }
}
