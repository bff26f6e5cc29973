//! Counts messages by a dimension: how many, how large, in how many threads, and how fast replies came.
//!
//! Input: a set of messages, a dimension. Output: figures for each group and for all. Only columns and lists
//! of terms are read, no message. Each module uses only those before it:
//!
//! - `columns`: what is known of each message, by its number;
//! - `replies`: how long replies took;
//! - `dimension`: what messages are grouped by;
//! - `calendar`: years, months and hours of dates;
//! - `grouping`: which messages are in which group;
//! - `contents`: figures of contents, each for itself.

mod calendar;
mod columns;
mod contents;
mod dimension;
mod grouping;
mod replies;

use crate::error::Result;
use crate::search::mailbox::Mailbox;
use crate::set::NumberSet;
use columns::Columns;
pub use contents::ContentStats;
pub use dimension::Dimension;
use grouping::{Grouping, Shown, group};
use jiff::tz::TimeZone;
use replies::ReplyTimes;
use std::cmp::Reverse;

/// Figures of all messages, and of each group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Of all messages, each once.
    pub total: Figures,
    /// Groups with at least one message: those of time in the order of time, without a date last; others by
    /// the number of messages, then by name.
    pub groups: Vec<Group>,
}

/// Messages that have something in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The year, folder, sender ...; `None` if a message has no date.
    pub key: Option<String>,
    /// Its figures.
    pub figures: Figures,
}

/// Figures of some messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// How many there are; copies count once.
    pub message_count: u64,
    /// The sum of their sizes.
    pub size_bytes: u64,
    /// How many threads they belong to.
    pub thread_count: u64,
    /// The user's replies to others among them.
    pub own_replies: Replies,
    /// Replies of others to the user among them.
    pub other_replies: Replies,
}

/// Replies, and how long they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replies {
    /// How many there are, with a date that is not before that of the message which they answer.
    pub count: u64,
    /// Half of them took at most this long after the message that they answer, in seconds.
    pub median_seconds: Option<u64>,
}

impl Mailbox {
    /// Returns figures of a set of messages, which has one of each group of copies. Times are those of
    /// `zone`. Without addresses of the user there are no replies.
    ///
    /// # Errors
    /// Damage in the store or the text index; [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn stats(&self, found: &NumberSet, by: Dimension, zone: &TimeZone) -> Result<Stats> {
        let columns = Columns::read(self)?;
        let replies = ReplyTimes::read(self, &columns)?;
        // A date is that of the message itself.
        let shown = if by.is_time() { Shown::alone(found) } else { Shown::new(self, found)? };
        let grouping = group(self, &shown, &columns, (by, zone))?;
        self.check_cancelled()?;
        let mut tally = Tally::new(&columns, &replies, self.bound());
        let total = tally.figures(found.iter());
        Ok(Stats { total, groups: self.groups(grouping, by, &mut tally)? })
    }

    /// Returns the groups with their figures, in order.
    fn groups(&self, grouping: Grouping, by: Dimension, tally: &mut Tally<'_>) -> Result<Vec<Group>> {
        let Grouping { keys, members } = grouping;
        let mut groups = Vec::with_capacity(keys.len());
        for (key, members) in keys.into_iter().zip(members.groups()) {
            self.check_cancelled()?;
            groups.push(Group { key, figures: tally.figures(members.iter().copied()) });
        }
        groups.retain(|group| group.figures.message_count > 0);
        if !by.is_time() {
            groups.sort_by(|a, b| {
                let by_count = Reverse(a.figures.message_count).cmp(&Reverse(b.figures.message_count));
                by_count.then_with(|| a.key.cmp(&b.key))
            });
        }
        Ok(groups)
    }
}

impl Stats {
    /// Keeps so many groups: of time the latest, of others the largest.
    pub fn keep(&mut self, by: Dimension, count_max: usize) {
        if by.is_time() {
            self.groups.drain(..self.groups.len().saturating_sub(count_max));
        } else {
            self.groups.truncate(count_max);
        }
    }
}

/// Adds figures up, one group after the other.
struct Tally<'a> {
    columns: &'a Columns,
    replies: &'a ReplyTimes,
    /// The number of the last group that had this message, and this thread.
    message_seen: Vec<u32>,
    thread_seen: Vec<u32>,
    /// The number of the group, from 1.
    group: u32,
}

impl<'a> Tally<'a> {
    fn new(columns: &'a Columns, replies: &'a ReplyTimes, bound: u32) -> Tally<'a> {
        let thread_seen = vec![0; columns.node_count()];
        Tally { columns, replies, message_seen: vec![0; bound as usize], thread_seen, group: 0 }
    }

    /// Returns the figures of messages, which may be named several times.
    fn figures(&mut self, members: impl Iterator<Item = u32>) -> Figures {
        self.group += 1;
        let mut figures = Figures::default();
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for number in members {
            let is_new = |seen: &mut Vec<u32>, place: u32| match seen.get_mut(place as usize) {
                Some(last) if *last != self.group => {
                    *last = self.group;
                    true
                }
                _ => false,
            };
            if !is_new(&mut self.message_seen, number) {
                continue;
            }
            figures.message_count += 1;
            figures.size_bytes = figures.size_bytes.saturating_add(self.columns.size_bytes(number));
            figures.thread_count +=
                u64::from(self.columns.root(number).is_some_and(|root| is_new(&mut self.thread_seen, root)));
            if self.replies.has_any() {
                own.extend(self.replies.own(number));
                other.extend(self.replies.other(number));
            }
        }
        Figures { own_replies: replies(own), other_replies: replies(other), ..figures }
    }
}

/// Returns how many there are, and their median; of an even number, the lower of the two in the middle.
fn replies(mut seconds: Vec<u64>) -> Replies {
    let count = seconds.len();
    if count == 0 {
        return Replies::default();
    }
    let (_, median, _) = seconds.select_nth_unstable((count - 1) / 2);
    Replies { count: count as u64, median_seconds: Some(*median) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_lower_one_in_the_middle() {
        for (seconds, expected) in
            [(vec![], None), (vec![9], Some(9)), (vec![9, 1], Some(1)), (vec![5, 9, 1], Some(5))]
        {
            let count = seconds.len() as u64;
            assert_eq!(replies(seconds), Replies { count, median_seconds: expected });
        }
    }
}
