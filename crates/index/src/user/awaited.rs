//! Which new messages each rule did not match before the text of their attachments was read.
//!
//! Input: numbers of messages; what the change log says of text. Output: the messages whose text came since,
//! and the bytes of this in the attachment `arrivals`. Must not know queries or tags. docs/FORMAT.md
//! describes the bytes.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::changes::{Event, Group, Log};
use crate::error::Result;
use crate::record::{count, put_count};
use crate::set::NumberSet;
use std::collections::BTreeMap;
use std::ops::Range;
use store::Snapshot;

/// Most ranges of numbers that are kept for a rule. The lowest are dropped.
const RANGE_COUNT_MAX: usize = 64;

/// New messages that rules did not match, and whose attachments may be read later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Awaited {
    /// Text of a later commit of the index was not seen by the rules.
    commit: u64,
    /// For each rule the messages that it did not match.
    rules: BTreeMap<u64, Vec<Range<u32>>>,
}

impl Awaited {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Adds messages that a rule does not match in this state of the index.
    pub(super) fn add(&mut self, snapshot: &Snapshot, rule: u64, messages: &NumberSet) {
        if messages.is_empty() {
            return;
        }
        if self.is_empty() {
            self.commit = snapshot.version().sequence;
        }
        let mut all = self.of(rule, messages.bound());
        messages.iter().for_each(|number| all.insert(number));
        self.put(rule, &all);
    }

    /// Removes messages from all rules.
    fn remove(&mut self, messages: &NumberSet) {
        for rule in self.rules.keys().copied().collect::<Vec<_>>() {
            let mut left = self.of(rule, 0);
            messages.iter().for_each(|number| left.remove(number));
            self.put(rule, &left);
        }
    }

    /// Removes what another one has.
    pub(super) fn remove_all(&mut self, other: &Awaited) {
        for rule in other.rules.keys().copied() {
            let mut left = self.of(rule, 0);
            other.of(rule, 0).iter().for_each(|number| left.remove(number));
            self.put(rule, &left);
        }
    }

    /// Returns the messages that a rule did not match, as a set with at least this bound.
    pub(super) fn of(&self, rule: u64, bound: u32) -> NumberSet {
        let ranges = self.rules.get(&rule).map(Vec::as_slice).unwrap_or_default();
        let mut set = NumberSet::new(ranges.last().map_or(0, |last| last.end).max(bound));
        ranges.iter().for_each(|range| set.insert_all(range.clone()));
        set
    }

    /// Takes out the messages whose text grew up to this state, and looks at later commits from now on. The
    /// set has the bound.
    ///
    /// # Errors
    /// Damage.
    pub(super) fn take_grown(&mut self, snapshot: &Snapshot, bound: u32) -> Result<NumberSet> {
        let mut all = NumberSet::new(bound);
        self.rules.values().flatten().for_each(|range| all.insert_all(range.clone()));
        let mut grown = NumberSet::new(bound);
        for group in Log::since(snapshot, self.commit)?.iter().flat_map(|commit| &commit.groups) {
            if let Group::Messages(Event::Text, numbers) = group {
                numbers
                    .iter()
                    .filter(|number| all.contains(**number))
                    .for_each(|number| grown.insert(*number));
            }
        }
        self.remove(&grown);
        self.commit = self.commit.max(snapshot.version().sequence);
        Ok(grown)
    }

    fn put(&mut self, rule: u64, messages: &NumberSet) {
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for number in messages.iter() {
            match ranges.last_mut() {
                Some(last) if last.end == number => last.end = number.saturating_add(1),
                _ => ranges.push(number..number.saturating_add(1)),
            }
        }
        let ranges = ranges.split_off(ranges.len().saturating_sub(RANGE_COUNT_MAX));
        if ranges.is_empty() {
            self.rules.remove(&rule);
        } else {
            self.rules.insert(rule, ranges);
        }
    }

    /// Appends it.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.commit.to_le_bytes());
        put_count(out, self.rules.len());
        for (rule, ranges) in &self.rules {
            out.extend_from_slice(&rule.to_le_bytes());
            put_ranges(out, ranges);
        }
    }

    /// Reads it. Returns `None` if it is not understood.
    pub(super) fn decode(input: &mut &[u8]) -> Option<Awaited> {
        let commit = long(input)?;
        let rules = (0..count(input)?).map(|_| Some((long(input)?, ranges(input)?)));
        Some(Awaited { commit, rules: rules.collect::<Option<_>>()? })
    }
}

/// Appends a count and the ranges: the first number, and the one after the last.
pub(super) fn put_ranges(out: &mut Vec<u8>, ranges: &[Range<u32>]) {
    put_count(out, ranges.len());
    for number in ranges.iter().flat_map(|range| [range.start, range.end]) {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// Reads ranges.
pub(super) fn ranges(input: &mut &[u8]) -> Option<Vec<Range<u32>>> {
    (0..count(input)?).map(|_| Some(number(input)?..number(input)?)).collect()
}

/// Reads a number.
pub(super) fn number(input: &mut &[u8]) -> Option<u32> {
    let (head, tail) = input.split_first_chunk::<4>()?;
    *input = tail;
    Some(u32::from_le_bytes(*head))
}

fn long(input: &mut &[u8]) -> Option<u64> {
    let (head, tail) = input.split_first_chunk::<8>()?;
    *input = tail;
    Some(u64::from_le_bytes(*head))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u32]) -> NumberSet {
        let mut set = NumberSet::new(1000);
        numbers.iter().for_each(|number| set.insert(*number));
        set
    }

    fn awaited(rules: &[(u64, &[u32])]) -> Awaited {
        let mut awaited = Awaited { commit: 9, rules: BTreeMap::new() };
        rules.iter().for_each(|(rule, numbers)| awaited.put(*rule, &set(numbers)));
        awaited
    }

    #[test]
    fn what_is_awaited_is_read_back_and_taken_out() {
        let two = awaited(&[(7, &[3, 4, 5, 9]), (8, &[4])]);
        let mut bytes = Vec::new();
        two.encode(&mut bytes);
        assert_eq!(Awaited::decode(&mut &*bytes), Some(two.clone()));
        for length in 0..bytes.len() {
            assert_eq!(Awaited::decode(&mut &bytes[..length]), None, "cut to {length}");
        }
        let mut left = two.clone();
        left.remove(&set(&[4, 5, 700]));
        assert_eq!(left, awaited(&[(7, &[3, 9])]));
        left.remove_all(&two);
        assert!(left.is_empty());
        let many: Vec<u32> = (0..200).step_by(2).collect();
        let kept: Vec<u32> = awaited(&[(7, &many)]).of(7, 0).iter().collect();
        assert_eq!(kept, many[many.len() - RANGE_COUNT_MAX..], "the last ones are kept");
    }
}
