//! The first messages of conversations.
//!
//! Input: conversations. Output: for each message that is not the first one of its conversation, which one
//! is. Does not read anything.

use crate::search::mailbox::Hit;
use crate::search::threads::model::Thread;

/// The first message of each conversation that has several.
#[derive(Clone, Debug, Default)]
pub struct ThreadStarts {
    /// In the order of their numbers.
    firsts: Vec<Hit>,
    /// The numbers of the other messages in ascending order, each with the place of its first message.
    others: Vec<(u32, u32)>,
}

impl ThreadStarts {
    /// Takes conversations.
    pub(super) fn new(threads: &[Thread]) -> ThreadStarts {
        let split = threads.iter().filter_map(|thread| thread.entries.split_first());
        let mut split: Vec<_> = split.filter(|(_, others)| !others.is_empty()).collect();
        split.sort_unstable_by_key(|(first, _)| first.hit.number);
        let places = (0_u32..).zip(&split);
        let mut others: Vec<(u32, u32)> = places
            .flat_map(|(place, (_, others))| others.iter().map(move |entry| (entry.hit.number, place)))
            .collect();
        others.sort_unstable();
        ThreadStarts { firsts: split.iter().map(|(first, _)| first.hit).collect(), others }
    }

    /// Returns the first messages of the conversations that have several messages, each once, in the order of
    /// their numbers.
    pub fn firsts(&self) -> &[Hit] {
        &self.firsts
    }

    /// Returns what finds the first message of a message's conversation.
    pub fn walk(&self) -> StartsWalk<'_> {
        StartsWalk { others: &self.others, next: 0 }
    }
}

/// A walk finds a number that is at most this many places ahead without a search.
const STEPS_MAX: usize = 8;

/// Finds the first messages of conversations, fastest for messages in the order of their numbers.
#[derive(Clone, Debug)]
pub struct StartsWalk<'a> {
    /// As those of [`ThreadStarts`].
    others: &'a [(u32, u32)],
    /// The place of the number that was asked for last, or of the one after it.
    next: usize,
}

impl StartsWalk<'_> {
    /// Returns the place among the first messages of that of a message's conversation. Returns `None` for a
    /// message that is the first one itself.
    pub fn place_of_first(&mut self, number: u32) -> Option<usize> {
        let is_ahead = self.next.checked_sub(1).is_none_or(|before| self.others[before].0 < number);
        let ahead = self.others.iter().skip(self.next).take(STEPS_MAX);
        let step = ahead.enumerate().find(|(_, (other, _))| *other >= number);
        self.next = match step {
            Some((step, _)) if is_ahead => self.next + step,
            _ => self.others.partition_point(|(other, _)| *other < number),
        };
        let (other, place) = self.others.get(self.next)?;
        (*other == number).then_some(*place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_finds_numbers_in_any_order() {
        let others: Vec<(u32, u32)> = (0..100).map(|place| (place * place + 3, place)).collect();
        let starts = ThreadStarts { firsts: Vec::new(), others };
        let expected = |number: u32| (0..100_usize).find(|place| place * place + 3 == number as usize);
        let mut walk = starts.walk();
        for number in (0..10_000).chain((0..10_000).rev()).chain((0..10_000).step_by(97)) {
            assert_eq!(walk.place_of_first(number), expected(number), "{number}");
        }
        assert_eq!(ThreadStarts::default().walk().place_of_first(1), None);
    }
}
