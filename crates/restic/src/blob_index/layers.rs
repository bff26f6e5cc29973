//! The content of all index files: rows in the cache, plus rows in memory that could not be cached.
//!
//! Finds blobs by id and by number. Does not depend on blobs stored in this run.

use super::cache::IndexCache;
use super::columns::{Columns, Row};
use super::files::IndexFiles;
use super::memory::Memory;
use super::number::{ExistingRows, MentionRow, Numbered, number, too_many};
use super::read::{read_all, sound};
use super::sealed::Sealed;
use super::tables::SCHEMAS;
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::BlobKind;
use crate::surroundings::Surroundings;
use std::collections::HashSet;
use std::mem::take;
use std::sync::Arc;
use store::{Rows, Transaction, Values};
use work::Progress;

/// Where index files are, and what they are read with.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) files: Arc<dyn IndexFiles>,
    pub(super) cache: Option<IndexCache>,
    pub(super) surroundings: Surroundings,
    pub(super) strictness: Strictness,
}

/// What to do about a damaged index file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// It is an error.
    Strict,
    /// The others are read.
    Lenient,
}

/// Whether the cache may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    Cache,
    /// All index files are read, and the cache is rebuilt.
    FilesOnly,
}

/// What index files say.
#[derive(Debug)]
pub(super) struct Layers {
    sealed: Option<Sealed>,
    /// Its packs' numbers follow those in `sealed`; its rows may also be of packs there.
    loaded: Memory,
}

/// Reads what the cache does not have. Damaged files are put into `damaged` if the origin is lenient.
///
/// # Errors
/// Errors of index files or their storage; never of the cache.
pub(super) fn load(
    origin: &Origin,
    trust: Trust,
    progress: &dyn Progress,
    damaged: &mut Vec<Error>,
) -> Result<Layers> {
    let mut listed = origin.files.list()?;
    listed.sort_unstable();
    listed.dedup_by_key(|(id, _)| *id);
    let trusted = origin.cache.as_ref().filter(|_| trust == Trust::Cache);
    if let Some(sealed) = trusted.and_then(IndexCache::open)
        && let Some(new) = new_files(&sealed, &listed)
    {
        let loaded = add(origin, sealed, &new, progress, damaged);
        match loaded {
            // The cache turned out damaged while it was compared with new files.
            Err(Error::Store(_)) => damaged.clear(),
            other => return other,
        }
    }
    let (mut numbered, mut rows) = read(origin, &Nothing, &listed, progress, damaged)?;
    if let Some(place) = &origin.cache
        && let Some(sealed) = place.write(&mut rows, &origin.surroundings)
    {
        return Ok(Layers { sealed: Some(sealed), loaded: Memory::new(origin.seed()) });
    }
    Ok(Layers { sealed: None, loaded: Memory::of(&mut numbered, rows, origin.seed()) })
}

/// Returns the files that a cache does not have, or none if the cache has a file that no longer exists.
fn new_files(sealed: &Sealed, listed: &[(Id, u64)]) -> Option<Vec<(Id, u64)>> {
    let known: HashSet<Id> = sealed.files().ok()?.into_iter().collect();
    let new: Vec<(Id, u64)> = listed.iter().filter(|(id, _)| !known.contains(id)).copied().collect();
    (new.len() + known.len() == listed.len()).then_some(new)
}

/// Adds new files to a cache that has all others.
fn add(
    origin: &Origin,
    sealed: Sealed,
    new: &[(Id, u64)],
    progress: &dyn Progress,
    damaged: &mut Vec<Error>,
) -> Result<Layers> {
    let nothing = || Memory::new(origin.seed());
    let (mut numbered, rows) = read(origin, &sealed, new, progress, damaged)?;
    if rows.is_empty() {
        return Ok(Layers { sealed: Some(sealed), loaded: nothing() });
    }
    let place = origin.cache.as_ref();
    match place.and_then(|place| place.add(&sealed, &rows, &origin.surroundings)) {
        Some(sealed) => Ok(Layers { sealed: Some(sealed), loaded: nothing() }),
        None => {
            let loaded = Memory::of(&mut numbered, rows, origin.seed());
            Ok(Layers { sealed: Some(sealed), loaded })
        }
    }
}

/// Reads index files and numbers their contents. The columns become the rows.
fn read(
    origin: &Origin,
    known: &dyn ExistingRows,
    wanted: &[(Id, u64)],
    progress: &dyn Progress,
    damaged: &mut Vec<Error>,
) -> Result<(Numbered, Transaction)> {
    let read = read_all(&*origin.files, wanted, origin.surroundings.context.threads.count(), progress);
    let damaged = (origin.strictness == Strictness::Lenient).then_some(damaged);
    let mut numbered = number(known, sound(read, damaged)?)?;
    let blob_count: usize = numbered.data.iter().chain(&numbered.trees).map(Columns::len).sum();
    u32::try_from(blob_count + known.blob_count() as usize).map_err(|_| too_many("blobs"))?;
    let rows = rows(&mut numbered, known)?;
    Ok((numbered, rows))
}

/// Returns the rows of all tables. Moves those of blobs out of `numbered`.
fn rows(numbered: &mut Numbered, known: &dyn ExistingRows) -> Result<Transaction> {
    let mut transaction = Transaction::new();
    let [data, trees, packs, files, mentions] = &*SCHEMAS;
    for (schema, columns) in [(data, &mut numbered.data), (trees, &mut numbered.trees)] {
        for columns in take(columns) {
            transaction.put(Columns::into_rows(columns, schema)?);
        }
    }
    for (schema, first, names) in
        [(packs, known.pack_count(), &numbered.packs), (files, known.file_count(), &numbered.files)]
    {
        let numbers = (first..).zip(names).map(|(number, _)| number).collect();
        let names = names.iter().map(|id| id.0).collect();
        transaction.put(Rows::from_columns(schema, vec![Values::U32(numbers), Values::Id(names)])?);
    }
    let column = |of: fn(&MentionRow) -> u32| Values::U32(numbered.mentions.iter().map(of).collect());
    let columns = vec![column(|row| row.file), column(|row| row.pack), column(|row| row.blob_count)];
    transaction.put(Rows::from_columns(mentions, columns)?);
    Ok(transaction)
}

impl Origin {
    fn seed(&self) -> u64 {
        let mut seed = [0; 8];
        (self.surroundings.fill_random)(&mut seed);
        u64::from_le_bytes(seed)
    }

    /// Returns memory for blobs that this run stores.
    pub(super) fn memory(&self) -> Memory {
        Memory::new(self.seed())
    }
}

impl Layers {
    pub(super) fn has(&self, kind: BlobKind, id: &Id) -> store::Result<bool> {
        if let Some(sealed) = &self.sealed
            && sealed.has(kind, id)?
        {
            return Ok(true);
        }
        Ok(self.loaded.has(kind, id))
    }

    /// Sets each entry of `has` whose blob exists. `has` is as long as `ids` and all false.
    pub(super) fn has_batch(
        &self,
        kind: BlobKind,
        ids: &[[u8; Id::BYTES]],
        has: &mut [bool],
    ) -> store::Result<()> {
        if let Some(sealed) = &self.sealed {
            sealed.has_batch(kind, ids, has)?;
        }
        if self.loaded.len() > 0 {
            for (has, id) in has.iter_mut().zip(ids) {
                *has = *has || self.loaded.has(kind, &Id(*id));
            }
        }
        Ok(())
    }

    /// Appends the numbers of all copies of a blob.
    pub(super) fn find(&self, kind: BlobKind, id: &Id, numbers: &mut Vec<u32>) -> store::Result<()> {
        let first = self.sealed_count();
        if let Some(sealed) = &self.sealed {
            sealed.find(kind, id, numbers)?;
        }
        numbers.extend(self.loaded.find(kind, id).map(|place| first + place));
        Ok(())
    }

    /// Returns how many blobs there are; their numbers count from 0.
    pub(super) fn len(&self) -> u32 {
        self.sealed_count() + self.loaded.len()
    }

    /// Returns the blob with an existing number.
    pub(super) fn row(&self, number: u32) -> store::Result<(BlobKind, Row)> {
        match (&self.sealed, number.checked_sub(self.sealed_count())) {
            (Some(sealed), None) => sealed.row(number),
            (_, place) => Ok(self.loaded.row(place.unwrap_or(0))),
        }
    }

    /// Calls `visit` with each blob's number and row.
    pub(super) fn for_each(&self, visit: &mut dyn FnMut(u32, BlobKind, &Row)) -> store::Result<()> {
        if let Some(sealed) = &self.sealed {
            sealed.for_each(visit)?;
        }
        for place in 0..self.loaded.len() {
            let (kind, row) = self.loaded.row(place);
            visit(self.sealed_count() + place, kind, &row);
        }
        Ok(())
    }

    /// Appends the numbers of the blobs in a pack that the cache has.
    pub(super) fn sealed_of_pack(&self, pack: u32, numbers: &mut Vec<u32>) -> store::Result<()> {
        self.sealed.as_ref().map_or(Ok(()), |sealed| sealed.of_pack(pack, numbers))
    }

    /// Returns the blobs that are not in the cache, and the number of the first one.
    pub(super) fn loaded(&self) -> (&Memory, u32) {
        (&self.loaded, self.sealed_count())
    }

    pub(super) fn pack_count(&self) -> u32 {
        self.sealed_pack_count() + self.loaded.pack_count()
    }

    pub(super) fn pack_id(&self, number: u32) -> store::Result<Id> {
        match (&self.sealed, number.checked_sub(self.sealed_pack_count())) {
            (Some(sealed), None) => sealed.pack_id(number),
            (_, place) => Ok(self.loaded.packs[place.unwrap_or(0) as usize]),
        }
    }

    pub(super) fn pack_number(&self, id: &Id) -> Result<Option<u32>> {
        if let Some(sealed) = &self.sealed
            && let Some(number) = sealed.pack_number(id)?
        {
            return Ok(Some(number));
        }
        Ok(self.loaded.pack_place(id).map(|place| self.sealed_pack_count() + place))
    }

    /// Returns the names of all packs, by number.
    pub(super) fn packs(&self) -> store::Result<Vec<Id>> {
        let mut packs = self.sealed.as_ref().map_or(Ok(Vec::new()), Sealed::packs)?;
        packs.extend_from_slice(&self.loaded.packs);
        Ok(packs)
    }

    /// Returns the names of all index files, by number.
    pub(super) fn files(&self) -> store::Result<Vec<Id>> {
        let mut files = self.sealed.as_ref().map_or(Ok(Vec::new()), Sealed::files)?;
        files.extend_from_slice(&self.loaded.files);
        Ok(files)
    }

    /// Returns which index file names which pack, by file.
    pub(super) fn mentions(&self) -> store::Result<Vec<MentionRow>> {
        let mut mentions = Vec::new();
        if let Some(sealed) = &self.sealed {
            sealed.mentions(&mut mentions)?;
        }
        mentions.extend_from_slice(&self.loaded.mentions);
        Ok(mentions)
    }

    /// Verifies every byte of the cache.
    pub(super) fn verify(&self) -> store::Result<()> {
        self.sealed.as_ref().map_or(Ok(()), Sealed::verify)
    }

    /// Returns how many bytes of memory it takes, except what is mapped from the cache.
    pub(super) fn memory_bytes(&self) -> usize {
        self.loaded.memory_bytes()
    }

    fn sealed_count(&self) -> u32 {
        self.sealed.as_ref().map_or(0, Sealed::len)
    }

    fn sealed_pack_count(&self) -> u32 {
        self.sealed.as_ref().map_or(0, ExistingRows::pack_count)
    }
}

/// Nothing is known.
struct Nothing;

impl ExistingRows for Nothing {
    fn blob_count(&self) -> u32 {
        0
    }

    fn pack_count(&self) -> u32 {
        0
    }

    fn file_count(&self) -> u32 {
        0
    }

    fn pack_number(&self, _id: &Id) -> Result<Option<u32>> {
        Ok(None)
    }

    fn has_row(&self, _kind: BlobKind, _row: &Row) -> Result<bool> {
        Ok(false)
    }
}
