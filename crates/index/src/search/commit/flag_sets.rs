//! Which messages have a flag in any of their files, carried forward from commit to commit.
//!
//! Input: rows of the table `files`. Output: a set for each flag, and one of the unread messages. A set is
//! made of all rows on first use. That of a later commit is made of the older one and the rows that changed.
//! Most messages have one file: its new row says all. Files of the others are looked up. Must not know
//! queries.

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
            for rows in part.pieces() {
                let flags = part.u16s(files::FLAGS, rows.clone())?;
                let numbers = part.u32s(files::MESSAGE, rows.clone())?;
                let pairs = flags.iter().zip(numbers.iter());
                for (_, (flags, number)) in part.live_values_from(rows.start, pairs) {
                    if self.is_in(*flags) {
                        found.insert(*number);
                    }
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
    /// The messages with more than one file.
    several: OnceLock<NumberSet>,
}

/// What two commits do not have in common in the table of files.
pub(crate) struct FileChanges {
    /// The message of each row that only the older one has.
    pub(crate) removed: Vec<u32>,
    /// The message and the flags of each row that only the newer one has.
    pub(crate) added: Vec<(u32, u16)>,
}

/// The table of files of a commit, and a number above all its message numbers.
pub(crate) type Files<'a> = (&'a Table, u32);

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

    /// Returns the sets of a later commit with the files `newer`; these sets are of `older`. Sets that nobody
    /// has asked for yet stay to be made.
    ///
    /// # Errors
    /// Damage in the store.
    pub(crate) fn with_changes(
        &self,
        older: Files,
        mut changes: FileChanges,
        newer: Files,
    ) -> Result<FlagSets> {
        let change_count = changes.removed.len() + changes.added.len();
        if change_count > CHANGED_COUNT_MAX || self.sets.iter().all(|cell| cell.get().is_none()) {
            return Ok(FlagSets::default());
        }
        let several = once(&self.several, || several(older))?;
        let (table, bound) = newer;
        let mut next = FlagSets { sets: self.sets.clone(), several: OnceLock::from(several.clone()) };
        let grown = next.sets.iter_mut().chain([&mut next.several]).filter_map(OnceLock::get_mut);
        grown.for_each(|set| set.grow(bound));
        changes.removed.sort_unstable();
        changes.added.sort_unstable();
        let mut changed: Vec<u32> = changes.added.iter().map(|(number, _)| *number).collect();
        changed.extend(&changes.removed);
        changed.sort_unstable();
        changed.dedup();
        let (mut removed, mut added) = (&changes.removed[..], &changes.added[..]);
        for number in changed {
            let removed_count = take_while(&mut removed, |of| *of == number).len();
            let new = take_while(&mut added, |(of, _)| *of == number);
            // One file was replaced, or it is the first file of a new message.
            let is_only =
                removed_count == 1 && !several.contains(number) || removed_count == 0 && number >= older.1;
            match new {
                [(_, flags)] if is_only => next.put(number, &[*flags]),
                _ => {
                    let rows = table.find(files::BY_MESSAGE, &[Value::U32(number)])?;
                    let flags = rows.iter().map(|row| table.part(*row).u16_at(files::FLAGS, row.row));
                    next.put(number, &flags.collect::<store::Result<Vec<u16>>>()?);
                }
            }
        }
        Ok(next)
    }

    /// Puts a message whose files have these flags into the sets that there are.
    fn put(&mut self, number: u32, flags: &[u16]) {
        let of_flags = self.sets.iter_mut().zip(FileFlag::ALL);
        let of_flags = of_flags.map(|(cell, flag)| (cell, flags.iter().any(|flags| flag.is_in(*flags))));
        for (cell, is_in) in of_flags.chain([(&mut self.several, flags.len() > 1)]) {
            match cell.get_mut() {
                Some(set) if is_in => set.insert(number),
                Some(set) => set.remove(number),
                None => {}
            }
        }
    }
}

/// Returns the messages with more than one file.
fn several((table, bound): Files) -> Result<NumberSet> {
    let (mut one, mut several) = (NumberSet::new(bound), NumberSet::new(bound));
    for part in table.parts() {
        let numbers = part.u32s(files::MESSAGE, 0..part.row_count())?;
        for (_, number) in part.live_values(numbers.iter()) {
            if one.contains(*number) {
                several.insert(*number);
            }
            one.insert(*number);
        }
    }
    Ok(several)
}

/// Cuts off the first elements for which `is_so`, and returns them.
fn take_while<'a, T>(slice: &mut &'a [T], is_so: impl Fn(&T) -> bool) -> &'a [T] {
    let count = slice.iter().take_while(|element| is_so(element)).count();
    let (taken, rest) = slice.split_at(count);
    *slice = rest;
    taken
}
