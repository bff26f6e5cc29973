//! Indexes in memory, over rows that were loaded and are not sealed yet.
//!
//! Input: the keys of rows by position, in order of arrival. Output: positions of rows. Does not depend on
//! which rows are dead. The same code builds and searches the indexes of segments.

use crate::error::Result;
use crate::format::GROUP_MARK;
use crate::key_index::hash::{Bucket, bucket_count_max, build, probe};
use crate::key_index::ordered::{Needle, guess};
use crate::key_index::search::{self, InOrder, Slots};
use crate::sort::keys::Keys;
use crate::sort::radix::{self, ExactOrder, KeyOrder};
use crate::value::{Value, hash_key, hint_of};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::ops::{Bound, Range};

/// Rows whose keys are compared, each identified by its position in order of arrival.
pub(crate) trait Rowed {
    /// Returns a value of the row at a position.
    fn value(&self, column: u16, position: u32) -> Value<'_>;
}

/// An ordered index, or the order by primary key.
pub(crate) struct MemoryOrder {
    columns: Box<[u16]>,
    row_count: u32,
    /// Without hints if the key is one column that holds them already.
    order: KeyOrder,
    /// Whether all keys are known to be unique.
    is_unique: bool,
}

/// A hash index.
pub(crate) struct MemoryHash {
    columns: Box<[u16]>,
    buckets: Vec<Bucket>,
    home_count: u64,
    groups: Vec<u32>,
}

impl MemoryOrder {
    pub(crate) fn build(keys: &Keys, columns: &[u16]) -> MemoryOrder {
        let (order, is_unique) = if columns.len() == 1 && keys.is_exact() {
            let ExactOrder { rows, is_unique } = radix::sort_exact(keys);
            (KeyOrder { rows, hints: Vec::new() }, is_unique)
        } else {
            let order = radix::sort(keys);
            let is_unique = order.hints.par_windows(2).all(|pair| pair[0] != pair[1]);
            (order, is_unique)
        };
        MemoryOrder { columns: columns.into(), row_count: keys.len(), order, is_unique }
    }

    /// Returns whether all keys are known to be unique. If false, they may still be.
    pub(crate) fn is_unique(&self) -> bool {
        self.is_unique
    }

    /// Returns the row at a position of this order.
    #[inline]
    pub(crate) fn row_at(&self, position: u32) -> u32 {
        self.order.rows.as_ref().map_or(position, |rows| rows[position as usize])
    }

    /// Returns the positions in this order between two ends, which fit the key.
    pub(crate) fn positions(
        &self,
        rows: &impl Rowed,
        from: Bound<&[Value]>,
        to: Bound<&[Value]>,
    ) -> Result<Range<u32>> {
        search::positions(&OrderOf { order: self, rows }, from, to)
    }

    pub(crate) fn key_order(&self) -> &KeyOrder {
        &self.order
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.order.hints.capacity() * 8 + self.order.rows.as_ref().map_or(0, Vec::capacity) * 4
    }
}

impl MemoryHash {
    pub(crate) fn build(keys: &Keys, columns: &[u16], is_unique: bool) -> Result<MemoryHash> {
        let mut buckets = Vec::with_capacity(usize::try_from(bucket_count_max(keys.len())).unwrap_or(0));
        let built = build(keys, is_unique, &mut |more| {
            buckets.extend_from_slice(more);
            Ok(())
        })?;
        // Fewer keys than rows take less memory.
        buckets.shrink_to_fit();
        Ok(MemoryHash {
            columns: columns.into(),
            buckets,
            home_count: built.home_count,
            groups: built.groups,
        })
    }

    /// Returns whether all keys are unique.
    pub(crate) fn is_unique(&self) -> bool {
        self.groups.is_empty()
    }

    /// Appends all rows with exactly this key to `found`, lowest row first.
    pub(crate) fn find(&self, rows: &impl Rowed, key: &[Value], found: &mut Vec<u32>) -> Result<()> {
        let slots = SlotsOf { hash: self, rows };
        let bucket = |number: u64| Ok(&self.buckets[usize::try_from(number).unwrap_or(usize::MAX)]);
        probe(hash_key(key), self.home_count, self.buckets.len() as u64, bucket, |slot| {
            search::confirm(&slots, slot, key, found).map(|()| true)
        })
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>() + self.groups.capacity() * 4
    }
}

fn compare_row(rows: &impl Rowed, columns: &[u16], row: u32, key: &[Value]) -> Ordering {
    let unequal = columns.iter().zip(key).map(|(&column, wanted)| rows.value(column, row).cmp(wanted));
    unequal.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// An order with its rows.
struct OrderOf<'a, R> {
    order: &'a MemoryOrder,
    rows: &'a R,
}

impl<R: Rowed> OrderOf<'_, R> {
    /// Returns the hint of the key at a position.
    #[inline]
    fn hint(&self, position: u32) -> u64 {
        let MemoryOrder { columns, order, .. } = self.order;
        match order.hints.get(position as usize) {
            Some(hint) => *hint,
            None => hint_of(self.rows.value(columns[0], self.order.row_at(position))),
        }
    }
}

impl<R: Rowed> InOrder for OrderOf<'_, R> {
    fn row_count(&self) -> u32 {
        self.order.row_count
    }

    fn column_count(&self) -> usize {
        self.order.columns.len()
    }

    fn compare(&self, position: u32, end: &Needle) -> Result<Ordering> {
        let row = || self.order.row_at(position);
        end.compare(self.hint(position), || Ok(compare_row(self.rows, &self.order.columns, row(), end.key)))
    }

    fn guess(&self, end: &Needle) -> Result<Option<u32>> {
        guess(end.hint(), self.order.row_count, |position| Ok(self.hint(position)))
    }
}

/// A hash index with its rows.
struct SlotsOf<'a, R> {
    hash: &'a MemoryHash,
    rows: &'a R,
}

impl<R: Rowed> Slots for SlotsOf<'_, R> {
    fn has_key(&self, row: u32, key: &[Value]) -> Result<bool> {
        Ok(compare_row(self.rows, &self.hash.columns, row, key).is_eq())
    }

    fn group_entry(&self, place: u64) -> Result<u32> {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        Ok(self.hash.groups.get(place).copied().unwrap_or(GROUP_MARK))
    }

    fn check_row(&self, _row: u32) -> Result<()> {
        Ok(())
    }
}
