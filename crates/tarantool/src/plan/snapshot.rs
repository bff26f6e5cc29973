//! Chooses the snapshot of a plan: the newest sound one, and the newest one that has any usable part.
//!
//! Input: all snapshots, and all logs. Output: [`Chosen`]. Does not know which logs follow.
//!
//! Salvage also uses the rows of a snapshot with a broken header or a wrong name. Its name says how far the
//! rows reach, but only as a sum. The log that begins there, or reaches further, gives the replicas.

use super::candidate::Log;
use super::options::{Mode, PlanOptions};
use super::planned::{PlannedFile, planned, what_of};
use crate::check::loss::Loss;
use crate::check::scan::{Hole, HoleEnd, ScanInput, UnlistedHoles, scan};
use crate::error::{Error, Result};
use crate::file::block::{Step, Unpacker, read_head};
use crate::file::directory::{self, Named, Opened, Unopened};
use crate::file::header::{FileKind, FormatVersion, Header};
use crate::file::row::rows;
use crate::vclock::VClock;
use disk::Disk;
use std::collections::BTreeMap;

/// The snapshots that can be used.
pub(super) struct Chosen {
    /// The newest one that can be opened, damaged or not.
    pub(super) newest: Option<ScannedSnapshot>,
    /// The newest sound one.
    pub(super) whole: Option<ScannedSnapshot>,
    /// Errors of the snapshots that are newer than that, newest first.
    pub(super) refused: Vec<Error>,
    /// The sum of the vector clock of the newest of these.
    pub(super) refused_signature: Option<i64>,
}

/// A file that was scanned.
#[derive(Clone)]
pub(super) struct ScannedSnapshot {
    pub(super) file: PlannedFile,
    pub(super) holes: Vec<Hole>,
    pub(super) lost: Vec<Loss>,
}

/// Opens snapshots, newest first, until one is sound.
pub(super) fn choose(
    disk: &dyn Disk,
    snapshots: &[Named],
    logs: &[Log],
    options: &PlanOptions,
) -> Result<Chosen> {
    let mut chosen = Chosen { newest: None, whole: None, refused: Vec::new(), refused_signature: None };
    let mut unopened = Vec::new();
    for named in snapshots.iter().rev() {
        let error = match directory::open(disk, named, FileKind::Snapshot)? {
            Err(unusable) => {
                let rescued = match options.mode {
                    Mode::Strict => None,
                    Mode::Salvage => rescue(&unusable, logs, options),
                };
                match rescued {
                    Some(scanned) => chosen.offer(&scanned, &mut unopened),
                    None => unopened.push(Loss::file(
                        &unusable.path,
                        FileKind::Snapshot,
                        unusable.length_bytes,
                        what_of(&unusable.error),
                    )),
                }
                unusable.error
            }
            Ok(opened) => {
                let scanned = scan_snapshot(&opened, options);
                let error = damage_of(&scanned);
                chosen.offer(&scanned, &mut unopened);
                let Some(error) = error else {
                    chosen.whole = Some(scanned);
                    break;
                };
                error
            }
        };
        chosen.refused_signature.get_or_insert(named.signature);
        chosen.refused.push(error);
    }
    Ok(chosen)
}

impl Chosen {
    /// Records a snapshot that has any usable part, with the losses of newer ones that cannot be opened.
    fn offer(&mut self, scanned: &ScannedSnapshot, unopened: &mut Vec<Loss>) {
        self.newest.get_or_insert_with(|| ScannedSnapshot {
            lost: std::mem::take(unopened).into_iter().chain(scanned.lost.clone()).collect(),
            ..scanned.clone()
        });
    }
}

/// Looks for damage in a snapshot.
pub(super) fn scan_snapshot(opened: &Opened, options: &PlanOptions) -> ScannedSnapshot {
    let input = ScanInput {
        bytes: &opened.bytes,
        begin: opened.header_bytes,
        kind: FileKind::Snapshot,
        depth: options.depth,
        checked: options.checked_file(&opened.path),
    };
    let scan = scan(input, BTreeMap::from([(0, 0)]));
    let holes = scan.holes.clone();
    let mut lost: Vec<Loss> =
        holes.iter().map(|hole| Loss::hole(&opened.path, FileKind::Snapshot, hole, None)).collect();
    let file = planned(opened, scan);
    if !file.is_closed && holes.iter().all(|hole| hole.behind == HoleEnd::Block) {
        let end = opened.bytes.len();
        let behind = HoleEnd::Nothing;
        let what = NOT_CLOSED;
        let expected = BTreeMap::from([(0, i64::try_from(file.row_count).unwrap_or(i64::MAX))]);
        let (next, more) = (BTreeMap::new(), UnlistedHoles::default());
        let hole = Hole { bytes: end..end, what, behind, expected, next, more };
        lost.push(Loss::hole(&opened.path, FileKind::Snapshot, &hole, None));
    }
    ScannedSnapshot { file, holes, lost }
}

/// The message about a snapshot without its end mark.
const NOT_CLOSED: &str = "the end mark is missing: the file is cut off";

/// Returns a snapshot with a broken header or a wrong name, if it has rows.
fn rescue(unusable: &Unopened, logs: &[Log], options: &PlanOptions) -> Option<ScannedSnapshot> {
    let begin = unusable.first_block?;
    let first = first_row(&unusable.bytes, begin)?;
    let mut what = what_of(&unusable.error);
    let header = unusable.header.clone().unwrap_or_else(|| {
        let (header, source) = header_by_name(unusable.signature, logs);
        what = format!("{what}; its VClock is taken to be {{{}}}, by {source}", header.vclock);
        header
    });
    let opened =
        Opened { path: unusable.path.clone(), header, header_bytes: begin, bytes: unusable.bytes.clone() };
    let mut scanned = scan_snapshot(&opened, options);
    let hole = Hole {
        bytes: 0..begin,
        what: "",
        behind: HoleEnd::Block,
        expected: BTreeMap::from([(0, 0)]),
        next: BTreeMap::from([(0, first)]),
        more: UnlistedHoles::default(),
    };
    let head = Loss::hole(&opened.path, FileKind::Snapshot, &hole, None);
    scanned.lost.insert(0, Loss { what, ..head });
    Some(scanned)
}

/// Returns the number of the first row of the block at `at`.
fn first_row(bytes: &[u8], at: usize) -> Option<i64> {
    let Ok(Step::Block(place)) = read_head(bytes, at) else { return None };
    let mut unpacker = Unpacker::for_file(FileKind::Snapshot);
    let first = rows(unpacker.unpack(bytes, &place).ok()?).next()?.ok()?;
    Some(first.lsn)
}

/// Reconstructs the header of a snapshot with this sum in its name. Also returns the source of the vector
/// clock, for messages.
fn header_by_name(signature: i64, logs: &[Log]) -> (Header, &'static str) {
    let mut header = Header::empty(FileKind::Snapshot, FormatVersion::V013);
    let opened = || logs.iter().filter_map(|log| log.as_ref().ok());
    let before = opened().filter(|log| log.header.vclock.signature() <= signature);
    if let Some(log) = before.max_by_key(|log| log.header.vclock.signature())
        && let Some(vclock) = clock_at(log, signature)
    {
        (header.vclock, header.instance) = (vclock, log.header.instance);
        return (header, "the logs and its name");
    }
    // Most databases have a single replica, usually the first.
    let replicas: Vec<u32> = opened().flat_map(|log| log.header.vclock.iter()).map(|(id, _)| id).collect();
    let is_one = replicas.windows(2).all(|pair| pair[0] == pair[1]);
    let replica = replicas.first().copied().filter(|_| is_one).unwrap_or(1);
    header.vclock.set(replica, signature);
    header.instance = opened().next().map_or([0; 16], |log| log.header.instance);
    (header, "its name alone")
}

/// Returns the vector clock that has this sum, if the rows of the log reach it.
fn clock_at(log: &Opened, signature: i64) -> Option<VClock> {
    let mut clock = log.header.vclock.clone();
    if clock.signature() == signature {
        return Some(clock);
    }
    let mut unpacker = Unpacker::default();
    let mut at = log.header_bytes;
    while let Ok(Step::Block(place)) = read_head(&log.bytes, at) {
        for row in rows(unpacker.unpack(&log.bytes, &place).ok()?).flatten() {
            clock.follow(row.replica, row.lsn);
            if clock.signature() == signature {
                return Some(clock);
            }
        }
        at = place.payload.end;
    }
    None
}

/// Returns the damage of a snapshot, if it is not sound.
pub(super) fn damage_of(scanned: &ScannedSnapshot) -> Option<Error> {
    let path = scanned.file.path.clone();
    let damage =
        |offset: usize, what: &str| Error::Damage { path, offset: offset as u64, what: what.to_owned() };
    match scanned.holes.first() {
        Some(hole) => Some(damage(hole.bytes.start, hole.what)),
        None if !scanned.file.is_closed => Some(damage(scanned.file.bytes.len(), NOT_CLOSED)),
        None => None,
    }
}
