//! The snapshot of a plan: the newest that is whole, and the newest of which anything can be used.
//!
//! Comes in: every snapshot there is, and every log. Goes out: [`Chosen`]. Must not know what logs follow on it.
//!
//! Salvage takes also the rows of a snapshot whose header is broken, or whose name is wrong. How far they reach its name says, but only as
//! a sum; the log that begins there or reaches beyond says of which replicas.

use super::logs::Log;
use super::{Mode, PlanOptions, PlannedFile, planned, what_of};
use crate::block::{Step, Unpacker, hop};
use crate::directory::{self, Named, Opened, Unopened};
use crate::error::{Error, Result};
use crate::header::{FileKind, FormatVersion, Header};
use crate::lost::Lost;
use crate::row::rows;
use crate::vclock::VClock;
use crate::walk::{Behind, Hole, More, Way, walk};
use disk::Disk;
use std::collections::BTreeMap;

/// Snapshots that come into question.
pub(super) struct Chosen {
    /// The newest that can be opened, whatever is in it.
    pub(super) newest: Option<Walked>,
    /// The newest that is whole.
    pub(super) whole: Option<Walked>,
    /// What is wrong with those that are newer than it, the newest first.
    pub(super) refused: Vec<Error>,
    /// What the newest of those reaches to.
    pub(super) refused_signature: Option<i64>,
}

/// A file that was walked through.
#[derive(Clone)]
pub(super) struct Walked {
    pub(super) file: PlannedFile,
    pub(super) holes: Vec<Hole>,
    pub(super) lost: Vec<Lost>,
}

/// Opens snapshots, the newest first, until one is whole.
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
                    Some(walked) => chosen.offer(&walked, &mut unopened),
                    None => unopened.push(Lost::file(
                        &unusable.path,
                        FileKind::Snapshot,
                        unusable.length_bytes,
                        what_of(&unusable.error),
                    )),
                }
                unusable.error
            }
            Ok(opened) => {
                let walked = walk_snapshot(&opened, options);
                let error = damage_of(&walked);
                chosen.offer(&walked, &mut unopened);
                let Some(error) = error else {
                    chosen.whole = Some(walked);
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
    /// Takes up a snapshot of which anything can be used, behind those of which nothing can.
    fn offer(&mut self, walked: &Walked, unopened: &mut Vec<Lost>) {
        self.newest.get_or_insert_with(|| Walked {
            lost: std::mem::take(unopened).into_iter().chain(walked.lost.clone()).collect(),
            ..walked.clone()
        });
    }
}

fn walk_snapshot(opened: &Opened, options: &PlanOptions) -> Walked {
    let way = Way {
        bytes: &opened.bytes,
        begin: opened.header_bytes,
        kind: FileKind::Snapshot,
        depth: options.depth,
        checked: options.checked_file(&opened.path),
    };
    let walk = walk(way, BTreeMap::from([(0, 0)]));
    let holes = walk.holes.clone();
    let mut lost: Vec<Lost> =
        holes.iter().map(|hole| Lost::hole(&opened.path, FileKind::Snapshot, hole, None)).collect();
    let file = planned(opened, walk);
    if !file.is_closed && holes.iter().all(|hole| hole.behind == Behind::Block) {
        let end = opened.bytes.len();
        let behind = Behind::Nothing;
        let what = NOT_CLOSED;
        let expected = BTreeMap::from([(0, i64::try_from(file.row_count).unwrap_or(i64::MAX))]);
        let (next, more) = (BTreeMap::new(), More::default());
        let hole = Hole { bytes: end..end, what, behind, expected, next, more };
        lost.push(Lost::hole(&opened.path, FileKind::Snapshot, &hole, None));
    }
    Walked { file, holes, lost }
}

/// What is said of a snapshot whose end is missing.
const NOT_CLOSED: &str = "the end mark is missing: the file is cut off";

/// Takes up a snapshot whose header or name is wrong, if there are rows in it.
fn rescue(unusable: &Unopened, logs: &[Log], options: &PlanOptions) -> Option<Walked> {
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
    let mut walked = walk_snapshot(&opened, options);
    let hole = Hole {
        bytes: 0..begin,
        what: "",
        behind: Behind::Block,
        expected: BTreeMap::from([(0, 0)]),
        next: BTreeMap::from([(0, first)]),
        more: More::default(),
    };
    let head = Lost::hole(&opened.path, FileKind::Snapshot, &hole, None);
    walked.lost.insert(0, Lost { what, ..head });
    Some(walked)
}

/// Returns the number of the first row of the block at `at`.
fn first_row(bytes: &[u8], at: usize) -> Option<i64> {
    let Ok(Step::Block(place)) = hop(bytes, at) else { return None };
    let mut unpacker = Unpacker::for_file(FileKind::Snapshot);
    let first = rows(unpacker.unpack(bytes, &place).ok()?).next()?.ok()?;
    Some(first.lsn)
}

/// Returns the header that a snapshot with this sum in its name had, as far as that is known, and who says so.
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
    // Most databases have one replica, and most often that is the first.
    let replicas: Vec<u32> = opened().flat_map(|log| log.header.vclock.iter()).map(|(id, _)| id).collect();
    let is_one = replicas.windows(2).all(|pair| pair[0] == pair[1]);
    let replica = replicas.first().copied().filter(|_| is_one).unwrap_or(1);
    header.vclock.set(replica, signature);
    header.instance = opened().next().map_or([0; 16], |log| log.header.instance);
    (header, "its name alone")
}

/// Returns the vector clock at which the rows of a log, and all before them, are so many.
fn clock_at(log: &Opened, signature: i64) -> Option<VClock> {
    let mut clock = log.header.vclock.clone();
    if clock.signature() == signature {
        return Some(clock);
    }
    let mut unpacker = Unpacker::default();
    let mut at = log.header_bytes;
    while let Ok(Step::Block(place)) = hop(&log.bytes, at) {
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

/// Returns what keeps a snapshot from being whole.
fn damage_of(walked: &Walked) -> Option<Error> {
    let path = walked.file.path.clone();
    let damage =
        |offset: usize, what: &str| Error::Damage { path, offset: offset as u64, what: what.to_owned() };
    match walked.holes.first() {
        Some(hole) => Some(damage(hole.bytes.start, hole.what)),
        None if !walked.file.is_closed => Some(damage(walked.file.bytes.len(), NOT_CLOSED)),
        None => None,
    }
}
