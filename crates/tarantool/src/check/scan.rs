//! Scans one file from its first block to its end: which blocks are sound, and what is between them.
//!
//! Input: the bytes of a file. Output: a [`FileScan`]. It decides nothing: whether a hole is a torn write or
//! damage depends on other files.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::check::blocks::{BlockRows, CheckedBlocks, read_block};
use crate::error::Damage;
use crate::file::block::{BlockPlace, END, Step, Unpacker, check, read_head};
use crate::file::find_block::{Found, SearchBudget, next_block};
use crate::file::header::FileKind;
use crate::file::row::rows;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How thoroughly a file is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Only the heads of blocks.
    Heads,
    /// The checksums, and the rows of the last block.
    Checksums,
    /// Every row.
    Rows,
}

/// At most this many holes of one file are named. Further ones are only counted.
pub(crate) const HOLES_MAX: usize = 1000;

/// Bytes between whole blocks, or after the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Where.
    pub(crate) bytes: Range<usize>,
    /// What is wrong at its beginning.
    pub(crate) what: &'static str,
    /// How a hole at the end of a file ends.
    pub(crate) behind: HoleEnd,
    /// For each replica, the number that its first row in the hole would have. Rows of a snapshot are counted
    /// under replica 0.
    pub(crate) expected: BTreeMap<u32, i64>,
    /// For each replica the number of its first row after the hole.
    pub(crate) next: BTreeMap<u32, i64>,
    /// Holes after this one that are not named.
    pub(crate) more: UnlistedHoles,
}

/// Holes that are not named one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnlistedHoles {
    /// How many there are.
    pub(crate) count: u64,
    /// How many rows were in them, as far as that is known.
    pub(crate) row_count: u64,
    /// The end of the last of them.
    pub(crate) end: usize,
}

/// What follows a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoleEnd {
    /// A whole block.
    Block,
    /// Nothing: it reaches to the end of the file.
    Nothing,
    /// The mark of a closed file at the end of the file, either after the hole or before it.
    EndMark,
    /// Unknown: too many positions looked like blocks but were not.
    Unknown,
}

/// The result of scanning a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileScan {
    /// Ranges of consecutive sound blocks.
    pub(crate) pieces: Vec<Range<usize>>,
    /// The holes between them.
    pub(crate) holes: Vec<Hole>,
    /// Whether the file was closed.
    pub(crate) is_closed: bool,
    /// How many whole blocks there are.
    pub(crate) block_count: u64,
    /// How many rows are in them; 0 if they were not read.
    pub(crate) row_count: u64,
    /// For each replica the number that its next row would have, as far as rows were read.
    pub(crate) expected: BTreeMap<u32, i64>,
    /// The replicas whose rows were read.
    pub(crate) seen: BTreeSet<u32>,
}

/// A file to walk through.
#[derive(Clone, Copy)]
pub(crate) struct ScanInput<'a> {
    pub(crate) bytes: &'a [u8],
    /// The offset of its first block.
    pub(crate) begin: usize,
    pub(crate) kind: FileKind,
    pub(crate) depth: Depth,
    /// Blocks that were read already.
    pub(crate) checked: Option<&'a CheckedBlocks>,
}

/// Walks through a file. `expected` has the number of each replica's first row.
pub(crate) fn scan(input: ScanInput, expected: BTreeMap<u32, i64>) -> FileScan {
    let scan = FileScan { expected, ..FileScan::default() };
    let budget = SearchBudget::for_bytes(input.bytes.len().saturating_sub(input.begin));
    let mut scanner = Scanner {
        bytes: input.bytes,
        input,
        unpacker: Unpacker::for_file(input.kind),
        budget,
        scan,
        last: None,
    };
    let mut at = input.begin;
    while let Some(next) = scanner.step(at) {
        at = next;
    }
    scanner.read_last();
    scanner.scan
}

struct Scanner<'a> {
    bytes: &'a [u8],
    input: ScanInput<'a>,
    unpacker: Unpacker,
    /// How much all searches together may still examine in vain.
    budget: SearchBudget,
    scan: FileScan,
    last: Option<BlockPlace>,
}

impl Scanner<'_> {
    /// Handles what is at `at`, and returns where to continue.
    fn step(&mut self, at: usize) -> Option<usize> {
        let place = match read_head(self.bytes, at) {
            Ok(Step::Block(place)) => place,
            Ok(Step::Eof) => {
                self.scan.is_closed = true;
                return None;
            }
            Ok(Step::End) => return None,
            Err(damage) if self.bytes.get(at..).is_some_and(|rest| rest.starts_with(&END)) => {
                return self.behind_end(at, damage);
            }
            Err(damage) => return self.hole(at, at, damage.what),
        };
        match self.check(&place) {
            Ok(()) => {
                self.scan.block_count = self.scan.block_count.saturating_add(1);
                match self.scan.pieces.last_mut() {
                    Some(piece) if piece.end == at => piece.end = place.payload.end,
                    _ => self.scan.pieces.push(at..place.payload.end),
                }
                let end = place.payload.end;
                self.last = Some(place);
                Some(end)
            }
            // Its length may be right, so what follows the block is tried before what is in it.
            Err(damage) => {
                self.budget.charge(&place);
                self.hole(at, place.payload.end, damage.what)
            }
        }
    }

    /// Handles bytes after the end mark.
    fn behind_end(&mut self, at: usize, damage: Damage) -> Option<usize> {
        self.scan.is_closed = true;
        let begin = at.saturating_add(END.len());
        let next = self.hole(begin, begin, damage.what);
        if let Some(hole) = self.scan.holes.last_mut()
            && hole.behind != HoleEnd::Block
        {
            // The program that closed the file had written all of its rows.
            hole.expected.clear();
            hole.behind = HoleEnd::EndMark;
        }
        next
    }

    /// Records a hole at `at`, and returns where the next sound block begins. Prefers a block at `likely`.
    fn hole(&mut self, at: usize, likely: usize, what: &'static str) -> Option<usize> {
        let (behind, end) = match next_block(self.bytes, at.saturating_add(1), likely, &mut self.budget) {
            Found::Block(next) => (HoleEnd::Block, next),
            Found::EndMark(end) => (HoleEnd::EndMark, end),
            Found::Nothing => (HoleEnd::Nothing, self.bytes.len()),
            Found::Unknown => (HoleEnd::Unknown, self.bytes.len()),
        };
        self.read_last();
        self.make_room();
        let expected = self.scan.expected.clone();
        let (next, more) = (BTreeMap::new(), UnlistedHoles::default());
        self.scan.holes.push(Hole { bytes: at..end, what, behind, expected, next, more });
        if behind == HoleEnd::EndMark {
            self.scan.is_closed = true;
        }
        (behind == HoleEnd::Block).then_some(end)
    }

    /// If there are very many holes, counts the last one with the one before it. It is not at the file's end,
    /// because another hole follows.
    fn make_room(&mut self) {
        if self.scan.holes.len() < HOLES_MAX {
            return;
        }
        let (Some(last), Some(before)) = (self.scan.holes.pop(), self.scan.holes.last_mut()) else { return };
        let rows = last.next.iter().map(|(replica, &next)| {
            let expected = last.expected.get(replica).copied().unwrap_or(next);
            u64::try_from(next.saturating_sub(expected)).unwrap_or(0)
        });
        let UnlistedHoles { count, row_count, .. } = before.more;
        before.more = UnlistedHoles {
            count: count.saturating_add(1),
            row_count: rows.fold(row_count, u64::saturating_add),
            end: last.bytes.end,
        };
    }

    /// Reads the rows of the last block, if no other rows were read, to learn how far the file reaches.
    fn read_last(&mut self) {
        let (Depth::Checksums, Some(place)) = (self.input.depth, self.last.take()) else { return };
        let Ok(payload) = self.unpacker.unpack(self.bytes, &place) else { return };
        let mut found = BlockRows::default();
        rows(payload).flatten().for_each(|row| found.add(&row, self.input.kind));
        self.take(&found);
        self.scan.row_count = 0;
    }

    /// Checks a block as closely as requested.
    fn check(&mut self, place: &BlockPlace) -> Result<(), Damage> {
        match self.input.depth {
            Depth::Heads => Ok(()),
            Depth::Checksums => check(self.bytes, place),
            Depth::Rows => {
                let known =
                    self.input.checked.and_then(|checked| checked.get(&(place.offset, place.payload.end)));
                match known {
                    Some(rows) => self.take(rows),
                    None => {
                        let rows = read_block(&mut self.unpacker, self.bytes, place, self.input.kind)?;
                        self.take(&rows);
                    }
                }
                Ok(())
            }
        }
    }

    /// Records the rows of a sound block.
    fn take(&mut self, rows: &BlockRows) {
        self.scan.row_count = self.scan.row_count.saturating_add(rows.count);
        for reach in &rows.replicas {
            self.scan.seen.insert(reach.replica);
            let expected = self.scan.expected.entry(reach.replica).or_insert(reach.next);
            *expected = reach.next.max(*expected);
            if let Some(hole) = self.scan.holes.last_mut() {
                hole.next.entry(reach.replica).or_insert(reach.first);
            }
        }
    }
}
