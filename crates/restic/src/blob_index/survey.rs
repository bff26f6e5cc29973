//! All blobs and packs with numbers, for check and prune, which look at everything.
//!
//! Input: verified index files, and the packs that this run stored. Output: blobs by number, packs with the
//! sizes they should have, and which index file names which pack. Does not judge whether any of it is wrong.
//!
//! Blobs are numbered from 0 without gaps, so that a bitmap can mark them; so are packs. Each copy of a blob
//! has its own number. Costs 4 bytes for each blob that is in memory, and 4 bytes per pack.

use super::columns::Row;
use super::layers::Layers;
use super::memory::Memory;
use super::number::MentionRow;
use crate::encoding::id::Id;
use crate::error::Result;
use crate::format::blob::{BlobKind, PackedBlob};
use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Bytes of a pack's header besides its entries: the overhead of sealing, and the header's length field.
const HEADER_BYTES: u64 = 32 + 4;
/// Bytes of a header's entry for a blob that is not compressed.
const ENTRY_BYTES: u64 = 37;
/// Bytes of a header's entry for a compressed blob.
const COMPRESSED_ENTRY_BYTES: u64 = 41;

/// All blobs, packs and index files as known at one moment. It does not contain what is added later.
#[derive(Debug)]
pub struct Survey<'a> {
    layers: &'a Layers,
    added: &'a RwLock<Memory>,
    added_count: u32,
    added_packs: Vec<Id>,
    /// Numbers of the blobs in memory, by pack and place.
    in_memory: Vec<u32>,
    /// For each pack where its blobs in `in_memory` begin, and after the last where they end.
    starts: Vec<u32>,
}

/// One copy of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its number.
    pub number: u32,
    /// The number of its pack.
    pub pack: u32,
    /// Its kind, id, position and lengths in the pack.
    pub blob: PackedBlob,
}

/// A pack as index files describe it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackSummary {
    /// Its name.
    pub id: Id,
    /// The size that the pack has if it holds these blobs and nothing else, in bytes.
    pub size_bytes: u64,
    /// How many of its blobs are data.
    pub data_count: u32,
    /// How many of its blobs are trees.
    pub tree_count: u32,
    /// How many index files name it; 0 if it was stored in this run.
    pub file_count: u32,
    /// Whether no index file has all of its blobs. That is damage.
    pub is_split: bool,
}

/// An index file that names a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mention {
    /// The place of the index file in [`Survey::files`].
    pub file: u32,
    /// The number of the pack.
    pub pack: u32,
    /// How many blobs it says are in the pack.
    pub blob_count: u32,
}

impl<'a> Survey<'a> {
    pub(super) fn new(layers: &'a Layers, added: &'a RwLock<Memory>) -> Result<Survey<'a>> {
        let (added_count, added_packs) = {
            let added = added.read().unwrap_or_else(PoisonError::into_inner);
            (added.len(), added.packs.clone())
        };
        let mut survey =
            Survey { layers, added, added_count, added_packs, in_memory: Vec::new(), starts: Vec::new() };
        survey.sort_memory()?;
        Ok(survey)
    }

    /// Returns the number of blobs, copies included.
    pub fn entry_count(&self) -> u32 {
        self.layers.len() + self.added_count
    }

    /// Returns the blob with a number.
    ///
    /// # Errors
    /// If the cache cannot be read.
    ///
    /// # Panics
    /// If there is no such number.
    pub fn entry(&self, number: u32) -> Result<Entry> {
        let (kind, row) = match number.checked_sub(self.layers.len()) {
            Some(place) => self.added_row(place),
            None => self.layers.row(number)?,
        };
        Ok(Entry { number, pack: row.pack, blob: row.blob(kind) })
    }

    /// Calls `visit` with each blob, in the order of their numbers.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn for_each(&self, mut visit: impl FnMut(Entry)) -> Result<()> {
        self.layers.for_each(&mut |number, kind, row| {
            visit(Entry { number, pack: row.pack, blob: row.blob(kind) });
        })?;
        for place in 0..self.added_count {
            let (kind, row) = self.added_row(place);
            visit(Entry { number: self.layers.len() + place, pack: row.pack, blob: row.blob(kind) });
        }
        Ok(())
    }

    /// Appends the numbers of all copies of a blob.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn find(&self, kind: BlobKind, id: &Id, numbers: &mut Vec<u32>) -> Result<()> {
        self.layers.find(kind, id, numbers)?;
        let added = self.added();
        let places = added.find(kind, id).filter(|&place| place < self.added_count);
        numbers.extend(places.map(|place| self.layers.len() + place));
        Ok(())
    }

    /// Returns the number of packs.
    pub fn pack_count(&self) -> u32 {
        self.layers.pack_count() + self.added_pack_count()
    }

    /// Returns the number of a pack.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn pack_number(&self, id: &Id) -> Result<Option<u32>> {
        let known = self.layers.pack_number(id)?;
        let added = || self.added().pack_place(id).filter(|&place| place < self.added_pack_count());
        Ok(known.or_else(|| Some(self.layers.pack_count() + added()?)))
    }

    /// Returns all packs by their numbers, with the sizes that they should have.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn packs(&self) -> Result<Vec<PackSummary>> {
        let mut packs = self.layers.packs()?;
        packs.extend_from_slice(&self.added_packs);
        let new = |&id| PackSummary { id, size_bytes: HEADER_BYTES, ..PackSummary::default() };
        let mut packs: Vec<PackSummary> = packs.iter().map(new).collect();
        self.for_each(|entry| {
            let Some(pack) = packs.get_mut(entry.pack as usize) else { return };
            let of_header =
                if entry.blob.uncompressed_length == 0 { ENTRY_BYTES } else { COMPRESSED_ENTRY_BYTES };
            pack.size_bytes += u64::from(entry.blob.length) + of_header;
            match entry.blob.kind {
                BlobKind::Data => pack.data_count += 1,
                BlobKind::Tree => pack.tree_count += 1,
            }
        })?;
        let mut has_whole = vec![false; packs.len()];
        for mention in self.mentions()? {
            let place = mention.pack as usize;
            if let (Some(pack), Some(has_whole)) = (packs.get_mut(place), has_whole.get_mut(place)) {
                pack.file_count += 1;
                *has_whole |= mention.blob_count == pack.data_count + pack.tree_count;
            }
        }
        for (pack, has_whole) in packs.iter_mut().zip(has_whole) {
            pack.is_split = pack.file_count > 0 && !has_whole;
        }
        Ok(packs)
    }

    /// Appends the blobs that a pack should have, by place.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn pack_entries(&self, pack: u32, entries: &mut Vec<Entry>) -> Result<()> {
        let mut numbers = Vec::new();
        self.layers.sealed_of_pack(pack, &mut numbers)?;
        numbers.extend_from_slice(self.in_memory.get(self.in_memory_of(pack)).unwrap_or_default());
        let first = entries.len();
        for number in numbers {
            entries.push(self.entry(number)?);
        }
        entries[first..].sort_unstable_by_key(|entry| (entry.blob.offset, entry.number));
        Ok(())
    }

    /// Returns the names of all index files.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn files(&self) -> Result<Vec<Id>> {
        Ok(self.layers.files()?)
    }

    /// Returns which index file names which pack, by file.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn mentions(&self) -> Result<Vec<Mention>> {
        let mentions = self.layers.mentions()?;
        let mention = |MentionRow { file, pack, blob_count }| Mention { file, pack, blob_count };
        Ok(mentions.into_iter().map(mention).collect())
    }

    /// Returns a blob of this run, with the number of its pack among all packs.
    fn added_row(&self, place: u32) -> (BlobKind, Row) {
        let (kind, row) = self.added().row(place);
        (kind, Row { pack: self.layers.pack_count() + row.pack, ..row })
    }

    fn added(&self) -> RwLockReadGuard<'_, Memory> {
        self.added.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn added_pack_count(&self) -> u32 {
        u32::try_from(self.added_packs.len()).unwrap_or(u32::MAX)
    }

    /// Sorts the blobs in memory by pack.
    fn sort_memory(&mut self) -> Result<()> {
        let (loaded, first) = self.layers.loaded();
        let count = loaded.len() + self.added_count;
        let mut starts = vec![0_u32; self.pack_count() as usize + 1];
        let packs = (first..first + count).map(|number| Ok(self.entry(number)?.pack));
        let packs = packs.collect::<Result<Vec<u32>>>()?;
        for &pack in &packs {
            starts[pack as usize + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut next = starts.clone();
        let mut in_memory = vec![0; packs.len()];
        for (number, pack) in (first..).zip(packs) {
            let place = &mut next[pack as usize];
            in_memory[*place as usize] = number;
            *place += 1;
        }
        (self.in_memory, self.starts) = (in_memory, starts);
        Ok(())
    }

    fn in_memory_of(&self, pack: u32) -> Range<usize> {
        let at = |place: usize| self.starts.get(place).map_or(0, |&start| start as usize);
        at(pack as usize)..at(pack as usize + 1)
    }
}
