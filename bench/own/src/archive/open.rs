//! Opens the index of a repository, with and without a cache, and looks ids up in it.
//!
//! Input: a repository made by `make`. Output: lines. Does not know who measures.

use super::blobs;
use anyhow::{Result, ensure};
use disk::RealDisk;
use measure::{bytes_below, told, watch};
use restic::testing::surroundings;
use restic::{
    BlobIndex, BlobKind, Id, IndexCache, IndexFiles, Password, SealedIndexFiles, Surroundings, config,
    key_file,
};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use work::Silent;

/// Look-ups of one round.
const LOOKUP_COUNT: u64 = 1_000_000;
/// This many different ids are looked up repeatedly.
pub const ASKED_COUNT: u64 = 100_000;
/// The series of the least work of every look-up.
pub const ANY: &str = "any";
/// The job's name.
pub const TOUCHED: &str = "one cache line touched";
/// A cache line.
const LINE_BYTES: usize = 64;
/// A tag and a row number.
const SLOT_BYTES: u64 = 6;
/// Passes over the ids that are looked up repeatedly.
const ASKED_TIMES: usize = 10;
/// The name of the series that opens without a cache.
pub const COLD: &str = "cold, cache written";
/// The name of the series that opens with one.
pub const CACHED: &str = "cached";

/// Returns the name of a series.
pub fn open_name(blob_count: u64, how: &str) -> String {
    format!("archive: open the index of {blob_count} blobs, {how}")
}

/// Returns the name of the series in which the same 100,000 ids are looked up repeatedly, as in restic's
/// benchmarks.
pub fn again_name(which: &str, blob_count: u64, how: &str) -> String {
    format!("archive: {which} id of {blob_count}, 100,000 over and over, {how}")
}

/// An unlocked repository, and where its index is cached.
struct Repository {
    files: Arc<dyn IndexFiles>,
    cache: IndexCache,
    surroundings: Surroundings,
}

fn cache_directory(directory: &Path) -> PathBuf {
    directory.join("cache")
}

fn unlock(directory: &Path) -> Result<Repository> {
    let storage = blobs::storage(directory);
    let (_, key) = key_file::unlock(&*storage, &Password::new(blobs::PASSWORD.into()))?;
    let repository = config::load(&*storage, &key)?.id;
    let mut surroundings = surroundings();
    surroundings.context.threads = work::Threads::All;
    Ok(Repository {
        files: Arc::new(SealedIndexFiles { storage, key: Arc::new(key) }),
        cache: IndexCache { disk: Arc::new(RealDisk), directory: cache_directory(directory), repository },
        surroundings,
    })
}

/// Opens the index, and prints the time and memory that it took.
fn open(directory: &Path, blob_count: u64, how: &str, goal: &str) -> Result<()> {
    let Repository { files, cache, surroundings } = unlock(directory)?;
    let cache = (!how.contains("memory")).then_some(cache);
    let own_bytes = || watch::anonymous_bytes(std::process::id()).unwrap_or(0);
    let before = own_bytes();
    let begin = Instant::now();
    let index = BlobIndex::load(&files, cache.as_ref(), &surroundings, &Silent)?;
    let seconds = begin.elapsed().as_secs_f64();
    let each = |bytes: u64| bytes as f64 / blob_count as f64;
    let note = format!(
        "; {:.1} B a blob of memory, {:.1} B of the cache",
        each(own_bytes().saturating_sub(before)),
        each(bytes_below(&cache_directory(directory)).unwrap_or(0))
    );
    ensure!(index.has(blobs::blob_kind(0), &blobs::blob_id(0))?, "a blob is missing");
    if how.contains("cached") {
        let begin = Instant::now();
        let count = index.survey()?.entry_count();
        tell(
            &format!("archive: verify the index of {blob_count} blobs, {how}"),
            "",
            begin.elapsed().as_secs_f64(),
            blob_count,
            "",
        )?;
        // The snapshot's trees are additional.
        ensure!(u64::from(count) >= blob_count, "{count} blobs are in the index");
    }
    tell(&open_name(blob_count, how), goal, seconds, blob_count, &note)
}

pub(super) fn open_cold(directory: &Path, blob_count: u64) -> Result<()> {
    if cache_directory(directory).exists() {
        fs::remove_dir_all(cache_directory(directory))?;
    }
    open(directory, blob_count, COLD, "<= 2 s")
}

pub(super) fn open_cached(directory: &Path, blob_count: u64) -> Result<()> {
    open(directory, blob_count, CACHED, "<= 50 ms")
}

pub(super) fn open_in_memory(directory: &Path, blob_count: u64) -> Result<()> {
    open(directory, blob_count, "in memory only", "<= 2 s")
}

/// Looks up known and unknown ids.
pub(super) fn look_up(directory: &Path, blob_count: u64, rounds: usize) -> Result<()> {
    let Repository { files, cache, surroundings } = unlock(directory)?;
    let cached = BlobIndex::load(&files, Some(&cache), &surroundings, &Silent)?;
    let in_memory = BlobIndex::load(&files, None, &surroundings, &Silent)?;
    // A prime step spreads them over all ids. Unknown ids have numbers beyond the last one.
    let numbers = (0..).map(|number| number * 7919 % blob_count);
    let is_data = |&number: &u64| blobs::blob_kind(number) == BlobKind::Data;
    let known: Vec<Id> =
        numbers.filter(is_data).take(usize::try_from(LOOKUP_COUNT)?).map(blobs::blob_id).collect();
    let unknown: Vec<Id> = (blob_count..blob_count + LOOKUP_COUNT).map(blobs::blob_id).collect();
    for round in 0..=rounds {
        if round > 0 {
            look_up_again(&cached, "unknown", &unknown, blob_count)?;
            look_up_again(&cached, "known", &known, blob_count)?;
            touch_again(&unknown, blob_count)?;
        }
        for (where_from, index) in [("cached", &cached), ("in memory only", &in_memory)] {
            for (ids, which, goal) in [(&unknown, "unknown", "<= 51 ns"), (&known, "known", "<= 100 ns")] {
                let expected = if which == "known" { ids.len() } else { 0 };
                let report = |how: &str, begin: Instant, found: usize| -> Result<()> {
                    ensure!(found == expected, "{found} of {expected} found, {how}");
                    let name = format!("archive: {which} id of {blob_count}, {where_from}, {how}");
                    let seconds = begin.elapsed().as_secs_f64();
                    if round > 0 { tell(&name, goal, seconds, LOOKUP_COUNT, "") } else { Ok(()) }
                };
                let begin = Instant::now();
                let mut found = 0;
                for id in ids {
                    found += usize::from(index.has(BlobKind::Data, id)?);
                }
                report("one by one", begin, found)?;
                let mut has = Vec::new();
                let begin = Instant::now();
                index.has_batch(BlobKind::Data, ids, &mut has)?;
                report("in batches", begin, has.iter().filter(|has| **has).count())?;
            }
        }
    }
    Ok(())
}

/// Looks up the first 100,000 ids repeatedly, and prints the time of one pass.
fn look_up_again(index: &BlobIndex, which: &str, ids: &[Id], blob_count: u64) -> Result<()> {
    let ids = &ids[..ids.len().min(usize::try_from(ASKED_COUNT)?)];
    let mut has = Vec::new();
    let (mut alone, mut together, mut found) = (0.0, 0.0, 0);
    for _ in 0..ASKED_TIMES {
        let begin = Instant::now();
        for id in ids {
            found += usize::from(index.has(BlobKind::Data, id)?);
        }
        alone += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        index.has_batch(BlobKind::Data, ids, &mut has)?;
        together += begin.elapsed().as_secs_f64();
        found += has.iter().filter(|has| **has).count();
    }
    let expected = if which == "known" { 2 * ASKED_TIMES * ids.len() } else { 0 };
    ensure!(found == expected, "{found} of {expected} found");
    for (how, seconds) in [("one by one", alone), ("in batches", together)] {
        let seconds = seconds / ASKED_TIMES as f64;
        tell(&again_name(which, blob_count, how), "", seconds, ASKED_COUNT, "")?;
    }
    Ok(())
}

/// Touches one cache line for each of as many ids, repeatedly, in a table with a tag and a row number per
/// blob, and prints the time of one pass. Any table of random keys needs at least this.
fn touch_again(ids: &[Id], blob_count: u64) -> Result<()> {
    let ids = &ids[..ids.len().min(usize::try_from(ASKED_COUNT)?)];
    let lines = vec![[1_u8; LINE_BYTES]; usize::try_from(blob_count * SLOT_BYTES)?.div_ceil(LINE_BYTES)];
    let begin = Instant::now();
    let mut sum = 0;
    for _ in 0..ASKED_TIMES {
        for id in ids {
            let place = u32::from_le_bytes(*id.0.first_chunk().expect("an id has 32 bytes"));
            // As large a share of all lines as the number has of all numbers.
            let place = (u64::from(place) * lines.len() as u64) >> u32::BITS;
            sum += u64::from(lines[usize::try_from(place)?][0] & 2);
        }
    }
    let seconds = begin.elapsed().as_secs_f64() / ASKED_TIMES as f64;
    ensure!(std::hint::black_box(sum) == 0, "another byte was read");
    tell(&again_name(ANY, blob_count, TOUCHED), "", seconds, ASKED_COUNT, "")
}

/// Unlocks the repository, opens its index with or without a cache, and looks up an unknown blob.
pub(super) fn look(directory: &Path, blob_count: u64) -> Result<()> {
    let Repository { files, cache, surroundings } = unlock(directory)?;
    let index = BlobIndex::load(&files, Some(&cache), &surroundings, &Silent)?;
    let has = index.has(blobs::blob_kind(0), &blobs::blob_id(blob_count))?;
    ensure!(!has && index.has(blobs::blob_kind(0), &blobs::blob_id(0))?, "another blob is there");
    Ok(())
}

fn tell(name: &str, goal: &str, seconds: f64, count: u64, note: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{}", told::line(name, goal, note, seconds, count))?)
}
