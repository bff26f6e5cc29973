//! Counts the rows of a scan's directories.
//!
//! Input: a scan, and the table `files`. Output: how many rows each root has, and how many are in directories
//! that were not read. Must not know the disk.

use crate::error::Result;
use crate::pass::options::Cleanup;
use crate::pass::scan::file_rows::FileRows;
use crate::pass::scan::scanned::{Directory, Extent, Input, Outcome, Scan, ScannedFolder};
use crate::rows::Subdirectory;

/// Counts rows where the counts are needed: in roots where something is gone, and in directories that were
/// not read.
///
/// # Errors
/// Damage in the store.
pub(in crate::pass) fn count_rows(input: &Input<'_>, known: &FileRows, scan: &mut Scan) -> Result<()> {
    let outcomes = || scan.folders.iter().flat_map(|folder| &folder.directories);
    // A file that was named, and is not there, is gone: only a listing may be of a directory that is empty
    // because nothing is mounted there.
    let loses = |read: &Directory| read.extent == Extent::Whole && !read.gone.is_empty();
    let is_lossy = input.cleanup == Cleanup::Legacy
        || outcomes().any(|outcome| matches!(outcome, Outcome::Read(read) if loses(read)));
    let has_unread = outcomes().any(|outcome| matches!(outcome, Outcome::Unchanged(_)));
    if !is_lossy && !has_unread {
        return Ok(());
    }
    let mut row_counts = vec![0; input.roots.len()];
    let mut elsewhere = 0;
    for folder in scan.folders.iter().filter(|folder| !folder.is_new) {
        for subdirectory in Subdirectory::ALL {
            let outcome = &folder.directories[subdirectory.index()];
            if !is_lossy && matches!(outcome, Outcome::Unchanged(_)) {
                continue;
            }
            let count = known.count(folder.row.number, subdirectory)?;
            if !matches!(outcome, Outcome::Unknown) {
                row_counts[folder.root] += count;
            }
            if !matches!(outcome, Outcome::Unchanged(_)) {
                elsewhere += count;
            }
        }
    }
    if has_unread {
        scan.unread_count = match input.only {
            None => known.row_count() - elsewhere,
            Some(_) => count_unchanged(known, &scan.folders)?,
        };
    }
    if is_lossy {
        // Losses are measured against the whole root, even if this pass looks only at part of it.
        for (root, number) in &scan.left_alone {
            for subdirectory in Subdirectory::ALL {
                row_counts[*root] += known.count(*number, subdirectory)?;
            }
        }
        scan.row_counts = row_counts;
    }
    Ok(())
}

/// Counts the rows of unread directories, one directory at a time.
fn count_unchanged(known: &FileRows, folders: &[ScannedFolder]) -> Result<u64> {
    let mut count = 0;
    for folder in folders {
        for subdirectory in Subdirectory::ALL {
            if matches!(folder.directories[subdirectory.index()], Outcome::Unchanged(_)) {
                count += known.count(folder.row.number, subdirectory)?;
            }
        }
    }
    Ok(count)
}
