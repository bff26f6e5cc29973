//! The files of a directory as if they ended at a point in time.
//!
//! Input: a position, all snapshots and all logs. Output: the snapshots that are not after it, and the logs
//! up to it, the last one cut after the block with the point; or the reason why the state at that point is
//! not known. `until` reads the logs.
//!
//! The times of a snapshot's rows do not say when it was made: Tarantool gives the rows of all snapshots of a
//! process the time of the first one. So only the rows of logs tell whether a snapshot is before a time.

use super::candidate::Log;
use super::planned::Plan;
use super::until::{Cut, Reach, reach};
use crate::error::{Error, Result};
use crate::file::block::{Step, Unpacker, read_head};
use crate::file::directory::{self, Named, Opened};
use crate::file::header::FileKind;
use crate::file::row::rows;
use crate::position::Position;
use crate::text::time_of_seconds;
use crate::vclock::VClock;
use disk::Disk;
use std::path::Path;

/// What a recovery up to a point may use.
pub(super) struct View {
    /// The snapshots that are not after the point, the oldest first.
    pub(super) snapshots: Vec<Named>,
    /// The logs up to it.
    pub(super) logs: Vec<Log>,
    /// Where the rows before it end.
    reach: Reach,
    point: Position,
}

/// A snapshot, and its header if that can be used.
struct Candidate {
    named: Named,
    opened: Option<Opened>,
}

/// Returns what a recovery up to `point` may use.
///
/// # Errors
/// Disk errors; the state at that point is not known.
pub(super) fn view(
    disk: &dyn Disk,
    directory: &Path,
    point: &Position,
    snapshots: Vec<Named>,
    logs: Vec<Log>,
) -> Result<View> {
    let mut all = Vec::new();
    for named in snapshots {
        let opened = directory::open(disk, &named, FileKind::Snapshot)?.ok();
        all.push(Candidate { named, opened });
    }
    let instance = all.iter().rev().find_map(|snapshot| Some(snapshot.opened.as_ref()?.header.instance));
    let is_foreign = |log: &Log| log.as_ref().is_ok_and(|log| super::logs::is_foreign(instance, log));
    let own: Vec<(usize, &Log)> = logs.iter().enumerate().filter(|(_, log)| !is_foreign(log)).collect();
    let reach = reach(point, &own);
    let judge = Judge { directory, point, reach: &reach };
    let (before, after): (Vec<Candidate>, Vec<Candidate>) =
        all.into_iter().partition(|snapshot| judge.is_before(snapshot));
    judge.check(&before, &after)?;
    let newest = newest(&before).map(|opened| opened.header.vclock.clone()).unwrap_or_default();
    let snapshots = before.into_iter().map(|snapshot| snapshot.named).collect();
    let mut reach = reach;
    let logs = cut_logs(logs, point, &newest, reach.cut.as_mut());
    Ok(View { snapshots, logs, reach, point: point.clone() })
}

impl View {
    /// Returns the log that was cut off within or after a block, if there is one.
    pub(super) fn cut_log(&self) -> Option<&Path> {
        self.reach.cut.as_ref().map(|cut| cut.path.as_path())
    }

    /// Says in a plan where it ends.
    pub(super) fn finish(self, mut plan: Plan) -> Plan {
        match self.reach.cut {
            Some(cut) => {
                let snapshot = plan.snapshot.as_ref().map(|file| &file.header.vclock);
                plan.reached = snapshot.map_or_else(|| cut.clock.clone(), |clock| cut.clock.union(clock));
                plan.remarks.extend(cut_remarks(&cut, &self.point));
                plan.cut = Some(cut);
            }
            None if matches!(self.point, Position::Time(_)) => plan.remarks.push(format!(
                "the last row of the logs is of {}: all rows are before {}",
                time(self.reach.last_time),
                self.point
            )),
            None => {}
        }
        plan.ends_at_point = true;
        plan
    }
}

/// Returns the newest snapshot that can be opened.
fn newest(snapshots: &[Candidate]) -> Option<&Opened> {
    snapshots.iter().rev().find_map(|snapshot| snapshot.opened.as_ref())
}

/// Returns the logs up to the one with the point, which is cut after the block with the point. `newest` is
/// where the newest snapshot ends.
fn cut_logs(mut logs: Vec<Log>, point: &Position, newest: &VClock, cut: Option<&mut Cut>) -> Vec<Log> {
    let Some(cut) = cut else { return logs };
    let is_complete = |reached: &VClock| match point {
        Position::Lsn(lsn) => reached.iter().any(|(id, last)| id != 0 && last == lsn.saturating_sub(1)),
        Position::Clock(clock) => reached.covers(clock),
        Position::Time(_) => false,
    };
    // If the rows before a log end exactly at the point, that log is not needed, and rows may be missing
    // before it.
    let before = [&cut.before_log, newest].into_iter().find(|reached| is_complete(reached)).cloned();
    let before = before.filter(|_| !cut.is_log_begun);
    let is_needed = before.is_none();
    if let Some(before) = before {
        cut.clock = before;
    }
    logs.truncate(cut.log + usize::from(is_needed));
    if let (true, Some(last)) = (is_needed, logs.last_mut()) {
        match last {
            Ok(opened) => opened.bytes = opened.bytes.prefix(cut.block_end),
            Err(unopened) => unopened.bytes = unopened.bytes.prefix(cut.block_end),
        }
    }
    logs
}

fn cut_remarks(cut: &Cut, point: &Position) -> Vec<String> {
    let mut remarks = Vec::new();
    let begins_before = match point {
        Position::Lsn(lsn) => cut.tsn < *lsn,
        Position::Clock(clock) => cut.tsn <= clock.get(cut.replica),
        Position::Time(_) => false,
    };
    if begins_before && cut.replica != 0 {
        remarks.push(format!(
            "{point} is within the transaction from LSN {} to {} of replica {}, which is left out as a whole",
            cut.tsn, cut.lsn, cut.replica
        ));
    }
    if cut.earlier_count > 0 {
        remarks.push(format!(
            "{}: {} after the first row of {point} or later have earlier times, because clocks differ or \
             were set back; they are left out, too",
            cut.path.display(),
            if cut.earlier_count == 1 {
                "1 transaction".to_owned()
            } else {
                format!("{} transactions", cut.earlier_count)
            }
        ));
    }
    remarks
}

/// Decides whether the state at a point is known.
struct Judge<'a> {
    directory: &'a Path,
    point: &'a Position,
    reach: &'a Reach,
}

impl Judge<'_> {
    /// Returns whether a snapshot is not after the point.
    fn is_before(&self, snapshot: &Candidate) -> bool {
        let cut = self.reach.cut.as_ref();
        let Some(opened) = &snapshot.opened else {
            return cut.is_none_or(|cut| snapshot.named.signature <= cut.clock.signature());
        };
        let clock = &opened.header.vclock;
        self.point.is_after_clock(clock) && cut.is_none_or(|cut| cut.clock.covers(clock))
    }

    /// Refuses a point whose state is not known, or that has several meanings.
    fn check(&self, before: &[Candidate], after: &[Candidate]) -> Result<()> {
        if let (None, Some(oldest)) = (before.last(), after.first()) {
            let path = &oldest.named.path;
            let clock = oldest.opened.as_ref().map(|opened| opened.header.vclock.to_string());
            return Err(self.unknown(format!(
                "{} is before the oldest snapshot, {} of {{{}}}",
                self.point,
                path.display(),
                clock.unwrap_or_else(|| oldest.named.signature.to_string())
            )));
        }
        let newest = newest(before);
        match self.point {
            Position::Lsn(lsn) => self.check_lsn(*lsn, newest),
            Position::Clock(clock) => self.check_clock(clock, newest),
            Position::Time(seconds) => self.check_time(*seconds, newest),
        }
    }

    /// Returns how far the rows before the point reach.
    fn reached(&self, newest: Option<&Opened>) -> VClock {
        newest
            .map_or_else(|| self.reach.clock.clone(), |opened| self.reach.clock.union(&opened.header.vclock))
    }

    fn check_lsn(&self, lsn: i64, newest: Option<&Opened>) -> Result<()> {
        let reached = self.reached(newest);
        let mut replicas = self.reach.replicas.clone();
        replicas.extend(reached.iter().map(|(replica, _)| replica));
        replicas.extend(self.reach.cut.iter().map(|cut| cut.replica));
        replicas.remove(&0);
        if replicas.len() > 1 {
            let names: Vec<String> = replicas.iter().map(u32::to_string).collect();
            return Err(self.unknown(format!(
                "LSN {lsn} is not one point: replicas {} wrote rows, each with LSNs of its own; give a \
                 VClock",
                names.join(", ")
            )));
        }
        let last = replicas.first().map_or(0, |&replica| reached.get(replica));
        self.check_end(last >= lsn.saturating_sub(1), &reached)
    }

    fn check_clock(&self, clock: &VClock, newest: Option<&Opened>) -> Result<()> {
        let reached = self.reached(newest);
        let Some(cut) = &self.reach.cut else { return self.check_end(reached.covers(clock), &reached) };
        let lacks = clock.iter().find(|&(replica, lsn)| replica != cut.replica && reached.get(replica) < lsn);
        let Some((replica, lsn)) = lacks else { return Ok(()) };
        Err(self.unknown(format!(
            "the instance never was at {{{clock}}}: LSN {} of replica {} comes before LSN {lsn} of replica \
             {replica}; the state before that row is {{{reached}}}",
            cut.lsn, cut.replica
        )))
    }

    /// Refuses a point after the last row.
    fn check_end(&self, is_reached: bool, reached: &VClock) -> Result<()> {
        if self.reach.cut.is_some() || is_reached {
            return Ok(());
        }
        Err(self.unknown(format!("{} is beyond the last row: the rows end at {{{reached}}}", self.point)))
    }

    fn check_time(&self, seconds: f64, newest: Option<&Opened>) -> Result<()> {
        let Some(newest) = newest else { return Ok(()) };
        let clock = &newest.header.vclock;
        let is_within = self.reach.transaction_count > 0 && self.reach.clock.covers(clock);
        if is_within {
            return Ok(());
        }
        let path = newest.path.display();
        if first_time(newest).is_some_and(|first| first >= seconds) {
            return Err(self.unknown(format!("{} is before the oldest snapshot, {path}", self.point)));
        }
        // Before the first snapshot of all, there are no rows.
        if clock.signature() == 0 {
            return Ok(());
        }
        Err(self.unknown(format!(
            "no log has rows from before {}, and the times of a snapshot's rows do not say when it was made; \
             for the state of {path} give its VClock, {{{clock}}}",
            self.point
        )))
    }

    fn unknown(&self, what: String) -> Error {
        Error::Point { path: self.directory.to_owned(), what }
    }
}

/// Returns the time of the first row of a snapshot.
fn first_time(opened: &Opened) -> Option<f64> {
    let Ok(Step::Block(place)) = read_head(&opened.bytes, opened.header_bytes) else { return None };
    let mut unpacker = Unpacker::for_file(FileKind::Snapshot);
    Some(rows(unpacker.unpack(&opened.bytes, &place).ok()?).next()?.ok()?.timestamp)
}

fn time(seconds: f64) -> String {
    time_of_seconds(seconds).unwrap_or_else(|| format!("@{seconds}"))
}
