//! Searches for the next sound block after damage.
//!
//! Input: bytes, and where to begin. Output: the offset of a block with the right checksum. Does not depend
//! on the contents of blocks.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::file::block::{BlockPlace, END, Step, check, read_head};

/// The bytes that each block begins with.
const BEGINNING: [u8; 3] = [0xd5, 0xba, 0x0b];
/// The limit for computing checksums in vain: this many bytes for each byte of the file, and [`WORK_BYTES`]
/// more.
const WORK_FACTOR: usize = 8;
const WORK_BYTES: usize = 16 << 20;

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A whole block.
    Block(usize),
    /// The mark of a closed file as the last bytes, and no block before it.
    EndMark(usize),
    /// Neither.
    Nothing,
    /// The limit was reached: too many positions looked like blocks but were not.
    Unknown,
}

/// How many bytes may still be examined in vain in one file. Otherwise, bytes that look like the beginnings
/// of long blocks would take quadratic time, whether one search passes them all or each search finds a small
/// sound block after the next.
pub(crate) struct SearchBudget(usize);

impl SearchBudget {
    /// Returns the budget for a file of this many bytes.
    pub(crate) fn for_bytes(count: usize) -> SearchBudget {
        SearchBudget(count.saturating_mul(WORK_FACTOR).saturating_add(WORK_BYTES))
    }

    /// Subtracts the cost of examining `place`.
    pub(crate) fn charge(&mut self, place: &BlockPlace) {
        self.0 = self.0.saturating_sub(place.payload.len());
    }

    fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// Returns what comes after `begin`. Tries a block at `likely` before all others. Takes the cost from
/// `budget`.
pub(crate) fn next_block(bytes: &[u8], begin: usize, likely: usize, budget: &mut SearchBudget) -> Found {
    if is_whole(bytes, likely, budget) {
        return Found::Block(likely);
    }
    let mut at = begin;
    while let Some(distance) =
        bytes.get(at..).and_then(|rest| rest.windows(BEGINNING.len()).position(|window| window == BEGINNING))
    {
        at = at.saturating_add(distance);
        if is_whole(bytes, at, budget) {
            return Found::Block(at);
        }
        if budget.is_spent() {
            return Found::Unknown;
        }
        at = at.saturating_add(1);
    }
    match bytes.len().checked_sub(END.len()) {
        Some(end) if end >= begin && bytes.ends_with(&END) => Found::EndMark(end),
        _ => Found::Nothing,
    }
}

/// Returns whether a block with a right checksum begins at `at`. Takes the cost from `budget`.
fn is_whole(bytes: &[u8], at: usize, budget: &mut SearchBudget) -> bool {
    let Ok(Step::Block(place)) = read_head(bytes, at) else { return false };
    budget.charge(&place);
    !budget.is_spent() && check(bytes, &place).is_ok()
}
