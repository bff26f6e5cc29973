//! Puts found messages in order.
//!
//! Input: a set of numbers. Output: hits, newest first by default. If only a few of many are requested,
//! sorting by date walks the ordered index: the newest fifty messages of a large folder then cost as much as
//! those of a small one, in time and in memory (`by_date`). `by_arrival` and `by_key` have the other keys.
//! Must not know queries.

mod by_arrival;
mod by_date;
mod by_key;
mod key;

use crate::error::Result;
use crate::search::mailbox::{Hit, Hits, Mailbox};
use crate::set::NumberSet;
pub(in crate::search) use by_date::is_small;
pub use key::{Direction, SortKey};
use std::ops::Range;

/// The order of hits, and which of them to return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// What to sort by.
    pub key: SortKey,
    /// Which end comes first.
    pub direction: Direction,
    /// How many hits to skip at the beginning.
    pub offset: usize,
    /// How many to return at most.
    pub limit: Option<usize>,
}

impl Mailbox {
    /// Returns the messages of a set in the requested order.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn sorted(&self, found: &NumberSet, order: &Order) -> Result<Hits> {
        let total = found.count();
        let wanted = order.wanted();
        let list = match order.key {
            // Without a query, all are as relevant.
            SortKey::Date | SortKey::Relevance => {
                let list = by_date::sort(self, found, total, order.direction, order.offset..wanted)?;
                return Ok(Hits { total, list });
            }
            SortKey::Arrival => by_arrival::sort(self, found, order.direction)?,
            key => by_key::sort(self, by_date::all(self, found)?, (key, order.direction), wanted)?,
        };
        Ok(page(total, list, order))
    }

    /// Returns a range of the messages of a set, sorted by several keys: what is equal by one is sorted by
    /// the next.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn sorted_by_several(
        &self,
        found: &NumberSet,
        keys: &[(SortKey, Direction)],
        range: Range<usize>,
    ) -> Result<Hits> {
        let list = by_key::sort_by_several(self, by_date::all(self, found)?, keys, range.end)?;
        let order = Order { offset: range.start, limit: Some(range.len()), ..Order::default() };
        Ok(page(found.count(), list, &order))
    }

    /// Returns the messages of a set in the order of a key by message number.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::search) fn sorted_by(
        &self,
        found: &NumberSet,
        order: &Order,
        key: impl Fn(u32) -> u32 + Sync,
    ) -> Result<Hits> {
        let hits = by_date::all(self, found)?;
        let list = by_key::sort_by(hits, order.direction, order.wanted(), |hit| key(hit.number))?;
        Ok(page(found.count(), list, order))
    }
}

impl Order {
    /// Returns how many of the first hits are needed.
    fn wanted(&self) -> usize {
        self.limit.map_or(usize::MAX, |limit| limit.saturating_add(self.offset))
    }
}

/// Returns the hits that were asked for, of the first ones.
fn page(total: u64, mut list: Vec<Hit>, order: &Order) -> Hits {
    list.drain(..order.offset.min(list.len()));
    list.truncate(order.limit.unwrap_or(usize::MAX));
    Hits { total, list }
}
