//! Which messages are in which group of a dimension.
//!
//! Input: a set of messages with one of each group of copies. Output: the names of groups, and the messages
//! of each. What holds for any copy holds for the message, as in queries. Must not know figures.

use crate::error::Result;
use crate::rows::FolderRow;
use crate::search::mailbox::{Mailbox, address_of, folder_name};
use crate::search::stats::calendar::{self, Calendar, NUMBER_MAX};
use crate::search::stats::columns::Columns;
use crate::search::stats::dimension::Dimension;
use crate::set::NumberSet;
use crate::tables::files;
use crate::text::{TextField, ValueField};
use jiff::tz::TimeZone;
use std::collections::HashMap;

/// Groups and their messages. A message may be in several groups, and several times in one.
pub(super) struct Grouping {
    /// The name of each group; `None` for messages without a date.
    pub keys: Vec<Option<String>>,
    /// The messages of each group.
    pub members: Members,
}

/// Pairs of a group and a message, sorted by group.
pub(super) struct Members {
    numbers: Vec<u32>,
    /// Where each group begins, and where the last one ends.
    starts: Vec<usize>,
}

impl Members {
    fn new(pairs: &[(u32, u32)], group_count: usize) -> Members {
        let mut starts = vec![0; group_count + 1];
        for (group, _) in pairs {
            starts[*group as usize + 1] += 1;
        }
        for group in 0..group_count {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        let mut numbers = vec![0; pairs.len()];
        for (group, number) in pairs {
            let place = &mut next[*group as usize];
            numbers[*place] = *number;
            *place += 1;
        }
        Members { numbers, starts }
    }

    /// Returns the messages of each group.
    pub(super) fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.numbers[ends[0]..ends[1]])
    }
}

/// Which message stands for one that was found: itself, or the copy of it that counts.
pub(super) struct Shown<'a> {
    found: &'a NumberSet,
    copies: HashMap<u32, u32>,
}

impl<'a> Shown<'a> {
    /// Each message stands for itself alone.
    pub(super) fn alone(found: &'a NumberSet) -> Shown<'a> {
        Shown { found, copies: HashMap::new() }
    }

    /// Copies stand for what was found of them.
    pub(super) fn new(mailbox: &Mailbox, found: &'a NumberSet) -> Result<Shown<'a>> {
        let mut copies = HashMap::new();
        for group in mailbox.copies()?.groups() {
            if let Some(shown) = group.iter().find(|number| found.contains(**number)) {
                copies.extend(group.iter().filter(|number| *number != shown).map(|number| (*number, *shown)));
            }
        }
        Ok(Shown { found, copies })
    }

    fn of(&self, number: u32) -> Option<u32> {
        if self.found.contains(number) { Some(number) } else { self.copies.get(&number).copied() }
    }
}

/// Groups messages.
///
/// # Errors
/// Damage in the store or the text index.
pub(super) fn group(
    mailbox: &Mailbox,
    shown: &Shown<'_>,
    columns: &Columns,
    (by, zone): (Dimension, &TimeZone),
) -> Result<Grouping> {
    match by {
        Dimension::Year | Dimension::Month | Dimension::Hour | Dimension::Weekday => {
            Ok(by_time(shown.found, columns, by, zone))
        }
        Dimension::Folder => by_folder(mailbox, shown, folder_name),
        Dimension::Sender => by_text(mailbox, shown, Source::Addresses(ValueField::From)),
        Dimension::List => by_text(mailbox, shown, Source::Terms(TextField::List)),
        Dimension::Type => by_text(mailbox, shown, Source::Terms(TextField::Mime)),
        Dimension::Language => by_text(mailbox, shown, Source::Terms(TextField::Language)),
    }
}

fn by_time(found: &NumberSet, columns: &Columns, by: Dimension, zone: &TimeZone) -> Grouping {
    let mut calendar = Calendar::new(zone);
    let place = |time: i64| usize::try_from(time + NUMBER_MAX).unwrap_or(0);
    // The place after all times is for messages without a date.
    let mut counts = vec![0_u32; place(NUMBER_MAX) + 2];
    let undated = counts.len() - 1;
    let mut times = Vec::new();
    for number in found.iter() {
        let time = columns.date(number).and_then(|seconds| calendar.number(by, seconds));
        let time = time.map_or(undated, place);
        counts[time] += 1;
        times.push((time, number));
    }
    let (mut groups, mut keys) = (vec![0_u32; counts.len()], Vec::new());
    for (time, _) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        groups[time] = u32::try_from(keys.len()).unwrap_or(u32::MAX);
        let number = i64::try_from(time).unwrap_or(0) - NUMBER_MAX;
        keys.push((time != undated).then(|| calendar::name(by, number)));
    }
    let pairs: Vec<(u32, u32)> = times.into_iter().map(|(time, number)| (groups[time], number)).collect();
    Grouping { members: Members::new(&pairs, keys.len()), keys }
}

/// Groups by folder. `name` says what a folder is called: those with one name are one group.
pub(super) fn by_folder(
    mailbox: &Mailbox,
    shown: &Shown<'_>,
    name: impl Fn(&FolderRow) -> String,
) -> Result<Grouping> {
    let mut names = Names::default();
    let places: HashMap<u32, u32> =
        mailbox.folders().iter().map(|folder| (folder.number, names.place(&name(folder)))).collect();
    let mut pairs = Vec::new();
    for part in mailbox.file_table().parts() {
        mailbox.check_cancelled()?;
        let all = 0..part.row_count();
        let folders = part.u32s(files::FOLDER, all.clone())?;
        let numbers = part.u32s(files::MESSAGE, all)?;
        for (_, (folder, number)) in part.live_values(folders.iter().zip(numbers.iter())) {
            if let (Some(place), Some(number)) = (places.get(folder), shown.of(*number)) {
                pairs.push((*place, number));
            }
        }
    }
    Ok(names.grouping(&pairs))
}

/// Where the text index has the values of a dimension.
#[derive(Clone, Copy)]
enum Source {
    Addresses(ValueField),
    Terms(TextField),
}

fn by_text(mailbox: &Mailbox, shown: &Shown<'_>, source: Source) -> Result<Grouping> {
    let (mut names, mut pairs) = (Names::default(), Vec::new());
    let is_cancelled = || mailbox.is_cancelled();
    let mut add = |place, number| pairs.extend(shown.of(number).map(|number| (place, number)));
    match source {
        Source::Addresses(field) => {
            let mut name = |value: &str| names.place(&address_of(value).to_lowercase());
            mailbox.text().group_by_value(field, &is_cancelled, (&mut name, &mut add))?;
        }
        Source::Terms(field) => {
            let mut name = |term: &str| names.place(term);
            mailbox.text().group_by_term(field, &is_cancelled, (&mut name, &mut add))?;
        }
    }
    mailbox.check_cancelled()?;
    Ok(names.grouping(&pairs))
}

/// Names of groups, each with its place.
#[derive(Default)]
struct Names {
    places: HashMap<String, u32>,
}

impl Names {
    fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        // There are fewer names than rows, which are numbered by u32.
        let place = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        self.places.insert(name.to_owned(), place);
        place
    }

    fn grouping(self, pairs: &[(u32, u32)]) -> Grouping {
        let mut keys = vec![None; self.places.len()];
        for (name, place) in self.places {
            keys[place as usize] = Some(name);
        }
        Grouping { members: Members::new(pairs, keys.len()), keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_those_of_their_group() {
        let members = Members::new(&[(2, 7), (0, 1), (2, 3), (0, 1)], 4);
        let groups: Vec<&[u32]> = members.groups().collect();
        assert_eq!(groups, [&[1, 1][..], &[], &[7, 3], &[]]);
        assert_eq!(Members::new(&[], 0).groups().count(), 0);
    }
}
