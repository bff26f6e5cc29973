//! What is to be read for a recovery, in which order, and what is wrong with it.
//!
//! Comes in: the files of a directory. Goes out: a [`Plan`], or why there is none. Writes nothing, and must not know what rows do.
//!
//! The newest snapshot that is whole, then every log behind it. Nothing may be missing between them: where one file ends is compared with
//! where the next begins. Only the last log may end badly: what could not be written to its end was torn by a crash.

mod candidate;
mod check;
mod logs;
mod snapshot;

use crate::ahead::{Checked, CheckedFile};
use crate::block::{BlockPlace, Step, hop};
use crate::directory::{self, Named, Opened};
use crate::error::{Error, Result};
use crate::header::{FileKind, Header};
use crate::lost::Lost;
use crate::vclock::VClock;
use crate::walk::{Depth, Walk};
use disk::{Disk, Map};
use snapshot::{Walked, choose};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// Blocks that were read already. All others are read one after the other, if they have to be.
    pub checked: Option<Arc<Checked>>,
}

impl PlanOptions {
    /// Returns what was read of a file already.
    pub(crate) fn checked_file(&self, path: &Path) -> Option<&CheckedFile> {
        self.checked.as_ref().and_then(|checked| checked.file(path))
    }
}

impl Default for PlanOptions {
    /// Refuses damage, and looks at no more than has to be known before the rows are read anyway.
    fn default() -> PlanOptions {
        PlanOptions { log_directory: None, mode: Mode::Strict, depth: Depth::Heads, checked: None }
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
    let has_files = !(snapshots.is_empty() && logs.is_empty());
    let opened = logs::open_all(disk, &logs)?;
    let chosen = choose(disk, &snapshots, &opened, &options)?;
    if chosen.newest.is_none() && (options.mode == Mode::Strict || !has_files) {
        return Err(no_snapshot(directory, log_directory, chosen.refused.into_iter().next(), &logs));
    }
    let logs = opened;
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

fn planned(opened: &Opened, walk: Walk) -> PlannedFile {
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

/// Returns an error without the file's name, which stands elsewhere.
fn what_of(error: &Error) -> String {
    match error {
        Error::Damage { what, .. } | Error::Unsupported { what, .. } => what.clone(),
        other => other.to_string(),
    }
}
