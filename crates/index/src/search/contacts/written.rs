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
use std::ops::Range;
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
    let recipients = || {
        mailbox.text().recipients((&own.words(), own), &is_cancelled, &mut |value, numbers| {
            found.entry(address_of(value).to_lowercase()).or_default().extend(numbers);
        })
    };
    let (live, done) = rayon::join(|| mailbox.live(), recipients);
    let live = live?;
    done?;
    mailbox.check_cancelled()?;
    let dates = dates(mailbox, found.values().flatten().copied().filter(|number| live.contains(*number)))?;
    // A message may have many recipients.
    let one = |(number, date): (u32, i64)| {
        let date = dated(date);
        let score = date.map_or(0.0, |date| score::of_message(date, now));
        (number, Written { count: 1, last: date, score })
    };
    let messages: hashbrown::HashMap<u32, Written> = dates.into_iter().map(one).collect();
    let people = found.into_par_iter().filter_map(|(address, numbers)| {
        let written = sum(numbers, &messages)?;
        Some((address, written))
    });
    Ok(people.collect())
}

/// Returns the sum of those messages that are known, or `None` if no one is.
fn sum(mut numbers: Vec<u32>, messages: &hashbrown::HashMap<u32, Written>) -> Option<Written> {
    // One message may name a person twice.
    numbers.sort_unstable();
    numbers.dedup();
    let mut sum = Written::default();
    for one in numbers.iter().filter_map(|number| messages.get(number)) {
        sum.count = sum.count.saturating_add(one.count);
        sum.last = sum.last.max(one.last);
        sum.score += one.score;
    }
    (sum.count > 0).then_some(sum)
}

/// A message is looked up alone if there are at least so many others for each that is wanted.
const ALONE: usize = 512;
/// Rows that a core reads at a time.
const RUN_ROWS: u32 = 1 << 16;

/// Returns the dates of messages. Those of many are read in one scan of the columns: a lookup takes as long
/// as many rows of it.
fn dates(mailbox: &Mailbox, numbers: impl Iterator<Item = u32>) -> Result<Vec<(u32, i64)>> {
    let mut wanted = NumberSet::new(mailbox.bound());
    numbers.for_each(|number| wanted.insert(number));
    let count = usize::try_from(wanted.count()).unwrap_or(usize::MAX);
    let mut dates = Vec::with_capacity(count);
    if count.saturating_mul(ALONE) < mailbox.bound() as usize {
        for number in wanted.iter() {
            dates.extend(mailbox.hit(number)?.map(|hit| (number, hit.date)));
        }
        return Ok(dates);
    }
    let wanted: Vec<u32> = wanted.iter().collect();
    let parts = mailbox.message_table().parts().iter();
    let runs: Vec<(&Part, Range<u32>)> = parts.flat_map(runs).collect();
    let found = runs.into_par_iter().map(|(part, rows)| {
        mailbox.check_cancelled()?;
        dates_in(part, rows, &wanted)
    });
    Ok(found.collect::<Result<Vec<_>>>()?.concat())
}

/// Returns the rows of a part in runs that the cores share.
fn runs(part: &Part) -> impl Iterator<Item = (&Part, Range<u32>)> {
    let count = part.row_count();
    (0..count).step_by(RUN_ROWS as usize).map(move |row| (part, row..count.min(row.saturating_add(RUN_ROWS))))
}

/// Returns the dates of those messages that some rows of a part have. `wanted` is sorted.
fn dates_in(part: &Part, rows: Range<u32>, wanted: &[u32]) -> Result<Vec<(u32, i64)>> {
    let numbers = part.u32s(messages::NUMBER, rows.clone())?;
    let dates = part.i64s(messages::DATE, rows.clone())?;
    Ok(among(wanted, numbers, dates, |place| {
        u32::try_from(place).is_ok_and(|place| !part.is_dead(rows.start + place))
    }))
}

/// Returns those of the sorted `wanted` that are among the numbers of live rows, with their dates.
fn among(wanted: &[u32], numbers: &[u32], dates: &[i64], is_live: impl Fn(usize) -> bool) -> Vec<(u32, i64)> {
    if !numbers.is_sorted_by(|a, b| a < b) {
        // Rows in memory lie as they came, replaced ones beside those that replace them.
        let all = numbers.iter().copied().zip(dates.iter().copied()).enumerate();
        let live = all.filter(|(place, (number, _))| is_live(*place) && wanted.binary_search(number).is_ok());
        return live.map(|(_, found)| found).collect();
    }
    let Some(first) = numbers.first() else { return Vec::new() };
    let mut found = Vec::new();
    let mut place = 0;
    for number in wanted.get(lower_bound(wanted, *first)..).unwrap_or_default() {
        place += lower_bound(numbers.get(place..).unwrap_or_default(), *number);
        match numbers.get(place) {
            Some(other) if other == number && is_live(place) => {
                found.extend(dates.get(place).map(|date| (*number, *date)));
            }
            Some(_) => {}
            None => break,
        }
    }
    found
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

    #[test]
    fn dates_are_found_in_runs_of_rows_in_any_order() {
        let wanted: Vec<u32> = (0..90).filter(|number| number % 2 == 0 || number % 7 == 0).collect();
        let sorted: Vec<u32> = (0..30).map(|number| 3 * number).collect();
        let reversed: Vec<u32> = sorted.iter().rev().copied().collect();
        // Every fifth number was replaced.
        let is_live = |number: u32| !number.is_multiple_of(5);
        for numbers in [sorted, reversed] {
            for length in 1..numbers.len() {
                let mut found: Vec<(u32, i64)> = Vec::new();
                for run in numbers.chunks(length) {
                    let dates: Vec<i64> = run.iter().map(|number| -i64::from(*number)).collect();
                    found.extend(among(&wanted, run, &dates, |place| is_live(run[place])));
                }
                found.sort_unstable();
                let all =
                    wanted.iter().filter(|number| *number % 3 == 0 && **number < 90 && is_live(**number));
                let expected: Vec<(u32, i64)> = all.map(|number| (*number, -i64::from(*number))).collect();
                assert_eq!(found, expected, "{length}");
            }
        }
    }
}
