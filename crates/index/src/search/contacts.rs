//! Who wrote messages and who got them.
//!
//! In: words. Out: people whose name or address holds them all. Counts are of all messages ever indexed, those that are gone included.

use crate::error::Result;
use crate::rows::live;
use crate::search::Mailbox;
use crate::tables::{contacts, dated};
use query::fold::fold;
use std::cmp::Reverse;

/// Somebody with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The address, as it was written last.
    pub address: String,
    /// The display name that came last; may be empty.
    pub name: String,
    /// Messages from this address.
    pub sent_count: u32,
    /// Messages to it, or with a copy to it.
    pub received_count: u32,
    /// Date of the first message that says one, in seconds since 1970.
    pub first: Option<i64>,
    /// Date of the last.
    pub last: Option<i64>,
}

impl Mailbox {
    /// Returns the people whose name or address holds each of the words, without regard to case and accents; those of the most
    /// messages first.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn people(&self, words: &[String]) -> Result<Vec<Person>> {
        let words: Vec<String> = words.iter().map(|word| fold(word).into_owned()).collect();
        let mut found = Vec::new();
        for part in self.snapshot.table(contacts::TABLE)?.parts() {
            for row in live(part) {
                let text = |column| -> Result<String> {
                    Ok(String::from_utf8_lossy(part.bytes(column, row)?).into_owned())
                };
                let (name, address) = (text(contacts::NAME)?, text(contacts::ADDRESS)?);
                let folded = format!("{} {}", fold(&name), fold(&address));
                if words.iter().all(|word| folded.contains(word)) {
                    found.push(Person {
                        address,
                        name,
                        sent_count: part.u32_at(contacts::SENT_COUNT, row)?,
                        received_count: part.u32_at(contacts::RECEIVED_COUNT, row)?,
                        first: dated(part.i64_at(contacts::FIRST, row)?),
                        last: dated(part.i64_at(contacts::LAST, row)?),
                    });
                }
            }
        }
        let count = |person: &Person| u64::from(person.sent_count) + u64::from(person.received_count);
        found.sort_by_cached_key(|person| (Reverse((count(person), person.last)), person.address.clone()));
        Ok(found)
    }
}
