//! The logs of a plan: which are used, whether they are consecutive, and how each ends.
//!
//! Input: a snapshot and all logs. Output: the plan. Does not use the disk.

use super::candidate::{Begin, Candidate, Log, choose};
use super::options::{Mode, PlanOptions};
use super::planned::{Plan, PlannedFile, Torn, gap, planned, what_of};
use super::snapshot::ScannedSnapshot;
use crate::check::loss::Loss;
use crate::check::scan::{Depth, FileScan, Hole, HoleEnd, ScanInput, scan};
use crate::error::{Error, Result};
use crate::file::block::END;
use crate::file::directory::{Opened, Unopened};
use crate::file::header::FileKind;
use crate::vclock::VClock;
use disk::Map;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Makes the plan.
///
/// `cut_log` ends at a point in time, not where its writer ended.
pub(super) fn plan(
    snapshot: Option<ScannedSnapshot>,
    logs: &[Log],
    options: &PlanOptions,
    cut_log: Option<&Path>,
) -> Result<Plan> {
    let (snapshot, lost) = snapshot.map_or((None, Vec::new()), |scanned| (Some(scanned.file), scanned.lost));
    let reached = snapshot.as_ref().map_or_else(VClock::default, |file| file.header.vclock.clone());
    let plan = Plan {
        snapshot,
        logs: Vec::new(),
        vinyl: None,
        lost,
        remarks: Vec::new(),
        torn: Vec::new(),
        reached,
        cut: None,
        ends_at_point: false,
        mode: options.mode,
    };
    let instance = plan.snapshot.as_ref().map(|file| file.header.instance);
    let mut planner = Planner { plan, depth: options.depth.max(Depth::Checksums), options, cut_log };
    let rescued: Vec<Candidate> = match options.mode {
        Mode::Strict => Vec::new(),
        Mode::Salvage => logs.iter().filter_map(|log| Candidate::rescue(log.as_ref().err()?)).collect(),
    };
    let own = logs.iter().filter_map(|log| log.as_ref().ok()).map(Candidate::new).chain(rescued);
    let usable: Vec<Candidate> = own.filter(|log| !is_foreign(instance, &log.opened)).collect();
    let start = planner.plan.reached.clone();
    let chosen = choose(usable, &start);
    let begin = chosen.first().map_or(i64::MAX, |log| log.signature).min(start.signature());
    let mut begun = None;
    let mut unread = None;
    for (place, log) in logs.iter().enumerate() {
        let is_last = place + 1 == logs.len();
        match log {
            // A crash may have torn the last log before anything was in it.
            Err(unusable) if is_last && unusable.was_begun => begun = Some(unusable),
            // Salvage reads the rows after a broken header.
            Err(unusable) if chosen.iter().any(|log| log.opened.path == unusable.path) => {
                planner.unusable(unusable, unusable.first_block)?;
            }
            // Faults in logs before the snapshot do not matter.
            Err(unusable) if unusable.signature >= begin => {
                planner.unusable(unusable, None)?;
                unread = Some(unusable).filter(|unusable| is_last && unusable.header.is_none());
            }
            Ok(opened) if is_foreign(instance, opened) && opened.header.vclock.signature() >= begin => {
                planner.foreign(opened)?;
            }
            _ => {}
        }
    }
    if begun.is_some() {
        // Only its name says where it begins, as a sum. A sum can be compared only if every row is counted.
        planner.depth = Depth::Rows;
    }
    for (place, log) in chosen.iter().enumerate() {
        planner.log(log, chosen.get(place + 1))?;
    }
    begun.map_or(Ok(()), |begun| planner.begun(begun))?;
    // There is no later log that would reveal the rows missing before it.
    if let Some(unread) = unread {
        planner.missed_before(&unread.path, unread.signature, 0)?;
    }
    Ok(planner.plan)
}

pub(super) fn is_foreign(instance: Option<[u8; 16]>, opened: &Opened) -> bool {
    let nil = [0; 16];
    instance.is_some_and(|own| own != nil && opened.header.instance != nil && opened.header.instance != own)
}

struct Planner<'a> {
    plan: Plan,
    depth: Depth,
    options: &'a PlanOptions,
    cut_log: Option<&'a Path>,
}

impl Planner<'_> {
    /// Handles a log with an unusable header. Its rows are read from `read_from` on, if that is given.
    fn unusable(&mut self, log: &Unopened, read_from: Option<usize>) -> Result<()> {
        let lost_bytes = read_from.unwrap_or(log.length_bytes);
        let lost = Loss::file(&log.path, FileKind::Log, lost_bytes, what_of(&log.error));
        self.lose(lost, || copy(&log.error))
    }

    /// Handles a last log that was begun but is empty.
    fn begun(&mut self, log: &Unopened) -> Result<()> {
        if self.missed_before(&log.path, log.signature, log.length_bytes)? == 0 {
            self.torn(&log.path, 0, &log.bytes, what_of(&log.error));
        }
        Ok(())
    }

    /// Lists how many rows are missing before a log, of whose vector clock only the sum is known. Returns the
    /// number of missing rows.
    fn missed_before(&mut self, path: &Path, signature: i64, length_bytes: usize) -> Result<i64> {
        let missing = signature.saturating_sub(self.plan.reached.signature()).max(0);
        if missing > 0 {
            let what = format!("rows before this file are missing: {missing} in all");
            let lost = Loss::file(path, FileKind::Log, length_bytes, what);
            let (before, ends) = (self.last_path(path), self.plan.reached.to_string());
            let begins = format!("{signature} rows in all");
            self.lose(lost, || Error::Gap { before, after: path.to_owned(), ends, begins })?;
        }
        Ok(missing)
    }

    /// Returns the file that was read last, or `otherwise`.
    fn last_path(&self, otherwise: &Path) -> PathBuf {
        let last = self.plan.logs.last().or(self.plan.snapshot.as_ref());
        last.map_or(otherwise, |file| file.path.as_path()).to_owned()
    }

    /// Handles a log of another instance.
    fn foreign(&mut self, log: &Opened) -> Result<()> {
        let what = "belongs to another instance than the snapshot: move it away";
        let lost = Loss::file(&log.path, FileKind::Log, log.bytes.len(), what.to_owned());
        self.lose(lost, || Error::Unsupported { path: log.path.clone(), what: what.to_owned() })
    }

    /// Handles a log to read. `next` is the log after it.
    fn log(&mut self, log: &Candidate, next: Option<&Candidate>) -> Result<()> {
        let opened = &self.join(log)?;
        let clock = &opened.header.vclock;
        let expected = clock.iter().map(|(replica, lsn)| (replica, lsn.saturating_add(1))).collect();
        let input = ScanInput {
            bytes: &opened.bytes,
            begin: opened.header_bytes,
            kind: FileKind::Log,
            depth: self.depth,
            checked: self.options.checked_file(&opened.path),
        };
        let mut scan = scan(input, expected);
        self.plan.reached = self.plan.reached.union(&reached(&scan));
        let begin = next.map(|next| next.begin(&self.plan.reached));
        let holes = std::mem::take(&mut scan.holes);
        for hole in &holes {
            self.hole(opened, hole, begin.as_ref())?;
        }
        let is_read_whole = self.depth == Depth::Rows;
        // Rows lost in a hole at the end are listed already, and must not be listed again as missing before
        // the next log.
        if let (Some(clock), true) =
            (begin.as_ref().and_then(Begin::sure), holes.iter().any(|hole| hole.behind != HoleEnd::Block))
        {
            self.skip_to(clock);
        }
        let file = planned(opened, scan.clone());
        if let Some(next) = next {
            self.ends_before(&file, &scan, &next.opened, is_read_whole)?;
        } else if !file.is_closed && holes.is_empty() && self.cut_log != Some(&file.path) {
            let path = file.path.display();
            self.plan
                .remarks
                .push(format!("{path} was not closed: the program that wrote it ended early, or still runs"));
        }
        self.plan.logs.push(file);
        Ok(())
    }

    /// In salvage, continues where the next log begins.
    fn skip_to(&mut self, clock: &VClock) {
        if self.plan.mode == Mode::Salvage {
            self.plan.reached = self.plan.reached.union(clock);
        }
    }

    /// Checks that there is no gap before a log. Returns the log with its complete vector clock.
    fn join(&mut self, log: &Candidate) -> Result<Opened> {
        let begin = log.begin(&self.plan.reached);
        let mut opened = log.opened.clone();
        opened.header.vclock = begin.clock;
        let clock = &opened.header.vclock;
        let is_first = self.plan.logs.is_empty();
        // Between logs, only the last block of the previous one may have been read; `ends_before` has
        // compared that already.
        if !self.plan.reached.covers(clock) && (is_first || self.depth == Depth::Rows) {
            let before = self.last_path(&opened.path);
            let lost = Loss::gap(&opened.path, &self.plan.reached, clock);
            let (ends, begins) = (self.plan.reached.to_string(), clock.to_string());
            self.lose(lost, || Error::Gap { before, after: opened.path.clone(), ends, begins })?;
        }
        self.plan.reached = self.plan.reached.union(clock);
        if let Some(signature) = log.named {
            self.missed_before(&opened.path, signature, 0)?;
        }
        Ok(opened)
    }

    /// Checks that there is no gap between a log and the next one. If only the last block was read, compares
    /// only the replicas in that block.
    fn ends_before(
        &mut self,
        file: &PlannedFile,
        scan: &FileScan,
        next: &Opened,
        is_read_whole: bool,
    ) -> Result<()> {
        let clock = &next.header.vclock;
        let is_known = |replica: u32| is_read_whole || scan.block_count == 0 || scan.seen.contains(&replica);
        let misses =
            clock.iter().any(|(replica, lsn)| is_known(replica) && self.plan.reached.get(replica) < lsn);
        if !misses || self.plan.mode == Mode::Salvage {
            return Ok(());
        }
        let after = planned(next, FileScan::default());
        Err(gap(&file.path, &self.plan.reached, &after))
    }

    /// Handles a hole between or after sound blocks.
    fn hole(&mut self, opened: &Opened, hole: &Hole, next: Option<&Begin>) -> Result<()> {
        let path = &opened.path;
        let lost = Loss::hole(path, FileKind::Log, hole, next.and_then(Begin::sure));
        let is_tail = matches!(hole.behind, HoleEnd::Nothing | HoleEnd::EndMark);
        if is_tail && next.is_none() {
            let (keep, length) = (hole.bytes.start, opened.bytes.len());
            let was_closed = hole.behind == HoleEnd::EndMark && length > hole.bytes.end;
            if was_closed || self.plan.mode == Mode::Salvage {
                // A closed file was complete once, so its rows were acknowledged.
                self.plan.lost.push(lost);
            }
            self.torn(path, keep, &opened.bytes, hole.what.to_owned());
            return Ok(());
        }
        if is_tail && (lost.numbers.is_empty() || self.plan.mode == Mode::Strict) {
            let bytes = hole.bytes.len();
            self.plan.remarks.push(format!(
                "{} ends with a torn write, {bytes} bytes; \
                 the next log begins where the last whole block ends",
                path.display()
            ));
            return Ok(());
        }
        let (offset, what) = (hole.bytes.start as u64, hole.what.to_owned());
        self.lose(lost, || Error::Damage { path: path.clone(), offset, what })
    }

    fn torn(&mut self, path: &Path, keep: usize, bytes: &Map, what: String) {
        let (keep_bytes, length_bytes) = (keep as u64, bytes.len() as u64);
        let (was_closed, seen) = (bytes.ends_with(&END), bytes.seen());
        self.plan.torn.push(Torn { path: path.to_owned(), keep_bytes, length_bytes, what, was_closed, seen });
    }

    /// Lists a loss, or refuses it.
    fn lose(&mut self, lost: Loss, error: impl FnOnce() -> Error) -> Result<()> {
        match self.plan.mode {
            Mode::Strict => Err(error()),
            Mode::Salvage => {
                self.plan.lost.push(lost);
                Ok(())
            }
        }
    }
}

/// Returns the vector clock after the rows of a log.
fn reached(scan: &FileScan) -> VClock {
    let mut clock = VClock::default();
    let expected: &BTreeMap<u32, i64> = &scan.expected;
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
