//! The place of a repository: which storage it is in, and how it is made and opened there.
//!
//! Input: an address, and a closure that gives the password. Output: an open repository. The front end says
//! which repository is meant, and where passwords come from.

use crate::error::{Error, Result};
use disk::Disk;
use restic::address::Credentials;
use restic::{Address, CacheDirectory, Cost, FileName, Password, Repository, Storage, StorageOptions};
use restic::{Surroundings, Told, open_storage};
use std::path::PathBuf;
use std::result;
use std::sync::Arc;
use std::time::Duration;

/// Where the merged index is kept, below the directory of all caches.
const CACHE: &str = "pneu/archive";
/// How many requests are sent to an object store at the same time, at least, as restic does it: most of the
/// time they wait.
const REQUEST_COUNT: usize = 5;

/// What a place is reached with.
pub struct PlaceOptions {
    /// The disk of directories, and of the cache.
    pub disk: Arc<dyn Disk>,
    /// For object stores.
    pub credentials: Credentials,
    /// For how long an object store may say nothing.
    pub idle_max: Duration,
    /// Is told why there is a wait.
    pub told: Told,
    /// The directory of all caches, to keep a merged index in; `None` to keep none.
    pub caches: Option<PathBuf>,
    /// The clock, threads, random bytes, and who is at work.
    pub surroundings: Surroundings,
}

/// The place of a repository, which may not be made yet.
pub struct RepositoryPlace {
    storage: Arc<dyn Storage>,
    cache: Option<CacheDirectory>,
    surroundings: Surroundings,
}

impl RepositoryPlace {
    /// Finds the place at an address: a directory, which may be relative to `current`, or a bucket. Nothing
    /// is asked of it yet.
    ///
    /// # Errors
    /// The address cannot be understood, or its credentials are missing; what `current` returns.
    pub fn new<E: From<Error>>(
        address: &str,
        current: impl FnOnce() -> result::Result<PathBuf, E>,
        options: PlaceOptions,
    ) -> result::Result<RepositoryPlace, E> {
        let PlaceOptions { disk, credentials, idle_max, told, caches, mut surroundings } = options;
        let address = match Address::parse(address).map_err(Error::from)? {
            Address::Local(path) => Address::Local(current()?.join(path)),
            other => {
                surroundings.context.threads =
                    work::Threads::Exactly(surroundings.context.threads.count().max(REQUEST_COUNT));
                other
            }
        };
        let cache = caches.map(|caches| CacheDirectory { disk: Arc::clone(&disk), path: caches.join(CACHE) });
        let options = StorageOptions { disk, credentials, idle_max, told };
        let storage = open_storage(&address, &options, &surroundings).map_err(Error::from)?;
        Ok(RepositoryPlace { storage, cache, surroundings })
    }

    /// Returns the address, for people.
    pub fn address(&self) -> String {
        self.storage.address()
    }

    /// Fails unless there is a repository, so that nobody is asked for the password of none.
    ///
    /// # Errors
    /// There is none; nothing can be asked of the storage.
    pub fn expect_repository(&self) -> Result<()> {
        if self.storage.size(FileName::CONFIG)?.is_none() {
            return Err(restic::config::absence(&*self.storage)?.into());
        }
        Ok(())
    }

    /// Opens the repository with its password. That takes a good part of a second of one core, on purpose.
    ///
    /// # Errors
    /// The password is wrong; its keys or its config are damaged.
    pub fn open(&self, password: &Password) -> Result<Repository> {
        let (storage, cache) = (Arc::clone(&self.storage), self.cache.clone());
        Ok(Repository::open(storage, password, cache, self.surroundings.clone())?)
    }

    /// Makes the repository, and opens it.
    ///
    /// # Errors
    /// There is one, or it cannot be made.
    pub fn init(&self, password: &Password) -> Result<Repository> {
        let (storage, cache) = (Arc::clone(&self.storage), self.cache.clone());
        Ok(Repository::init(storage, password, Cost::default(), cache, self.surroundings.clone())?)
    }
}
