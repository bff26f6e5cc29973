//! Found messages.
//!
//! In: numbers and rows of messages. Out: hits, which name a message and its date in one commit. Must not
//! know why they were found.

use crate::tables::dated;
use store::RowId;

/// A found message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its number. An index gives each content one number, for as long as the index lives, and never gives it
    /// to another one; an index made anew numbers its messages again.
    pub number: u32,
    /// Its row in this commit.
    pub(crate) row: RowId,
    /// Its date in seconds since 1970; the least number there is, if it has none.
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
    /// How many matched, those left out included.
    pub total: u64,
    /// Those wanted.
    pub list: Vec<Hit>,
}
