//! Sets the date of messages that have none of their own, from the current names of their files.
//!
//! Input: the messages that lost or got files, and the times in names of files. Output: rows of `messages`
//! with new dates. The earliest time in a message's file names is its date. The order in which files are seen
//! therefore does not matter, and a rebuilt index has the same dates. A message without files keeps its date.
//! Must not know the contents of messages.

use crate::error::Result;
use crate::rows;
use crate::tables::{NO_DATE, messages};
use mail::ContentFlags;
use std::collections::BTreeMap;
use store::{Kind, PRIMARY, PayloadReader, Rows, Snapshot, Table, Value};

/// The earliest time in file names, by message.
#[derive(Debug, Default)]
pub(in crate::pass) struct NamedDates(BTreeMap<u32, i64>);

impl NamedDates {
    /// Notes the name of a file of a message.
    pub(in crate::pass) fn note(&mut self, message: u32, name: &[u8]) {
        self.note_seconds(message, mail::name_seconds(name));
    }

    /// Notes the time in a name.
    pub(in crate::pass) fn note_seconds(&mut self, message: u32, seconds: Option<i64>) {
        if let Some(seconds) = seconds {
            self.0.entry(message).and_modify(|known| *known = seconds.min(*known)).or_insert(seconds);
        }
    }

    /// Returns the date of a message, or [`NO_DATE`].
    pub(in crate::pass) fn date(&self, message: u32) -> i64 {
        self.0.get(&message).copied().unwrap_or(NO_DATE)
    }
}

/// Adds the rows of messages whose date has changed. `date` returns the date of a message from its files, if
/// it has any.
///
/// # Errors
/// Damage in the store.
pub(in crate::pass) fn redate(
    snapshot: &Snapshot,
    changed: impl Iterator<Item = u32>,
    date: impl Fn(u32) -> Result<Option<i64>>,
    out: &mut Rows,
) -> Result<()> {
    let table = snapshot.table(messages::TABLE)?;
    for number in changed {
        let Some(id) = table.get(PRIMARY, &[Value::U32(number)])? else { continue };
        let part = rows::part_of(&table, id);
        let derived = ContentFlags::from_bits(part.u16_at(messages::DERIVED, id.row)?);
        if !derived.contains(ContentFlags::UNDATED) {
            continue;
        }
        match date(number)? {
            Some(date) if date != part.i64_at(messages::DATE, id.row)? => {
                copy_row(&table, (part, id.row), date, out)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Adds a copy of a row of `messages` with another date.
fn copy_row(table: &Table, (part, row): (&store::Part, u32), date: i64, out: &mut Rows) -> Result<()> {
    let mut payloads = BTreeMap::new();
    for (place, column) in table.schema().columns.iter().enumerate() {
        if matches!(column.kind, Kind::Payload(_)) {
            payloads.insert(place, part.payload(place, row, &mut PayloadReader::new())?.to_vec());
        }
    }
    let mut values = Vec::with_capacity(table.schema().columns.len());
    for place in 0..table.schema().columns.len() {
        values.push(match payloads.get(&place) {
            Some(bytes) => Value::Bytes(bytes),
            None if place == messages::DATE => Value::I64(date),
            None => part.value(place, row)?,
        });
    }
    Ok(out.push(&values)?)
}
