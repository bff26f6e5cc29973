//! A plan: which files are read, and what is wrong with them.

use super::options::Mode;
use crate::check::loss::Loss;
use crate::check::scan::FileScan;
use crate::error::{Error, Result};
use crate::file::block::{BlockPlace, Step, read_head};
use crate::file::directory::Opened;
use crate::file::header::Header;
use crate::vclock::VClock;
use disk::Map;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What is to be read, in this order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The rows at one moment. Without it, which only salvage allows, logs begin with nothing.
    pub snapshot: Option<PlannedFile>,
    /// What was done since.
    pub logs: Vec<PlannedFile>,
    /// What is lost.
    pub lost: Vec<Loss>,
    /// What is worth a sentence, and no loss.
    pub remarks: Vec<String>,
    /// The end of the last log, if a crash tore it, and a log begun behind it in which there is nothing yet.
    pub torn: Vec<Torn>,
    /// How far it all reaches; but for [`crate::Depth::Rows`], only as far as was looked at.
    pub reached: VClock,
    pub(super) mode: Mode,
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
    /// Whether its last bytes are the mark of a closed file all the same: all of it was written once, and
    /// nothing is cut off.
    pub was_closed: bool,
}

impl Plan {
    /// Checks that the log with this place in [`Plan::logs`] follows on rows up to `reached`. Called before
    /// its rows are carried out, when all before are: of several replicas only this finds every gap.
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

/// Returns an error without the file's name, which stands elsewhere.
pub(super) fn what_of(error: &Error) -> String {
    match error {
        Error::Damage { what, .. } | Error::Unsupported { what, .. } => what.clone(),
        other => other.to_string(),
    }
}
