//! What vinyl's files hold, and their damage.
//!
//! Input: a [`VinylPlan`]. Output: a [`VinylReport`] for each index, with the damage of its runs. Does not
//! know what becomes of the rows.

use super::VinylPlan;
use super::run::RunFiles;
use crate::error::Error;
use crate::file::block::{Step, Unpacker, read_head};
use crate::file::header::FileKind;
use crate::file::row::rows;
use disk::Disk;
use std::collections::BTreeSet;
use std::path::Path;

/// What vinyl has of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VinylReport {
    /// The space.
    pub space: u32,
    /// The number of the index.
    pub index: u32,
    /// Whether the tree was dropped.
    pub is_dropped: bool,
    /// Its runs have all rows up to this signature.
    pub dump_lsn: i64,
    /// How many ranges there are.
    pub range_count: u64,
    /// How many runs there are.
    pub run_count: u64,
    /// How many pages they have.
    pub page_count: u64,
    /// How many rows they have, of which some replace, change or delete others.
    pub row_count: u64,
    /// How long their files are.
    pub length_bytes: u64,
    /// What is wrong with them, a sentence each.
    pub damage: Vec<String>,
}

impl VinylPlan {
    /// Returns the log that describes the indexes, and its length in bytes.
    pub fn log(&self) -> Option<(&Path, u64)> {
        self.log.as_ref().map(|(path, length_bytes)| (path.as_path(), *length_bytes))
    }

    /// Reports on all indexes, by the numbers of space and index. Every page is read if `reads_pages`.
    pub fn reports(&self, disk: &dyn Disk, reads: ReadPages) -> Vec<VinylReport> {
        let mut reports = Vec::new();
        for tree in self.trees.values() {
            let slices = tree.ranges.iter().flat_map(|range| &range.slices);
            let runs: BTreeSet<i64> = slices.map(|slice| slice.run).collect();
            let mut report = VinylReport {
                space: tree.space,
                index: tree.index,
                is_dropped: tree.drop_lsn.is_some(),
                dump_lsn: tree.dump_lsn,
                range_count: tree.ranges.len() as u64,
                run_count: runs.len() as u64,
                page_count: 0,
                row_count: 0,
                length_bytes: 0,
                damage: Vec::new(),
            };
            if !report.is_dropped {
                for run in runs {
                    report.add(&RunFiles::open(disk, &self.directory, tree.space, tree.index, run), reads);
                }
            }
            reports.push(report);
        }
        reports
    }
}

/// How closely runs are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPages {
    /// Their indexes alone.
    No,
    /// Every page.
    Yes,
}

impl VinylReport {
    fn add(&mut self, files: &RunFiles, reads: ReadPages) {
        self.length_bytes += files.length_bytes();
        match files.info() {
            Ok(info) => {
                self.page_count += info.page_count;
                self.row_count = self.row_count.saturating_add(info.row_count);
            }
            Err(error) => self.damage.push(error.to_string()),
        }
        if reads == ReadPages::Yes && files.missing().is_none() {
            self.damage.extend(page_damage(files).iter().map(ToString::to_string));
        }
    }
}

/// At most this much damage of a run is listed.
const LISTED_MAX: usize = 100;

/// Reads all pages of a run, and returns what is wrong.
fn page_damage(files: &RunFiles) -> Vec<Error> {
    let mut damage = Vec::new();
    let mut at = match files.first_block() {
        Ok(at) => at,
        Err(error) => return vec![error],
    };
    let mut unpacker = Unpacker::for_file(FileKind::Snapshot);
    let bytes = files.rows();
    while damage.len() < LISTED_MAX {
        match read_head(bytes, at) {
            Ok(Step::Block(place)) => {
                at = place.payload.end;
                let read = unpacker
                    .unpack(bytes, &place)
                    .and_then(|payload| rows(payload).find_map(Result::err).map_or(Ok(()), Err));
                if let Err(found) = read {
                    damage.push(crate::Damage { offset: place.offset, ..found }.in_file(&files.path, 0));
                }
            }
            Ok(Step::Eof) => break,
            Ok(Step::End) => {
                let what = "the end mark is missing: the file is cut off";
                damage.push(crate::Damage::new(at, what).in_file(&files.path, 0));
                break;
            }
            Err(found) => {
                damage.push(found.in_file(&files.path, 0));
                break;
            }
        }
    }
    damage
}
