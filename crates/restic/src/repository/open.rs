//! One repository: creates or opens it, and holds what all work on it needs.
//!
//! Input: a storage and a password. Output: the key, the config, and the index.
//!
//! Opening reads the keys and the config, nothing more. The index is read once, when it is first needed. A
//! caller that reads snapshots and then their trees must list the snapshots first: what a snapshot names is
//! in the index by the time the snapshot appears, but not in an index that was read earlier. Check and
//! prune, which look at everything, read an index of their own. After packs were removed, an index that was
//! read earlier is no longer used.

use crate::blob_index::{BlobIndex, IndexCache, IndexFiles, SealedIndexFiles};
use crate::crypto::key::Key;
use crate::crypto::key_file::{self, Cost};
use crate::crypto::password::Password;
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::FileKind;
use crate::format::config::{self, Begun, Config};
use crate::format::unpacked::{self, Parts, Version};
use crate::lock::{self, HeldLock, LockKind};
use crate::snapshots::snapshot::{self, Snapshot, SnapshotList};
use crate::storage::Storage;
use crate::surroundings::Surroundings;
use disk::Disk;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use work::{Progress, Silent};

/// The directory of the blob index caches of all repositories that this machine uses.
#[derive(Clone, Debug)]
pub struct CacheDirectory {
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The directory; created if it does not exist. Its content may be deleted at any time.
    pub path: PathBuf,
}

/// An open repository.
#[derive(Debug)]
pub struct Repository {
    parts: Parts,
    key_id: Id,
    config: Config,
    cache: Option<IndexCache>,
    index: OnceLock<BlobIndex>,
    /// Held while the index is read, so that it is read once.
    loading: Mutex<()>,
    /// How often packs were removed, by this one or by another that was reread.
    removals: Arc<AtomicU64>,
    /// `removals` when the index began to be read.
    known_removals: AtomicU64,
}

impl Repository {
    /// Creates a repository of version 2 and opens it. `cache` is where the merged index may be kept. An
    /// `init` that was interrupted after the key was written is continued if the password opens that key:
    /// nothing can have been saved without a config.
    ///
    /// # Errors
    /// [`Error::Exists`] or [`Error::NoConfig`] if something exists already, [`Error::Begun`] if that is a
    /// key with another password; or a storage error.
    pub fn init(
        storage: Arc<dyn Storage>,
        password: &Password,
        cost: Cost,
        cache: Option<CacheDirectory>,
        surroundings: Surroundings,
    ) -> Result<Repository> {
        let begun = config::refuse_existing(&*storage)?;
        storage.create()?;
        let (key_id, key) = match begun {
            Begun::Nothing => key_file::create(&*storage, &surroundings, password, cost)?,
            Begun::Keys => key_file::unlock(&*storage, password).map_err(|error| match error {
                Error::WrongPassword { address } => Error::Begun { address },
                other => other,
            })?,
        };
        let parts = Parts { storage, key: Arc::new(key), surroundings, version: Version::Two };
        // The config comes last: without one, there is no repository yet.
        let config = config::create(&parts)?;
        Ok(Repository::new(parts, key_id, config, cache))
    }

    /// Opens a repository: reads its keys and its config.
    ///
    /// # Errors
    /// [`Error::NoRepository`], [`Error::WrongPassword`], a sentence for another version or damage, or what
    /// the storage says.
    pub fn open(
        storage: Arc<dyn Storage>,
        password: &Password,
        cache: Option<CacheDirectory>,
        surroundings: Surroundings,
    ) -> Result<Repository> {
        let (key_id, key) = key_file::unlock(&*storage, password)?;
        let config = config::load(&*storage, &key)?;
        let parts = Parts { storage, key: Arc::new(key), surroundings, version: config.version };
        Ok(Repository::new(parts, key_id, config, cache))
    }

    pub(crate) fn new(parts: Parts, key_id: Id, config: Config, cache: Option<CacheDirectory>) -> Repository {
        let repository = config.id;
        let cache =
            cache.map(|CacheDirectory { disk, path }| IndexCache { disk, directory: path, repository });
        Repository::unread(parts, (key_id, config), cache, Arc::default())
    }

    fn unread(
        parts: Parts,
        (key_id, config): (Id, Config),
        cache: Option<IndexCache>,
        removals: Arc<AtomicU64>,
    ) -> Repository {
        let (index, loading, known_removals) = (OnceLock::new(), Mutex::new(()), AtomicU64::new(0));
        Repository { parts, key_id, config, cache, index, loading, removals, known_removals }
    }

    /// Returns the same repository with no index: the index is read again when it is needed.
    #[must_use]
    pub fn reread(&self) -> Repository {
        let removals = Arc::clone(&self.removals);
        Repository::unread(self.parts.clone(), (self.key_id, self.config), self.cache.clone(), removals)
    }

    /// Returns the repository's id, which never changes.
    pub fn id(&self) -> Id {
        self.config.id
    }

    /// Returns the config.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the key that seals everything.
    pub fn key(&self) -> &Key {
        &self.parts.key
    }

    /// Returns the id of the key file that the password opened.
    pub fn key_id(&self) -> Id {
        self.key_id
    }

    /// Returns what functions on single files need.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns the storage.
    pub fn storage(&self) -> &dyn Storage {
        &*self.parts.storage
    }

    /// Returns the clock, the random source and the rest of what the caller passed in.
    pub fn surroundings(&self) -> &Surroundings {
        &self.parts.surroundings
    }

    /// Returns the blob index; reads it if that was not done yet.
    ///
    /// # Errors
    /// Same as [`Repository::load_index`].
    pub fn index(&self) -> Result<&BlobIndex> {
        self.load_index(&Silent)
    }

    /// Reads the blob index unless that was done already, and returns it.
    ///
    /// # Errors
    /// A damaged index file, storage errors, [`Error::Interrupted`], or [`Error::Outdated`] if packs
    /// were removed since it was read.
    pub fn load_index(&self, progress: &dyn Progress) -> Result<&BlobIndex> {
        self.load_once(|files| BlobIndex::load(files, self.cache.as_ref(), self.surroundings(), progress))
    }

    /// Reads the blob index as [`Repository::load_index`] does, but goes on after damaged index files: each
    /// becomes an error in `damaged`, and the blobs it names count as missing. Every file is read, whatever
    /// the cache holds. Only for check, on a `Repository` that nothing else uses, because the missing blobs
    /// are never read later.
    ///
    /// # Errors
    /// Storage errors, or [`Error::Interrupted`].
    pub(crate) fn load_sound_index(
        &self,
        progress: &dyn Progress,
        damaged: &mut Vec<Error>,
    ) -> Result<&BlobIndex> {
        self.load_once(|files| {
            BlobIndex::load_sound(files, self.cache.as_ref(), self.surroundings(), progress, damaged)
        })
    }

    fn load_once(&self, load: impl FnOnce(&Arc<dyn IndexFiles>) -> Result<BlobIndex>) -> Result<&BlobIndex> {
        if let Some(index) = self.index.get() {
            return self.current(index);
        }
        // A thread that panicked while it read left nothing half done.
        let _one_at_a_time = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = self.index.get() {
            return self.current(index);
        }
        self.known_removals.store(self.removals.load(Ordering::Acquire), Ordering::Release);
        let (storage, key) = (Arc::clone(&self.parts.storage), Arc::clone(&self.parts.key));
        let files: Arc<dyn IndexFiles> = Arc::new(SealedIndexFiles { storage, key });
        let index = load(&files)?;
        self.current(self.index.get_or_init(|| index))
    }

    /// Returns the index unless it names packs that were removed: blobs would be skipped that no longer
    /// exist.
    fn current<'a>(&self, index: &'a BlobIndex) -> Result<&'a BlobIndex> {
        if self.known_removals.load(Ordering::Acquire) == self.removals.load(Ordering::Acquire) {
            return Ok(index);
        }
        Err(Error::Outdated { address: self.parts.storage.address() })
    }

    /// Invalidates every index that was read until now. Must be called before packs are removed.
    pub(crate) fn outdate(&self) {
        self.removals.fetch_add(1, Ordering::AcqRel);
    }

    /// Locks the repository. Waits for up to `patience` and reports to `told` why it waits, and each lock
    /// that it removes because the pneu that wrote it has certainly ended.
    ///
    /// # Errors
    /// [`Error::Locked`], or a storage error.
    pub fn lock(&self, kind: LockKind, patience: Duration, told: lock::Told<'_>) -> Result<HeldLock> {
        lock::acquire(&self.parts, kind, patience, told)
    }

    /// Reads all snapshots.
    ///
    /// # Errors
    /// As [`snapshot::list`]: a snapshot that cannot be read is no error, but is in [`SnapshotList::unread`].
    pub fn snapshots(&self) -> Result<SnapshotList> {
        snapshot::list(self.storage(), self.key(), self.surroundings().context.threads.count())
    }

    /// Seals and stores a snapshot, which is then visible to all. Everything that it names must be durable
    /// already.
    ///
    /// # Errors
    /// Storage errors.
    #[cfg(any(test, feature = "testing"))]
    pub fn save_snapshot(&self, snapshot: &Snapshot) -> Result<Id> {
        snapshot::save(&self.parts, snapshot)
    }

    /// Seals and stores a snapshot, which is then visible to all, as long as `lock` is held. Everything that
    /// it names must be durable already. If the lock is lost, data that the snapshot names may be lost too;
    /// the snapshot is then removed again, in case it was stored.
    ///
    /// # Errors
    /// Storage errors, or [`Error::LockLost`].
    pub fn save_snapshot_under(&self, lock: &HeldLock, snapshot: &Snapshot) -> Result<Id> {
        let (name, sealed) = unpacked::seal(&self.parts, FileKind::Snapshot, &snapshot.to_json())?;
        let may_still = || lock.check();
        let written = self.storage().write_while(name, &sealed, &may_still).and_then(|()| may_still());
        if matches!(written, Err(Error::LockLost { .. })) {
            // An attempt without an answer may have succeeded. If the removal fails as well, the first error
            // says more.
            drop(self.storage().remove(name));
        }
        written.map(|()| name.id)
    }
}
