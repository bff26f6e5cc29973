//! People who wrote or received messages.
//!
//! Input: words. Output: the people whose name or address contains all of them, those first that the user is
//! most likely to want; mailing lists after them. Counts cover all messages ever indexed, including those
//! that are gone.

mod lists;
mod matching;
mod partners;
mod score;
mod written;

use crate::error::Result;
use crate::rows::part_of;
use crate::search::mailbox::Mailbox;
use crate::tables::{contacts, dated};
use lists::Lists;
use matching::Matching;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use store::{PRIMARY, Part, RowId, Table, Value};
use written::Written;

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

/// What to do with the user's own addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnPeople {
    /// Leave them out.
    #[default]
    LeftOut,
    /// List them like other people.
    Listed,
}

/// Which people to list, and how many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeopleQuestion {
    /// Words that the name or the address contains, ignoring case and accents.
    pub words: Vec<String>,
    /// Whom to list.
    pub circle: Circle,
    /// Whether to list the user, too.
    pub own: OwnPeople,
    /// How many people at most.
    pub count_max: Option<usize>,
    /// The time of the question, in seconds since 1970: older messages count less.
    pub now_seconds: i64,
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
    /// Messages from the user to it, in mail that still has a file.
    pub written_count: u32,
    /// Date of the last dated one of them.
    pub last_written: Option<i64>,
    /// Whether it is the address of a mailing list.
    pub is_list: bool,
    /// Whether it is one of the user's addresses.
    pub is_own: bool,
}

/// A person who matches, in the order of the list: the greatest first.
#[derive(Clone, Copy, Debug)]
struct Candidate<'a> {
    score: f64,
    last: i64,
    key: &'a [u8],
    row: RowId,
}

impl Ord for Candidate<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.total_cmp(&other.score).then(self.last.cmp(&other.last));
        by_score.then_with(|| other.key.cmp(self.key))
    }
}

impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate<'_> {}

impl Mailbox {
    /// Returns the people whose name or address contains each of the words, ignoring case and accents. First
    /// come people, those with the highest score first (`score.rs`), then mailing lists in the same order.
    ///
    /// # Errors
    /// Damage in the store; [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn people(&self, question: &PeopleQuestion) -> Result<Vec<Person>> {
        let table = self.snapshot().table(contacts::TABLE)?;
        let (written, candidates) = if self.own_addresses().is_empty() {
            (Ok(HashMap::new()), self.candidates(&table, question))
        } else {
            rayon::join(|| written::written(self, question.now_seconds), || self.candidates(&table, question))
        };
        let written = written?;
        let mut candidates = with_written(candidates?, &written);
        let partners = match question.circle {
            Circle::Everybody => None,
            Circle::Partners => Some(partners::partners(self, &written)?),
        };
        let lists = Lists::of(self)?;
        let count_max = question.count_max.unwrap_or(usize::MAX);
        let (mut people, mut mailing_lists) = (Vec::new(), Vec::new());
        // Popped one by one: for the first few of many, the others need not be sorted.
        while people.len() < count_max
            && let Some(candidate) = candidates.pop()
        {
            self.check_cancelled()?;
            let is_own = self.own_addresses().holds_key(candidate.key);
            let is_wanted = (!is_own || question.own == OwnPeople::Listed)
                && partners.as_ref().is_none_or(|known| known.contains(&*text(candidate.key)));
            if !is_wanted {
                continue;
            }
            let is_list = !is_own && lists.hold(candidate.key);
            if !is_list {
                people.push((candidate, is_own));
            } else if mailing_lists.len() < count_max {
                mailing_lists.push(candidate);
            }
        }
        mailing_lists.truncate(count_max - people.len());
        let person = |candidate: Candidate<'_>, is_list, is_own| {
            let written = written.get(&*text(candidate.key)).copied().unwrap_or_default();
            Ok(Person { is_list, is_own, ..person(&table, candidate.row, written)? })
        };
        let people = people.into_iter().map(|(candidate, is_own)| person(candidate, false, is_own));
        let mailing_lists = mailing_lists.into_iter().map(|candidate| person(candidate, true, false));
        people.chain(mailing_lists).collect()
    }

    /// Returns the most recent display name of an address, which is in lower case.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn display_name(&self, address: &str) -> Result<Option<String>> {
        let table = self.snapshot().table(contacts::TABLE)?;
        let Some(row) = table.get(PRIMARY, &[Value::Bytes(address.as_bytes())])? else { return Ok(None) };
        let name = text(part_of(&table, row).bytes(contacts::NAME, row.row)?).into_owned();
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    /// Returns the people who have all the words, with the score of all their messages.
    fn candidates<'a>(&self, table: &'a Table, question: &PeopleQuestion) -> Result<Vec<Candidate<'a>>> {
        let mut matching = Matching::new(&question.words);
        let mut all = Vec::new();
        for (number, part) in (0u32..).zip(table.parts()) {
            let rows = 0..part.row_count();
            let sent = part.u32s(contacts::SENT_COUNT, rows.clone())?;
            let received = part.u32s(contacts::RECEIVED_COUNT, rows.clone())?;
            let first = part.i64s(contacts::FIRST, rows.clone())?;
            let last = part.i64s(contacts::LAST, rows)?;
            let counts = sent.iter().zip(received.iter()).zip(first.iter().zip(last.iter()));
            for (row, ((sent, received), (first, last))) in part.live_values(counts) {
                self.check_cancelled()?;
                let key = part.bytes(contacts::KEY, row)?;
                if !matching.is_everyone() && !matching.holds(key, part.bytes(contacts::NAME, row)?) {
                    continue;
                }
                let row = RowId { part: number, row };
                let count = u64::from(*sent) + u64::from(*received);
                let dates = dated(*first).zip(dated(*last));
                let score = score::of_spread(score::Spread { count, dates }, question.now_seconds);
                all.push(Candidate { score, last: *last, key, row });
            }
        }
        Ok(all)
    }
}

/// Adds to people's scores what the user wrote to them, and puts them in order.
fn with_written<'a>(
    mut candidates: Vec<Candidate<'a>>,
    written: &HashMap<String, Written>,
) -> BinaryHeap<Candidate<'a>> {
    if !written.is_empty() {
        for candidate in &mut candidates {
            let of_written = written.get(&*text(candidate.key)).map_or(0.0, |written| written.score);
            candidate.score = score::of_person(candidate.score, of_written);
        }
    }
    candidates.into()
}

fn person(table: &Table, row: RowId, written: Written) -> Result<Person> {
    let (part, row): (&Part, u32) = (part_of(table, row), row.row);
    Ok(Person {
        address: text(part.bytes(contacts::ADDRESS, row)?).into_owned(),
        name: text(part.bytes(contacts::NAME, row)?).into_owned(),
        sent_count: part.u32_at(contacts::SENT_COUNT, row)?,
        received_count: part.u32_at(contacts::RECEIVED_COUNT, row)?,
        first: dated(part.i64_at(contacts::FIRST, row)?),
        last: dated(part.i64_at(contacts::LAST, row)?),
        written_count: written.count,
        last_written: written.last,
        is_list: false,
        is_own: false,
    })
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
