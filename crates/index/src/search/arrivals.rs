//! Which numbers have a message, and which of these arrived as new ones.
//!
//! Input: ranges of numbers. Output: numbers, in order. Must not know who asks.

use crate::error::Result;
use crate::rows;
use crate::search::mailbox::Mailbox;
use crate::set::NumberSet;
use crate::tables::messages;
use std::collections::BTreeSet;
use std::ops::{Bound, Range};
use store::{PRIMARY, Value};

impl Mailbox {
    /// Returns a number above those of all messages, and of those that passes have set aside.
    pub(crate) fn next_number(&self) -> u32 {
        self.state().next_message
    }

    /// Returns the numbers in ranges that have a message, with a file or without, in order.
    pub(crate) fn numbers_in(&self, ranges: &[Range<u32>]) -> Result<Vec<u32>> {
        let table = self.snapshot().table(messages::TABLE)?;
        let mut found = Vec::new();
        for range in ranges {
            let (from, to) = ([Value::U32(range.start)], [Value::U32(range.end)]);
            for id in table.range(PRIMARY, Bound::Included(&from), Bound::Excluded(&to))? {
                let id = id?;
                found.push(rows::part_of(&table, id).u32_at(messages::NUMBER, id.row)?);
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Returns those of some messages that have a file, and are no copies of a message that has one and is
    /// not among them.
    pub(crate) fn arrived(&self, numbers: &[u32]) -> Result<Vec<u32>> {
        let present = self.present()?;
        let all: BTreeSet<u32> = numbers.iter().copied().collect();
        let mut arrived = Vec::new();
        for number in numbers.iter().filter(|number| present.contains(**number)) {
            let is_old = |copy: &u32| !all.contains(copy) && present.contains(*copy);
            if !self.copies_of(*number)?.iter().any(is_old) {
                arrived.push(*number);
            }
        }
        Ok(arrived)
    }

    /// Returns the messages to which the user gave a tag, with their copies. Labels in messages do not count:
    /// their authors are others.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn with_user_tag(&self, tag: &str) -> Result<NumberSet> {
        let mut found = self.empty();
        if let Some(tags) = self.user_tags()? {
            self.with_tag(tags, tag, &mut found)?;
            self.add_copies(&mut found)?;
        }
        Ok(found)
    }
}
