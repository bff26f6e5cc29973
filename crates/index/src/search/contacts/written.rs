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

/// Returns to whom the user wrote, by addresses in lower case.
///
/// # Errors
/// Damage in the store or the text index; [`Error::Interrupted`](crate::Error::Interrupted).
pub(super) fn written(mailbox: &Mailbox, now: i64) -> Result<HashMap<String, Written>> {
    let mut found: HashMap<String, Vec<u32>> = HashMap::new();
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

/// Returns the sum of those messages that are known, or `None` if none of them is.
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

/// Messages that a core looks up at a time.
const NUMBER_COUNT: usize = 1 << 10;

/// Returns the dates of messages.
fn dates(mailbox: &Mailbox, numbers: impl Iterator<Item = u32>) -> Result<Vec<(u32, i64)>> {
    let mut wanted = NumberSet::new(mailbox.bound());
    numbers.for_each(|number| wanted.insert(number));
    let wanted: Vec<u32> = wanted.iter().collect();
    let found = wanted.par_chunks(NUMBER_COUNT).map(|wanted| {
        mailbox.check_cancelled()?;
        let mut dates = Vec::with_capacity(wanted.len());
        let mut rows = Vec::new();
        for part in mailbox.message_table().parts() {
            part.find_numbers(wanted, |number, row| rows.push((number, row)))?;
            for (number, row) in rows.drain(..) {
                dates.push((number, part.i64_at(messages::DATE, row)?));
            }
        }
        Ok(dates)
    });
    Ok(found.collect::<Result<Vec<_>>>()?.concat())
}
