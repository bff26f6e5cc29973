//! Logs that a plan may use, in order, including those whose header or name is wrong.
//!
//! Input: files, opened or not. Output: [`Candidate`]s, and where the rows of each begin. It reports no
//! losses; `logs` does.

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
    /// What it is put in order by: the sum of its vector clock, as far as that is known.
    pub(super) signature: i64,
    /// What its name says, if its header is broken and does not.
    pub(super) named: Option<i64>,
    /// If its header is broken, the number before that of the first row of each replica. Nothing tells of
    /// replicas without rows in it.
    firsts: BTreeMap<u32, i64>,
}

/// Where the rows of a log begin.
pub(super) struct Begin {
    /// What is before them, as far as that is known.
    pub(super) clock: VClock,
    /// Whether nothing contradicts that.
    is_sure: bool,
}

impl Begin {
    /// Returns the vector clock, if it is sure.
    pub(super) fn sure(&self) -> Option<&VClock> {
        self.is_sure.then_some(&self.clock)
    }
}

impl Candidate {
    /// Takes up a log whose header can be used.
    pub(super) fn new(opened: &Opened) -> Candidate {
        let signature = opened.header.vclock.signature();
        Candidate { opened: opened.clone(), signature, named: None, firsts: BTreeMap::new() }
    }

    /// Takes up a log whose header or name is wrong, if there are rows in it.
    pub(super) fn rescue(log: &Unopened) -> Option<Candidate> {
        let begin = log.first_block?;
        let opened =
            |header| Opened { path: log.path.clone(), header, header_bytes: begin, bytes: log.bytes.clone() };
        if let Some(header) = &log.header {
            return Some(Candidate::new(&opened(header.clone())));
        }
        let firsts = firsts(&log.bytes, begin)?;
        // Of some replicas alone the rows tell less than the name, of a file under a wrong name more.
        let told = firsts.values().fold(0, |sum: i64, &lsn| sum.saturating_add(lsn));
        let header = Header::empty(FileKind::Log, FormatVersion::V013);
        let signature = log.signature.max(told);
        Some(Candidate { opened: opened(header), signature, named: Some(log.signature), firsts })
    }

    /// Returns where its rows begin, when those before it reach to `reached`.
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

    /// Returns whether a snapshot has all that was before its rows.
    fn begins_within(&self, snapshot: &VClock) -> bool {
        match self.named {
            // Logs of one instance follow on each other: their sums say which comes first.
            Some(_) => self.signature <= snapshot.signature(),
            None => snapshot.covers(&self.opened.header.vclock),
        }
    }
}

/// Returns, in order, the last log that begins at or before a snapshot, and all behind it.
pub(super) fn choose(mut logs: Vec<Candidate>, snapshot: &VClock) -> Vec<Candidate> {
    logs.sort_by_key(|log| log.signature);
    let last = logs.iter().rposition(|log| log.begins_within(snapshot)).unwrap_or(0);
    // Of several that begin there, one is a copy under a wrong name, which may be the shorter one.
    let first = logs.get(last).map_or(0, |last| logs.partition_point(|log| log.signature < last.signature));
    logs.split_off(first)
}

/// Returns the number before that of the first row of each replica, as far as whole blocks follow on each
/// other from `at` on; nothing if not even the first can be read.
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
