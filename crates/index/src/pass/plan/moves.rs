//! Finds files that were moved, renamed or reflagged: pairs of a row without a file and a file without a row.
//!
//! Input: all rows without a file and all new files of a pass. Output: pairs. Pure. A file with the same
//! inode and the same unique part of the name is the same file. Between folders, it must also be on the same
//! device, because inodes are unique only within a device.

use crate::pass::scan::Found;
use crate::rows::FileRow;
use std::collections::HashMap;

/// A file that is at another place or has another name than its row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pass) struct Move {
    /// The present row.
    pub old: FileRow,
    /// The file now.
    pub new: Found,
}

/// The result of matching.
#[derive(Debug, Default)]
pub(super) struct Matched {
    /// Pairs.
    pub moved: Vec<Move>,
    /// New files without a matching row.
    pub added: Vec<Found>,
    /// Rows without a matching new file.
    pub gone: Vec<FileRow>,
}

/// Knows where rows and files are: the stored device of a row's folder, the present device of a file's
/// folder, and whether both folders are the same.
pub(super) trait Devices {
    /// Returns the device that the row's file was on.
    fn of_row(&self, row: &FileRow) -> u64;
    /// Returns the device that a found file is on.
    fn of_found(&self, found: &Found) -> u64;
    /// Returns whether row and file are in the same folder.
    fn same_folder(&self, row: &FileRow, found: &Found) -> bool;
}

/// Matches rows and files. Uses each row and each file at most once.
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
