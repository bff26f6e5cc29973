//! Vinyl's log: chooses the one that belongs to a snapshot, and reads it.
//!
//! Input: the directory of vinyl, and the snapshot's place. Output: the trees as the log describes them. Does
//! not open runs.
//!
//! A log has the name of the snapshot that it began with. It first has the state at that snapshot, then a
//! record that says so, then everything that happened until the next snapshot. A recovery up to the newest
//! row reads all of it, as Tarantool does. A recovery to an earlier point reads the state at the snapshot;
//! Tarantool keeps the runs of that state as long as it keeps the snapshot, and logs have everything after
//! it. A copy made by a backup has the log before, whose last state is that at the snapshot.

use super::record::{RecordKind, read_record};
use super::trees::{Objects, Trees};
use crate::error::{Damage, Error, Result};
use crate::file::block::{Step, Unpacker, read_head};
use crate::file::directory::{self, Named, Opened};
use crate::file::find_block::{Found, SearchBudget, next_block};
use crate::file::header::FileKind;
use crate::file::row::rows;
use crate::plan::Mode;
use disk::Disk;
use std::path::{Path, PathBuf};

/// What a log says.
#[derive(Debug)]
pub(super) struct LogContent {
    /// The log.
    pub(super) path: PathBuf,
    /// Its length in bytes.
    pub(super) length_bytes: u64,
    /// The program that wrote it.
    pub(super) program: String,
    /// The newest tree of each index.
    pub(super) trees: Trees,
    /// What is worth a remark.
    pub(super) remarks: Vec<String>,
    /// What could not be read, a sentence each.
    pub(super) lost: Vec<String>,
}

/// How much of the log of a snapshot counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// The state at the snapshot.
    Snapshot,
}

/// At most this many contradictions of a log are listed.
const LISTED_MAX: usize = 100;

/// Reads the log that belongs to the snapshot with this signature. Returns `None` if there is none.
///
/// # Errors
/// Disk errors; damage, unless it is to be listed.
pub(super) fn read(
    disk: &dyn Disk,
    directory: &Path,
    signature: i64,
    extent: Extent,
    mode: Mode,
) -> Result<Option<LogContent>> {
    let logs = match directory::list(disk, directory, FileKind::Vinyl) {
        Err(Error::Disk(error)) if error.is_not_found() => return Ok(None),
        listed => listed?,
    };
    let Some(chosen) = logs.iter().rev().find(|log| log.signature <= signature) else { return Ok(None) };
    // A log that is not the newest one goes on after the snapshot, up to the next one.
    let is_newest = logs.last() == Some(chosen);
    let extent = match (extent, is_newest) {
        _ if chosen.signature < signature => Extent::Whole,
        (Extent::Whole, true) => Extent::Whole,
        _ => Extent::Snapshot,
    };
    read_log(disk, chosen, extent, mode).map(Some)
}

fn read_log(disk: &dyn Disk, named: &Named, extent: Extent, mode: Mode) -> Result<LogContent> {
    let opened = match directory::open(disk, named, FileKind::Vinyl)? {
        Ok(opened) => opened,
        Err(unopened) => return Err(unopened.error),
    };
    let mut reading = Reading { objects: Objects::default(), has_snapshot: false, lost: Vec::new(), mode };
    let mut remarks = Vec::new();
    let mut unpacker = Unpacker::default();
    let mut at = opened.header_bytes;
    let mut budget = SearchBudget::for_bytes(opened.bytes.len());
    loop {
        let step = read_head(&opened.bytes, at);
        let place = match step {
            Ok(Step::Block(place)) => place,
            Ok(Step::Eof | Step::End) => break,
            Err(damage) => {
                let next = match next_block(&opened.bytes, at.saturating_add(1), at, &mut budget) {
                    Found::Block(next) => Some(next),
                    _ => None,
                };
                if next.is_none() && is_torn(&opened, at) {
                    remarks.push(format!(
                        "{} ends with a torn write at byte {at}, which is left out",
                        opened.path.display()
                    ));
                    break;
                }
                reading.lose(damage, &opened.path)?;
                match next {
                    Some(next) => at = next,
                    None => break,
                }
                continue;
            }
        };
        at = place.payload.end;
        match unpacker.unpack(&opened.bytes, &place) {
            Ok(payload) => {
                if reading.block(payload, place.offset, extent, &opened.path)? {
                    break;
                }
            }
            Err(damage) => reading.lose(damage, &opened.path)?,
        }
    }
    // What Tarantool wrote at once, and gave its name when it was complete.
    if !reading.has_snapshot {
        reading
            .lose(Damage::new(at, "vinyl's log is cut off within the state at its snapshot"), &opened.path)?;
    }
    reading.finish(&opened, remarks)
}

/// Returns whether the bytes from `at` on look like the beginning of a block that was not written to its
/// end.
fn is_torn(opened: &Opened, at: usize) -> bool {
    let rest = opened.bytes.get(at..).unwrap_or_default();
    matches!(read_head(&opened.bytes, at), Err(damage) if damage.what.ends_with("is cut off"))
        || rest.iter().all(|&byte| byte == 0)
}

struct Reading {
    objects: Objects,
    has_snapshot: bool,
    lost: Vec<String>,
    mode: Mode,
}

impl Reading {
    /// Takes the records of a block. Returns whether no more are wanted.
    fn block(&mut self, payload: &[u8], offset: usize, extent: Extent, path: &Path) -> Result<bool> {
        for row in rows(payload) {
            let record = row.and_then(|row| {
                row.body
                    .tuple
                    .ok_or(Damage::new(0, "a row of vinyl's log has no record"))
                    .and_then(read_record)
            });
            let record = match record {
                Ok(record) => record,
                Err(damage) => {
                    self.lose(Damage { offset, ..damage }, path)?;
                    continue;
                }
            };
            if record.kind == RecordKind::Snapshot {
                self.has_snapshot = true;
                if extent == Extent::Snapshot {
                    return Ok(true);
                }
            }
            if let Err(what) = self.objects.apply(&record) {
                self.lose(Damage::new(offset, what), path)?;
            }
        }
        Ok(false)
    }

    /// Records damage, or refuses it.
    fn lose(&mut self, damage: Damage, path: &Path) -> Result<()> {
        if self.mode == Mode::Strict {
            return Err(damage.in_file(path, 0));
        }
        if self.lost.len() < LISTED_MAX {
            self.lost.push(format!(
                "{}: at byte {}: {}; rows of vinyl may be missing or older than they were",
                path.display(),
                damage.offset,
                damage.what
            ));
        }
        Ok(())
    }

    fn finish(mut self, opened: &Opened, remarks: Vec<String>) -> Result<LogContent> {
        let mut contradictions = Vec::new();
        let errors = match self.mode {
            Mode::Strict => None,
            Mode::Salvage => Some(&mut contradictions),
        };
        let objects = std::mem::take(&mut self.objects);
        let trees = objects
            .finish(errors)
            .map_err(|what| Damage::new(opened.bytes.len(), what).in_file(&opened.path, 0))?;
        for what in contradictions {
            self.lose(Damage::new(opened.bytes.len(), what), &opened.path)?;
        }
        Ok(LogContent {
            path: opened.path.clone(),
            length_bytes: opened.bytes.len() as u64,
            program: opened.header.program.clone(),
            trees,
            remarks,
            lost: self.lost,
        })
    }
}
