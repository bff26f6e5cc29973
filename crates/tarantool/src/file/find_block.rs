//! Searches for the next sound block after damage.
//!
//! Input: bytes, and where to begin. Output: where a block with the right checksum begins. Does not know what
//! is in it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::file::block::{BlockPlace, END, Step, check, read_head};

/// The bytes that each block begins with.
const BEGINNING: [u8; 3] = [0xd5, 0xba, 0x0b];
/// Bytes whose checksum is computed in vain, for each byte that there is, and besides.
const WORK_FACTOR: usize = 8;
const WORK_BYTES: usize = 16 << 20;

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A whole block.
    Block(usize),
    /// The mark of a closed file as the last bytes, and no block before it.
    EndMark(usize),
    /// Neither.
    Nothing,
    /// Too many beginnings of blocks that were none.
    Unknown,
}

/// How many bytes may yet be looked at in vain, in one file: bytes made to look like the beginnings of long
/// blocks would otherwise take time with the square of their number, whether one search passes them all or
/// each search finds a small whole block behind the next.
pub(crate) struct SearchBudget(usize);

impl SearchBudget {
    /// Returns what so many bytes are worth.
    pub(crate) fn for_bytes(count: usize) -> SearchBudget {
        SearchBudget(count.saturating_mul(WORK_FACTOR).saturating_add(WORK_BYTES))
    }

    /// Takes off what looking at `place` costs.
    pub(crate) fn charge(&mut self, place: &BlockPlace) {
        self.0 = self.0.saturating_sub(place.payload.len());
    }

    fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// Returns what lies behind `begin`; a block at `likely` comes before all others. Takes what that costs from
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

/// Returns whether a block with a fitting checksum begins at `at`. Takes what that costs from `budget`.
fn is_whole(bytes: &[u8], at: usize, budget: &mut SearchBudget) -> bool {
    let Ok(Step::Block(place)) = read_head(bytes, at) else { return false };
    budget.charge(&place);
    !budget.is_spent() && check(bytes, &place).is_ok()
}
