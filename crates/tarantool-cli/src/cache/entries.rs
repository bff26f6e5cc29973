//! The stores that are kept: found, added, and removed when there are too many.
//!
//! A lock is held only while names change: while an entry begins, gets its name, or goes. Nobody waits for a
//! load of another process; of two that load the same files, the second one to be done uses its own store
//! once and removes it.

use super::identity::Identity;
use super::place;
use crate::environment::CacheSurroundings;
use anyhow::{Context, Result};
use disk::{Disk, Lock, Wait};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use store::Snapshot;

/// With what the names of entries begin that are being made.
const NEW: &str = "new-";
/// With what the names of entries begin that are being removed.
const OLD: &str = "old-";
/// The name of the lock, of the directory and of an entry that is being made.
const LOCK: &str = "lock";
/// The name of an entry's store.
const STORE: &str = "store";
/// The name of the file with an entry's identity. Its time is that of the last use.
const IDENTITY: &str = "identity";

/// The stores of a user.
pub(crate) struct Cache {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    holder: String,
}

/// An entry that is being made.
pub(crate) struct Entry {
    directory: PathBuf,
    _lock: Lock,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It is kept for the next time, or another process keeps the same.
    Yes,
    /// It is larger than all that may be kept: this many bytes.
    TooLarge(u64),
}

impl Entry {
    /// Returns the directory for its store.
    pub(crate) fn store(&self) -> PathBuf {
        self.directory.join(STORE)
    }
}

impl Cache {
    /// Opens the directory of stores; `None` if there is no home for it.
    ///
    /// # Errors
    /// It cannot be created, or is not the user's own.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        surroundings: &CacheSurroundings,
        holder: &str,
    ) -> Result<Option<Cache>> {
        let directory = place::directory(surroundings)?;
        let cache = |directory| Cache { disk: Arc::clone(disk), directory, holder: holder.to_owned() };
        Ok(directory.map(cache))
    }

    /// Opens the store of these files, if it is kept, and notes that it was used `now`. A store that cannot
    /// be opened is removed.
    pub(crate) fn find(&self, identity: &Identity, now: SystemTime) -> Option<Snapshot> {
        let entry = self.directory.join(identity.name());
        if !is_of(&entry, identity) {
            return None;
        }
        match Snapshot::open(&self.disk, &entry.join(STORE)) {
            Ok(snapshot) => {
                // Without it, the store may go before others that were used longer ago.
                let _ = File::open(entry.join(IDENTITY)).and_then(|file| file.set_modified(now));
                Some(snapshot)
            }
            Err(_) => {
                self.forget(identity);
                None
            }
        }
    }

    /// Begins an entry, and removes what killed processes left.
    ///
    /// # Errors
    /// Disk errors.
    pub(crate) fn begin(&self, seed: u64) -> Result<Entry> {
        let _lock = self.lock()?;
        for name in self.names(|name| name.starts_with(NEW) || name.starts_with(OLD))? {
            let directory = self.directory.join(&name);
            let lock = self.disk.lock(&directory.join(LOCK), &self.holder, Wait::Refuse);
            if lock.is_ok() || name.starts_with(OLD) {
                // What cannot be removed is tried again the next time.
                let _ = fs::remove_dir_all(&directory);
            }
        }
        let directory = self.directory.join(format!("{NEW}{seed:016x}"));
        self.disk.create_directory(&directory)?;
        let lock = self.disk.lock(&directory.join(LOCK), &self.holder, Wait::Refuse)?;
        Ok(Entry { directory, _lock: lock })
    }

    /// Keeps an entry whose store is complete. Removes older entries of the same source, and then those that
    /// were used longest ago, until at most `size_max` bytes are kept.
    ///
    /// # Errors
    /// Disk errors. The entry is then not kept; its store stays readable if it is open.
    pub(crate) fn keep(&self, entry: &Entry, identity: &Identity, size_max: u64) -> Result<Kept> {
        let size = size_bytes(&entry.directory);
        if size > size_max {
            self.discard(entry);
            return Ok(Kept::TooLarge(size));
        }
        let _lock = self.lock()?;
        let path = self.directory.join(identity.name());
        if is_of(&path, identity) {
            self.discard(entry);
            return Ok(Kept::Yes);
        }
        // Another source with the same name, or half of an entry.
        self.remove(&identity.name());
        let named = disk::write_new(&*self.disk, &entry.directory.join(IDENTITY), identity.text().as_bytes())
            .and_then(|()| self.disk.rename(&entry.directory, &path));
        if let Err(error) = named {
            self.discard(entry);
            return Err(error)
                .with_context(|| format!("cannot keep a store in {}", self.directory.display()));
        }
        self.shrink(identity, size_max)
    }

    /// Removes an entry that is not to be kept.
    pub(crate) fn discard(&self, entry: &Entry) {
        // The next entry to begin removes the rest.
        let _ = fs::remove_dir_all(&entry.directory);
    }

    /// Removes the entry of these files.
    pub(crate) fn forget(&self, identity: &Identity) {
        if let Ok(_lock) = self.lock() {
            self.remove(&identity.name());
        }
    }

    fn shrink(&self, newest: &Identity, size_max: u64) -> Result<Kept> {
        let mut entries = Vec::new();
        for name in self.names(is_entry)? {
            if name == newest.name() {
                continue;
            }
            if name.starts_with(&newest.source_name()) {
                self.remove(&name);
                continue;
            }
            let directory = self.directory.join(&name);
            let used = fs::metadata(directory.join(IDENTITY)).and_then(|metadata| metadata.modified());
            entries.push((used.unwrap_or(SystemTime::UNIX_EPOCH), size_bytes(&directory), name));
        }
        entries.sort();
        let own = size_bytes(&self.directory.join(newest.name()));
        let mut total: u64 = own + entries.iter().map(|(_, size, _)| size).sum::<u64>();
        for (_, size, name) in entries {
            if total <= size_max {
                break;
            }
            self.remove(&name);
            total -= size;
        }
        Ok(Kept::Yes)
    }

    /// Removes an entry: first its name, at once, so that nobody finds half of it.
    fn remove(&self, name: &str) {
        let old = self.directory.join(format!("{OLD}{name}"));
        if self.disk.rename(&self.directory.join(name), &old).is_ok() {
            let _ = fs::remove_dir_all(&old);
        }
    }

    fn lock(&self) -> Result<Lock> {
        Ok(self.disk.lock(&self.directory.join(LOCK), &self.holder, Wait::Block)?)
    }

    fn names(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        let names = self.disk.list(&self.directory)?;
        let names = names.iter().filter_map(|name| OsStr::to_str(name)).filter(|name| wanted(name));
        Ok(names.map(str::to_owned).collect())
    }
}

/// Returns whether an entry is of these files.
fn is_of(entry: &Path, identity: &Identity) -> bool {
    fs::read(entry.join(IDENTITY)).is_ok_and(|text| text == identity.text().as_bytes())
}

/// Returns whether a name is that of an entry: two hashes.
fn is_entry(name: &str) -> bool {
    let is_hash = |hash: &str| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.split_once('-').is_some_and(|(source, files)| is_hash(source) && is_hash(files))
}

/// Returns how many bytes the files of an entry take. A file that goes away meanwhile has none.
fn size_bytes(entry: &Path) -> u64 {
    let files = |directory: &Path| -> u64 {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let metadata = entries.filter_map(|entry| entry.metadata().ok());
        metadata.filter(fs::Metadata::is_file).map(|metadata| metadata.len()).sum()
    };
    files(entry) + files(&entry.join(STORE))
}
