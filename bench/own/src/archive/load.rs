//! Loads an index file of a repository repeatedly: lists, reads, decrypts, decompresses and decodes it, and
//! makes a searchable index, on one thread.
//!
//! Input: a directory for the repository. Output: a line. Does not know who measures.
//!
//! The file has many packs with one blob each, and is in memory, as in restic's BenchmarkLoadIndex.

use super::blobs::PASSWORD;
use super::decode::on_one_thread;
use anyhow::{Context, Result, ensure};
use disk::RealDisk;
use measure::{corpora, told};
use restic::index_file::IndexFileWriter;
use restic::testing::surroundings;
use restic::unpacked::{Parts, Version, save};
use restic::{
    BlobKind, Cost, FileKind, Id, IndexFiles, LocalStorage, PackedBlob, Password, SealedIndexFiles, Storage,
    key_file,
};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use testkit::Random;

/// Name of the line.
pub const LOADED: &str = "archive: load an index file of 5,000 packs into an index that answers";
/// Its entries.
pub const LOADED_COUNT: u64 = 5000;
/// How often it is loaded: together about as long as go's benchmarks run.
const TIMES: u32 = 200;
/// A directory in memory.
const MEMORY: &str = "/dev/shm";

/// Makes the file, loads it, and prints the time of one load.
pub(super) fn load(directory: &Path, blobs: u64) -> Result<()> {
    let name = directory.file_name().context("a repository has a name")?;
    let place = Path::new(MEMORY).join(name);
    corpora::clear(&place)?;
    let measured = measured(&place, blobs);
    corpora::clear(&place)?;
    let seconds = measured?;
    Ok(writeln!(std::io::stdout(), "{}", told::line(LOADED, "", "", seconds, blobs))?)
}

fn measured(place: &Path, blobs: u64) -> Result<f64> {
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(Arc::new(RealDisk), place.to_owned()));
    storage.create()?;
    let password = Password::new(PASSWORD.into());
    let surroundings = surroundings();
    let (_, key) = key_file::create(&*storage, &surroundings, &password, Cost::default())?;
    let parts = Parts { storage, key: Arc::new(key), surroundings, version: Version::Two };
    let mut file = IndexFileWriter::default();
    for number in 0..blobs {
        let mut pack = Id::default();
        Random::of(1, 1, number).fill(&mut pack.0);
        let id = blob_id(number);
        let blob =
            PackedBlob { kind: BlobKind::Data, id, offset: 1235, length: 1234, uncompressed_length: 0 };
        file.add(&pack, &[blob]);
    }
    save(&parts, FileKind::Index, &file.finish())?;
    let files: Arc<dyn IndexFiles> = Arc::new(SealedIndexFiles { storage: parts.storage, key: parts.key });
    ensure!(files.list()?.len() == 1, "another index file is there");
    let begin = Instant::now();
    for _ in 0..TIMES {
        let index = on_one_thread(&files)?;
        ensure!(index.has(BlobKind::Data, &blob_id(blobs - 1))?, "a blob is missing");
    }
    let seconds = begin.elapsed().as_secs_f64() / f64::from(TIMES);
    let count = on_one_thread(&files)?.survey()?.entry_count();
    ensure!(u64::from(count) == blobs, "{count} of {blobs} blobs were loaded");
    Ok(seconds)
}

/// Returns the name of a blob.
fn blob_id(number: u64) -> Id {
    let mut id = Id::default();
    Random::of(1, 2, number).fill(&mut id.0);
    id
}
