//! Which messages have a flag in any of their files, carried forward from commit to commit.
//!
//! Input: rows of the table `files`. Output: a set for each flag, and one of the unread messages. A set is
//! made of all rows on first use. That of a later commit is made of the older one and the messages whose
//! files changed. Must not know queries.

use crate::error::Result;
use crate::search::commit::once::once;
use crate::set::NumberSet;
use crate::tables::files;
use mail::Flags;
use std::sync::OnceLock;
use store::{Table, Value};

/// More changed messages than this are not looked up one by one: the sets are then made of all rows again.
const CHANGED_COUNT_MAX: usize = 1 << 14;

/// What a file of a message must have. The value is the place of its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum FileFlag {
    /// This flag.
    Has(Flags),
    /// No flag that says it was read. Reading one file does not mark the others as read.
    Unread,
}

impl FileFlag {
    const ALL: [FileFlag; 8] = [
        FileFlag::Has(Flags::DRAFT),
        FileFlag::Has(Flags::FLAGGED),
        FileFlag::Has(Flags::PASSED),
        FileFlag::Has(Flags::REPLIED),
        FileFlag::Has(Flags::SEEN),
        FileFlag::Has(Flags::TRASHED),
        FileFlag::Has(Flags::NEW),
        FileFlag::Unread,
    ];

    fn is_in(self, flags: u16) -> bool {
        match self {
            FileFlag::Has(flag) => flags & flag.bits() != 0,
            FileFlag::Unread => flags & Flags::SEEN.bits() == 0,
        }
    }

    /// Adds the messages of a table of files that have a file of this kind.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::search) fn scan(self, table: &Table, found: &mut NumberSet) -> Result<()> {
        for part in table.parts() {
            let flags = part.u16s(files::FLAGS, 0..part.row_count())?;
            let numbers = part.u32s(files::MESSAGE, 0..part.row_count())?;
            for (_, (flags, number)) in part.live_values(flags.iter().zip(numbers)) {
                if self.is_in(*flags) {
                    found.insert(*number);
                }
            }
        }
        Ok(())
    }
}

/// The sets of one commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlagSets {
    /// In the order of [`FileFlag::ALL`].
    sets: [OnceLock<NumberSet>; FileFlag::ALL.len()],
}

impl FlagSets {
    /// Returns the messages that have a file of this kind. `bound` is above every message number.
    ///
    /// # Errors
    /// Damage in the store.
    pub(in crate::search) fn get(&self, flag: FileFlag, table: &Table, bound: u32) -> Result<&NumberSet> {
        let place = FileFlag::ALL.iter().position(|known| *known == flag);
        let cell = place.and_then(|place| self.sets.get(place)).expect("each flag has a set");
        once(cell, || {
            let mut found = NumberSet::new(bound);
            flag.scan(table, &mut found)?;
            Ok(found)
        })
    }

    /// Returns the sets of a later commit with this table of files. `changed` are the messages that have
    /// files which only one of the two commits has. Sets that nobody has asked for yet stay to be made.
    ///
    /// # Errors
    /// Damage in the store.
    pub(crate) fn with_changed(&self, mut changed: Vec<u32>, table: &Table, bound: u32) -> Result<FlagSets> {
        changed.sort_unstable();
        changed.dedup();
        if changed.len() > CHANGED_COUNT_MAX || self.sets.iter().all(|cell| cell.get().is_none()) {
            return Ok(FlagSets::default());
        }
        let mut newer = self.clone();
        newer.sets.iter_mut().filter_map(OnceLock::get_mut).for_each(|set| set.grow(bound));
        for number in changed {
            let mut has = [false; FileFlag::ALL.len()];
            for row in table.find(files::BY_MESSAGE, &[Value::U32(number)])? {
                let flags = table.part(row).u16_at(files::FLAGS, row.row)?;
                for (has, flag) in has.iter_mut().zip(FileFlag::ALL) {
                    *has |= flag.is_in(flags);
                }
            }
            for (cell, has) in newer.sets.iter_mut().zip(has) {
                match cell.get_mut() {
                    Some(set) if has => set.insert(number),
                    Some(set) => set.remove(number),
                    None => {}
                }
            }
        }
        Ok(newer)
    }
}
