//! Sorts by the number of a message, which grows with each message that the index gets.
//!
//! Input: a set of messages. Output: all hits. Few are looked up, of many the columns are scanned. Must not
//! know the other keys.

use crate::error::Result;
use crate::search::mailbox::{Hit, Mailbox};
use crate::search::order::by_date::is_small;
use crate::search::order::key::Direction;
use crate::set::NumberSet;
use crate::tables::messages;
use store::RowId;

/// Sorts the messages of a set.
pub(super) fn sort(mailbox: &Mailbox, found: &NumberSet, direction: Direction) -> Result<Vec<Hit>> {
    let table = mailbox.message_table();
    let mut hits = Vec::new();
    if is_small(found, table.row_count()) {
        for number in found.iter() {
            mailbox.check_cancelled()?;
            hits.extend(mailbox.hit(number)?);
        }
    } else {
        for (part_number, part) in (0_u32..).zip(table.parts()) {
            mailbox.check_cancelled()?;
            let numbers = part.u32s(messages::NUMBER, 0..part.row_count())?;
            let dates = part.i64s(messages::DATE, 0..part.row_count())?;
            for (row, (number, date)) in part.live_values(numbers.iter().zip(dates.iter())) {
                if found.contains(*number) {
                    hits.push(Hit { number: *number, row: RowId { part: part_number, row }, date: *date });
                }
            }
        }
        // Segments are sorted: this merges them, and puts rows in memory to their place.
        hits.sort_by_key(|hit| hit.number);
    }
    if direction == Direction::Descending {
        hits.reverse();
    }
    Ok(hits)
}
