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
use rayon::prelude::*;
use std::collections::HashMap;
use store::Part;

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

/// Dates of messages by their numbers.
type Dates = hashbrown::HashMap<u32, i64>;

/// A message is looked up alone if there are at least so many others for each that is wanted.
const ALONE: usize = 512;

/// Returns the dates of messages. Those of many are read in one scan of the columns: a lookup takes as long
/// as many rows of it.
fn dates(mailbox: &Mailbox, numbers: impl Iterator<Item = u32>) -> Result<Dates> {
    let mut wanted = NumberSet::new(mailbox.bound());
    numbers.for_each(|number| wanted.insert(number));
    let count = usize::try_from(wanted.count()).unwrap_or(usize::MAX);
    let mut dates = Dates::with_capacity(count);
    if count.saturating_mul(ALONE) < mailbox.bound() as usize {
        for number in wanted.iter() {
            dates.extend(mailbox.hit(number)?.map(|hit| (number, hit.date)));
        }
        return Ok(dates);
    }
    let wanted: Vec<u32> = wanted.iter().collect();
    let parts = mailbox.message_table().parts().par_iter();
    let found = parts.map(|part| {
        mailbox.check_cancelled()?;
        dates_in(part, &wanted)
    });
    found.collect::<Result<Vec<_>>>()?.into_iter().for_each(|found| dates.extend(found));
    Ok(dates)
}

/// Returns the dates of those messages that a part has. `wanted` is sorted.
fn dates_in(part: &Part, wanted: &[u32]) -> Result<Vec<(u32, i64)>> {
    let numbers = part.u32s(messages::NUMBER, 0..part.row_count())?;
    let dates = part.i64s(messages::DATE, 0..part.row_count())?;
    let mut found = Vec::new();
    if !numbers.is_sorted_by(|a, b| a < b) {
        // Rows in memory lie as they came, replaced ones beside those that replace them.
        let rows = part.live_values(numbers.iter().zip(dates));
        let rows = rows.filter(|(_, (number, _))| wanted.binary_search(number).is_ok());
        found.extend(rows.map(|(_, (number, date))| (*number, *date)));
        return Ok(found);
    }
    let mut row = 0;
    for number in wanted {
        row += lower_bound(numbers.get(row..).unwrap_or_default(), *number);
        let is_live = |row: usize| u32::try_from(row).is_ok_and(|row| !part.is_dead(row));
        if numbers.get(row) == Some(number) && is_live(row) {
            found.extend(dates.get(row).map(|date| (*number, *date)));
        }
    }
    Ok(found)
}

/// Returns how many of some sorted numbers are below `number`. Takes the least time if they are few.
fn lower_bound(numbers: &[u32], number: u32) -> usize {
    let mut end = 1;
    while numbers.get(end - 1).is_some_and(|other| *other < number) {
        end *= 2;
    }
    let (begin, end) = (end / 2, end.min(numbers.len()));
    begin + numbers.get(begin..end).unwrap_or_default().partition_point(|other| *other < number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_number_is_found_wherever_it_is() {
        let numbers: Vec<u32> = (0..40).map(|number| 3 * number + 1).collect();
        for length in 0..numbers.len() {
            for number in 0..125 {
                let expected = numbers[..length].iter().filter(|other| **other < number).count();
                assert_eq!(lower_bound(&numbers[..length], number), expected, "{length} {number}");
            }
        }
    }
}
