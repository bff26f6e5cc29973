//! One repository: made, opened, and what all work on it needs.
//!
//! Comes in: a storage and a password. Goes out: the key, what the repository is, and where its blobs lie. Must not know what is done
//! with it.
//!
//! Opening reads the keys and the config, nothing more. The index is read when it is first asked for, once. Whoever reads snapshots and
//! then what they name must have listed the snapshots before: what a snapshot names is in the index by the time that it appears, but
//! not in an index that was read earlier. What looks at all there is, as checking and pruning do, reads an index of its own. Once packs
//! were removed, an index that was read before is not asked any more.

use crate::blob_index::{BlobIndex, CachePlace, IndexFiles, SealedIndexFiles};
use crate::config::{self, Begun, Config};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::key::Key;
use crate::key_file::{self, Cost};
use crate::lock::{self, HeldLock, LockKind};
use crate::password::Password;
use crate::progress::{Progress, Unwatched};
use crate::snapshot::{self, Snapshot};
use crate::storage::{FileKind, Storage};
use crate::surroundings::Surroundings;
use crate::unpacked::{self, Parts, Version};
use disk::Disk;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Where merged indexes are kept, of all repositories that this machine uses.
#[derive(Clone, Debug)]
pub struct CacheDirectory {
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The directory, which is made if need be. All in it may be deleted at any time.
    pub path: PathBuf,
}

/// An open repository.
#[derive(Debug)]
pub struct Repository {
    parts: Parts,
    key_id: Id,
    config: Config,
    cache: Option<CachePlace>,
    index: OnceLock<BlobIndex>,
    /// Held while the index is read, so that it is read once.
    loading: Mutex<()>,
    /// How often packs were removed, by this one or by another that was reread.
    removals: Arc<AtomicU64>,
    /// `removals` when the index began to be read.
    known_removals: AtomicU64,
}

impl Repository {
    /// Makes a repository of version 2 and opens it. `cache` is where the merged index may be kept. What was ended after the key was
    /// written is taken up, if the password opens that key: nothing can have been saved without a config.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::NoConfig`] if something is there already, [`Error::Begun`] if that is another's key; or what the
    /// storage says.
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
        // The config comes last: what has none is no repository yet.
        let config = config::create(&parts)?;
        Ok(Repository::new(parts, key_id, config, cache))
    }

    /// Opens a repository: reads its keys and its config.
    ///
    /// # Errors
    /// [`Error::NoRepository`], [`Error::WrongPassword`], a sentence for another version or damage, or what the storage says.
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
            cache.map(|CacheDirectory { disk, path }| CachePlace { disk, directory: path, repository });
        Repository::unread(parts, (key_id, config), cache, Arc::default())
    }

    fn unread(
        parts: Parts,
        (key_id, config): (Id, Config),
        cache: Option<CachePlace>,
        removals: Arc<AtomicU64>,
    ) -> Repository {
        let (index, loading, known_removals) = (OnceLock::new(), Mutex::new(()), AtomicU64::new(0));
        Repository { parts, key_id, config, cache, index, loading, removals, known_removals }
    }

    /// Returns the same repository as it is from now on: where blobs lie is read again when that is asked for.
    #[must_use]
    pub fn reread(&self) -> Repository {
        let removals = Arc::clone(&self.removals);
        Repository::unread(self.parts.clone(), (self.key_id, self.config), self.cache.clone(), removals)
    }

    /// Returns the repository's own name, the same for as long as it exists.
    pub fn id(&self) -> Id {
        self.config.id
    }

    /// Returns what the repository is.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the key that everything is sealed with.
    pub fn key(&self) -> &Key {
        &self.parts.key
    }

    /// Returns the name of the key file that the password opened.
    pub fn key_id(&self) -> Id {
        self.key_id
    }

    /// Returns what functions on single files need.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns where the files are.
    pub fn storage(&self) -> &dyn Storage {
        &*self.parts.storage
    }

    /// Returns what the caller lent.
    pub fn surroundings(&self) -> &Surroundings {
        &self.parts.surroundings
    }

    /// Returns where blobs lie; reads that if nobody did yet.
    ///
    /// # Errors
    /// As [`Repository::load_index`].
    pub fn index(&self) -> Result<&BlobIndex> {
        self.load_index(&Unwatched)
    }

    /// Reads where blobs lie, unless that was done already.
    ///
    /// # Errors
    /// A damaged index file, what the storage says, [`Error::Interrupted`], or [`Error::Outdated`] if packs were removed since it was read.
    pub fn load_index(&self, progress: &dyn Progress) -> Result<&BlobIndex> {
        self.load_once(|files| BlobIndex::load(files, self.cache.as_ref(), self.surroundings(), progress))
    }

    /// Reads where blobs lie as [`Repository::load_index`], but goes on after damaged index files: each is an error in `damaged`, and
    /// what they tell of counts as missing. Every file is read, whatever the cache has. For those who look for damage, on a repository
    /// that nobody else uses: it never learns of what is missing.
    ///
    /// # Errors
    /// What the storage says, or [`Error::Interrupted`].
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
        // Who panicked while it read left nothing behind.
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

    /// Returns the index unless it names packs that were removed: what is saved by it would not be there.
    fn current<'a>(&self, index: &'a BlobIndex) -> Result<&'a BlobIndex> {
        if self.known_removals.load(Ordering::Acquire) == self.removals.load(Ordering::Acquire) {
            return Ok(index);
        }
        Err(Error::Outdated { address: self.parts.storage.address() })
    }

    /// Lets nobody ask an index any more that was read until now. To be called before packs are removed.
    pub(crate) fn outdate(&self) {
        self.removals.fetch_add(1, Ordering::AcqRel);
    }

    /// Locks the repository. Waits for it as long as `patience`, and tells `told` why; and of each lock that
    /// is taken away because the pneu that wrote it has ended for sure.
    ///
    /// # Errors
    /// [`Error::Locked`], or what the storage says.
    pub fn lock(
        &self,
        kind: LockKind,
        patience: Duration,
        told: &dyn Fn(&str) -> Result<()>,
    ) -> Result<HeldLock> {
        lock::acquire(&self.parts, kind, patience, told)
    }

    /// Seals and stores a snapshot, which then is there for everybody: all that it names must be durable by now.
    ///
    /// # Errors
    /// What the storage says.
    pub fn save_snapshot(&self, snapshot: &Snapshot) -> Result<Id> {
        snapshot::save(&self.parts, snapshot)
    }

    /// Stores a snapshot as [`Repository::save_snapshot`], as long as `lock` is held. Who lost it may have lost what the snapshot names:
    /// then the snapshot goes again, if it came to be at all.
    ///
    /// # Errors
    /// What the storage says, or [`Error::LockLost`].
    pub fn save_snapshot_under(&self, lock: &HeldLock, snapshot: &Snapshot) -> Result<Id> {
        let (name, sealed) = unpacked::seal(&self.parts, FileKind::Snapshot, &snapshot.to_json())?;
        let may_still = || lock.check();
        let written = self.storage().write_while(name, &sealed, &may_still).and_then(|()| may_still());
        if matches!(written, Err(Error::LockLost { .. })) {
            // An attempt whose answer did not come may have succeeded. If this fails, too, the first error says more.
            drop(self.storage().remove(name));
        }
        written.map(|()| name.id)
    }
}
