//! Conversations as values.
//!
//! Must not know how they are found.

use crate::search::mailbox::Hit;

/// A conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its messages. Each comes after the one that it answers; answers to the same message are sorted by
    /// date.
    pub entries: Vec<ThreadEntry>,
}

/// A message of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadEntry {
    /// The message.
    pub hit: Hit,
    /// How many messages are above it.
    pub depth: u32,
    /// Whether it was found, or only belongs to a found one.
    pub origin: Origin,
}

/// Why a message is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It matches.
    Found,
    /// It is in the same thread as a message that matches.
    Related,
}

/// Conversations in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// How many there are, including those left out.
    pub total: u64,
    /// The requested conversations.
    pub list: Vec<Thread>,
}
