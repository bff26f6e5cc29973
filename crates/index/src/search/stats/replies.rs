//! How long it took until the user replied, and until others replied to the user.
//!
//! Input: dates, and which message answers which; messages from the user's addresses. Output: seconds, by the
//! number of the reply. Senders choose dates: a reply that is older than what it answers does not count.

use crate::error::Result;
use crate::search::mailbox::Mailbox;
use crate::search::stats::columns::Columns;
use crate::set::NumberSet;
use crate::tables::NO_NODE;
use std::collections::HashMap;

/// Seconds from a message to its reply, by the number of the reply.
#[derive(Default)]
pub(super) struct ReplyTimes {
    own: HashMap<u32, u64>,
    other: HashMap<u32, u64>,
}

impl ReplyTimes {
    /// Finds all replies. None if no address of the user is known.
    ///
    /// # Errors
    /// Damage in the text index.
    pub(super) fn read(mailbox: &Mailbox, columns: &Columns) -> Result<ReplyTimes> {
        if mailbox.own_addresses().is_empty() {
            return Ok(ReplyTimes::default());
        }
        Ok(ReplyTimes::of(columns, &mailbox.sent()?))
    }

    fn of(columns: &Columns, sent: &NumberSet) -> ReplyTimes {
        // The earliest date of the messages with a node: copies have one node.
        let mut dates: Vec<Option<i64>> = vec![None; columns.node_count()];
        let mut is_own = NumberSet::new(u32::try_from(columns.node_count()).unwrap_or(u32::MAX));
        for (number, node, _) in columns.links().filter(|(_, node, _)| *node != NO_NODE) {
            if let (Some(date), Some(slot)) = (columns.date(number), dates.get_mut(node as usize)) {
                *slot = Some(slot.map_or(date, |known| known.min(date)));
            }
            if sent.contains(number) {
                is_own.insert(node);
            }
        }
        let mut times = ReplyTimes::default();
        for (number, _, parent) in columns.links() {
            let Some(parent) = parent else { continue };
            let asked = dates.get(parent as usize).copied().flatten();
            let (Some(date), Some(asked)) = (columns.date(number), asked) else { continue };
            let Ok(seconds) = u64::try_from(date.saturating_sub(asked)) else { continue };
            match (sent.contains(number), is_own.contains(parent)) {
                (true, false) => drop(times.own.insert(number, seconds)),
                (false, true) => drop(times.other.insert(number, seconds)),
                _ => {}
            }
        }
        times
    }

    /// Returns whether there are any.
    pub(super) fn has_any(&self) -> bool {
        !self.own.is_empty() || !self.other.is_empty()
    }

    /// Returns how long the user took, if a message is the user's reply to somebody else.
    pub(super) fn own(&self, number: u32) -> Option<u64> {
        self.own.get(&number).copied()
    }

    /// Returns how long somebody else took, if a message is a reply to the user.
    pub(super) fn other(&self, number: u32) -> Option<u64> {
        self.other.get(&number).copied()
    }
}
