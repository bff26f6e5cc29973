//! Saves blobs: puts them into packs, stores the packs, and writes index files.
//!
//! Input: blobs, files and trees, from many threads at once. Output: their ids and, when everything is
//! durable, how much was new. Writes no snapshot: that is for the caller, after [`Saver::finish`].
//!
//! The calling thread looks a blob up, compresses it, seals it and opens it again, without holding a lock;
//! only copying the blob into an open pack takes one. The thread that fills a pack names and stores it. So
//! as many threads work as the caller has, and at most as many full packs wait in memory. An index file is
//! written only after its packs are stored. After a failure the saver refuses all further work.

mod again;
mod file;
mod packers;
mod pending;
mod sealing;
mod statistics;
mod unindexed;

pub use file::SavedFile;
pub use statistics::SaveStatistics;

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::blob::BlobKind;
use crate::format::chunker::Chunker;
use crate::format::compress::Compression;
use crate::format::pack::PackBuilder;
use crate::format::unpacked::Version;
use crate::lock::HeldLock;
use crate::repository::Repository;
use packers::Packers;
use pending::Pending;
use sealing::{Form, Name, Scratch, SealedBlob, Sealing};
use statistics::Counters;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use unindexed::Unindexed;

/// Options for saving blobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaveOptions {
    /// How data is compressed. Trees are always compressed, as restic requires; in version 1 nothing is.
    pub compression: Compression,
    /// A pack is closed as soon as it has this many bytes.
    pub pack_bytes_min: usize,
}

impl Default for SaveOptions {
    fn default() -> SaveOptions {
        SaveOptions { compression: Compression::Auto, pack_bytes_min: 16 << 20 }
    }
}

/// A blob that is durable once [`Saver::finish`] has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Its name.
    pub id: Id,
    /// Bytes that it takes in the repository; 0 if it existed already.
    pub packed_bytes: u64,
}

impl Saved {
    /// Returns whether it is new.
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
    /// Buffers for sealing blobs, for reuse by other threads.
    scratches: Mutex<Vec<Scratch>>,
    /// Buffers for cutting files, for reuse by other threads.
    buffers: Mutex<Vec<Vec<u8>>>,
    chunker: OnceLock<Chunker>,
    /// The first error.
    failure: OnceLock<String>,
}

impl<'a> Saver<'a> {
    /// Begins to save. Checks `lock` before each write.
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

    /// Saves a blob unless it exists. With `known`, its id, content that exists already is not even hashed.
    ///
    /// # Errors
    /// [`Error::NotItsName`] if the content does not match `known`; the saver can still be used then. Any
    /// other error ends it.
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

    /// Stores everything that is left: packs first, then their index files. When this returns, everything
    /// saved is durable and a snapshot may name it.
    ///
    /// # Errors
    /// Something failed, now or earlier. Nothing counts as saved then.
    pub fn finish(self) -> Result<SaveStatistics> {
        self.check()?;
        for builder in self.packers.rest() {
            self.store_pack(builder)?;
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
        let SealedBlob { kind, id, sealed, uncompressed_length } = sealed;
        // Sealed bytes begin with a nonce, which is random and public.
        let chance = sealed.first().copied().unwrap_or(0);
        let add = |pack: &mut PackBuilder| pack.add(id, sealed, uncompressed_length);
        if let Some(full) = self.packers.fill((kind, sealed.len()), chance, add) {
            self.store_pack(full)?;
        }
        Ok(Saved { id: blob.1, packed_bytes })
    }

    /// Trees are always compressed, as restic requires; in version 1 nothing is.
    fn form(&self, kind: BlobKind) -> Form {
        match (self.repository.config().version, kind, self.options.compression) {
            (Version::One, _, _) | (_, BlobKind::Data, Compression::Off) => Form::Plain,
            _ => Form::Compressed,
        }
    }

    /// Stores a pack, and an index file if it is time.
    fn store_pack(&self, builder: PackBuilder) -> Result<()> {
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
        let now_ns = repository.surroundings().context.now_ns();
        match self.unindexed.add(&pack, &blobs, now_ns) {
            Some(json) => self.write_index(&json),
            None => Ok(()),
        }
    }

    fn write_index(&self, json: &[u8]) -> Result<()> {
        self.lock.save(self.repository.parts(), FileKind::Index, json)?;
        Ok(())
    }

    /// Returns an error if anything failed before.
    fn check(&self) -> Result<()> {
        match self.failure.get() {
            Some(first) => Err(Error::SavingEnded { first: first.clone() }),
            None => Ok(()),
        }
    }

    /// Remembers an error, which ends all saving.
    fn guard<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.failure.get_or_init(|| error.to_string());
        }
        result
    }

    /// Buffers are cleared before use, so a panic does no harm.
    fn scratches(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.scratches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
