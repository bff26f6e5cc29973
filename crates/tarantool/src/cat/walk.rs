//! Passes through the blocks of a file, and the holes between them.
//!
//! Input: bytes. Output: places of blocks, by their heads alone, and the bytes that hold none. Whoever
//! unpacks a block and finds it damaged says so, and the walk goes on at the next sound block.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Damage;
use crate::file::block::{BlockPlace, END, Step, read_head};
use crate::file::find_block::{Found, SearchBudget, next_block};
use std::ops::Range;

/// What comes next in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A block, by its head.
    Block(BlockPlace),
    /// Bytes that hold no block.
    Hole(Hole),
    /// The end of the file, with the mark of a closed file or without.
    End { is_closed: bool },
}

/// Bytes of a file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    pub(super) bytes: Range<usize>,
    /// What is wrong at its beginning.
    pub(super) what: &'static str,
    /// Whether it reaches to the end of the file, and nothing shows that the file was closed: a write that is
    /// not done, or was never finished.
    pub(super) is_tail: bool,
}

/// A walk through a file.
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    is_closed: bool,
    /// Whether to pass nothing more.
    waits: bool,
    budget: SearchBudget,
}

impl<'a> Walk<'a> {
    /// Begins at the first block.
    pub(super) fn new(bytes: &'a [u8], begin: usize) -> Walk<'a> {
        let budget = SearchBudget::for_bytes(bytes.len().saturating_sub(begin));
        Walk { bytes, at: begin, is_closed: false, waits: false, budget }
    }

    /// Returns the offset up to which the file is done: where the next block begins, or will begin.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Returns what comes next, and passes it.
    pub(super) fn next(&mut self) -> Next {
        if self.waits {
            return Next::End { is_closed: false };
        }
        if self.is_closed && self.at >= self.bytes.len() {
            return Next::End { is_closed: true };
        }
        match read_head(self.bytes, self.at) {
            Ok(Step::Block(place)) => {
                self.at = place.payload.end;
                Next::Block(place)
            }
            Ok(Step::Eof) => {
                self.at = self.bytes.len();
                self.is_closed = true;
                Next::End { is_closed: true }
            }
            Ok(Step::End) => Next::End { is_closed: self.is_closed },
            Err(damage) if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(&END)) => {
                self.is_closed = true;
                let begin = self.at.saturating_add(END.len());
                Next::Hole(self.hole(begin, begin, damage.what))
            }
            Err(damage) => Next::Hole(self.hole(self.at, self.at, damage.what)),
        }
    }

    /// Goes on after a block that turned out to be damaged. Returns the hole that it leaves.
    pub(super) fn damaged(&mut self, place: &BlockPlace, damage: Damage) -> Hole {
        self.budget.charge(place);
        self.is_closed = false;
        self.hole(place.offset, place.payload.end, damage.what)
    }

    /// Goes on after a block, although more was passed already.
    pub(super) fn go_on_after(&mut self, place: &BlockPlace) {
        self.at = place.payload.end;
        self.is_closed = false;
    }

    /// Goes back to a block that was passed already.
    pub(super) fn return_to(&mut self, place: &BlockPlace) {
        self.at = place.offset;
        self.is_closed = false;
    }

    /// Ends the walk at bytes that may become a block when more of them are written.
    pub(super) fn wait_at(&mut self, offset: usize) {
        self.at = offset;
        self.waits = true;
    }

    /// Passes the bytes from `begin` to the next sound block, which is looked for at `likely` first.
    fn hole(&mut self, begin: usize, likely: usize, what: &'static str) -> Hole {
        let found = next_block(self.bytes, begin.saturating_add(1), likely, &mut self.budget);
        let is_mark = matches!(found, Found::EndMark(_));
        let end = match found {
            Found::Block(next) => next,
            Found::EndMark(end) => end,
            Found::Nothing | Found::Unknown => self.bytes.len(),
        };
        self.at = end;
        let is_tail = found == Found::Nothing && !self.is_closed;
        if is_mark {
            self.is_closed = true;
            self.at = self.bytes.len();
        }
        Hole { bytes: begin..end, what, is_tail }
    }
}
