//! Sorts by date.
//!
//! Input: a set of messages. Output: as many hits as requested. If only a few of many are requested, walks
//! the index by date; otherwise scans the columns and keeps the first ones. Must not know the other keys.

use crate::error::Result;
use crate::rows;
use crate::search::mailbox::{Hit, Mailbox};
use crate::search::order::key::Direction;
use crate::search::order::ranked::{Ranked, each};
use crate::set::NumberSet;
use crate::tables::messages;
use std::collections::BinaryHeap;
use std::ops::Bound;

/// How many index steps cost as much as scanning and sorting one hit.
const WALK_FACTOR: u64 = 4;

/// Sorts the `total` messages of a set by date and returns as many as requested.
pub(super) fn sort(
    mailbox: &Mailbox,
    found: &NumberSet,
    total: u64,
    direction: Direction,
    wanted: usize,
) -> Result<Vec<Hit>> {
    let steps = u64::from(mailbox.bound()).saturating_mul(wanted as u64) / total.max(1);
    if steps.saturating_mul(WALK_FACTOR) < total {
        walk(mailbox, found, direction, wanted)
    } else {
        scan(mailbox, found, direction, wanted)
    }
}

/// Follows the index by date until enough are found.
fn walk(mailbox: &Mailbox, found: &NumberSet, direction: Direction, wanted: usize) -> Result<Vec<Hit>> {
    let table = mailbox.snapshot().table(messages::TABLE)?;
    let mut range = table.range(messages::BY_DATE, Bound::Unbounded, Bound::Unbounded)?;
    let mut list = Vec::with_capacity(wanted.min(1 << 16));
    while list.len() < wanted {
        mailbox.check_cancelled()?;
        let next = match direction {
            Direction::Ascending => range.next(),
            Direction::Descending => range.next_back(),
        };
        let Some(row) = next.transpose()? else { break };
        let part = rows::part_of(&table, row);
        let number = part.u32_at(messages::NUMBER, row.row)?;
        if found.contains(number) {
            list.push(Hit { number, row, date: part.i64_at(messages::DATE, row.row)? });
        }
    }
    Ok(list)
}

/// Reads the hits from the columns and sorts them. Keeps only as many as requested.
fn scan(mailbox: &Mailbox, found: &NumberSet, direction: Direction, wanted: usize) -> Result<Vec<Hit>> {
    let mut heap: BinaryHeap<Ranked> = BinaryHeap::new();
    let mut all: Vec<Ranked> = Vec::new();
    let bounded = wanted < usize::try_from(found.count()).unwrap_or(usize::MAX);
    each(mailbox, found, |ranked| {
        let ranked = ranked.in_direction(direction);
        if !bounded {
            all.push(ranked);
        } else if heap.len() < wanted {
            heap.push(ranked);
        } else if heap.peek().is_some_and(|worst| ranked < *worst) {
            heap.pop();
            heap.push(ranked);
        }
    })?;
    if bounded {
        all = heap.into_sorted_vec();
    } else {
        all.sort_unstable();
    }
    Ok(all.into_iter().map(|ranked| ranked.hit).collect())
}
