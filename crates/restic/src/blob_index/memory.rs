//! Blobs that are in no cache: from index files that could not be cached, and from packs stored in this run.
//!
//! Takes rows and finds them by id. A blob takes 49 bytes, plus 6 to 11 for the hash table.

use super::columns::{Columns, Row};
use super::number::{MentionRow, Numbered};
use super::tables::{DATA, TREES};
use crate::encoding::id::Id;
use crate::format::blob::{BlobKind, PackedBlob};
use hashbrown::HashTable;
use std::collections::HashMap;
use std::mem::take;
use store::Transaction;

/// Blobs in memory, by their place in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// A random seed for the hashes, so that nobody can craft ids that collide.
    seed: u64,
    /// In order of arrival.
    pub(super) packs: Vec<Id>,
    pack_places: HashMap<Id, u32>,
    pub(super) files: Vec<Id>,
    pub(super) mentions: Vec<MentionRow>,
    rows: Columns,
    kinds: Vec<BlobKind>,
    data: HashTable<u32>,
    trees: HashTable<u32>,
}

impl Memory {
    pub(super) fn new(seed: u64) -> Memory {
        Memory { seed, ..Memory::default() }
    }

    /// Takes what index files hold: packs, files and mentions out of `numbered`, blobs out of the rows.
    pub(super) fn of(numbered: &mut Numbered, rows: Transaction, seed: u64) -> Memory {
        let (packs, files) = (take(&mut numbered.packs), take(&mut numbered.files));
        let pack_places = packs.iter().copied().zip(0..).collect();
        let mentions = take(&mut numbered.mentions);
        let mut memory = Memory { packs, pack_places, files, mentions, ..Memory::new(seed) };
        let count = |table: &str| {
            let rows = rows.puts.iter().filter(|(name, _)| name == table);
            rows.map(|(_, rows)| rows.len() as usize).sum::<usize>()
        };
        let (data_count, tree_count) = (count(DATA), count(TREES));
        memory.rows.reserve(data_count + tree_count);
        memory.kinds.reserve_exact(data_count + tree_count);
        memory.data.reserve(data_count, |_| unreachable!("it is empty"));
        memory.trees.reserve(tree_count, |_| unreachable!("it is empty"));
        for (table, rows) in rows.puts {
            let kind = match table.as_str() {
                DATA => BlobKind::Data,
                TREES => BlobKind::Tree,
                _ => continue,
            };
            let first = memory.len();
            memory.rows.append(&rows);
            memory.kinds.resize(memory.rows.len(), kind);
            (first..memory.len()).for_each(|place| memory.index(kind, place));
        }
        memory
    }

    /// Adds a pack, which is new here, with its blobs; their rows have its place as their pack's number.
    pub(super) fn insert(&mut self, pack: &Id, blobs: &[PackedBlob]) {
        let number = narrow(self.packs.len());
        self.packs.push(*pack);
        self.pack_places.insert(*pack, number);
        for blob in blobs {
            let place = self.len();
            self.rows.push(number, blob);
            self.kinds.push(blob.kind);
            self.index(blob.kind, place);
        }
    }

    /// Returns how many blobs there are.
    pub(super) fn len(&self) -> u32 {
        narrow(self.rows.len())
    }

    /// Returns how many packs there are.
    pub(super) fn pack_count(&self) -> u32 {
        narrow(self.packs.len())
    }

    /// Returns the place of a pack.
    pub(super) fn pack_place(&self, id: &Id) -> Option<u32> {
        self.pack_places.get(id).copied()
    }

    /// Returns whether a blob exists.
    pub(super) fn has(&self, kind: BlobKind, id: &Id) -> bool {
        let is_it = |&place: &u32| self.rows.ids[place as usize] == id.0;
        self.table(kind).find(self.hash(id), is_it).is_some()
    }

    /// Returns the places of all copies of a blob, in no order.
    pub(super) fn find(&self, kind: BlobKind, id: &Id) -> impl Iterator<Item = u32> {
        let places = self.table(kind).iter_hash(self.hash(id)).copied();
        places.filter(move |&place| self.rows.ids[place as usize] == id.0)
    }

    /// Returns the blob at an existing position.
    pub(super) fn row(&self, place: u32) -> (BlobKind, Row) {
        (self.kinds[place as usize], self.rows.row(place as usize))
    }

    /// Returns how many bytes of memory it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        let tables = self.data.allocation_size() + self.trees.allocation_size();
        let packs =
            self.packs.capacity() * 3 * Id::BYTES + self.mentions.capacity() * size_of::<MentionRow>();
        self.rows.memory_bytes() + self.kinds.capacity() + tables + packs
    }

    fn table(&self, kind: BlobKind) -> &HashTable<u32> {
        match kind {
            BlobKind::Data => &self.data,
            BlobKind::Tree => &self.trees,
        }
    }

    fn index(&mut self, kind: BlobKind, place: u32) {
        let (seed, ids) = (self.seed, &self.rows.ids);
        let table = match kind {
            BlobKind::Data => &mut self.data,
            BlobKind::Tree => &mut self.trees,
        };
        let hash_of = |place: u32| hash(seed, &ids[place as usize]);
        table.insert_unique(hash_of(place), place, |&place| hash_of(place));
    }

    fn hash(&self, id: &Id) -> u64 {
        hash(self.seed, &id.0)
    }
}

/// Hashes a name, which is a hash already: enough that its place cannot be foreseen.
fn hash(seed: u64, id: &[u8; Id::BYTES]) -> u64 {
    let (front, rest) =
        id.split_first_chunk().map_or((0, &id[..]), |(front, rest)| (u64::from_le_bytes(*front), rest));
    let next = rest.first_chunk().map_or(0, |next| u64::from_le_bytes(*next));
    let product = u128::from(front ^ seed) * u128::from(next ^ seed.rotate_left(32) | 1);
    // Both halves together.
    let [low, high] =
        [product, product >> 64].map(|half| u64::try_from(half & u128::from(u64::MAX)).unwrap_or(0));
    low ^ high
}

/// Numbers of blobs and packs are counted before they get here.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("no more blobs are taken than 32 bits can count")
}
