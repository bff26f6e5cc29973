//! Found messages.
//!
//! Input: numbers and rows of messages. Output: hits, each with a message's number, row and date in one
//! commit, which later commits find by its number. Must not know why they were found.

use crate::tables::dated;
use store::RowId;

/// A found message. It stays valid in mailboxes of later commits of the same index, which find it by its
/// number. If it was removed from the index since, they report
/// [`Error::MessageRemoved`](crate::Error::MessageRemoved).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its number. An index gives each content a number for the lifetime of the index, and never reuses it. A
    /// rebuilt index assigns new numbers.
    pub number: u32,
    /// Its row in the commit that it was found in.
    pub(crate) row: RowId,
    /// Its date in seconds since 1970, or the lowest `i64` if it has none.
    pub date: i64,
}

impl Hit {
    /// Returns its date in seconds since 1970, if it has one.
    #[must_use]
    pub fn date_seconds(&self) -> Option<i64> {
        dated(self.date)
    }
}

/// Found messages in order.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// How many messages matched, including those left out.
    pub total: u64,
    /// The requested hits.
    pub list: Vec<Hit>,
}
