//! The logs of a plan: which of them, whether they follow on each other, and how each ends.
//!
//! Comes in: a snapshot and every log there is. Goes out: the plan. Must not know the disk.

use super::{Mode, Plan, PlanOptions, PlannedFile, Torn, Walked, gap, planned, what_of};
use crate::block::{END, Step, Unpacker, hop};
use crate::directory::{self, Named, Opened, Unopened};
use crate::error::{Error, Result};
use crate::header::{FileKind, FormatVersion, Header};
use crate::lost::Lost;
use crate::row::rows;
use crate::vclock::VClock;
use crate::walk::{Behind, Depth, Hole, Walk, walk};
use disk::Disk;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A log, opened if its header allows it.
pub(super) type Log = std::result::Result<Opened, Box<Unopened>>;

/// Opens every log.
pub(super) fn open_all(disk: &dyn Disk, logs: &[Named]) -> Result<Vec<Log>> {
    logs.iter().map(|named| directory::open(disk, named, FileKind::Log)).collect()
}

/// Makes the plan.
pub(super) fn plan(snapshot: Option<Walked>, logs: &[Log], options: &PlanOptions) -> Result<Plan> {
    let (snapshot, lost) = snapshot.map_or((None, Vec::new()), |walked| (Some(walked.file), walked.lost));
    let reached = snapshot.as_ref().map_or_else(VClock::default, |file| file.header.vclock.clone());
    let plan = Plan {
        snapshot,
        logs: Vec::new(),
        lost,
        remarks: Vec::new(),
        torn: Vec::new(),
        reached,
        mode: options.mode,
    };
    let instance = plan.snapshot.as_ref().map(|file| file.header.instance);
    let mut planner = Planner { plan, depth: options.depth.max(Depth::Checksums) };
    let rescued: Vec<Opened> = match options.mode {
        Mode::Strict => Vec::new(),
        Mode::Salvage => logs.iter().filter_map(|log| rescue(log.as_ref().err()?)).collect(),
    };
    let own = logs.iter().filter_map(|log| log.as_ref().ok()).chain(&rescued);
    let mut usable: Vec<&Opened> = own.filter(|log| !is_foreign(instance, log)).collect();
    usable.sort_by_key(|log| log.header.vclock.signature());
    // The last log that begins at or before the snapshot, and all behind it.
    let start = planner.plan.reached.clone();
    let first = usable.iter().rposition(|opened| start.covers(&opened.header.vclock)).unwrap_or(0);
    let chosen = usable.get(first..).unwrap_or_default();
    let begin = chosen.first().map_or(i64::MAX, |log| log.header.vclock.signature()).min(start.signature());
    let mut begun = None;
    for (place, log) in logs.iter().enumerate() {
        match log {
            // The last log may have been torn before anything was in it.
            Err(unusable) if place + 1 == logs.len() && unusable.was_begun => begun = Some(unusable),
            // What was wrong before the snapshot is of no matter.
            Err(unusable) if unusable.signature >= begin => planner.unusable(unusable)?,
            Ok(opened) if is_foreign(instance, opened) && opened.header.vclock.signature() >= begin => {
                planner.foreign(opened)?;
            }
            _ => {}
        }
    }
    if begun.is_some() {
        // Its name alone says where it begins: a sum, which can be compared only if every row is counted.
        planner.depth = Depth::Rows;
    }
    for (place, opened) in chosen.iter().enumerate() {
        planner.log(opened, chosen.get(place + 1).copied())?;
    }
    begun.map_or(Ok(()), |begun| planner.begun(begun))?;
    Ok(planner.plan)
}

fn is_foreign(instance: Option<[u8; 16]>, opened: &Opened) -> bool {
    let nil = [0; 16];
    instance.is_some_and(|own| own != nil && opened.header.instance != nil && opened.header.instance != own)
}

/// Opens a log whose header or name is wrong by what its rows tell.
fn rescue(log: &Unopened) -> Option<Opened> {
    let begin = log.first_block?;
    let mut vclock = VClock::default();
    if let Ok(Step::Block(place)) = hop(&log.bytes, begin) {
        let mut unpacker = Unpacker::default();
        let mut seen = BTreeSet::new();
        for row in rows(unpacker.unpack(&log.bytes, &place).ok()?).flatten() {
            if seen.insert(row.replica) {
                vclock.set(row.replica, row.lsn.saturating_sub(1));
            }
        }
    }
    let from_rows = || Header {
        kind: FileKind::Log,
        version: FormatVersion::V013,
        program: String::new(),
        instance: [0; 16],
        vclock,
        previous: None,
    };
    let header = log.header.clone().unwrap_or_else(from_rows);
    Some(Opened { path: log.path.clone(), header, header_bytes: begin, bytes: log.bytes.clone() })
}

struct Planner {
    plan: Plan,
    depth: Depth,
}

impl Planner {
    /// A log whose header cannot be used.
    fn unusable(&mut self, log: &Unopened) -> Result<()> {
        // What is behind a wrong header, salvage reads.
        let lost_bytes = log.first_block.unwrap_or(log.length_bytes);
        let lost = Lost::file(&log.path, FileKind::Log, lost_bytes, what_of(&log.error));
        self.lose(lost, || copy(&log.error))
    }

    /// A last log that was begun, and nothing more.
    fn begun(&mut self, log: &Unopened) -> Result<()> {
        let reached = self.plan.reached.signature();
        if reached < log.signature {
            let before = self.plan.logs.last().or(self.plan.snapshot.as_ref());
            let before = before.map_or_else(|| log.path.clone(), |file| file.path.clone());
            let what = format!("rows before this file are missing: {} in all", log.signature - reached);
            let lost = Lost::file(&log.path, FileKind::Log, log.length_bytes, what);
            let (ends, begins) = (self.plan.reached.to_string(), format!("{} rows in all", log.signature));
            return self.lose(lost, || Error::Gap { before, after: log.path.clone(), ends, begins });
        }
        self.torn(&log.path, 0, &log.bytes, what_of(&log.error));
        Ok(())
    }

    /// A log of another instance.
    fn foreign(&mut self, log: &Opened) -> Result<()> {
        let what = "belongs to another instance than the snapshot: move it away";
        let lost = Lost::file(&log.path, FileKind::Log, log.bytes.len(), what.to_owned());
        self.lose(lost, || Error::Unsupported { path: log.path.clone(), what: what.to_owned() })
    }

    /// A log to read. `next` is the one behind it.
    fn log(&mut self, opened: &Opened, next: Option<&Opened>) -> Result<()> {
        self.join(opened)?;
        let clock = &opened.header.vclock;
        let expected = clock.iter().map(|(replica, lsn)| (replica, lsn.saturating_add(1))).collect();
        let mut walk = walk(&opened.bytes, opened.header_bytes, FileKind::Log, self.depth, expected);
        let next_clock = next.map(|next| &next.header.vclock);
        let holes = std::mem::take(&mut walk.holes);
        for hole in &holes {
            self.hole(opened, hole, next_clock)?;
        }
        let is_read_whole = self.depth == Depth::Rows;
        self.plan.reached = self.plan.reached.union(&reached(&walk));
        // What a hole at the end took is listed: it is not missing once more before the next log.
        if let (Some(clock), true) = (next_clock, holes.iter().any(|hole| hole.behind != Behind::Block)) {
            self.skip_to(clock);
        }
        let file = planned(opened, walk.clone());
        if let Some(next) = next {
            self.ends_before(&file, &walk, next, is_read_whole)?;
        } else if !file.is_closed && holes.is_empty() {
            let path = file.path.display();
            self.plan
                .remarks
                .push(format!("{path} was not closed: the program that wrote it ended early, or still runs"));
        }
        self.plan.logs.push(file);
        Ok(())
    }

    /// In salvage, goes on where the next log begins.
    fn skip_to(&mut self, clock: &VClock) {
        if self.plan.mode == Mode::Salvage {
            self.plan.reached = self.plan.reached.union(clock);
        }
    }

    /// Checks that a log begins no later than what was read before it ends.
    fn join(&mut self, opened: &Opened) -> Result<()> {
        let clock = &opened.header.vclock;
        let is_first = self.plan.logs.is_empty();
        // Between logs, what lies behind the last block is looked at only in part: `ends_before` has compared that already.
        if self.plan.reached.covers(clock) || (!is_first && self.depth != Depth::Rows) {
            self.plan.reached = self.plan.reached.union(clock);
            return Ok(());
        }
        let before = self.plan.logs.last().or(self.plan.snapshot.as_ref());
        let before = before.map_or_else(|| opened.path.clone(), |file| file.path.clone());
        let lost = Lost::gap(&opened.path, &self.plan.reached, clock);
        let (ends, begins) = (self.plan.reached.to_string(), clock.to_string());
        self.lose(lost, || Error::Gap { before, after: opened.path.clone(), ends, begins })?;
        self.plan.reached = self.plan.reached.union(clock);
        Ok(())
    }

    /// Checks that a log ends no earlier than the next begins. Where only its last block was read, that tells of its replicas alone.
    fn ends_before(
        &mut self,
        file: &PlannedFile,
        walk: &Walk,
        next: &Opened,
        is_read_whole: bool,
    ) -> Result<()> {
        let clock = &next.header.vclock;
        let is_known = |replica: u32| is_read_whole || walk.block_count == 0 || walk.seen.contains(&replica);
        let misses =
            clock.iter().any(|(replica, lsn)| is_known(replica) && self.plan.reached.get(replica) < lsn);
        if !misses || self.plan.mode == Mode::Salvage {
            return Ok(());
        }
        let after = planned(next, Walk::default());
        Err(gap(&file.path, &self.plan.reached, &after))
    }

    /// Something between or behind whole blocks.
    fn hole(&mut self, opened: &Opened, hole: &Hole, next: Option<&VClock>) -> Result<()> {
        let path = &opened.path;
        let lost = Lost::hole(path, FileKind::Log, hole, next);
        let is_tail = matches!(hole.behind, Behind::Nothing | Behind::EndMark);
        if is_tail && next.is_none() {
            let (keep, length) = (hole.bytes.start, opened.bytes.len());
            let was_closed = hole.behind == Behind::EndMark && length > hole.bytes.end;
            if was_closed || self.plan.mode == Mode::Salvage {
                // What was closed was whole once: its rows were acknowledged.
                self.plan.lost.push(lost);
            }
            self.torn(path, keep, &opened.bytes, hole.what.to_owned());
            return Ok(());
        }
        if is_tail && (lost.numbers.is_empty() || self.plan.mode == Mode::Strict) {
            let bytes = hole.bytes.len();
            self.plan.remarks.push(format!(
                "{} ends with a torn write, {bytes} bytes; the next log begins where the last whole block ends",
                path.display()
            ));
            return Ok(());
        }
        let (offset, what) = (hole.bytes.start as u64, hole.what.to_owned());
        self.lose(lost, || Error::Damage { path: path.clone(), offset, what })
    }

    fn torn(&mut self, path: &Path, keep: usize, bytes: &[u8], what: String) {
        let (keep_bytes, length_bytes) = (keep as u64, bytes.len() as u64);
        let was_closed = bytes.ends_with(&END);
        self.plan.torn.push(Torn { path: path.to_owned(), keep_bytes, length_bytes, what, was_closed });
    }

    /// Lists a loss, or refuses it.
    fn lose(&mut self, lost: Lost, error: impl FnOnce() -> Error) -> Result<()> {
        match self.plan.mode {
            Mode::Strict => Err(error()),
            Mode::Salvage => {
                self.plan.lost.push(lost);
                Ok(())
            }
        }
    }
}

/// Returns how far the rows of a log reach.
fn reached(walk: &Walk) -> VClock {
    let mut clock = VClock::default();
    let expected: &BTreeMap<u32, i64> = &walk.expected;
    for (&replica, &next) in expected {
        clock.set(replica, next.saturating_sub(1));
    }
    clock
}

/// Copies an error of a file that cannot be opened.
fn copy(error: &Error) -> Error {
    match error {
        Error::Damage { path, offset, what } => {
            Error::Damage { path: path.clone(), offset: *offset, what: what.clone() }
        }
        other => Error::Unsupported { path: "".into(), what: other.to_string() },
    }
}
