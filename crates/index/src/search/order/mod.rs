//! Puts found messages in order.
//!
//! In: a set of numbers. Out: hits, newest first by default. Sorting by date walks the ordered index when few
//! of many are wanted, so that the newest fifty of a large folder cost the same as those of a small one, and
//! neither time nor memory grows with the folder (`by_date`). What the other keys compare is in `by_key`.
//! Must not know queries.

mod by_date;
mod by_key;
mod key;
mod ranked;

use crate::error::Result;
use crate::search::mailbox::{Hits, Mailbox};
use crate::set::NumberSet;
pub use key::{Direction, SortKey};

/// The order of hits, and which of them are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// What to sort by.
    pub key: SortKey,
    /// Which end first.
    pub direction: Direction,
    /// How many to leave out at the beginning.
    pub offset: usize,
    /// How many to return at most.
    pub limit: Option<usize>,
}

/// Sorts.
pub(super) fn sort(mailbox: &Mailbox, found: &NumberSet, order: &Order) -> Result<Hits> {
    let total = found.count();
    let wanted = order.limit.map_or(usize::MAX, |limit| limit.saturating_add(order.offset));
    let mut list = match order.key {
        SortKey::Date => by_date::sort(mailbox, found, total, order.direction, wanted)?,
        key => by_key::sort(mailbox, ranked::all(mailbox, found)?, (key, order.direction), wanted)?,
    };
    list.drain(..order.offset.min(list.len()));
    list.truncate(order.limit.unwrap_or(usize::MAX));
    Ok(Hits { total, list })
}
