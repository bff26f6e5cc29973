//! Searches an index, in a file or in memory.
//!
//! Input: keys, and a way to read an index. Output: positions in an order, or rows. Does not depend on where
//! the index and its rows are stored.

use crate::error::Result;
use crate::format::GROUP_MARK;
use crate::key_index::ordered::{Needle, find_range};
use crate::value::Value;
use std::cmp::Ordering;
use std::ops::{Bound, Range};

/// Rows in the order of a key.
pub(crate) trait InOrder {
    /// Returns how many rows there are.
    fn row_count(&self) -> u32;

    /// Returns how many columns the key has.
    fn column_count(&self) -> usize;

    /// Compares the key at a position with an end of a range.
    fn compare(&self, position: u32, end: &Needle) -> Result<Ordering>;

    /// Guesses the position of an end, if possible.
    fn guess(&self, end: &Needle) -> Result<Option<u32>>;
}

/// Returns the positions between two ends, which fit the key's columns. An end may be a prefix: it is equal
/// to all keys that begin with it.
#[inline]
pub(crate) fn positions(
    order: &impl InOrder,
    from: Bound<&[Value]>,
    to: Bound<&[Value]>,
) -> Result<Range<u32>> {
    let needle = |key| Needle::new(key, order.column_count());
    let (from, to) = (from.map(needle), to.map(needle));
    let compare = |position: u32, end: &Needle| order.compare(position, end);
    find_range(order.row_count(), from.as_ref(), to.as_ref(), &compare, &|end| order.guess(end))
}

/// The slots of a hash index, each a row or a group of rows.
pub(crate) trait Slots {
    /// Returns whether a row that the index names has exactly this key. A row that does not exist is an
    /// error.
    fn has_key(&self, row: u32, key: &[Value]) -> Result<bool>;

    /// Returns the entry at a place in the groups.
    fn group_entry(&self, place: u64) -> Result<u32>;

    /// Checks that a row named by a group exists.
    fn check_row(&self, row: u32) -> Result<()>;
}

/// Appends the rows of a slot to `found` if they have this key.
#[inline(always)]
pub(crate) fn confirm(slots: &impl Slots, slot: u32, key: &[Value], found: &mut Vec<u32>) -> Result<()> {
    if slot & GROUP_MARK == 0 {
        if slots.has_key(slot, key)? {
            found.push(slot);
        }
        return Ok(());
    }
    confirm_group(slots, slot & !GROUP_MARK, key, found)
}

fn confirm_group(slots: &impl Slots, first: u32, key: &[Value], found: &mut Vec<u32>) -> Result<()> {
    let mut place = u64::from(first);
    let mut is_first = true;
    loop {
        let entry = slots.group_entry(place)?;
        let row = entry & !GROUP_MARK;
        if is_first && !slots.has_key(row, key)? {
            return Ok(());
        }
        slots.check_row(row)?;
        found.push(row);
        if entry & GROUP_MARK != 0 {
            return Ok(());
        }
        place = place.saturating_add(1);
        is_first = false;
    }
}
