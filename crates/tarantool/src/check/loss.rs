//! What cannot be recovered: its position, and the lost rows.
//!
//! Turns holes in files and gaps between files into [`Loss`]es, one line each. Does not know how they were
//! found.

use crate::check::scan::{Hole, HoleEnd, UnlistedHoles};
use crate::file::header::FileKind;
use crate::vclock::VClock;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Something that is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The file that it was in, or should have been before.
    pub path: PathBuf,
    /// Which bytes of it; none if a file is missing.
    pub bytes: Range<u64>,
    /// The kind of the file.
    pub kind: FileKind,
    /// What is wrong.
    pub what: String,
    /// The rows.
    pub numbers: Vec<RowNumbers>,
}

/// Numbers of lost rows: in a log, those of a replica; in a snapshot, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowNumbers {
    /// The replica; 0 in a snapshot.
    pub replica: u32,
    /// The first.
    pub first: i64,
    /// The last, if that is known.
    pub last: Option<i64>,
}

impl Loss {
    /// Returns the loss caused by a hole in a file. `next` is the vector clock that the next log begins
    /// with.
    pub(crate) fn hole(path: &Path, kind: FileKind, hole: &Hole, next: Option<&VClock>) -> Loss {
        Loss {
            path: path.to_owned(),
            bytes: hole.bytes.start as u64..hole.bytes.end as u64,
            kind,
            what: what(hole),
            numbers: hole_numbers(hole, next),
        }
    }

    /// Returns the loss before a file whose rows begin after `after`, if the files before it end with
    /// `before`.
    pub(crate) fn gap(path: &Path, before: &VClock, after: &VClock) -> Loss {
        let missing = after.iter().filter(|&(replica, last)| before.get(replica) < last);
        let numbers = missing.map(|(replica, last)| RowNumbers {
            replica,
            first: before.get(replica).saturating_add(1),
            last: Some(last),
        });
        Loss {
            path: path.to_owned(),
            bytes: 0..0,
            kind: FileKind::Log,
            what: "rows before this file are missing".to_owned(),
            numbers: numbers.collect(),
        }
    }

    /// Returns a file in which nothing is usable.
    pub(crate) fn file(path: &Path, kind: FileKind, length_bytes: usize, what: String) -> Loss {
        Loss { path: path.to_owned(), bytes: 0..length_bytes as u64, kind, what, numbers: Vec::new() }
    }
}

/// Returns a number of rows in words.
pub(crate) fn counted_rows(count: u64) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{count} rows") }
}

fn what(hole: &Hole) -> String {
    let UnlistedHoles { count, row_count, end } = hole.more;
    if count == 0 {
        return hole.what.to_owned();
    }
    let places = if count == 1 { "place" } else { "places" };
    format!(
        "{}, as at {count} more {places} up to byte {}, with {}, which are not named",
        hole.what,
        end.saturating_sub(1),
        counted_rows(row_count)
    )
}

fn hole_numbers(hole: &Hole, next: Option<&VClock>) -> Vec<RowNumbers> {
    let ends_file = hole.behind != HoleEnd::Block;
    let in_next =
        next.iter().flat_map(|clock| clock.iter()).map(|(replica, _)| replica).filter(|_| ends_file);
    let known = hole.expected.keys().chain(hole.next.keys()).copied();
    let mut numbers = Vec::new();
    for replica in known.chain(in_next).collect::<BTreeSet<u32>>() {
        let first = hole.expected.get(&replica).copied().unwrap_or(1);
        let last = match (hole.next.get(&replica), next) {
            (Some(&after), _) => Some(after.saturating_sub(1)),
            // The beginning of a later hole is reported there, and rows missing before the next log are
            // reported before that log.
            (None, _) if !ends_file => continue,
            (None, Some(clock)) => Some(clock.get(replica)),
            (None, None) => None,
        };
        if last.is_none_or(|last| last >= first) {
            numbers.push(RowNumbers { replica, first, last });
        }
    }
    numbers
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.path.display())?;
        if !self.bytes.is_empty() {
            write!(formatter, "bytes {} to {}: ", self.bytes.start, self.bytes.end - 1)?;
        }
        write!(formatter, "{}; lost: ", self.what)?;
        if self.numbers.is_empty() {
            return formatter.write_str("no row that is known");
        }
        for (place, numbers) in self.numbers.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            let what = if self.kind == FileKind::Snapshot { "row" } else { "LSN" };
            write!(formatter, "{comma}{what} {}", numbers.first)?;
            match numbers.last {
                Some(last) if last == numbers.first => {}
                Some(last) => write!(formatter, " to {last}")?,
                None => formatter.write_str(" and all after it")?,
            }
            if self.kind != FileKind::Snapshot {
                write!(formatter, " of replica {}", numbers.replica)?;
            }
        }
        Ok(())
    }
}
