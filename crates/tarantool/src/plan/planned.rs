//! A plan: the files to read, and their faults.

use super::options::Mode;
use super::until::Cut;
use crate::check::loss::Loss;
use crate::check::scan::FileScan;
use crate::error::{Error, Result};
use crate::file::block::{BlockPlace, Step, read_head};
use crate::file::directory::Opened;
use crate::file::header::Header;
use crate::vclock::VClock;
use crate::vinyl::VinylPlan;
use disk::{Map, Seen};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The files to read, in this order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The snapshot. Only salvage works without one; the logs then start from nothing.
    pub snapshot: Option<PlannedFile>,
    /// The logs after it.
    pub logs: Vec<PlannedFile>,
    /// The files of vinyl; `None` for a snapshot without its directory.
    pub vinyl: Option<VinylPlan>,
    /// The losses.
    pub lost: Vec<Loss>,
    /// Remarks that are not losses, a sentence each.
    pub remarks: Vec<String>,
    /// The end of the last log, if a crash tore it, and an empty log after it.
    pub torn: Vec<Torn>,
    /// The vector clock at the end. Unless the depth is [`crate::Depth::Rows`], only as far as files were
    /// read.
    pub reached: VClock,
    /// The first transaction after the point in time that the plan ends at, if there is one.
    pub cut: Option<Cut>,
    /// Whether the plan ends at a point in time. Transactions that are not decided there do not count.
    pub ends_at_point: bool,
    pub(super) mode: Mode,
}

/// A file to read.
#[derive(Clone, Debug)]
pub struct PlannedFile {
    /// Its path.
    pub path: PathBuf,
    /// Its header.
    pub header: Header,
    /// Its content.
    pub bytes: Map,
    /// Ranges of consecutive sound blocks.
    pub pieces: Vec<Range<usize>>,
    /// Whether it was closed.
    pub is_closed: bool,
    /// How many sound blocks there are.
    pub block_count: u64,
    /// How many rows are in them; 0 if they were not read.
    pub row_count: u64,
}

impl PlannedFile {
    /// Returns the sound blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockPlace> {
        self.pieces.iter().flat_map(move |piece| {
            let mut at = piece.start;
            std::iter::from_fn(move || match read_head(&self.bytes, at) {
                Ok(Step::Block(place)) if at < piece.end => {
                    at = place.payload.end;
                    Some(place)
                }
                _ => None,
            })
        })
    }
}

/// The end of a log, torn by a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The log.
    pub path: PathBuf,
    /// Its length up to the end of the last sound block, in bytes; 0 if its header is incomplete.
    pub keep_bytes: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// What is wrong after the last sound block.
    pub what: String,
    /// Whether the file nevertheless ends with the mark of a closed file: it was written completely once, and
    /// nothing is cut off.
    pub was_closed: bool,
    /// The file that was read, so that no other is changed; `None` if the disk does not tell.
    pub seen: Option<Seen>,
}

impl Plan {
    /// Checks that the log with this index in [`Plan::logs`] continues rows up to `reached`. Called after all
    /// logs before it were applied: with several replicas, only this check finds every gap.
    ///
    /// # Errors
    /// [`Error::Gap`]; never if losses are listed.
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

pub(super) fn gap(before: &Path, reached: &VClock, after: &PlannedFile) -> Error {
    Error::Gap {
        before: before.to_owned(),
        after: after.path.clone(),
        ends: reached.to_string(),
        begins: after.header.vclock.to_string(),
    }
}

pub(super) fn planned(opened: &Opened, scan: FileScan) -> PlannedFile {
    PlannedFile {
        path: opened.path.clone(),
        header: opened.header.clone(),
        bytes: opened.bytes.clone(),
        pieces: scan.pieces,
        is_closed: scan.is_closed,
        block_count: scan.block_count,
        row_count: scan.row_count,
    }
}

/// Returns the message of an error without the file's name, which is shown elsewhere.
pub(super) fn what_of(error: &Error) -> String {
    match error {
        Error::Damage { what, .. } | Error::Unsupported { what, .. } => what.clone(),
        other => other.to_string(),
    }
}
