//! Finds where the rows before a point in time end.
//!
//! Input: a position, and the logs, the oldest first. Output: the first transaction that does not come before
//! the position, and how far the rows before it reach. Decides nothing about damage: what cannot be read is
//! passed over, and the plan finds it again.
//!
//! The state at a point is one that the instance was in: all transactions that the logs have before the first
//! one that is not before the point. Later rows are left out, also if the clock of their replica was late and
//! their times are before the point.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::candidate::Log;
use crate::check::scan::{Depth, ScanInput, scan};
use crate::file::block::{BlockPlace, Step, Unpacker, read_head};
use crate::file::header::FileKind;
use crate::file::row::{Row, rows};
use crate::position::Position;
use crate::vclock::{REPLICA_MAX, VClock};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The first transaction after a point in time: there a recovery ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The log with the last row of the transaction.
    pub path: PathBuf,
    /// The offset of the block with that row.
    pub block_offset: usize,
    /// How many rows of that block come before that row. Earlier rows of the same transaction are among them.
    pub row_count: usize,
    /// How far the whole transactions before it reach.
    pub clock: VClock,
    /// The replica of that row.
    pub replica: u32,
    /// Its number.
    pub lsn: i64,
    /// The number of the first row of its transaction.
    pub tsn: i64,
    /// Its time, in seconds since 1970.
    pub timestamp: f64,
    /// How many transactions after it, in the same log, have earlier times than the point.
    pub earlier_count: u64,
    /// How far the logs before its log reach.
    pub(super) before_log: VClock,
    /// The index of the log.
    pub(super) log: usize,
    /// The end of the block, in bytes from the beginning of the file.
    pub(super) block_end: usize,
    /// Whether its log has whole transactions before it.
    pub(super) is_log_begun: bool,
}

/// How far the rows before a point reach.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reach {
    /// The first transaction after the point, if there is one.
    pub(super) cut: Option<Cut>,
    /// How far the whole transactions before the point reach.
    pub(super) clock: VClock,
    /// How many whole transactions were read.
    pub(super) transaction_count: u64,
    /// The time of the last row of the last of them.
    pub(super) last_time: f64,
    /// The replicas of rows before the point, as far as logs tell.
    pub(super) replicas: BTreeSet<u32>,
}

/// Reads logs up to a point. Logs of other instances must not be among them.
pub(super) fn reach(point: &Position, logs: &[(usize, &Log)]) -> Reach {
    let mut walker = Walker { point, reach: Reach::default(), open: BTreeMap::new(), is_log_begun: false };
    // Logs that end before the last one that begins before the point have only rows before it.
    let begins_before = |log: &Log| {
        let Ok(opened) = log else { return false };
        !matches!(point, Position::Time(_)) && point.is_after_clock(&opened.header.vclock)
    };
    let first = logs.iter().rposition(|(_, log)| begins_before(log)).unwrap_or(0);
    for &(number, log) in logs.get(first..).unwrap_or_default() {
        if walker.log(number, log) {
            break;
        }
    }
    walker.reach
}

/// A transaction whose last row was not read yet.
#[derive(Clone, Copy)]
struct Open {
    tsn: i64,
    is_after: bool,
    /// The number of its last replicated row, and of its last row that is not replicated.
    last: [i64; 2],
}

struct Walker<'a> {
    point: &'a Position,
    reach: Reach,
    /// By replica: some versions of Tarantool interleave transactions.
    open: BTreeMap<u32, Open>,
    is_log_begun: bool,
}

impl Walker<'_> {
    /// Reads a log. Returns whether the point is in it.
    fn log(&mut self, number: usize, log: &Log) -> bool {
        let before_log = self.reach.clock.clone();
        let (path, bytes, begin) = match log {
            Ok(opened) => {
                self.reach.clock = self.reach.clock.union(&opened.header.vclock);
                self.note_replicas();
                (&opened.path, &opened.bytes, opened.header_bytes)
            }
            Err(unopened) => match unopened.first_block {
                Some(begin) => (&unopened.path, &unopened.bytes, begin),
                None => return false,
            },
        };
        self.is_log_begun = false;
        let input = ScanInput { bytes, begin, kind: FileKind::Log, depth: Depth::Checksums, checked: None };
        let pieces = scan(input, BTreeMap::new()).pieces;
        let mut unpacker = Unpacker::default();
        for place in pieces.into_iter().flat_map(|piece| blocks(bytes, piece)) {
            let Ok(payload) = unpacker.unpack(bytes, &place) else { continue };
            if let Some(cut) = self.block(payload, &place) {
                let mut cut = Cut { path: path.clone(), log: number, before_log, ..cut };
                cut.earlier_count = self.earlier(bytes, &cut);
                self.reach.cut = Some(cut);
                return true;
            }
        }
        false
    }

    /// Reads the rows of a block, up to the first transaction after the point.
    fn block(&mut self, payload: &[u8], place: &BlockPlace) -> Option<Cut> {
        // A damaged row ends the block, as it will end it for the plan.
        for (row_count, row) in rows(payload).map_while(Result::ok).enumerate() {
            if !self.row(&row) {
                continue;
            }
            return Some(Cut {
                path: PathBuf::new(),
                block_offset: place.offset,
                row_count,
                clock: self.reach.clock.clone(),
                replica: row.replica,
                lsn: row.lsn,
                tsn: row.tsn,
                timestamp: row.timestamp,
                earlier_count: 0,
                before_log: VClock::default(),
                log: 0,
                block_end: place.payload.end,
                is_log_begun: self.is_log_begun,
            });
        }
        None
    }

    /// Reads a row. Returns whether it is the last one of a transaction that is not before the point.
    fn row(&mut self, row: &Row) -> bool {
        let is_after = self.point.counts(row.replica) && self.point.is_reached_by(row);
        let slot = self.slot(row);
        let known = self.open.remove(&slot).filter(|open| open.tsn == row.tsn);
        let mut open = known.unwrap_or(Open { tsn: row.tsn, is_after: false, last: [0; 2] });
        open.is_after = match self.point {
            // Of a transaction's times the last one counts.
            Position::Time(_) => is_after,
            _ => open.is_after || is_after,
        };
        let [last, last_local] = &mut open.last;
        *(if row.replica == 0 { last_local } else { last }) = row.lsn;
        if !row.is_commit {
            self.open.insert(slot, open);
            return false;
        }
        if open.is_after {
            return true;
        }
        for (replica, lsn) in [slot, 0].into_iter().zip(open.last) {
            self.reach.clock.follow(replica, lsn);
        }
        self.reach.replicas.insert(slot);
        self.reach.transaction_count = self.reach.transaction_count.saturating_add(1);
        self.reach.last_time = row.timestamp;
        self.is_log_begun = true;
        false
    }

    /// Returns the replica of a row's transaction. A row that is not replicated belongs to the transaction
    /// with its number.
    fn slot(&self, row: &Row) -> u32 {
        debug_assert!(row.replica <= REPLICA_MAX, "rows with greater numbers are not read");
        if row.replica != 0 {
            return row.replica;
        }
        self.open.iter().find(|(_, open)| open.tsn == row.tsn).map_or(0, |(&replica, _)| replica)
    }

    fn note_replicas(&mut self) {
        let replicas: Vec<u32> = self.reach.clock.iter().map(|(replica, _)| replica).collect();
        self.reach.replicas.extend(replicas);
    }

    /// Returns how many transactions after the cut, in its log, have times before the point.
    fn earlier(&self, bytes: &[u8], cut: &Cut) -> u64 {
        if !matches!(self.point, Position::Time(_)) {
            return 0;
        }
        let mut count: u64 = 0;
        let mut unpacker = Unpacker::default();
        for place in blocks(bytes, cut.block_offset..bytes.len()) {
            let Ok(payload) = unpacker.unpack(bytes, &place) else { break };
            let skipped = if place.offset == cut.block_offset { cut.row_count } else { 0 };
            let later = rows(payload).map_while(Result::ok).skip(skipped);
            let is_earlier = |row: &Row| row.is_commit && !self.point.is_reached_by(row);
            count = count.saturating_add(later.filter(is_earlier).count() as u64);
        }
        count
    }
}

/// Returns the blocks of a range, up to the first head that is damaged.
fn blocks(bytes: &[u8], range: std::ops::Range<usize>) -> impl Iterator<Item = BlockPlace> {
    let mut at = range.start;
    std::iter::from_fn(move || match read_head(bytes, at) {
        Ok(Step::Block(place)) if at < range.end => {
            at = place.payload.end;
            Some(place)
        }
        _ => None,
    })
}
