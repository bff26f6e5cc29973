//! Sorts by date, which also decides among messages whose other key is equal.
//!
//! Input: a set of messages. Output: as many hits as requested; or all of them, in no particular order, with
//! what orders them by date: the date and the beginning of the SHA-256. If only a few of many are requested,
//! walks the index by date; otherwise scans the columns and keeps the first ones. Must not know the other
//! keys.

use crate::error::Result;
use crate::rows;
use crate::search::mailbox::{Hit, Mailbox};
use crate::search::order::key::Direction;
use crate::set::NumberSet;
use crate::tables::messages;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Bound;
use store::RowId;

/// How many index steps cost as much as scanning and sorting one hit.
const WALK_FACTOR: u64 = 4;
/// How many rows can be scanned in the time of one look-up.
const LOOK_UP_FACTOR: u64 = 512;

/// Returns whether looking up each message of a set is faster than scanning all `row_count` rows.
pub(in crate::search) fn is_small(found: &NumberSet, row_count: u64) -> bool {
    found.count().saturating_mul(LOOK_UP_FACTOR) < row_count
}

/// A hit with the values that order it by date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ranked {
    pub(super) hit: Hit,
    /// The beginning of its SHA-256; zeros if no other hit has its date.
    sha256: [u8; 8],
    descending: bool,
}

impl Ranked {
    fn new(hit: Hit, id: &[u8; 32]) -> Ranked {
        Ranked { hit, sha256: *id.first_chunk().expect("an id has 32 bytes"), descending: false }
    }

    /// Returns the same hit, compared in this direction.
    fn in_direction(self, direction: Direction) -> Ranked {
        Ranked { descending: direction == Direction::Descending, ..self }
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> Ordering {
        let ascending = (self.hit.date, self.sha256).cmp(&(other.hit.date, other.sha256));
        if self.descending { ascending.reverse() } else { ascending }
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

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
    let table = mailbox.message_table();
    let mut range = table.range(messages::BY_DATE, Bound::Unbounded, Bound::Unbounded)?;
    let mut list = Vec::with_capacity(wanted.min(1 << 16));
    while list.len() < wanted {
        mailbox.check_cancelled()?;
        let next = match direction {
            Direction::Ascending => range.next(),
            Direction::Descending => range.next_back(),
        };
        let Some(row) = next.transpose()? else { break };
        let part = rows::part_of(table, row);
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

/// Returns all hits, in no particular order.
pub(super) fn all(mailbox: &Mailbox, found: &NumberSet) -> Result<Vec<Ranked>> {
    let mut list = Vec::new();
    each(mailbox, found, |ranked| list.push(ranked))?;
    Ok(list)
}

/// Visits all hits, in no particular order. If the set is a small part of the table, looks up each message,
/// so that no column is read completely.
fn each(mailbox: &Mailbox, found: &NumberSet, mut visit: impl FnMut(Ranked)) -> Result<()> {
    let table = mailbox.message_table();
    if is_small(found, table.row_count()) {
        let mut hits = Vec::new();
        for number in found.iter() {
            mailbox.check_cancelled()?;
            hits.extend(mailbox.hit(number)?);
        }
        hits.sort_unstable_by_key(|hit| hit.date);
        for of_date in hits.chunk_by(|a, b| a.date == b.date) {
            for hit in of_date {
                // The id decides only among equal dates, and costs another access to the disk.
                let id = match of_date.len() {
                    1 => [0; 32],
                    _ => rows::part_of(table, hit.row).id_at(messages::SHA256, hit.row.row)?,
                };
                visit(Ranked::new(*hit, &id));
            }
        }
        return Ok(());
    }
    for (number, part) in (0u32..).zip(table.parts()) {
        mailbox.check_cancelled()?;
        let count = part.row_count();
        let numbers = part.u32s(messages::NUMBER, 0..count)?;
        let dates = part.i64s(messages::DATE, 0..count)?;
        let ids = part.ids(messages::SHA256, 0..count)?;
        for (row, ((message, date), id)) in part.live_values(numbers.iter().zip(dates).zip(ids)) {
            if found.contains(*message) {
                let hit = Hit { number: *message, row: RowId { part: number, row }, date: *date };
                visit(Ranked::new(hit, id));
            }
        }
    }
    Ok(())
}
