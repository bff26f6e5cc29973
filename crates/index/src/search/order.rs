//! Puts found messages in order.
//!
//! In: a set of numbers. Out: hits, newest first by default. Sorting by date walks the ordered index when few
//! of many are wanted, so that the newest fifty of a large folder cost the same as those of a small one, and
//! neither time nor memory grows with the folder. What the other keys compare is in `sort_key.rs`.

use crate::error::Result;
use crate::rows;
use crate::search::Mailbox;
use crate::search::sort_key::{self, SortKey};
use crate::set::NumberSet;
use crate::tables::{dated, messages};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Bound;
use store::RowId;

/// Which end comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Smallest or oldest first.
    Ascending,
    /// Largest or newest first.
    #[default]
    Descending,
}

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

/// A found message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its number. An index gives each content one number, for as long as the index lives, and never gives it
    /// to another one; an index made anew numbers its messages again.
    pub number: u32,
    /// Its row in this commit.
    pub(crate) row: RowId,
    /// Its date in seconds since 1970; the least number there is, if it has none.
    pub date: i64,
}

impl Hit {
    /// Returns its date in seconds since 1970, if it has one.
    #[must_use]
    pub fn date_seconds(&self) -> Option<i64> {
        dated(self.date)
    }
}

/// Found messages in order.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// How many matched, those left out included.
    pub total: u64,
    /// Those wanted.
    pub list: Vec<Hit>,
}

/// How many index steps cost as much as scanning and sorting one hit.
const WALK_FACTOR: u64 = 4;

/// How many rows are scanned in the time in which one is looked up.
const LOOK_UP_FACTOR: u64 = 512;

/// Sorts.
pub(super) fn sort(mailbox: &Mailbox, found: &NumberSet, order: &Order) -> Result<Hits> {
    let total = found.count();
    let wanted = order.limit.map_or(usize::MAX, |limit| limit.saturating_add(order.offset));
    let mut list = match order.key {
        SortKey::Date => by_date(mailbox, found, total, order.direction, wanted)?,
        key => sort_key::sort(mailbox, all(mailbox, found)?, (key, order.direction), wanted)?,
    };
    list.drain(..order.offset.min(list.len()));
    list.truncate(order.limit.unwrap_or(usize::MAX));
    Ok(Hits { total, list })
}

fn by_date(
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

/// Takes the hits out of the columns and sorts them; keeps only as many as are wanted.
fn scan(mailbox: &Mailbox, found: &NumberSet, direction: Direction, wanted: usize) -> Result<Vec<Hit>> {
    let mut heap: BinaryHeap<Ranked> = BinaryHeap::new();
    let mut all: Vec<Ranked> = Vec::new();
    let bounded = wanted < usize::try_from(found.count()).unwrap_or(usize::MAX);
    each(mailbox, found, |ranked| {
        let ranked = Ranked { descending: direction == Direction::Descending, ..ranked };
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

/// A hit with all that orders it by date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ranked {
    pub(super) hit: Hit,
    sha256: [u8; 8],
    descending: bool,
}

impl Ranked {
    fn new(hit: Hit, id: &[u8; 32]) -> Ranked {
        Ranked { hit, sha256: *id.first_chunk().expect("an id has 32 bytes"), descending: false }
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

/// Visits all hits, in no order. Few of many are looked up, so that what is not found costs nothing: not a
/// page of its columns is read.
fn each(mailbox: &Mailbox, found: &NumberSet, mut visit: impl FnMut(Ranked)) -> Result<()> {
    let table = mailbox.snapshot().table(messages::TABLE)?;
    if found.count().saturating_mul(LOOK_UP_FACTOR) < table.row_count() {
        for number in found.iter() {
            let Some(hit) = mailbox.hit(number)? else { continue };
            let id = rows::part_of(&table, hit.row).id_at(messages::SHA256, hit.row.row)?;
            visit(Ranked::new(hit, &id));
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

/// Returns all hits, in no order.
fn all(mailbox: &Mailbox, found: &NumberSet) -> Result<Vec<Ranked>> {
    let mut list = Vec::new();
    each(mailbox, found, |ranked| list.push(ranked))?;
    Ok(list)
}
