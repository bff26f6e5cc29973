//! Which messages of the index are new to what tags new messages, so that it sees each of them once.
//!
//! Input: the index, and what the attachment `arrivals` of `user/` says. Output: the numbers of new messages,
//! and one commit with their tags and with the note that they were seen. They are seen once more when text of
//! their attachments came. Must not know what decides on tags.
//! docs/FORMAT.md describes the attachment.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::rows::RecordReader;
use crate::search::Mailbox;
use crate::set::NumberSet;
use crate::user::awaited::{Awaited, number, put_ranges, ranges};
use crate::user::change::{Changes, Edited};
use crate::user::{TagChange, TagEdit, Tags, check_tag, merge, snapshot, writer};
use crate::{first, open};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use store::{Snapshot, Transaction, Writer};

/// The attachment's name.
const ARRIVALS: &str = "arrivals";
/// Most ranges of numbers that are kept because another pass had set them aside. The lowest are dropped.
const GAP_COUNT_MAX: usize = 256;

/// Which messages were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Seen {
    /// Nothing is known: messages are new from the next pass on.
    #[default]
    Unknown,
    /// The index is being made, and no pass over everything has come to its end yet. Nothing that is found is
    /// new.
    First,
    /// All below a number, except some that were set aside.
    Below {
        /// The number.
        next: u32,
        /// Numbers below it that no message had.
        gaps: Vec<Range<u32>>,
        /// Those that are seen once more when text of their attachments comes.
        awaited: Awaited,
    },
}

/// Prepares for a pass that is about to add messages. Returns whether there is something to do after it even
/// if it adds nothing.
///
/// # Errors
/// Damage; a data directory that cannot be written.
pub fn expect_arrivals(environment: &Environment) -> Result<bool> {
    let known = known(environment)?;
    let next = match open::snapshot(environment) {
        Ok(index) => Some(open::state(&index, &environment.index_directory())?.next_message),
        Err(Error::NoIndex { .. }) => None,
        Err(error) => return Err(error),
    };
    let (wanted, is_due) = match (&known, next) {
        (_, None) => (Seen::First, true),
        (Seen::First, Some(_)) => (Seen::First, true),
        // It began before anything tagged new messages.
        (_, Some(_)) if first::is_incomplete(environment)? => (Seen::First, true),
        (Seen::Below { next: seen, .. }, Some(next)) if *seen <= next => (known.clone(), *seen < next),
        (_, Some(next)) => (Seen::below(next), false),
    };
    if wanted != known {
        replace_arrivals(environment, &wanted)?;
    }
    Ok(is_due)
}

/// Notes which messages were seen, and returns what was noted before.
///
/// # Errors
/// Damage; a data directory that cannot be written.
pub fn replace_arrivals(environment: &Environment, seen: &Seen) -> Result<Seen> {
    let known = known(environment)?;
    if known != *seen {
        let mut writer = writer(environment)?;
        let user = writer.snapshot()?;
        let mut transaction = Changes::new(&user)?.transaction(environment, &user)?;
        transaction.attach(ARRIVALS, encode(seen));
        writer.commit(transaction)?;
    }
    Ok(known)
}

/// Returns the messages that are seen once more when text of their attachments comes.
///
/// # Errors
/// Damage.
pub fn awaited_text(environment: &Environment) -> Result<Awaited> {
    Ok(match known(environment)? {
        Seen::Below { awaited, .. } => awaited,
        Seen::Unknown | Seen::First => Awaited::default(),
    })
}

/// Notes that no more text comes of these messages.
///
/// # Errors
/// Damage; a data directory that cannot be written.
pub fn end_awaiting(environment: &Environment, ended: &Awaited) -> Result<()> {
    let mut writer = writer(environment)?;
    let user = writer.snapshot()?;
    let before = decode(&user);
    let mut seen = before.clone();
    if let Seen::Below { awaited, .. } = &mut seen {
        awaited.remove_all(ended);
    }
    if seen != before {
        let mut transaction = Changes::new(&user)?.transaction(environment, &user)?;
        transaction.attach(ARRIVALS, encode(&seen));
        writer.commit(transaction)?;
    }
    Ok(())
}

/// How much of the mail a pass has looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// All roots.
    Everywhere,
    /// Some places.
    Here,
}

/// The new messages, while `user/` is locked.
pub struct Arrivals {
    writer: Writer,
    user: Snapshot,
    seen: Seen,
    new_messages: NumberSet,
    /// What was awaited, if these messages are seen once more.
    awaited: Option<Awaited>,
}

impl Arrivals {
    /// Finds the messages of a mailbox that are new: those that no [`Arrivals`] had, that have a file, and
    /// that are no copies of others. Returns `None` if nothing has to be noted.
    ///
    /// # Errors
    /// Damage; a data directory that cannot be written.
    pub fn take(environment: &Environment, mailbox: &Mailbox, looked: Looked) -> Result<Option<Arrivals>> {
        let writer = writer(environment)?;
        let user = writer.snapshot()?;
        let next = mailbox.next_number();
        let mut new_messages = NumberSet::new(next);
        let seen = match (decode(&user), looked) {
            (Seen::Below { next: seen, gaps, awaited }, _) => {
                let unseen = gaps.into_iter().chain((seen < next).then_some(seen..next));
                let unseen: Vec<Range<u32>> = unseen.collect();
                let there = mailbox.numbers_in(&unseen)?;
                mailbox.arrived(&there)?.into_iter().for_each(|number| new_messages.insert(number));
                Seen::Below { next: next.max(seen), gaps: without(&unseen, &there), awaited }
            }
            (Seen::First, Looked::Here) => return Ok(None),
            (Seen::Unknown | Seen::First, _) => Seen::below(next),
        };
        let has_changed = seen != decode(&user);
        Ok(has_changed.then_some(Arrivals { writer, user, seen, new_messages, awaited: None }))
    }

    /// Finds the messages that are seen once more, because text of their attachments came. Returns `None` if
    /// there are none.
    ///
    /// # Errors
    /// Damage; a data directory that cannot be written.
    pub fn take_text(environment: &Environment, mailbox: &Mailbox) -> Result<Option<Arrivals>> {
        if awaited_text(environment)?.is_empty() {
            return Ok(None);
        }
        let writer = writer(environment)?;
        let user = writer.snapshot()?;
        let mut seen = decode(&user);
        let Seen::Below { awaited, .. } = &mut seen else { return Ok(None) };
        let before = awaited.clone();
        let new_messages = awaited.take_grown(mailbox.snapshot(), mailbox.next_number())?;
        let has_grown = !new_messages.is_empty();
        Ok(has_grown.then_some(Arrivals { writer, user, seen, new_messages, awaited: Some(before) }))
    }

    /// Returns the numbers of the new messages.
    pub fn new_messages(&self) -> &NumberSet {
        &self.new_messages
    }

    /// Returns those of the new messages that a rule looks at: all, or if they are seen once more those that
    /// it did not match before.
    pub fn for_rule(&self, rule: u64) -> NumberSet {
        let mut messages = self.new_messages.clone();
        if let Some(awaited) = &self.awaited {
            let awaited = awaited.of(rule, 0);
            self.new_messages.iter().filter(|number| !awaited.contains(*number)).for_each(|number| {
                messages.remove(number);
            });
        }
        messages
    }

    /// Returns whether they are seen once more.
    pub fn are_seen_again(&self) -> bool {
        self.awaited.is_some()
    }

    /// Notes that a rule does not match these messages, and looks at them again when text of their
    /// attachments comes.
    pub fn await_text(&mut self, mailbox: &Mailbox, rule: u64, messages: &NumberSet) {
        if let Seen::Below { awaited, .. } = &mut self.seen {
            awaited.add(mailbox.snapshot(), rule, messages);
        }
    }

    /// Tags messages and their copies, and notes that the new messages were seen: both, or neither. Later
    /// changes see what earlier ones did. Returns how many messages have other tags now, copies included.
    ///
    /// # Errors
    /// An invalid tag; damage, a full disk: nothing was changed.
    pub fn commit(
        mut self,
        environment: &Environment,
        mailbox: &Mailbox,
        changes: &[(NumberSet, TagChange)],
    ) -> Result<u64> {
        let (mut transaction, changed) = self.transaction(environment, mailbox, changes)?;
        transaction.attach(ARRIVALS, encode(&self.seen));
        self.writer.commit(transaction)?;
        drop(self.writer);
        merge(environment)?;
        Ok(changed)
    }

    fn transaction(
        &self,
        environment: &Environment,
        mailbox: &Mailbox,
        changes: &[(NumberSet, TagChange)],
    ) -> Result<(Transaction, u64)> {
        let now = Tags::new(&self.user)?;
        let mut reader = RecordReader::new();
        let mut edited: BTreeMap<u32, Edited> = BTreeMap::new();
        for (numbers, change) in changes {
            for tag in change.add.iter().chain(&change.remove) {
                check_tag(tag).map_err(|what| Error::Tag { tag: tag.clone(), what })?;
            }
            let edit = TagEdit::Change(change.clone());
            for number in numbers.iter() {
                for copy in mailbox.copies_of(number)? {
                    let content = match edited.entry(copy) {
                        Entry::Occupied(known) => known.into_mut(),
                        Entry::Vacant(place) => match Edited::read((mailbox, &now), copy, &mut reader)? {
                            Some(read) => place.insert(read),
                            None => continue,
                        },
                    };
                    edit.apply(&mut content.after);
                }
            }
        }
        let mut rows = Changes::new(&self.user)?;
        let mut changed: u64 = 0;
        for Edited { message, own, before, after } in edited.into_values() {
            if after != before {
                changed = changed.saturating_add(1);
                rows.write(&message, own, (&before, &after))?;
            }
        }
        Ok((rows.transaction(environment, &self.user)?, changed))
    }
}

/// Returns the parts of ranges in which there is none of these numbers, which are in order: the last ones.
fn without(ranges: &[Range<u32>], there: &[u32]) -> Vec<Range<u32>> {
    let mut gaps = Vec::new();
    for range in ranges {
        let mut start = range.start;
        let first = there.partition_point(|number| *number < range.start);
        let within = there.get(first..).unwrap_or_default().iter().take_while(|number| **number < range.end);
        for number in within {
            if start < *number {
                gaps.push(start..*number);
            }
            start = number.saturating_add(1);
        }
        if start < range.end {
            gaps.push(start..range.end);
        }
    }
    gaps.split_off(gaps.len().saturating_sub(GAP_COUNT_MAX))
}

impl Seen {
    fn below(next: u32) -> Seen {
        Seen::Below { next, gaps: Vec::new(), awaited: Awaited::default() }
    }
}

/// Returns what is noted.
fn known(environment: &Environment) -> Result<Seen> {
    let user = snapshot(&environment.disk, &environment.user_directory())?;
    Ok(user.map_or(Seen::Unknown, |user| decode(&user)))
}

fn encode(seen: &Seen) -> Vec<u8> {
    let mut out = Vec::new();
    match seen {
        Seen::Unknown => out.push(0),
        Seen::First => out.push(1),
        Seen::Below { next, gaps, awaited } => {
            out.push(if awaited.is_empty() { 2 } else { 3 });
            out.extend_from_slice(&next.to_le_bytes());
            put_ranges(&mut out, gaps);
            if !awaited.is_empty() {
                awaited.encode(&mut out);
            }
        }
    }
    out
}

/// Reads the attachment. One that is not understood says nothing: then messages are new from now on.
fn decode(user: &Snapshot) -> Seen {
    user.attachment(ARRIVALS).and_then(body).unwrap_or_default()
}

fn body(bytes: &[u8]) -> Option<Seen> {
    let (kind, mut rest) = bytes.split_first()?;
    let rest = &mut rest;
    let seen = match kind {
        1 => Seen::First,
        2 | 3 => {
            let (next, gaps) = (number(rest)?, ranges(rest)?);
            let awaited = if *kind == 3 { Awaited::decode(rest)? } else { Awaited::default() };
            Seen::Below { next, gaps, awaited }
        }
        _ => return None,
    };
    rest.is_empty().then_some(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_no_message_has_are_gaps() {
        assert_eq!(without(&[3..6, 9..12], &[4, 9, 10]), [3..4, 5..6, 11..12]);
        let one = |start, end| vec![Range { start, end }];
        assert_eq!(without(&one(3, 6), &[3, 4, 5]), []);
        assert_eq!(without(&one(0, 2), &[]), one(0, 2));
        let many: Vec<u32> = (0..600).step_by(2).collect();
        let gaps = without(&one(0, 600), &many);
        assert_eq!((gaps.len(), gaps.last()), (GAP_COUNT_MAX, Some(&(599..600))), "the last ones are kept");
    }

    #[test]
    fn what_is_noted_is_read_back() {
        let below = |next, gaps: &[Range<u32>]| Seen::Below {
            next,
            gaps: gaps.to_vec(),
            awaited: Awaited::default(),
        };
        for seen in [Seen::First, below(0, &[]), below(7, &[1..2, 4..6])] {
            assert_eq!(body(&encode(&seen)), Some(seen));
        }
        let mut bytes = encode(&below(7, &[1..2, 4..6]));
        bytes.push(0);
        assert_eq!(body(&bytes), None);
        for length in 0..bytes.len() - 1 {
            assert_eq!(body(&bytes[..length]), None);
        }
        assert_eq!(body(&encode(&Seen::Unknown)), None);
    }
}
