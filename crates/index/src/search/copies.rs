//! Copies: messages with the same Message-ID and the same bodies, which came different ways. They are shown once.
//!
//! In: sets of messages. Out: sets with one of each kind, and for one message all its copies. Must not know queries.

use crate::error::Result;
use crate::rows;
use crate::search::{Hit, Mailbox};
use crate::set::NumberSet;
use crate::tables::{copies, messages};
use std::collections::HashMap;
use store::{PRIMARY, RowId, Value};

/// Every group of copies: those of which there are at least two.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    groups: HashMap<u32, Vec<Copy>>,
    /// The group of each message that is in one.
    group_of: HashMap<u32, u32>,
}

/// One of several copies. The least is the one to show: the oldest, of one second that with the lowest SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Copy {
    date: i64,
    sha256: [u8; 32],
    number: u32,
    row: RowId,
}

impl Copies {
    /// Looks for all of them.
    pub(super) fn load(mailbox: &Mailbox) -> Result<Copies> {
        let mut copies = Copies::default();
        for part in mailbox.snapshot.table(copies::TABLE)?.parts() {
            for row in rows::live(part) {
                let first = part.u32_at(copies::FIRST, row)?;
                if !copies.groups.contains_key(&first) {
                    copies.add(mailbox, first, first)?;
                }
                copies.add(mailbox, first, part.u32_at(copies::NUMBER, row)?)?;
            }
        }
        Ok(copies)
    }

    /// Adds a message to the group of another, unless it is swept.
    fn add(&mut self, mailbox: &Mailbox, first: u32, number: u32) -> Result<()> {
        let group = self.groups.entry(first).or_default();
        let table = mailbox.snapshot.table(messages::TABLE)?;
        let Some(row) = table.get(PRIMARY, &[Value::U32(number)])? else { return Ok(()) };
        let part = rows::part_of(&table, row);
        let sha256 = part.ids(messages::SHA256, row.row..row.row + 1)?.first().copied().unwrap_or_default();
        let copy = Copy { date: part.i64_at(messages::DATE, row.row)?, sha256, number, row };
        group.push(copy);
        self.group_of.insert(number, first);
        Ok(())
    }

    fn group(&self, number: u32) -> &[Copy] {
        let first = self.group_of.get(&number);
        first.and_then(|first| self.groups.get(first)).map_or(&[], Vec::as_slice)
    }
}

/// Which messages are shown once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Those with the same Message-ID and the same bodies.
    #[default]
    Copies,
    /// Those with the same Message-ID.
    MessageId,
}

impl Mailbox {
    /// Leaves one message of each kind in a set: the oldest, of one second that with the lowest SHA-256. Where `preferred` is given,
    /// it is one of those if there is any.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn distinct(
        &self,
        found: &NumberSet,
        duplicates: Duplicates,
        preferred: Option<&NumberSet>,
    ) -> Result<NumberSet> {
        let rank = |number: u32| !preferred.is_some_and(|set| set.contains(number));
        match duplicates {
            Duplicates::Copies => self.one_of_copies(found, rank),
            Duplicates::MessageId => self.one_of_each_id(found, rank),
        }
    }

    fn one_of_copies(&self, found: &NumberSet, rank: impl Fn(u32) -> bool) -> Result<NumberSet> {
        let mut kept = found.clone();
        for group in self.copies()?.groups.values() {
            let is_left = |copy: &&Copy| found.contains(copy.number);
            let shown = group.iter().filter(is_left).min_by_key(|copy| (rank(copy.number), **copy));
            for copy in group.iter().filter(|copy| shown.is_some_and(|shown| shown.number != copy.number)) {
                kept.remove(copy.number);
            }
        }
        Ok(kept)
    }

    fn one_of_each_id(&self, found: &NumberSet, rank: impl Fn(u32) -> bool) -> Result<NumberSet> {
        let mut first: HashMap<u64, (bool, i64, [u8; 32], u32)> = HashMap::new();
        for part in self.snapshot.table(messages::TABLE)?.parts() {
            let all = 0..part.row_count();
            let numbers = part.u32s(messages::NUMBER, all.clone())?;
            let hashes = part.u64s(messages::MESSAGE_ID_HASH, all.clone())?;
            let dates = part.i64s(messages::DATE, all.clone())?;
            let ids = part.ids(messages::SHA256, all)?;
            let columns = numbers.iter().zip(hashes).zip(dates).zip(ids);
            for (row, (((number, hash), date), id)) in (0u32..).zip(columns) {
                if found.contains(*number) && !part.is_dead(row) {
                    let key = (rank(*number), *date, *id, *number);
                    first.entry(*hash).and_modify(|least| *least = key.min(*least)).or_insert(key);
                }
            }
        }
        let mut kept = self.empty();
        first.values().for_each(|(.., number)| kept.insert(*number));
        Ok(kept)
    }

    /// Adds all copies of the messages of a set: what is asked of files and tags is asked of all copies together, as they are shown.
    pub(super) fn add_copies(&self, found: &mut NumberSet) -> Result<()> {
        for group in self.copies()?.groups.values() {
            if group.iter().any(|copy| found.contains(copy.number)) {
                group.iter().for_each(|copy| found.insert(copy.number));
            }
        }
        Ok(())
    }

    /// Returns the numbers of a message and of all its copies, absent ones among them.
    pub(crate) fn copies_of(&self, number: u32) -> Result<Vec<u32>> {
        let group = self.copies()?.group(number);
        Ok(if group.is_empty() { vec![number] } else { group.iter().map(|copy| copy.number).collect() })
    }

    /// Returns a message and all its copies, absent ones among them.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn copies_of_hit(&self, hit: &Hit) -> Result<Vec<Hit>> {
        let group = self.copies()?.group(hit.number);
        let as_hit = |copy: &Copy| Hit { number: copy.number, row: copy.row, date: copy.date };
        Ok(if group.is_empty() { vec![*hit] } else { group.iter().map(as_hit).collect() })
    }
}
