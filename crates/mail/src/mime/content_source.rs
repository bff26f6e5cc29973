//! Reads contents of parts that are not in memory, because the message is too large.
//!
//! Input: the byte range of a content in its message. Output: its decoded bytes, block by block. Does not
//! know where the message is stored.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;

use crate::decode::transfer::Transfer;

/// Reads contents that are not in memory.
pub(crate) trait ContentSource {
    /// Passes the decoded content of a range of the message to `consume`, and returns whether it was clean.
    /// Unreadable bytes are left out; the owner of the message reports the error.
    fn each_block(&mut self, range: Range<u64>, transfer: Transfer, consume: &mut dyn FnMut(&[u8])) -> bool;
}

/// For a message that is in memory as a whole.
pub(crate) struct NoSource;

impl ContentSource for NoSource {
    fn each_block(
        &mut self,
        _range: Range<u64>,
        _transfer: Transfer,
        _consume: &mut dyn FnMut(&[u8]),
    ) -> bool {
        true
    }
}
