//! To whom the user wrote: the recipients of messages from one of the user's own addresses.
//!
//! Input: the user's addresses. Output: for each recipient the number of these messages, the last date, and
//! what they count for the order. It is computed on request and not stored, so that addresses may change
//! without reading any mail again. Only mail that a search can find counts.

use crate::error::Result;
use crate::search::contacts::score;
use crate::search::mailbox::{Mailbox, address_of};
use crate::set::NumberSet;
use crate::tables::{dated, messages};
use std::collections::HashMap;

/// Messages from the user to one person.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Written {
    /// How many there are.
    pub count: u32,
    /// The last date.
    pub last: Option<i64>,
    /// The sum of what they count now.
    pub score: f64,
}

/// Returns to whom the user wrote, by addresses in lower case. Nobody if no address of the user is known.
///
/// # Errors
/// Damage in the store or the text index; [`Error::Interrupted`](crate::Error::Interrupted).
pub(super) fn written(mailbox: &Mailbox, now: i64) -> Result<HashMap<String, Written>> {
    let mut found: HashMap<String, Vec<u32>> = HashMap::new();
    if mailbox.own_addresses().is_empty() {
        return Ok(HashMap::new());
    }
    let own = mailbox.own_addresses();
    let is_cancelled = || mailbox.is_cancelled();
    mailbox.text().recipients((&own.words(), own), &is_cancelled, &mut |value, numbers| {
        found.entry(address_of(value).to_lowercase()).or_default().extend(numbers);
    })?;
    mailbox.check_cancelled()?;
    let live = mailbox.live()?;
    let dates = dates(mailbox, found.values().flatten().copied())?;
    let mut people = HashMap::new();
    for (address, mut numbers) in found {
        // One message may name a person twice.
        numbers.sort_unstable();
        numbers.dedup();
        let mut written = Written::default();
        for number in numbers.into_iter().filter(|number| live.contains(*number)) {
            let date = dates.get(&number).copied().and_then(dated);
            written.count = written.count.saturating_add(1);
            written.last = written.last.max(date);
            written.score += date.map_or(0.0, |date| score::of_message(date, now));
        }
        if written.count > 0 {
            people.insert(address, written);
        }
    }
    Ok(people)
}

/// A message is looked up alone if there are at least so many others for each that is wanted.
const ALONE: usize = 512;

/// Returns the dates of messages. Those of many are read in one scan of the columns: a lookup takes as long
/// as many rows of it.
fn dates(mailbox: &Mailbox, numbers: impl Iterator<Item = u32>) -> Result<HashMap<u32, i64>> {
    let mut wanted = NumberSet::new(mailbox.bound());
    numbers.for_each(|number| wanted.insert(number));
    let count = usize::try_from(wanted.count()).unwrap_or(usize::MAX);
    let mut dates = HashMap::with_capacity(count);
    if count.saturating_mul(ALONE) < mailbox.bound() as usize {
        for number in wanted.iter() {
            dates.extend(mailbox.hit(number)?.map(|hit| (number, hit.date)));
        }
        return Ok(dates);
    }
    for part in mailbox.message_table().parts() {
        mailbox.check_cancelled()?;
        let rows = 0..part.row_count();
        let numbers = part.u32s(messages::NUMBER, rows.clone())?.iter();
        let of_numbers = part.i64s(messages::DATE, rows)?;
        for (_, (number, date)) in part.live_values(numbers.zip(of_numbers)) {
            if wanted.contains(*number) {
                dates.insert(*number, *date);
            }
        }
    }
    Ok(dates)
}
