//! People who wrote or received messages.
//!
//! Input: words. Output: the people whose name or address contains all of them, except the user. Counts cover
//! all messages ever indexed, including those that are gone.

use crate::error::Result;
use crate::rows::{self, RecordReader};
use crate::search::mailbox::Mailbox;
use crate::tables::{contacts, dated, messages};
use query::fold::fold;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Which people to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Circle {
    /// Everyone who wrote or received a message.
    #[default]
    Everybody,
    /// People who wrote to the user in person, and people whom the user wrote to. Nobody, if no address of
    /// the user is known.
    Partners,
}

/// A person with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The address, as it was last written.
    pub address: String,
    /// The most recent display name; may be empty.
    pub name: String,
    /// Messages from this address.
    pub sent_count: u32,
    /// Messages to it, including as Cc or Bcc.
    pub received_count: u32,
    /// Date of the first dated message, in seconds since 1970.
    pub first: Option<i64>,
    /// Date of the last dated message.
    pub last: Option<i64>,
}

impl Mailbox {
    /// Returns the people whose name or address contains each of the words, ignoring case and accents. People
    /// with the most messages come first. Leaves out the user's known addresses.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn people(&self, words: &[String], circle: Circle) -> Result<Vec<Person>> {
        let partners = match circle {
            Circle::Everybody => None,
            Circle::Partners => Some(self.partners()?),
        };
        let words: Vec<String> = words.iter().map(|word| fold(word).into_owned()).collect();
        let mut found = Vec::new();
        for part in self.snapshot().table(contacts::TABLE)?.parts() {
            for row in part.live_rows() {
                self.check_cancelled()?;
                let text = |column| -> Result<String> {
                    Ok(String::from_utf8_lossy(part.bytes(column, row)?).into_owned())
                };
                let (name, address) = (text(contacts::NAME)?, text(contacts::ADDRESS)?);
                let folded = format!("{} {}", fold(&name), fold(&address));
                let is_wanted = !self.own_addresses().holds(&address)
                    && partners.as_ref().is_none_or(|known| known.contains(&address.to_lowercase()));
                if is_wanted && words.iter().all(|word| folded.contains(word)) {
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

    /// Returns the addresses, in lower case, of people who wrote to the user in person and of people whom the
    /// user wrote to, in mail that a search can find.
    fn partners(&self) -> Result<HashSet<String>> {
        let live = self.live()?;
        let (mut to_user, mut by_user) = (self.personal()?.clone(), self.sent()?);
        to_user.and(live);
        by_user.and(live);
        let mut both = to_user.clone();
        both.or(&by_user);
        let table = self.snapshot().table(messages::TABLE)?;
        let mut reader = RecordReader::new();
        let mut partners = HashSet::new();
        for number in both.iter() {
            self.check_cancelled()?;
            let Some(hit) = self.hit(number)? else { continue };
            let part = rows::part_of(&table, hit.row);
            let rest = rows::rest(part, hit.row.row, &mut reader, self.directory())?;
            if to_user.contains(number) {
                partners.extend(rest.from.iter().map(|one| one.address.to_lowercase()));
            }
            if by_user.contains(number) {
                let all = rest.to.iter().chain(&rest.cc).chain(&rest.bcc);
                partners.extend(all.map(|one| one.address.to_lowercase()));
            }
        }
        Ok(partners)
    }
}
