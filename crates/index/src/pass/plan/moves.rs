//! Decides which of the gone rows and the new files are one file that was moved, renamed or reflagged.
//!
//! In: everything gone and everything new of a whole pass. Out: pairs. Pure. The same unique part of the name
//! with the same inode is the same file; between folders it must also lie on the same device, because inodes
//! are numbered by device.

use crate::pass::scan::Found;
use crate::rows::FileRow;
use std::collections::HashMap;

/// A file that is somewhere else, or has another name, than its row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pass) struct Move {
    /// The row as it is.
    pub old: FileRow,
    /// Where the file is now.
    pub new: Found,
}

/// What is left after moves are taken out.
#[derive(Debug, Default)]
pub(super) struct Matched {
    /// Pairs.
    pub moved: Vec<Move>,
    /// New files that no row fits.
    pub added: Vec<Found>,
    /// Rows that no new file fits.
    pub gone: Vec<FileRow>,
}

/// Says where things lie: the device of a row's folder as it was stored, that of a folder now, and whether
/// both are one folder.
pub(super) trait Devices {
    /// Returns the device on which the row's file lay.
    fn of_row(&self, row: &FileRow) -> u64;
    /// Returns the device on which a found file lies.
    fn of_found(&self, found: &Found) -> u64;
    /// Says whether row and file are in the same folder.
    fn same_folder(&self, row: &FileRow, found: &Found) -> bool;
}

/// Matches rows and files. Each row and each file is used once.
pub(super) fn match_moves(gone: Vec<FileRow>, added: Vec<Found>, devices: &impl Devices) -> Matched {
    let mut by_inode: HashMap<u64, Vec<usize>> = HashMap::with_capacity(gone.len());
    for (index, row) in gone.iter().enumerate() {
        by_inode.entry(row.inode).or_default().push(index);
    }
    let mut rows: Vec<Option<FileRow>> = gone.into_iter().map(Some).collect();
    let mut matched = Matched::default();
    for found in added {
        let candidates = by_inode.get(&found.inode).map_or(&[][..], Vec::as_slice);
        let fits = |index: &&usize| {
            rows.get(**index).and_then(Option::as_ref).is_some_and(|row| is_same_file(row, &found, devices))
        };
        match candidates.iter().find(fits).and_then(|index| rows.get_mut(*index)).and_then(Option::take) {
            Some(old) => matched.moved.push(Move { old, new: found }),
            None => matched.added.push(found),
        }
    }
    matched.gone = rows.into_iter().flatten().collect();
    matched
}

fn is_same_file(row: &FileRow, found: &Found, devices: &impl Devices) -> bool {
    let same_name = mail::parse_name(&row.name).unique == mail::parse_name(&found.name).unique;
    same_name && (devices.same_folder(row, found) || devices.of_row(row) == devices.of_found(found))
}
