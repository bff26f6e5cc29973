//! What is to be read for a recovery, in which order, and what is wrong with it.
//!
//! Comes in: the files of a directory. Goes out: a [`Plan`], or why there is none. Writes nothing, and must not know what rows do.
//!
//! The newest snapshot that is whole, then every log behind it. Nothing may be missing between them: where one file ends is compared with
//! where the next begins. Only the last log may end badly: what could not be written to its end was torn by a crash.

mod candidate;
mod check;
mod logs;

use crate::block::{BlockPlace, Step, hop};
use crate::directory::{self, Named, Opened, Unopened};
use crate::error::{Error, Result};
use crate::header::{FileKind, Header};
use crate::lost::Lost;
use crate::vclock::VClock;
use crate::walk::{Behind, Depth, Hole, walk};
use disk::{Disk, Map};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use check::{CutReport, cut_torn_tail};

/// What to do about damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Refuse: nothing may be missing.
    Strict,
    /// Take what is whole, and list what is lost.
    Salvage,
}

/// How a plan is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// Where the logs are, if not beside the snapshots.
    pub log_directory: Option<PathBuf>,
    /// What to do about damage.
    pub mode: Mode,
    /// How closely to look. Salvage looks at every row in any case.
    pub depth: Depth,
}

impl Default for PlanOptions {
    /// Refuses damage, and looks at no more than has to be known before the rows are read anyway.
    fn default() -> PlanOptions {
        PlanOptions { log_directory: None, mode: Mode::Strict, depth: Depth::Heads }
    }
}

/// What is to be read, in this order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The rows at one moment. Without it, which only salvage allows, logs begin with nothing.
    pub snapshot: Option<PlannedFile>,
    /// What was done since.
    pub logs: Vec<PlannedFile>,
    /// What is lost.
    pub lost: Vec<Lost>,
    /// What is worth a sentence, and no loss.
    pub remarks: Vec<String>,
    /// The end of the last log, if a crash tore it, and a log begun behind it in which there is nothing yet.
    pub torn: Vec<Torn>,
    /// How far it all reaches; but for [`Depth::Rows`], only as far as was looked at.
    pub reached: VClock,
    mode: Mode,
}

/// A file to read.
#[derive(Clone, Debug)]
pub struct PlannedFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says of itself.
    pub header: Header,
    /// All of it.
    pub bytes: Map,
    /// Where whole blocks lie, back to back.
    pub pieces: Vec<Range<usize>>,
    /// Whether it was closed.
    pub is_closed: bool,
    /// How many whole blocks there are.
    pub block_count: u64,
    /// How many rows are in them; 0 if they were not read.
    pub row_count: u64,
}

impl PlannedFile {
    /// Returns the whole blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockPlace> {
        self.pieces.iter().flat_map(move |piece| {
            let mut at = piece.start;
            std::iter::from_fn(move || match hop(&self.bytes, at) {
                Ok(Step::Block(place)) if at < piece.end => {
                    at = place.payload.end;
                    Some(place)
                }
                _ => None,
            })
        })
    }
}

/// The end of a log that a crash tore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The log.
    pub path: PathBuf,
    /// Its bytes up to the end of the last whole block; 0 if not even its header is there.
    pub keep_bytes: u64,
    /// Its bytes altogether.
    pub length_bytes: u64,
    /// What is wrong behind the last whole block.
    pub what: String,
    /// Whether its last bytes are the mark of a closed file all the same: all of it was written once, and nothing is cut off.
    pub was_closed: bool,
}

impl Plan {
    /// Checks that the log with this place in [`Plan::logs`] follows on rows up to `reached`. Called before its rows are carried out,
    /// when all before are: of several replicas only this finds every gap.
    ///
    /// # Errors
    /// [`Error::Gap`]; never when what is lost was listed.
    pub fn follows(&self, place: usize, reached: &VClock) -> Result<()> {
        let Some(log) = self.logs.get(place) else { return Ok(()) };
        if self.mode == Mode::Salvage || reached.covers(&log.header.vclock) {
            return Ok(());
        }
        let before = match place.checked_sub(1) {
            Some(before) => self.logs.get(before),
            None => self.snapshot.as_ref(),
        };
        Err(gap(before.map_or(&log.path, |file| &file.path), reached, log))
    }
}

fn gap(before: &Path, reached: &VClock, after: &PlannedFile) -> Error {
    Error::Gap {
        before: before.to_owned(),
        after: after.path.clone(),
        ends: reached.to_string(),
        begins: after.header.vclock.to_string(),
    }
}

/// Makes a plan of the files in `directory`.
///
/// # Errors
/// What the disk says; that there is nothing, or no snapshot; damage and gaps, unless they are to be listed.
pub fn plan(disk: &dyn Disk, directory: &Path, options: &PlanOptions) -> Result<Plan> {
    let log_directory = options.log_directory.as_deref().unwrap_or(directory);
    let snapshots = directory::list(disk, directory, FileKind::Snapshot)?;
    let logs = directory::list(disk, log_directory, FileKind::Log)?;
    let mut options = options.clone();
    if options.mode == Mode::Salvage {
        options.depth = Depth::Rows;
    }
    let chosen = choose(disk, &snapshots, options.depth)?;
    let has_files = !(snapshots.is_empty() && logs.is_empty());
    if chosen.newest.is_none() && (options.mode == Mode::Strict || !has_files) {
        return Err(no_snapshot(directory, log_directory, chosen.refused.into_iter().next(), &logs));
    }
    let logs = logs::open_all(disk, &logs)?;
    // Where the newest snapshot is damaged, an older one and the logs since hold the same, if they reach as far.
    if let (Some(whole), Some(damaged)) = (&chosen.whole, chosen.refused_signature) {
        let deep = PlanOptions { mode: Mode::Strict, depth: Depth::Rows, ..options.clone() };
        if let Ok(mut plan) = logs::plan(Some(whole.clone()), &logs, &deep)
            && plan.reached.signature() >= damaged
        {
            let told = chosen.refused.iter().map(ToString::to_string);
            plan.remarks.extend(
                told.map(|told| format!("{told}; an older snapshot and the logs since hold the same")),
            );
            return Ok(plan);
        }
    }
    match (chosen.refused.into_iter().next(), options.mode) {
        (Some(error), Mode::Strict) => Err(error),
        _ => {
            let has_snapshot = chosen.newest.is_some();
            let mut plan = logs::plan(chosen.newest, &logs, &options)?;
            if !has_snapshot {
                let what = "there is no snapshot: all that was in it".to_owned();
                plan.lost.insert(0, Lost::file(directory, FileKind::Snapshot, 0, what));
            }
            Ok(plan)
        }
    }
}

fn no_snapshot(directory: &Path, log_directory: &Path, refused: Option<Error>, logs: &[Named]) -> Error {
    let what = match logs.len() {
        0 if directory == log_directory => "holds no snapshot and no log of Tarantool".to_owned(),
        0 => format!("holds no snapshot of Tarantool, and {} no log", log_directory.display()),
        count => format!(
            "holds no snapshot, but {count} logs need one: nothing is begun anew beside them; put the snapshot back, \
             or take what the logs tell with --salvage"
        ),
    };
    refused.unwrap_or(Error::Unsupported { path: directory.to_owned(), what })
}

/// Snapshots that come into question.
struct Chosen {
    /// The newest that can be opened, whatever is in it.
    newest: Option<Walked>,
    /// The newest that is whole.
    whole: Option<Walked>,
    /// What is wrong with those that are newer than it, the newest first.
    refused: Vec<Error>,
    /// What the newest of those reaches to.
    refused_signature: Option<i64>,
}

/// A file that was walked through.
#[derive(Clone)]
struct Walked {
    file: PlannedFile,
    holes: Vec<Hole>,
    lost: Vec<Lost>,
}

/// Opens snapshots, the newest first, until one is whole.
fn choose(disk: &dyn Disk, snapshots: &[Named], depth: Depth) -> Result<Chosen> {
    let mut chosen = Chosen { newest: None, whole: None, refused: Vec::new(), refused_signature: None };
    let mut unopened = Vec::new();
    for named in snapshots.iter().rev() {
        let error = match directory::open(disk, named, FileKind::Snapshot)? {
            Err(unusable) => {
                let Unopened { path, length_bytes, error, .. } = *unusable;
                unopened.push(Lost::file(&path, FileKind::Snapshot, length_bytes, what_of(&error)));
                error
            }
            Ok(opened) => {
                let walked = walk_snapshot(&opened, depth);
                let error = damage_of(&walked);
                chosen.newest.get_or_insert_with(|| Walked {
                    lost: std::mem::take(&mut unopened).into_iter().chain(walked.lost.clone()).collect(),
                    ..walked.clone()
                });
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

fn walk_snapshot(opened: &Opened, depth: Depth) -> Walked {
    let walk = walk(&opened.bytes, opened.header_bytes, FileKind::Snapshot, depth, BTreeMap::from([(0, 0)]));
    let holes = walk.holes.clone();
    let mut lost: Vec<Lost> =
        holes.iter().map(|hole| Lost::hole(&opened.path, FileKind::Snapshot, hole, None)).collect();
    let file = planned(opened, walk);
    if !file.is_closed && holes.iter().all(|hole| hole.behind == Behind::Block) {
        let end = opened.bytes.len();
        let behind = Behind::Nothing;
        let what = NOT_CLOSED;
        let expected = BTreeMap::from([(0, i64::try_from(file.row_count).unwrap_or(i64::MAX))]);
        let hole = Hole { bytes: end..end, what, behind, expected, next: BTreeMap::new() };
        lost.push(Lost::hole(&opened.path, FileKind::Snapshot, &hole, None));
    }
    Walked { file, holes, lost }
}

/// What is said of a snapshot whose end is missing.
const NOT_CLOSED: &str = "the end mark is missing: the file is cut off";

fn planned(opened: &Opened, walk: crate::walk::Walk) -> PlannedFile {
    PlannedFile {
        path: opened.path.clone(),
        header: opened.header.clone(),
        bytes: opened.bytes.clone(),
        pieces: walk.pieces,
        is_closed: walk.is_closed,
        block_count: walk.block_count,
        row_count: walk.row_count,
    }
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

/// Returns an error without the file's name, which stands elsewhere.
fn what_of(error: &Error) -> String {
    match error {
        Error::Damage { what, .. } | Error::Unsupported { what, .. } => what.clone(),
        other => other.to_string(),
    }
}
