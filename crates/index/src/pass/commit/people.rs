//! Counts the messages that people wrote and received: rows of `contacts`.
//!
//! Input: addresses of new messages. Output: rows, each including the earlier counts of the address. The
//! result does not depend on the order of the messages. Must not know files or text.

use crate::error::Result;
use crate::record::Correspondents;
use crate::rows::part_of;
use crate::tables::{NO_DATE, contacts};
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use store::{PRIMARY, Rows, Snapshot, Table, Value};

/// What is known about an address.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Person<'a> {
    /// The newest name with its date, and the address as written with it. Of two names with the same date,
    /// the one that sorts last.
    name: (i64, Cow<'a, str>, Cow<'a, str>),
    sent_count: u32,
    received_count: u32,
    first: i64,
    last: i64,
}

/// The addresses in the messages of a batch, which it borrows.
pub(super) struct People<'a> {
    table: Table,
    /// Keyed by the address in lower case.
    seen: HashMap<Cow<'a, str>, Person<'a>>,
}

impl<'a> People<'a> {
    /// Returns counts with no addresses.
    pub(super) fn new(snapshot: &Snapshot) -> Result<People<'a>> {
        Ok(People { table: snapshot.table(contacts::TABLE)?, seen: HashMap::new() })
    }

    /// Counts the addresses of a message with this date, if it has one. An address counts once per role,
    /// however often the message names it.
    pub(super) fn note(&mut self, date: Option<i64>, correspondents: &Correspondents<'a>) {
        let date = date.unwrap_or(NO_DATE);
        let mut counted = HashSet::new();
        let senders = correspondents.senders.iter().map(|person| (true, person));
        let all = senders.chain(correspondents.recipients.iter().map(|person| (false, person)));
        for (is_sender, &(name, address)) in all.filter(|(_, (_, address))| !address.is_empty()) {
            let key = lower_case(address);
            let is_new = counted.insert((is_sender, key.clone()));
            let person = Person {
                name: (date, name.into(), address.into()),
                sent_count: u32::from(is_new && is_sender),
                received_count: u32::from(is_new && !is_sender),
                first: date,
                last: date,
            };
            match self.seen.entry(key) {
                Entry::Occupied(known) => known.into_mut().join(person),
                Entry::Vacant(entry) => drop(entry.insert_entry(person)),
            }
        }
    }

    /// Returns the rows, in the order of their keys.
    ///
    /// # Errors
    /// Damage in the store.
    pub(super) fn finish(self) -> Result<Rows> {
        let mut rows = Rows::new(self.table.schema());
        let mut seen: Vec<(Cow<'a, str>, Person<'a>)> = self.seen.into_iter().collect();
        seen.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        for (key, person) in &mut seen {
            if let Some(known) = known(&self.table, key)? {
                person.join(known);
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

impl<'a> Person<'a> {
    fn join(&mut self, other: Person<'a>) {
        // Any name, however old, is better than none.
        let is_better = (!other.name.1.is_empty(), &other.name) > (!self.name.1.is_empty(), &self.name);
        if is_better {
            self.name = other.name;
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

/// Most addresses are in lower case already.
fn lower_case(address: &str) -> Cow<'_, str> {
    if address.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        Cow::Borrowed(address)
    } else {
        Cow::Owned(address.to_lowercase())
    }
}

fn known(table: &Table, key: &str) -> Result<Option<Person<'static>>> {
    let Some(id) = table.get(PRIMARY, &[Value::Bytes(key.as_bytes())])? else { return Ok(None) };
    let (part, row) = (part_of(table, id), id.row);
    let text = |column| -> Result<Cow<'static, str>> {
        Ok(String::from_utf8_lossy(part.bytes(column, row)?).into_owned().into())
    };
    Ok(Some(Person {
        name: (part.i64_at(contacts::NAMED, row)?, text(contacts::NAME)?, text(contacts::ADDRESS)?),
        sent_count: part.u32_at(contacts::SENT_COUNT, row)?,
        received_count: part.u32_at(contacts::RECEIVED_COUNT, row)?,
        first: part.i64_at(contacts::FIRST, row)?,
        last: part.i64_at(contacts::LAST, row)?,
    }))
}
