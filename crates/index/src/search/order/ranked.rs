//! Messages of a set with the values that order them by date.
//!
//! Input: a set of messages. Output: hits in no particular order, each with its date and the beginning of its
//! SHA-256. These order messages whose other key is equal. Must not know that key.

use crate::error::Result;
use crate::rows;
use crate::search::mailbox::{Hit, Mailbox};
use crate::search::order::key::Direction;
use crate::set::NumberSet;
use crate::tables::messages;
use std::cmp::Ordering;
use store::RowId;

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
    sha256: [u8; 8],
    descending: bool,
}

impl Ranked {
    fn new(hit: Hit, id: &[u8; 32]) -> Ranked {
        Ranked { hit, sha256: *id.first_chunk().expect("an id has 32 bytes"), descending: false }
    }

    /// Returns the same hit, compared in this direction.
    pub(super) fn in_direction(self, direction: Direction) -> Ranked {
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

/// Visits all hits, in no particular order. If the set is a small part of the table, looks up each message,
/// so that no column is read completely.
pub(super) fn each(mailbox: &Mailbox, found: &NumberSet, mut visit: impl FnMut(Ranked)) -> Result<()> {
    let table = mailbox.snapshot().table(messages::TABLE)?;
    if is_small(found, table.row_count()) {
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

/// Returns all hits, in no particular order.
pub(super) fn all(mailbox: &Mailbox, found: &NumberSet) -> Result<Vec<Ranked>> {
    let mut list = Vec::new();
    each(mailbox, found, |ranked| list.push(ranked))?;
    Ok(list)
}
