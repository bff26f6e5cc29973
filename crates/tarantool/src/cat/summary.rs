//! What is in a file: rows, bytes, spaces, replicas, gaps, damage.
//!
//! Input: a file of rows. Output: numbers. Reads every block, on several threads while all of them are sound.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::print::Notice;
use super::source::RowsFile;
use super::walk::{Hole, Next, Walk};
use crate::error::Damage;
use crate::file::block::{BlockPlace, Unpacker};
use crate::file::header::FileKind;
use crate::file::row::{Row, rows};
use std::collections::BTreeMap;
use std::thread;

/// Spaces of a file that are counted one by one.
const SPACES_MAX: usize = 4096;
/// Gaps of a replica that are named one by one.
const GAPS_MAX: usize = 100;

/// What is in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Sound blocks.
    pub block_count: u64,
    /// Bytes of their payloads, as stored.
    pub stored_bytes: u64,
    /// Bytes of their payloads, decompressed.
    pub unpacked_bytes: u64,
    /// Rows.
    pub row_count: u64,
    /// Rows by space; `None` for rows without one.
    pub spaces: BTreeMap<Option<u32>, SpaceSummary>,
    /// Rows of spaces beyond the number that is counted one by one.
    pub more_spaces: SpaceSummary,
    /// Rows by replica.
    pub replicas: BTreeMap<u32, ReplicaSummary>,
    /// Whether the file was closed.
    pub is_closed: bool,
    /// What cannot be read.
    pub damage: Vec<Notice>,
}

/// The rows of a space in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceSummary {
    /// How many there are.
    pub row_count: u64,
    /// Bytes of their bodies.
    pub body_bytes: u64,
}

/// The rows of a replica in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaSummary {
    /// How many there are.
    pub row_count: u64,
    /// The numbers of the first and the last.
    pub lsns: (i64, i64),
    /// The times of the earliest and the latest, in seconds since 1970.
    pub times: (f64, f64),
    /// Numbers that no row has between others: the first and the last of each gap. Only in logs.
    pub gaps: Vec<(i64, i64)>,
    /// How many gaps there are.
    pub gap_count: u64,
}

/// Reads a whole file, on so many threads.
pub fn summarise(file: &RowsFile, thread_count: usize) -> Summary {
    let places = heads(file);
    let parts = match places {
        Some((places, is_closed)) => {
            read_sound(file, &places, thread_count.max(1)).map(|parts| (parts, is_closed))
        }
        None => None,
    };
    let Some((parts, is_closed)) = parts else { return read_damaged(file) };
    let mut summary = Summary { is_closed, ..Summary::default() };
    parts.into_iter().for_each(|part| summary.add(part, file));
    summary.finish(file);
    summary
}

/// Returns the places of all blocks, if every head is sound, and whether the file was closed.
fn heads(file: &RowsFile) -> Option<(Vec<BlockPlace>, bool)> {
    let mut walk = Walk::new(&file.bytes, file.begin);
    let mut places = Vec::new();
    loop {
        match walk.next() {
            Next::Block(place) => places.push(place),
            Next::Hole(_) => return None,
            Next::End { is_closed } => return Some((places, is_closed)),
        }
    }
}

/// Reads blocks, each thread a part of the file. Returns nothing if any is damaged.
fn read_sound(file: &RowsFile, places: &[BlockPlace], thread_count: usize) -> Option<Vec<Summary>> {
    let length = places.len().div_ceil(thread_count).max(1);
    thread::scope(|scope| {
        let threads: Vec<_> = places
            .chunks(length)
            .map(|places| {
                scope.spawn(move || {
                    let mut unpacker = Unpacker::for_file(file.kind());
                    let mut part = Summary::default();
                    places.iter().try_for_each(|place| part.read(file, place, &mut unpacker)).ok()?;
                    Some(part)
                })
            })
            .collect();
        // All are waited for, whatever one of them found.
        let parts: Vec<Option<Summary>> =
            threads.into_iter().map(|thread| thread.join().ok().flatten()).collect();
        parts.into_iter().collect()
    })
}

/// Reads a file block by block, and goes on after damage.
fn read_damaged(file: &RowsFile) -> Summary {
    let mut walk = Walk::new(&file.bytes, file.begin);
    let mut unpacker = Unpacker::for_file(file.kind());
    let mut summary = Summary::default();
    loop {
        let hole = match walk.next() {
            Next::Block(place) => {
                let mut part = Summary::default();
                match part.read(file, &place, &mut unpacker) {
                    Ok(()) => {
                        summary.add(part, file);
                        continue;
                    }
                    Err(damage) => walk.damaged(&place, damage),
                }
            }
            Next::Hole(hole) => hole,
            Next::End { is_closed } => {
                summary.is_closed = is_closed;
                break;
            }
        };
        summary.damage.push(notice(&hole));
    }
    summary.finish(file);
    summary
}

fn notice(hole: &Hole) -> Notice {
    let bytes = hole.bytes.start as u64..hole.bytes.end as u64;
    Notice::Damage { bytes, what: hole.what, is_torn: hole.is_tail }
}

impl Summary {
    /// Adds a block.
    fn read(&mut self, file: &RowsFile, place: &BlockPlace, unpacker: &mut Unpacker) -> Result<(), Damage> {
        let payload = unpacker.unpack(&file.bytes, place)?;
        self.block_count = self.block_count.saturating_add(1);
        self.stored_bytes = self.stored_bytes.saturating_add(place.payload.len() as u64);
        self.unpacked_bytes = self.unpacked_bytes.saturating_add(payload.len() as u64);
        for row in rows(payload) {
            self.add_row(&row?, file.kind());
        }
        Ok(())
    }

    fn add_row(&mut self, row: &Row, kind: FileKind) {
        self.row_count = self.row_count.saturating_add(1);
        let more = SpaceSummary { row_count: 1, body_bytes: row.body.bytes.len() as u64 };
        self.space(row.body.space).add(more);
        let one = ReplicaSummary {
            row_count: 1,
            lsns: (row.lsn, row.lsn),
            times: (row.timestamp, row.timestamp),
            gaps: Vec::new(),
            gap_count: 0,
        };
        self.add_replica(row.replica, one, kind);
    }

    fn space(&mut self, space: Option<u32>) -> &mut SpaceSummary {
        if self.spaces.len() < SPACES_MAX || self.spaces.contains_key(&space) {
            return self.spaces.entry(space).or_default();
        }
        &mut self.more_spaces
    }

    fn add_replica(&mut self, replica: u32, later: ReplicaSummary, kind: FileKind) {
        let Some(known) = self.replicas.get_mut(&replica) else {
            self.replicas.insert(replica, later);
            return;
        };
        let (before, next) = (known.lsns.1, later.lsns.0);
        if kind == FileKind::Log && next > before.saturating_add(1) {
            known.add_gap((before.saturating_add(1), next.saturating_sub(1)));
        }
        known.gap_count = known.gap_count.saturating_add(later.gap_count);
        let room = GAPS_MAX.saturating_sub(known.gaps.len());
        known.gaps.extend(later.gaps.into_iter().take(room));
        known.row_count = known.row_count.saturating_add(later.row_count);
        known.lsns.0 = known.lsns.0.min(later.lsns.0);
        known.lsns.1 = known.lsns.1.max(later.lsns.1);
        known.times = (known.times.0.min(later.times.0), known.times.1.max(later.times.1));
    }

    /// Adds what is in the blocks after these.
    fn add(&mut self, later: Summary, file: &RowsFile) {
        self.block_count = self.block_count.saturating_add(later.block_count);
        self.stored_bytes = self.stored_bytes.saturating_add(later.stored_bytes);
        self.unpacked_bytes = self.unpacked_bytes.saturating_add(later.unpacked_bytes);
        self.row_count = self.row_count.saturating_add(later.row_count);
        for (space, more) in later.spaces {
            self.space(space).add(more);
        }
        self.more_spaces.add(later.more_spaces);
        for (replica, more) in later.replicas {
            self.add_replica(replica, more, file.kind());
        }
    }

    /// Compares the first row of each replica with the header, and looks at the end of the file.
    fn finish(&mut self, file: &RowsFile) {
        let is_torn = |notice: &Notice| matches!(notice, Notice::Damage { is_torn: true, .. });
        if file.kind() == FileKind::Snapshot && !self.is_closed && !self.damage.iter().any(is_torn) {
            self.damage.push(Notice::CutOff { length_bytes: file.bytes.len() as u64 });
        }
        if file.kind() != FileKind::Log {
            return;
        }
        for (&replica, known) in &mut self.replicas {
            let expected = file.header.vclock.get(replica).saturating_add(1);
            if known.lsns.0 > expected {
                let gap = (expected, known.lsns.0.saturating_sub(1));
                known.gaps.insert(0, gap);
                known.gap_count = known.gap_count.saturating_add(1);
            }
        }
    }
}

impl SpaceSummary {
    fn add(&mut self, more: SpaceSummary) {
        self.row_count = self.row_count.saturating_add(more.row_count);
        self.body_bytes = self.body_bytes.saturating_add(more.body_bytes);
    }
}

impl ReplicaSummary {
    fn add_gap(&mut self, gap: (i64, i64)) {
        self.gap_count = self.gap_count.saturating_add(1);
        if self.gaps.len() < GAPS_MAX {
            self.gaps.push(gap);
        }
    }
}
