//! The cache of the blob index: a store in its own directory for each repository.
//!
//! Keeps rows and hands out a verified snapshot of them, or none. A broken or busy cache never stops the
//! caller: everything in it can be rebuilt from the index files. Does not depend on index files.
//!
//! Nothing waits here. If another process is writing the cache, or the cache no longer matches the rows, the
//! rows stay in memory.

use super::sealed::Sealed;
use super::tables::SCHEMAS;
use crate::encoding::id::Id;
use crate::surroundings::Surroundings;
use disk::{Disk, Wait};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Limits, MergeOptions, Options, Schema, Snapshot, Transaction, Writer};

/// The cache of one repository's blob index.
#[derive(Clone, Debug)]
pub struct IndexCache {
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The directory of all caches; created if it does not exist.
    pub directory: PathBuf,
    /// The repository: the id in its config.
    pub repository: Id,
}

/// What tells backup programs that the directory can be rebuilt. See https://bford.info/cachedir/.
const TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55\n\
    # This directory is made from repositories by pneu and may be deleted.\n";
const TAG_NAME: &str = "CACHEDIR.TAG";
/// The attachment that says whose cache it is, and what its rows mean.
const OWNER: &str = "blob index of repository";
/// Counted up whenever the same columns come to mean something else.
const VERSION: u8 = 1;

impl IndexCache {
    /// Returns the directory of the repository's store.
    fn store_directory(&self) -> PathBuf {
        self.directory.join(self.repository.to_string())
    }

    fn owner(&self) -> Vec<u8> {
        [&[VERSION], &self.repository.0[..]].concat()
    }

    /// Returns the cache, if there is one that can be used.
    pub(super) fn open(&self) -> Option<Sealed> {
        self.sound(Snapshot::open(&self.disk, &self.store_directory()).ok()?)
    }

    fn sound(&self, snapshot: Snapshot) -> Option<Sealed> {
        let is_ours = snapshot.attachment(OWNER) == Some(&self.owner());
        Sealed::new(snapshot).ok().filter(|_| is_ours)
    }

    /// Replaces the content of the cache with `rows`; returns the cache if that succeeded.
    pub(super) fn write(&self, rows: &mut Transaction, surroundings: &Surroundings) -> Option<Sealed> {
        self.tag();
        rows.attach(OWNER, self.owner());
        let schemas: Vec<Schema> = SCHEMAS.iter().map(|schema| (**schema).clone()).collect();
        let options = options(surroundings);
        let writer =
            Writer::load_instead(&self.disk, &self.store_directory(), &schemas, rows, options).ok()?;
        self.sound(writer.snapshot().ok()?)
    }

    /// Adds `rows`, which are numbered for `base`, to the cache; returns it if that succeeded.
    pub(super) fn add(
        &self,
        base: &Sealed,
        rows: &Transaction,
        surroundings: &Surroundings,
    ) -> Option<Sealed> {
        let options = Options { known: Some(base.snapshot.clone()), ..options(surroundings) };
        let mut writer = Writer::open(&self.disk, &self.store_directory(), options).ok()?;
        if writer.version() != base.snapshot.version() {
            return None;
        }
        writer.commit_group(std::slice::from_ref(rows)).ok()?;
        let added = writer.snapshot().ok()?;
        drop(writer);
        self.sound(self.merged(&added, surroundings).unwrap_or(added))
    }

    /// Merges segments as long as that is worth it; returns the newest state if it still has the same rows.
    fn merged(&self, added: &Snapshot, surroundings: &Surroundings) -> Option<Snapshot> {
        let Options { holder, wait, seed, .. } = options(surroundings);
        let known = Some(added.clone());
        let options = MergeOptions { holder, wait, seed, known, ..MergeOptions::default() };
        let mut is_merged = false;
        while let Ok(Some(_)) = store::merge(&self.disk, &self.store_directory(), &options) {
            is_merged = true;
        }
        let newest = is_merged.then(|| added.newest().ok()).flatten()?;
        (newest.version().sequence == added.version().sequence).then_some(newest)
    }

    /// Writes the tag that tells backup programs what the directory is, if it is missing. If this fails, the
    /// next call tries again.
    fn tag(&self) {
        let is_there = self.disk.read(&self.directory.join(TAG_NAME)).is_ok();
        if !is_there && self.disk.create_directory(&self.directory).is_ok() {
            let _ = disk::publish(&*self.disk, Path::new(&self.directory), TAG_NAME, TAG);
        }
    }
}

fn options(surroundings: &Surroundings) -> Options {
    let mut seed = [0; 8];
    (surroundings.fill_random)(&mut seed);
    Options {
        holder: format!("process {}", surroundings.process),
        wait: Wait::Refuse,
        seed: u64::from_le_bytes(seed),
        // Each process that opens a journal replays its rows, which costs more than a few small segments.
        limits: Limits { journal_rows: 0, ..Limits::default() },
        ..Options::default()
    }
}
