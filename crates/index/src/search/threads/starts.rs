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

    /// Returns the place among the first messages of that of a message's conversation. Returns `None` for a
    /// message that is the first one itself.
    pub fn place_of_first(&self, number: u32) -> Option<usize> {
        let found = self.others.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(self.others.get(found)?.1 as usize)
    }
}
