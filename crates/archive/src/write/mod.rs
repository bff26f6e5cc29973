//! Saving: blobs into packs, packs into the storage, and what index files say of them.
//!
//! Comes in: blobs, files and trees, from many threads at once. Goes out: their names, and, when all is durable, how much was new. Must
//! not know what trees mean, and writes no snapshot: that is for whoever called [`Saver::finish`].
//!
//! A blob is looked up, compressed, sealed and opened again by the thread that brings it, with no lock held; only copying it into an
//! open pack takes one. Whoever fills a pack names and stores it. So as many threads work as the caller has, and at most as many full
//! packs wait in memory. An index file is written only when its packs are stored. What fails once poisons the saver: nobody is told
//! that anything is saved any more.

mod again;
mod file;
mod packers;
mod pending;
mod sealing;
mod statistics;
mod unindexed;

pub use file::SavedFile;
pub use statistics::SaveStatistics;

use crate::blob::BlobKind;
use crate::chunker::Chunker;
use crate::compress::Compression;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::lock::HeldLock;
use crate::pack::PackBuilder;
use crate::repository::Repository;
use crate::storage::{FileKind, FileName};
use crate::unpacked::{self, Version};
use packers::Packers;
use pending::Pending;
use sealing::{Form, Name, Scratch, Sealing};
use statistics::Counters;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use unindexed::Unindexed;

/// How blobs are saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaveOptions {
    /// How data is compressed. Trees always are, as restic wants it; in repositories of version 1 nothing is.
    pub compression: Compression,
    /// A pack is closed as soon as it has so many bytes.
    pub pack_bytes_min: usize,
}

impl Default for SaveOptions {
    fn default() -> SaveOptions {
        SaveOptions { compression: Compression::Auto, pack_bytes_min: 16 << 20 }
    }
}

/// A blob that is saved, or will be when [`Saver::finish`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Its name.
    pub id: Id,
    /// How many bytes it takes in the repository; 0 if it was there already.
    pub packed_bytes: u64,
}

impl Saved {
    /// Says whether it was not there before.
    pub fn is_new(&self) -> bool {
        self.packed_bytes > 0
    }
}

/// Saves blobs into one repository.
pub struct Saver<'a> {
    repository: &'a Repository,
    lock: &'a HeldLock,
    options: SaveOptions,
    pending: Pending,
    packers: Packers,
    unindexed: Unindexed,
    counters: Counters,
    /// What threads left that sealed blobs.
    scratches: Mutex<Vec<Scratch>>,
    /// What threads left that cut files.
    buffers: Mutex<Vec<Vec<u8>>>,
    chunker: OnceLock<Chunker>,
    /// What failed first.
    failure: OnceLock<String>,
}

impl<'a> Saver<'a> {
    /// Begins to save. `lock` is asked before anything is written.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn new(repository: &'a Repository, lock: &'a HeldLock, options: SaveOptions) -> Result<Saver<'a>> {
        repository.index()?;
        Ok(Saver {
            repository,
            lock,
            options,
            pending: Pending::default(),
            packers: Packers::new(options.pack_bytes_min),
            unindexed: Unindexed::default(),
            counters: Counters::default(),
            scratches: Mutex::default(),
            buffers: Mutex::default(),
            chunker: OnceLock::new(),
            failure: OnceLock::new(),
        })
    }

    /// Saves a blob unless it is there. Whoever knows its name gives it: then content that is there already is not even hashed.
    ///
    /// # Errors
    /// [`Error::NotItsName`] if the content has another name than `known`; the saver goes on then. Whatever else fails ends it.
    pub fn save_blob(&self, kind: BlobKind, known: Option<Id>, plain: &[u8]) -> Result<Saved> {
        self.check()?;
        if plain.is_empty() {
            return Err(Error::damage("an empty blob", "there are none: what has no content has no blobs"));
        }
        let id = known.unwrap_or_else(|| Id::of(plain));
        let index = self.repository.index()?;
        if index.has(kind, &id)? || !self.pending.claim((kind, id), || index.has(kind, &id))? {
            return Ok(Saved { id, packed_bytes: 0 });
        }
        let name = if known.is_some() { Name::Given } else { Name::Made };
        let saved = self.pack((kind, id, name), plain);
        if saved.is_err() {
            self.pending.withdraw((kind, id));
            if known.is_some_and(|known| known != Id::of(plain)) {
                return Err(Error::NotItsName { id });
            }
        }
        self.guard(saved)
    }

    /// Stores all that is left: packs first, then what index files say of them. When this returns, all that was saved is durable, and
    /// a snapshot may name it.
    ///
    /// # Errors
    /// Something failed, now or before. Then nothing may be said to be saved.
    pub fn finish(self) -> Result<SaveStatistics> {
        self.check()?;
        for builder in self.packers.rest() {
            self.store(builder)?;
        }
        if let Some(json) = self.unindexed.rest() {
            self.write_index(&json)?;
        }
        match self.pending.debt() {
            Some((kind, id)) => Err(Error::NoBlob { what: kind.named(&id) }),
            None => Ok(self.counters.statistics()),
        }
    }

    /// Seals a blob and puts it into a pack.
    fn pack(&self, blob: (BlobKind, Id, Name), plain: &[u8]) -> Result<Saved> {
        let taken = self.scratches().pop();
        let mut scratch = taken.unwrap_or_else(|| Scratch::new(self.options.compression));
        let saved = self.pack_with(&mut scratch, blob, plain);
        self.scratches().push(scratch);
        saved
    }

    fn pack_with(&self, scratch: &mut Scratch, blob: (BlobKind, Id, Name), plain: &[u8]) -> Result<Saved> {
        let sealing = Sealing {
            key: self.repository.key(),
            surroundings: self.repository.surroundings(),
            form: self.form(blob.0),
        };
        let sealed = scratch.seal(sealing, blob, plain)?;
        let packed_bytes = sealed.packed_bytes();
        self.counters.add_blob(blob.0, plain.len() as u64, packed_bytes);
        if let Some(full) = self.packers.add(&sealed) {
            self.store(full)?;
        }
        Ok(Saved { id: blob.1, packed_bytes })
    }

    /// Trees are always compressed, as restic wants it; in version 1 nothing is.
    fn form(&self, kind: BlobKind) -> Form {
        match (self.repository.config().version, kind, self.options.compression) {
            (Version::One, _, _) | (_, BlobKind::Data, Compression::Off) => Form::Plain,
            _ => Form::Compressed,
        }
    }

    /// Stores a pack, and an index file if it is time.
    fn store(&self, builder: PackBuilder) -> Result<()> {
        self.lock.check()?;
        let repository = self.repository;
        let (bytes, blobs) = builder.finish(repository.key(), repository.surroundings())?;
        let pack = Id::of(&bytes);
        let name = FileName { kind: FileKind::Pack, id: pack };
        repository.storage().write_while(name, &bytes, &|| self.lock.check())?;
        self.packers.give_back(bytes);
        repository.index()?.insert(&pack, &blobs)?;
        self.pending.stored(blobs.iter().map(|blob| (blob.kind, blob.id)));
        self.counters.add_pack();
        let now_ns = (repository.surroundings().clock_ns)();
        match self.unindexed.add(&pack, &blobs, now_ns) {
            Some(json) => self.write_index(&json),
            None => Ok(()),
        }
    }

    fn write_index(&self, json: &[u8]) -> Result<()> {
        unpacked::save_under(self.lock, self.repository.parts(), FileKind::Index, json)?;
        Ok(())
    }

    /// Returns an error if anything failed before.
    fn check(&self) -> Result<()> {
        match self.failure.get() {
            Some(first) => Err(Error::SavingEnded { first: first.clone() }),
            None => Ok(()),
        }
    }

    /// Lets what failed be the end of all saving.
    fn guard<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.failure.get_or_init(|| error.to_string());
        }
        result
    }

    /// What a panicking thread left is cleared before it is used.
    fn scratches(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.scratches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
