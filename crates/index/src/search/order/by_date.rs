//! Sorts by date, which also decides among messages whose other key is equal.
//!
//! Input: a set of messages. Output: as many hits as requested; or all of them, in no particular order, with
//! what orders them by date: the date and the beginning of the SHA-256. If only a few of many are requested,
//! walks the index by date; otherwise scans the columns. Of a page far from both ends it first selects the
//! dates where the page begins and ends, and then sorts only what is between them. Must not know the other
//! keys.

use crate::error::Result;
use crate::rows;
use crate::search::mailbox::{Hit, Mailbox};
use crate::search::order::key::Direction;
use crate::set::NumberSet;
use crate::tables::messages;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::ops::{Bound, Range};
use store::{RowId, read_together};

/// How many index steps cost as much as scanning and sorting one hit.
const WALK_FACTOR: u64 = 4;
/// How many rows can be scanned, and a page of them selected, in the time of one index step, at least.
const STEP_ROWS: u64 = 16;
/// How many rows can be scanned in the time of one look-up.
const LOOK_UP_FACTOR: u64 = 512;

/// Fewer hits are sorted before other threads have begun.
const SORTED_ALONE: usize = 2_000;
/// So many messages are looked up before the search may be cancelled.
const LOOK_UPS: usize = 256;

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

/// Sorts the `total` messages of a set by date and returns those at the places of a page.
pub(super) fn sort(
    mailbox: &Mailbox,
    found: &NumberSet,
    total: u64,
    direction: Direction,
    page: Range<usize>,
) -> Result<Vec<Hit>> {
    let steps = u64::from(mailbox.bound()).saturating_mul(page.end as u64) / total.max(1);
    let row_count = mailbox.message_table().row_count();
    let is_near = is_small(found, row_count) || steps.saturating_mul(STEP_ROWS) < row_count;
    if is_near && steps.saturating_mul(WALK_FACTOR) < total {
        let mut hits = walk(mailbox, found, direction, page.end)?;
        hits.drain(..page.start.min(hits.len()));
        Ok(hits)
    } else {
        scan(mailbox, found, direction, page)
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

/// Reads the hits from the columns and sorts those of a page.
fn scan(mailbox: &Mailbox, found: &NumberSet, direction: Direction, page: Range<usize>) -> Result<Vec<Hit>> {
    let total = usize::try_from(found.count()).unwrap_or(usize::MAX);
    let page = page.start.min(total)..page.end.min(total);
    if page.is_empty() {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    let mut before = 0;
    if page.len() == total || is_small(found, mailbox.message_table().row_count()) {
        all.reserve(total);
        each(mailbox, found, |ranked| all.push(ranked.in_direction(direction)))?;
    } else {
        let Some((first, last)) = ends(mailbox, found, direction, &page)? else { return Ok(all_hits(all)) };
        each(mailbox, found, |ranked| {
            let date = ranked.hit.date;
            match direction.of(&date, &first) {
                Ordering::Less => before += 1,
                _ if direction.of(&date, &last) == Ordering::Greater => {}
                _ => all.push(ranked.in_direction(direction)),
            }
        })?;
    }
    // Many may have the same date.
    let (skip, wanted) = (page.start.saturating_sub(before), page.len());
    if skip > 0 && skip < all.len() {
        all.select_nth_unstable(skip);
        all.drain(..skip);
    }
    if wanted < all.len() {
        all.select_nth_unstable(wanted);
        all.truncate(wanted);
    }
    match all.len() {
        ..SORTED_ALONE => all.sort_unstable(),
        _ => all.par_sort_unstable(),
    }
    Ok(all_hits(all))
}

fn all_hits(all: Vec<Ranked>) -> Vec<Hit> {
    all.into_iter().map(|ranked| ranked.hit).collect()
}

/// Returns the dates of the first and of the last hit of a page.
fn ends(
    mailbox: &Mailbox,
    found: &NumberSet,
    direction: Direction,
    page: &Range<usize>,
) -> Result<Option<(i64, i64)>> {
    let mut dates = Vec::new();
    for part in mailbox.message_table().parts() {
        mailbox.check_cancelled()?;
        let all = 0..part.row_count();
        let numbers = part.u32s(messages::NUMBER, all.clone())?;
        let its_dates = part.i64s(messages::DATE, all)?;
        let columns = numbers.iter().zip(its_dates.iter());
        let listed = part.live_values(columns).filter(|(_, (number, _))| found.contains(**number));
        dates.extend(listed.map(|(_, (_, date))| *date));
    }
    // A set may have numbers without a row.
    let (begin, end) = (page.start.min(dates.len()), page.end.min(dates.len()));
    if begin == end {
        return Ok(None);
    }
    let order = |a: &i64, b: &i64| direction.of(a, b);
    let (upper, last, _) = dates.select_nth_unstable_by(end - 1, order);
    let last = *last;
    let first = if begin == end - 1 { last } else { *upper.select_nth_unstable_by(begin, order).1 };
    Ok(Some((first, last)))
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
        let numbers: Vec<u32> = found.iter().collect();
        for batch in numbers.chunks(LOOK_UPS) {
            mailbox.check_cancelled()?;
            read_together(batch, |&&number| mailbox.hit(number));
            for number in batch {
                hits.extend(mailbox.hit(*number)?);
            }
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
        for (row, ((message, date), id)) in part.live_values(numbers.iter().zip(dates.iter()).zip(ids)) {
            if found.contains(*message) {
                let hit = Hit { number: *message, row: RowId { part: number, row }, date: *date };
                visit(Ranked::new(hit, id));
            }
        }
    }
    Ok(())
}
