//! Counts who wrote messages and who got them: rows of `contacts`.
//!
//! In: addresses of new messages. Out: rows, each with what was known of the address before. What comes out
//! does not depend on the order of the messages. Must not know files or text.

use crate::error::Result;
use crate::rows::part_of;
use crate::tables::{NO_DATE, contacts};
use std::collections::{BTreeMap, HashSet};
use store::{PRIMARY, Rows, Snapshot, Table, Value};

/// What an address did in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// It wrote it.
    Sender,
    /// It got it.
    Recipient,
}

/// An address of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// The address as it is written.
    pub address: String,
    /// The display name, or nothing.
    pub name: String,
    /// What it did.
    pub role: Role,
}

/// What is known of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Person {
    /// The newest name with its date, of two of one second the later in the alphabet; the address as it was
    /// written with it.
    name: (i64, String, String),
    sent_count: u32,
    received_count: u32,
    first: i64,
    last: i64,
}

/// What a batch says of addresses.
pub(super) struct People {
    table: Table,
    /// By address in lower case.
    seen: BTreeMap<String, Person>,
}

impl People {
    /// Begins with nothing.
    pub(super) fn new(snapshot: &Snapshot) -> Result<People> {
        Ok(People { table: snapshot.table(contacts::TABLE)?, seen: BTreeMap::new() })
    }

    /// Takes note of a message of the date that it says, if it says one. An address counts once in each role,
    /// however often the message names it.
    pub(super) fn note(&mut self, date: Option<i64>, mentions: &[Mention]) {
        let date = date.unwrap_or(NO_DATE);
        let mut counted = HashSet::new();
        for mention in mentions.iter().filter(|mention| !mention.address.is_empty()) {
            let key = mention.address.to_lowercase();
            let is_new = counted.insert((mention.role, key.clone()));
            let person = Person {
                name: (date, mention.name.clone(), mention.address.clone()),
                sent_count: u32::from(is_new && mention.role == Role::Sender),
                received_count: u32::from(is_new && mention.role == Role::Recipient),
                first: date,
                last: date,
            };
            self.seen.entry(key).and_modify(|known| known.join(&person)).or_insert(person);
        }
    }

    /// Returns the rows.
    ///
    /// # Errors
    /// Damage in the store.
    pub(super) fn finish(mut self) -> Result<Rows> {
        let mut rows = Rows::new(self.table.schema());
        for (key, person) in &mut self.seen {
            if let Some(known) = known(&self.table, key)? {
                person.join(&known);
            }
            let (named, name, address) = &person.name;
            rows.push(&[
                Value::Bytes(key.as_bytes()),
                Value::Bytes(address.as_bytes()),
                Value::Bytes(name.as_bytes()),
                Value::I64(*named),
                Value::U32(person.sent_count),
                Value::U32(person.received_count),
                Value::I64(person.first),
                Value::I64(person.last),
            ])?;
        }
        Ok(rows)
    }
}

impl Person {
    fn join(&mut self, other: &Person) {
        // A name, however old, is better than none.
        let rank = |person: &Person| (!person.name.1.is_empty(), person.name.clone());
        if rank(other) > rank(self) {
            self.name.clone_from(&other.name);
        }
        self.sent_count = self.sent_count.saturating_add(other.sent_count);
        self.received_count = self.received_count.saturating_add(other.received_count);
        self.first = match (self.first, other.first) {
            (NO_DATE, first) | (first, NO_DATE) => first,
            (one, other) => one.min(other),
        };
        self.last = self.last.max(other.last);
    }
}

fn known(table: &Table, key: &str) -> Result<Option<Person>> {
    let Some(id) = table.get(PRIMARY, &[Value::Bytes(key.as_bytes())])? else { return Ok(None) };
    let (part, row) = (part_of(table, id), id.row);
    let text =
        |column| -> Result<String> { Ok(String::from_utf8_lossy(part.bytes(column, row)?).into_owned()) };
    Ok(Some(Person {
        name: (part.i64_at(contacts::NAMED, row)?, text(contacts::NAME)?, text(contacts::ADDRESS)?),
        sent_count: part.u32_at(contacts::SENT_COUNT, row)?,
        received_count: part.u32_at(contacts::RECEIVED_COUNT, row)?,
        first: part.i64_at(contacts::FIRST, row)?,
        last: part.i64_at(contacts::LAST, row)?,
    }))
}
