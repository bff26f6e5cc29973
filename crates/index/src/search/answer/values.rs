//! Leaves that columns of `messages` answer: dates, sizes, flags and priorities of the content, Message-IDs.
//!
//! Input: ranges and ids. Output: message numbers, added to a set. Columns are scanned in place, at memory
//! speed.

use crate::error::Result;
use crate::rows::{self, RecordReader};
use crate::search::mailbox::Mailbox;
use crate::set::NumberSet;
use crate::tables::{NO_DATE, message_id_hash, messages};
use mail::ContentFlags;
use query::{FlagName, Priority};
use std::ops::Range;
use store::{Part, Table, Value};

/// Returns the pieces of all parts.
fn pieces(table: &Table) -> impl Iterator<Item = (&Part, Range<u32>)> {
    table.parts().iter().flat_map(|part| part.pieces().map(move |rows| (part, rows)))
}

/// Adds messages in this range of seconds, inclusive. A message without a date is in no range.
pub(super) fn dates(
    mailbox: &Mailbox,
    range: (Option<i64>, Option<i64>),
    found: &mut NumberSet,
) -> Result<()> {
    let (from, to) = (range.0.unwrap_or(NO_DATE).max(NO_DATE + 1), range.1.unwrap_or(i64::MAX));
    for (part, rows) in pieces(mailbox.message_table()) {
        let dates = part.i64s(messages::DATE, rows.clone())?;
        let numbers = part.u32s(messages::NUMBER, rows.clone())?;
        for (_, (date, number)) in part.live_values_from(rows.start, dates.iter().zip(numbers.iter())) {
            if (from..=to).contains(date) {
                found.insert(*number);
            }
        }
    }
    Ok(())
}

/// Adds messages in this range of sizes, inclusive.
pub(super) fn sizes(
    mailbox: &Mailbox,
    range: (Option<u64>, Option<u64>),
    found: &mut NumberSet,
) -> Result<()> {
    let (from, to) = (range.0.unwrap_or(0), range.1.unwrap_or(u64::MAX));
    for (part, rows) in pieces(mailbox.message_table()) {
        let sizes = part.u64s(messages::SIZE, rows.clone())?;
        let numbers = part.u32s(messages::NUMBER, rows.clone())?;
        for (_, (size, number)) in part.live_values_from(rows.start, sizes.iter().zip(numbers.iter())) {
            if (from..=to).contains(size) {
                found.insert(*number);
            }
        }
    }
    Ok(())
}

/// Adds messages with a derived flag.
pub(super) fn derived(mailbox: &Mailbox, wanted: ContentFlags, found: &mut NumberSet) -> Result<()> {
    for (part, rows) in pieces(mailbox.message_table()) {
        let flags = part.u16s(messages::DERIVED, rows.clone())?;
        let numbers = part.u32s(messages::NUMBER, rows.clone())?;
        for (_, (flags, number)) in part.live_values_from(rows.start, flags.iter().zip(numbers.iter())) {
            if flags & wanted.bits() != 0 {
                found.insert(*number);
            }
        }
    }
    Ok(())
}

/// Returns the derived flag for a flag of queries, if there is one.
pub(super) fn derived_flag(flag: FlagName) -> Option<ContentFlags> {
    Some(match flag {
        FlagName::Attach => ContentFlags::ATTACHMENT,
        FlagName::Signed => ContentFlags::SIGNED,
        FlagName::Encrypted => ContentFlags::ENCRYPTED,
        FlagName::List => ContentFlags::LIST,
        FlagName::Calendar => ContentFlags::CALENDAR,
        _ => return None,
    })
}

/// Adds messages with this priority. The highest priority among copies counts.
pub(super) fn priority(mailbox: &Mailbox, priority: Priority, found: &mut NumberSet) -> Result<()> {
    let (mut high, mut low) = (mailbox.empty(), mailbox.empty());
    derived(mailbox, ContentFlags::HIGH, &mut high)?;
    derived(mailbox, ContentFlags::LOW, &mut low)?;
    let live = mailbox.live()?;
    high.and(live);
    mailbox.add_copies(&mut high)?;
    let mut above_low = live.clone();
    above_low.minus(&low);
    mailbox.add_copies(&mut above_low)?;
    match priority {
        Priority::High => found.or(&high),
        Priority::Normal => {
            above_low.minus(&high);
            found.or(&above_low);
        }
        Priority::Low => {
            low.minus(&above_low);
            found.or(&low);
        }
    }
    Ok(())
}

/// Adds messages with this Message-ID, compared byte by byte.
pub(super) fn message_id(mailbox: &Mailbox, id: &str, found: &mut NumberSet) -> Result<()> {
    let table = mailbox.message_table();
    let mut reader = RecordReader::new();
    for row in table.find(messages::BY_MESSAGE_ID, &[Value::U64(message_id_hash(id))])? {
        let part = rows::part_of(table, row);
        if rows::rest(part, row.row, &mut reader, mailbox.directory())?.message_id == id {
            found.insert(part.u32_at(messages::NUMBER, row.row)?);
        }
    }
    Ok(())
}
