//! Counts the messages that people wrote and received: rows of `contacts`.
//!
//! Input: addresses of new messages. Output: rows, each including the earlier counts of the address. The
//! result does not depend on the order of the messages. Must not know files or text.

use crate::error::Result;
use crate::rows::part_of;
use crate::tables::{NO_DATE, contacts};
use std::collections::{BTreeMap, HashSet};
use store::{PRIMARY, Rows, Snapshot, Table, Value};

/// The role of an address in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// It sent the message.
    Sender,
    /// It received the message.
    Recipient,
}

/// An address of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// The address as written.
    pub address: String,
    /// The display name; may be empty.
    pub name: String,
    /// Its role.
    pub role: Role,
}

/// What is known about an address.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Person {
    /// The newest name with its date, and the address as written with it. Of two names with the same date,
    /// the one that sorts last.
    name: (i64, String, String),
    sent_count: u32,
    received_count: u32,
    first: i64,
    last: i64,
}

/// The addresses in a batch.
pub(super) struct People {
    table: Table,
    /// Keyed by the address in lower case.
    seen: BTreeMap<String, Person>,
}

impl People {
    /// Returns counts with no addresses.
    pub(super) fn new(snapshot: &Snapshot) -> Result<People> {
        Ok(People { table: snapshot.table(contacts::TABLE)?, seen: BTreeMap::new() })
    }

    /// Counts the addresses of a message with this date, if it has one. An address counts once per role,
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
        // Any name, however old, is better than none.
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
