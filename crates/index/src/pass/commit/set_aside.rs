//! Decides how many numbers a pass sets aside for its new messages.
//!
//! Input: how many files are left to read, and how many messages the last batch had. Output: a count. Pure.
//! Must not know which numbers these are.

/// A pass with at most as many files to read expects that nobody else adds messages meanwhile. If somebody
/// does, it begins again. A larger one first sets numbers aside, which takes a commit of its own.
const UNCLAIMED_COUNT_MAX: usize = 1_000;

/// The fewest numbers that a pass sets aside, unless it has fewer files: more than the first two batches
/// need, so that none of them ends early. Those that it does not use are lost.
const SET_ASIDE_COUNT_MIN: usize = 32_768;

/// Whether a pass sets numbers aside for its new messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pass) enum SetAside {
    /// If it has many files to read.
    IfMany,
    /// In any case.
    Always,
}

impl SetAside {
    /// Returns whether a pass with this many files to read, and batches of at most so many messages, sets
    /// numbers aside.
    pub(in crate::pass) fn applies(self, file_count: usize, batch_message_count: usize) -> bool {
        file_count > UNCLAIMED_COUNT_MAX.min(batch_message_count) || self == SetAside::Always
    }
}

/// Returns how many numbers to have ready for the batch that is read and the next one, given how many new
/// messages the last batch had and how many files are left. A batch is read for twice as long as the last.
pub(in crate::pass) fn numbers_ahead(left: usize, new_count: usize, batch_message_count: usize) -> usize {
    let most = batch_message_count.saturating_mul(2);
    new_count.saturating_mul(6).max(SET_ASIDE_COUNT_MIN).min(most).min(left)
}
