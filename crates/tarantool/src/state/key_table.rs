//! Finds the row with a key: a hash table of row numbers. Keys are compared in place, by the caller.
//!
//! Each slot has 8 bytes, half a hash and a row number, and at most half of the slots are used. The upper
//! bits of a key's hash select its first slot, so growing reads and writes sequentially and needs no key. A
//! slot can be prefetched: with four million keys in random order nearly every access is a cache miss.

/// Slots of the smallest non-empty table, as a power of two.
const BITS_MIN: u32 = 10;
/// An empty slot. Row numbers are stored plus one.
const EMPTY: u64 = 0;

/// Rows by the hashes of their keys.
#[derive(Default)]
pub(super) struct KeyTable {
    slots: Vec<u64>,
    bits: u32,
    count: usize,
}

/// The position of a key in the table, valid until the table changes.
#[derive(Clone, Copy)]
pub(super) struct Slot(usize);

impl KeyTable {
    /// Prefetches the slot of a key that will be looked up soon.
    #[inline]
    pub(super) fn prefetch(&self, hash: u32) {
        if !self.slots.is_empty() {
            disk::prefetch(&self.slots, self.home(hash));
        }
    }

    /// Returns the slot of the row for which `is_same` returns true. Calls it only for rows with this hash.
    #[inline]
    pub(super) fn find(&self, hash: u32, mut is_same: impl FnMut(u32) -> bool) -> Option<Slot> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return None;
            }
            if hash_of(slot) == hash && is_same(row_of(slot)) {
                return Some(Slot(at));
            }
            at = self.next(at);
        }
    }

    /// Returns the row in a slot.
    pub(super) fn row(&self, slot: Slot) -> u32 {
        row_of(self.slots[slot.0])
    }

    /// Replaces the row in a slot by another row with the same key.
    pub(super) fn replace(&mut self, slot: Slot, row: u32) {
        self.slots[slot.0] = pack(hash_of(self.slots[slot.0]), row);
    }

    /// Adds a row whose key is not in the table.
    #[inline]
    pub(super) fn insert(&mut self, hash: u32, row: u32) {
        if self.count * 2 >= self.slots.len() {
            self.grow();
        }
        self.count += 1;
        self.put(pack(hash, row));
    }

    /// Removes the row in a slot. Rows after it move up, so that no empty slot has to be skipped.
    pub(super) fn remove(&mut self, slot: Slot) {
        let mut hole = slot.0;
        let mut at = self.next(hole);
        while self.slots[at] != EMPTY {
            let home = self.home(hash_of(self.slots[at]));
            // A row may move if its home slot is not after the hole, cyclically.
            let mask = self.slots.len() - 1;
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.slots[hole] = self.slots[at];
                hole = at;
            }
            at = self.next(at);
        }
        self.slots[hole] = EMPTY;
        self.count -= 1;
    }

    fn grow(&mut self) {
        self.bits = (self.bits + 1).max(BITS_MIN);
        let old = std::mem::replace(&mut self.slots, disk::huge_zeroed(1 << self.bits));
        old.into_iter().filter(|&slot| slot != EMPTY).for_each(|slot| self.put(slot));
    }

    #[inline]
    fn put(&mut self, slot: u64) {
        let mut at = self.home(hash_of(slot));
        while self.slots[at] != EMPTY {
            at = self.next(at);
        }
        self.slots[at] = slot;
    }

    #[inline]
    fn home(&self, hash: u32) -> usize {
        (u64::from(hash) << self.bits >> 32) as usize
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }
}

#[inline]
fn pack(hash: u32, row: u32) -> u64 {
    u64::from(hash) << 32 | (u64::from(row) + 1)
}

#[inline]
fn hash_of(slot: u64) -> u32 {
    (slot >> 32) as u32
}

#[inline]
fn row_of(slot: u64) -> u32 {
    let [a, b, c, d, ..] = slot.to_le_bytes();
    u32::from_le_bytes([a, b, c, d]).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use testkit::Random;

    #[test]
    fn a_table_has_what_a_map_has() {
        // Few different hashes, mostly near the end, so that slots collide and runs wrap around.
        let hash = |key: u32| (key / 3) | 0xffff_ff00;
        let mut random = Random::new(26);
        let (mut table, mut twin) = (KeyTable::default(), BTreeMap::new());
        // Rows are numbered in order of arrival. A key is the remainder.
        let key_of = |row: u32| row % 600;
        for step in 0..60_000_u32 {
            let row = step * 600 + u32::try_from(random.below(600)).unwrap();
            let key = key_of(row);
            table.prefetch(hash(key));
            let found = table.find(hash(key), |other| key_of(other) == key);
            assert_eq!(found.map(|slot| table.row(slot)), twin.get(&key).copied());
            match found {
                Some(slot) if random.per_mille(500) => {
                    table.remove(slot);
                    twin.remove(&key);
                }
                Some(slot) => {
                    table.replace(slot, row);
                    twin.insert(key, row);
                }
                None => {
                    table.insert(hash(key), row);
                    twin.insert(key, row);
                }
            }
        }
        assert_eq!(table.count, twin.len());
        assert!(table.slots.len() <= 2048);
    }

    #[test]
    fn the_last_row_number_is_a_row_number() {
        let mut table = KeyTable::default();
        table.insert(u32::MAX, u32::MAX - 1);
        let slot = table.find(u32::MAX, |_| true).unwrap();
        assert_eq!(table.row(slot), u32::MAX - 1);
    }
}
