//! Takes a closer look at files whose rows may be outdated: asks the disk for their sizes and times.
//!
//! A file that has another inode, and the size and time of its row, was most likely restored or copied with
//! its time: a whole mailbox at once, so that it is not read. Another content has both only if a program set
//! the time; where files are to be checked one by one, it is read.
//!
//! Input: what listings and rows tell apart, and what is checked. Output: which of it is so. Must not know
//! how a directory was listed.

use crate::pass::scan::compare::{Closer, Difference, Found};
use crate::pass::scan::scanned::{Directory, ScannedFolder};
use crate::rows::FileRow;
use mail::FileStat;
use std::path::Path;

/// Adds a difference to the outcome of a directory. Checks the files whose rows may be outdated.
pub(super) fn look_closer(
    folder: &Path,
    (difference, closer): (Difference, Closer),
    directory: &mut Directory,
) {
    directory.added = difference.added;
    directory.gone = difference.gone;
    for (row, found) in difference.other_inode {
        match stat(folder, &found) {
            Some(stat)
                if !closer.wants(&found.name)
                    && (stat.size_bytes, stat.mtime_ns) == (row.size_bytes, row.mtime_ns) =>
            {
                directory.restated.push((row, found, stat));
            }
            Some(_) => directory.suspect.push((row, found)),
            None => {}
        }
    }
    directory.suspect.extend(changed_in_place(folder, difference.to_stat));
}

/// Returns the rows whose file now has another size or other times.
pub(super) fn changed_in_place(
    folder: &Path,
    rows: impl IntoIterator<Item = (FileRow, Found)>,
) -> impl Iterator<Item = (FileRow, Found)> {
    rows.into_iter().filter(move |(row, found)| stat(folder, found).is_some_and(|stat| !row.has_stat(&stat)))
}

/// Returns the root of a folder.
pub(super) fn root_of(folder: &ScannedFolder) -> &Path {
    let names = folder.row.path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).count();
    folder.path.ancestors().nth(names).unwrap_or(&folder.path)
}

/// Returns the stat of a file. A file that disappeared meanwhile is left to the next pass.
fn stat(folder: &Path, found: &Found) -> Option<FileStat> {
    mail::stat_file(&mail::join(&folder.join(found.subdirectory.name()), &found.name)).ok()
}
