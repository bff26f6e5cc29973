//! The logs that a plan may use, sorted, including logs with a broken header or a wrong name.
//!
//! Input: files, opened or not. Output: [`Candidate`]s, and where the rows of each begin. Reports no losses;
//! `logs` does.

use crate::error::Result;
use crate::file::block::{Step, Unpacker, read_head};
use crate::file::directory::{self, Named, Opened, Unopened};
use crate::file::header::{FileKind, FormatVersion, Header};
use crate::file::row::rows;
use crate::vclock::VClock;
use disk::Disk;
use std::collections::BTreeMap;

/// A log, opened if its header allows it.
pub(super) type Log = std::result::Result<Opened, Box<Unopened>>;

/// Opens every log.
pub(super) fn open_all(disk: &dyn Disk, logs: &[Named]) -> Result<Vec<Log>> {
    logs.iter().map(|named| directory::open(disk, named, FileKind::Log)).collect()
}

/// A log that may be read.
pub(super) struct Candidate {
    /// The log; its vector clock is empty if its header is broken.
    pub(super) opened: Opened,
    /// The sort key: the sum of its vector clock, as far as that is known.
    pub(super) signature: i64,
    /// If its header is broken, the sum in its name.
    pub(super) named: Option<i64>,
    /// If its header is broken, the number before the first row of each replica. Replicas without rows in the
    /// log are unknown.
    firsts: BTreeMap<u32, i64>,
}

/// The position where the rows of a log begin.
pub(super) struct Begin {
    /// The vector clock before them, as far as it is known.
    pub(super) clock: VClock,
    /// Whether the vector clock is certain.
    is_sure: bool,
}

impl Begin {
    /// Returns the vector clock if it is certain.
    pub(super) fn sure(&self) -> Option<&VClock> {
        self.is_sure.then_some(&self.clock)
    }
}

impl Candidate {
    /// Returns the candidate for a log with a usable header.
    pub(super) fn new(opened: &Opened) -> Candidate {
        let signature = opened.header.vclock.signature();
        Candidate { opened: opened.clone(), signature, named: None, firsts: BTreeMap::new() }
    }

    /// Returns the candidate for a log with a broken header or a wrong name, if it has rows.
    pub(super) fn rescue(log: &Unopened) -> Option<Candidate> {
        let begin = log.first_block?;
        let opened =
            |header| Opened { path: log.path.clone(), header, header_bytes: begin, bytes: log.bytes.clone() };
        if let Some(header) = &log.header {
            return Some(Candidate::new(&opened(header.clone())));
        }
        let firsts = firsts(&log.bytes, begin)?;
        // If some replicas have no rows here, the rows give less than the name; if the name is wrong, they
        // give more.
        let told = firsts.values().fold(0, |sum: i64, &lsn| sum.saturating_add(lsn));
        let header = Header::empty(FileKind::Log, FormatVersion::V013);
        let signature = log.signature.max(told);
        Some(Candidate { opened: opened(header), signature, named: Some(log.signature), firsts })
    }

    /// Returns where its rows begin, given that the rows before it reach `reached`.
    pub(super) fn begin(&self, reached: &VClock) -> Begin {
        let Some(named) = self.named else {
            return Begin { clock: self.opened.header.vclock.clone(), is_sure: true };
        };
        let mut clock = reached.clone();
        for (&replica, &lsn) in &self.firsts {
            clock.set(replica, lsn);
        }
        let is_sure = clock.signature() == named;
        Begin { clock, is_sure }
    }

    /// Returns whether a snapshot contains everything before its rows.
    fn begins_within(&self, snapshot: &VClock) -> bool {
        match self.named {
            // Logs of one instance are consecutive, so their sums give the order.
            Some(_) => self.signature <= snapshot.signature(),
            None => snapshot.covers(&self.opened.header.vclock),
        }
    }
}

/// Returns, sorted, the last log that begins at or before a snapshot, and all logs after it.
pub(super) fn choose(mut logs: Vec<Candidate>, snapshot: &VClock) -> Vec<Candidate> {
    logs.sort_by_key(|log| log.signature);
    let last = logs.iter().rposition(|log| log.begins_within(snapshot)).unwrap_or(0);
    // If several logs begin there, one is a copy under a wrong name. The copy may be the shorter one.
    let first = logs.get(last).map_or(0, |last| logs.partition_point(|log| log.signature < last.signature));
    logs.split_off(first)
}

/// Returns the number before the first row of each replica. Reads consecutive sound blocks from `at` on.
/// Returns `None` if the first block cannot be read.
fn firsts(bytes: &[u8], mut at: usize) -> Option<BTreeMap<u32, i64>> {
    let mut unpacker = Unpacker::default();
    let mut firsts = None;
    while let Ok(Step::Block(place)) = read_head(bytes, at) {
        let Ok(payload) = unpacker.unpack(bytes, &place) else { break };
        let firsts = firsts.get_or_insert_with(BTreeMap::new);
        for row in rows(payload).flatten() {
            firsts.entry(row.replica).or_insert(row.lsn.saturating_sub(1));
        }
        at = place.payload.end;
    }
    firsts
}
