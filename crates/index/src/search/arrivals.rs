//! Which numbers have a message, and which of these arrived as new ones.
//!
//! Input: ranges of numbers. Output: numbers, in order. Must not know who asks.

use crate::error::Result;
use crate::rows;
use crate::search::mailbox::Mailbox;
use crate::set::NumberSet;
use crate::tables::{NO_NODE, messages};
use std::collections::{BTreeSet, HashMap};
use std::ops::{Bound, Range};
use store::{PRIMARY, Value};

/// How many new messages may answer each other in a row.
const ANSWERS_DEPTH_MAX: usize = 1000;

/// A new message, and its place in the threads.
struct New {
    number: u32,
    node: u32,
    parent: u32,
}

/// The messages with one Message-ID.
#[derive(Clone, Default)]
struct Holders {
    /// Whether there is any.
    is_there: bool,
    /// Those that are marked.
    marked: Vec<u32>,
    /// Those that are not.
    unmarked: Vec<u32>,
    /// Whether what has this Message-ID is marked: one of them, and the first of all.
    is_marked: bool,
    /// Whether a message that answers them is marked.
    has_marked_child: bool,
}

impl Holders {
    /// Returns whether a message that answers them belongs to what is marked.
    fn are_marked(&self) -> bool {
        self.is_marked || (!self.is_there && self.has_marked_child)
    }
}

impl Mailbox {
    /// Returns a number above those of all messages, and of those that passes have set aside.
    pub(crate) fn next_number(&self) -> u32 {
        self.state().next_message
    }

    /// Returns the numbers in ranges that have a message, with a file or without, in order.
    pub(crate) fn numbers_in(&self, ranges: &[Range<u32>]) -> Result<Vec<u32>> {
        let table = self.message_table();
        let mut found = Vec::new();
        for range in ranges {
            let (from, to) = ([Value::U32(range.start)], [Value::U32(range.end)]);
            for id in table.range(PRIMARY, Bound::Included(&from), Bound::Excluded(&to))? {
                let id = id?;
                found.push(rows::part_of(table, id).u32_at(messages::NUMBER, id.row)?);
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

    /// Returns those of some new messages that answer one of `marked`, directly or through other new ones.
    /// Only what a message says of itself counts, so a stranger who joins two conversations changes neither:
    /// a message answers those with the Message-ID that it names as the last one, and the one that came first
    /// must be marked. If none is there, it must have a sibling that is marked. A message whose Message-ID
    /// another one has that is not marked is left out: else answers to that one would follow it. A message
    /// that comes with the Message-ID of a marked one changes nothing.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn answering(&self, new: &NumberSet, marked: &NumberSet) -> Result<NumberSet> {
        let table = self.message_table();
        let place = |number: u32| -> Result<Option<New>> {
            let Some(id) = table.get(PRIMARY, &[Value::U32(number)])? else { return Ok(None) };
            let part = rows::part_of(table, id);
            let (node, parent) =
                (part.u32_at(messages::NODE, id.row)?, part.u32_at(messages::PARENT, id.row)?);
            Ok(Some(New { number, node, parent }))
        };
        let mut open = Vec::new();
        for number in new.iter() {
            open.extend(place(number)?.filter(|new| new.parent != NO_NODE));
        }
        let nodes = open.iter().flat_map(|new| [new.node, new.parent]);
        let mut holders_of: HashMap<u32, Holders> = nodes.map(|node| (node, Holders::default())).collect();
        let live = self.live()?;
        for part in table.parts() {
            let all = 0..part.row_count();
            let numbers = part.u32s(messages::NUMBER, all.clone())?;
            let nodes = part.u32s(messages::NODE, all.clone())?;
            let above = part.u32s(messages::PARENT, all)?;
            for (_, ((number, node), parent)) in
                part.live_values(numbers.iter().zip(nodes.iter()).zip(above.iter()))
            {
                let is_marked = marked.contains(*number);
                if let Some(holders) = holders_of.get_mut(node) {
                    let is_live = live.contains(*number);
                    holders.is_there |= is_live;
                    if is_marked {
                        holders.marked.push(*number);
                    } else if is_live {
                        holders.unmarked.push(*number);
                    }
                }
                if is_marked && let Some(holders) = holders_of.get_mut(parent) {
                    holders.has_marked_child = true;
                }
            }
        }
        for holders in holders_of.values_mut() {
            holders.is_marked = self.is_first_marked(holders)?;
        }
        let mut found = self.empty();
        for _ in 0..ANSWERS_DEPTH_MAX {
            let answers_marked = |new: &New| holders_of.get(&new.parent).is_some_and(Holders::are_marked);
            let mut counts: HashMap<u32, usize> = HashMap::new();
            for new in open.iter().filter(|new| answers_marked(new) && !marked.contains(new.number)) {
                *counts.entry(new.node).or_default() += 1;
            }
            let has_rival = |new: &New| {
                let unmarked_count = holders_of.get(&new.node).map_or(0, |holders| holders.unmarked.len());
                unmarked_count > counts.get(&new.node).copied().unwrap_or(0)
            };
            let is_marked = |new: &New| answers_marked(new) && !has_rival(new);
            let (answers, others): (Vec<New>, Vec<New>) = open.into_iter().partition(is_marked);
            open = others;
            if answers.is_empty() {
                break;
            }
            for New { number, node, parent } in answers {
                found.insert(number);
                let holders = holders_of.entry(node).or_default();
                holders.is_marked = true;
                holders.unmarked.retain(|other| *other != number);
                holders_of.entry(parent).or_default().has_marked_child = true;
            }
        }
        Ok(found)
    }

    /// Returns whether the message that came first is marked, of those with one Message-ID. What has no file
    /// any more came before all others.
    fn is_first_marked(&self, Holders { marked, unmarked, .. }: &Holders) -> Result<bool> {
        if marked.is_empty() || unmarked.is_empty() {
            return Ok(!marked.is_empty());
        }
        let first = |numbers: &[u32]| -> Result<Option<i64>> {
            let mut first = None;
            for number in numbers {
                let times = rows::files_of(self.file_table(), *number)?;
                let time = times.iter().map(|file| file.mtime_ns).min().unwrap_or(i64::MIN);
                first = Some(first.map_or(time, |known: i64| known.min(time)));
            }
            Ok(first)
        };
        Ok(first(marked)? <= first(unmarked)?)
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
