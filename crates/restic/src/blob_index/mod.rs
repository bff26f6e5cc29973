//! The blob index: where each blob of a repository lies.
//!
//! Built from index files and from packs stored in this run. Does not depend on how index files are sealed,
//! or of what blobs hold.
//!
//! Each index file is read once. Its rows are kept in a store in a cache directory (`tables.rs`, `cache.rs`)
//! that is mapped, not loaded, so that opening ten million blobs costs no more than opening ten. Later runs
//! read only new index files. If an index file is gone, all are read again and the cache is rebuilt, so that
//! no blob is ever found through a file that no longer exists. Without a cache, or if it cannot be written,
//! all rows are kept in memory (`memory.rs`).
//!
//! If a look-up meets damage in the cache, the cache is rebuilt from the index files at once and the look-up
//! is repeated. Only [`Survey`], which numbers blobs, verifies the whole cache first: numbers must not
//! change while a caller marks blobs by them.

mod cache;
mod columns;
mod files;
mod layers;
mod memory;
mod number;
mod read;
mod sealed;
mod survey;
mod tables;

#[cfg(test)]
mod tests;

pub use cache::IndexCache;
pub use files::{IndexFiles, SealedIndexFiles};
pub use survey::{Entry, Mention, PackSummary, Survey};

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::{BlobKind, Location, PackedBlob};
use crate::surroundings::Surroundings;
use layers::{Layers, Origin, Strictness, Trust};
use memory::Memory;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use work::{Progress, Silent};

/// Ids of a batch that are looked up at once.
const BATCH_IDS: usize = 1024;

/// Where each blob of a repository lies. Many threads may ask at once.
#[derive(Debug)]
pub struct BlobIndex {
    origin: Origin,
    loaded: Layers,
    /// In the place of `loaded`, once that turned out damaged.
    renewed: OnceLock<Layers>,
    renewing: Mutex<()>,
    /// Whether anybody knows numbers of `loaded` or of `renewed`.
    is_numbered: AtomicBool,
    /// Blobs stored in this run. Their packs have numbers of their own.
    added: RwLock<Memory>,
    has_added: AtomicBool,
}

impl BlobIndex {
    /// Reads all index files that the cache does not have, on all threads.
    ///
    /// # Errors
    /// The first damaged index file, by name; storage errors; or [`Error::Interrupted`]. Never fails
    /// because of the cache.
    pub fn load(
        files: &Arc<dyn IndexFiles>,
        cache: Option<&IndexCache>,
        surroundings: &Surroundings,
        progress: &dyn Progress,
    ) -> Result<BlobIndex> {
        BlobIndex::of(origin(files, cache, surroundings, Strictness::Strict), progress, &mut Vec::new())
    }

    /// Loads as [`BlobIndex::load`] does, but goes on after damaged index files: each becomes an error in
    /// `damaged`, and its blobs are missing. Reads all index files, because the cache does not tell whether a
    /// file is damaged now.
    ///
    /// # Errors
    /// Storage errors, or that it was interrupted.
    pub fn load_sound(
        files: &Arc<dyn IndexFiles>,
        cache: Option<&IndexCache>,
        surroundings: &Surroundings,
        progress: &dyn Progress,
        damaged: &mut Vec<Error>,
    ) -> Result<BlobIndex> {
        BlobIndex::of(origin(files, cache, surroundings, Strictness::Lenient), progress, damaged)
    }

    fn of(origin: Origin, progress: &dyn Progress, damaged: &mut Vec<Error>) -> Result<BlobIndex> {
        let trust = match origin.strictness {
            Strictness::Strict => Trust::Cache,
            Strictness::Lenient => Trust::FilesOnly,
        };
        let loaded = layers::load(&origin, trust, progress, damaged)?;
        let added = RwLock::new(origin.memory());
        Ok(BlobIndex {
            origin,
            loaded,
            renewed: OnceLock::new(),
            renewing: Mutex::new(()),
            is_numbered: AtomicBool::new(false),
            added,
            has_added: AtomicBool::new(false),
        })
    }

    /// Returns whether a blob exists.
    ///
    /// # Errors
    /// The cache is damaged and the index files cannot be read.
    #[inline]
    pub fn has(&self, kind: BlobKind, id: &Id) -> Result<bool> {
        let has = match self.layers().has(kind, id) {
            Ok(has) => has,
            Err(error) => self.again(error, |layers| layers.has(kind, id))?,
        };
        Ok(has || self.added_if_any().is_some_and(|added| added.has(kind, id)))
    }

    /// Finds out which blobs exist: writes an answer into `has` for each of `ids`. Faster than one by one.
    ///
    /// # Errors
    /// Same as [`BlobIndex::has`].
    pub fn has_batch(&self, kind: BlobKind, ids: &[Id], has: &mut Vec<bool>) -> Result<()> {
        has.clear();
        has.resize(ids.len(), false);
        let added = self.added_if_any();
        let mut batch = Vec::with_capacity(BATCH_IDS.min(ids.len()));
        for (ids, has) in ids.chunks(BATCH_IDS).zip(has.chunks_mut(BATCH_IDS)) {
            batch.clear();
            batch.extend(ids.iter().map(|id| id.0));
            if let Err(error) = self.layers().has_batch(kind, &batch, has) {
                let again = self.again(error, |layers| {
                    let mut again = vec![false; batch.len()];
                    layers.has_batch(kind, &batch, &mut again)?;
                    Ok(again)
                })?;
                has.copy_from_slice(&again);
            }
            if let Some(added) = &added {
                has.iter_mut().zip(ids).for_each(|(has, id)| *has = *has || added.has(kind, id));
            }
        }
        Ok(())
    }

    /// Appends where all copies of a blob lie, each once.
    ///
    /// # Errors
    /// Same as [`BlobIndex::has`].
    pub fn find(&self, kind: BlobKind, id: &Id, found: &mut Vec<Location>) -> Result<()> {
        let locations = |layers: &Layers| {
            let mut numbers = Vec::new();
            layers.find(kind, id, &mut numbers)?;
            let location = |number| {
                let (kind, row) = layers.row(number)?;
                Ok(row.blob(kind).location(layers.pack_id(row.pack)?))
            };
            numbers.into_iter().map(location).collect::<store::Result<Vec<_>>>()
        };
        let mut all = match locations(self.layers()) {
            Ok(all) => all,
            Err(error) => self.again(error, locations)?,
        };
        if let Some(added) = self.added_if_any() {
            all.extend(added.find(kind, id).map(|place| {
                let (kind, row) = added.row(place);
                row.blob(kind).location(added.packs[row.pack as usize])
            }));
        }
        // A pack of this run may be in an index file already.
        all.sort_unstable();
        all.dedup();
        found.append(&mut all);
        Ok(())
    }

    /// Returns the packs that index files name, and those of this run.
    ///
    /// # Errors
    /// Same as [`BlobIndex::has`].
    pub fn packs(&self) -> Result<HashSet<Id>> {
        let packs = match self.layers().packs() {
            Ok(packs) => packs,
            Err(error) => self.again(error, Layers::packs)?,
        };
        let added = self.added_if_any();
        let added = added.iter().flat_map(|added| added.packs.iter().copied());
        Ok(packs.into_iter().chain(added).collect())
    }

    /// Adds the blobs of a pack that was stored in this run. A pack that was added before is left as it is.
    ///
    /// # Errors
    /// There are more blobs than can be counted with those that were known.
    pub fn insert(&self, pack: &Id, blobs: &[PackedBlob]) -> Result<()> {
        let known_count = self.layers().len();
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        if added.pack_place(pack).is_none() {
            let more = u32::try_from(blobs.len()).ok().and_then(|more| added.len().checked_add(more));
            more.and_then(|added| added.checked_add(known_count)).ok_or_else(|| number::too_many("blobs"))?;
            added.insert(pack, blobs);
            self.has_added.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Returns all blobs and packs with numbers, for callers that look at all of them. First verifies every
    /// byte of the cache.
    ///
    /// # Errors
    /// Same as [`BlobIndex::has`].
    pub fn survey(&self) -> Result<Survey<'_>> {
        if let Err(error) = self.layers().verify() {
            self.again(error, Layers::verify)?;
        }
        self.is_numbered.store(true, Ordering::Release);
        Survey::new(self.layers(), &self.added)
    }

    /// Returns how many bytes of memory it takes, except what is mapped from the cache.
    pub fn memory_bytes(&self) -> usize {
        self.layers().memory_bytes() + self.added().memory_bytes()
    }

    fn layers(&self) -> &Layers {
        self.renewed.get().unwrap_or(&self.loaded)
    }

    fn added(&self) -> RwLockReadGuard<'_, Memory> {
        self.added.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn added_if_any(&self) -> Option<RwLockReadGuard<'_, Memory>> {
        self.has_added.load(Ordering::Acquire).then(|| self.added())
    }

    /// Rebuilds the damaged cache, and repeats the look-up.
    #[cold]
    fn again<T>(&self, error: store::Error, ask: impl Fn(&Layers) -> store::Result<T>) -> Result<T> {
        let _turn = self.renewing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.renewed.get().is_none() {
            if self.is_numbered.load(Ordering::Acquire) {
                return Err(error.into());
            }
            let renewed = layers::load(&self.origin, Trust::FilesOnly, &Silent, &mut Vec::new())?;
            // No other thread sets it while the lock is held.
            let _ = self.renewed.set(renewed);
        }
        Ok(ask(self.layers())?)
    }
}

fn origin(
    files: &Arc<dyn IndexFiles>,
    cache: Option<&IndexCache>,
    surroundings: &Surroundings,
    strictness: Strictness,
) -> Origin {
    let (files, cache) = (Arc::clone(files), cache.cloned());
    Origin { files, cache, surroundings: surroundings.clone(), strictness }
}
