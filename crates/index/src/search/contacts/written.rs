//! To whom the user wrote: the recipients of messages from one of the user's own addresses.
//!
//! Input: the user's addresses. Output: for each recipient the number of these messages, the last date, and
//! what they count for the order. It is computed on request and not stored, so that addresses may change
//! without reading any mail again. Only mail that a search can find counts.

use crate::error::Result;
use crate::search::contacts::score;
use crate::search::mailbox::{Mailbox, address_of};
use crate::tables::dated;
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
    let mut dates: HashMap<u32, Option<i64>> = HashMap::new();
    let mut people = HashMap::new();
    for (address, mut numbers) in found {
        // One message may name a person twice.
        numbers.sort_unstable();
        numbers.dedup();
        let mut written = Written::default();
        for number in numbers.into_iter().filter(|number| live.contains(*number)) {
            let date = match dates.get(&number) {
                Some(date) => *date,
                None => {
                    let date = mailbox.hit(number)?.and_then(|hit| dated(hit.date));
                    dates.insert(number, date);
                    date
                }
            };
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
