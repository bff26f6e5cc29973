//! The folders of a plan, and which stamps the commit stores about their directories.
//!
//! Input: scanned folders. Output: planned ones. Pure. A stamp is stored with its times only if a directory
//! with these times has exactly the files in its rows. Must not know files.

use crate::pass::scan::ScannedFolder;
use crate::rows::{FolderRow, Subdirectory};
use mail::Stamp;
use std::collections::HashSet;
use std::path::PathBuf;

/// A folder, and what the commit stores about it.
#[derive(Debug)]
pub(in crate::pass) struct PlannedFolder {
    /// Its path.
    pub path: PathBuf,
    /// Its row when it was scanned.
    pub row: FolderRow,
    /// Whether it has no row yet.
    pub is_new: bool,
    /// Whether its row is removed once it has no files.
    pub is_gone: bool,
    /// The stamps of its two directories before they were read; `None` for a directory that was not read.
    pub read: [Option<Stamp>; 2],
    /// The stamps to store once everything in the folder is done; `None` leaves a stamp as it is.
    pub stamps: [Option<Stamp>; 2],
    /// The devices of its two directories now; 0 for a directory that was not read.
    pub device_now: [u64; 2],
    /// Whether the row itself changed.
    pub is_changed: bool,
}

impl PlannedFolder {
    /// Plans a folder without stamps. `is_gone` tells whether its row is removed once it has no files.
    pub(super) fn new(folder: &ScannedFolder, is_gone: bool) -> PlannedFolder {
        PlannedFolder {
            path: folder.path.clone(),
            row: FolderRow {
                no_update: folder.no_update,
                keyword_names: folder.keyword_names.clone(),
                ..folder.row.clone()
            },
            is_new: folder.is_new,
            is_gone,
            read: [None, None],
            stamps: [None, None],
            device_now: [0, 0],
            is_changed: folder.is_new
                || is_gone
                || folder.no_update != folder.row.no_update
                || folder.keyword_names != folder.row.keyword_names,
        }
    }

    /// Marks the stamps as untrusted, because part of the folder's work was dropped.
    pub(super) fn distrust(&mut self) {
        for place in [0, 1] {
            if let Some(read) = self.read[place] {
                self.stamps[place] = untrusted_stamp(read, &self.row.directories[place].stamp);
            }
        }
        self.is_changed |= self.stamps.iter().any(Option::is_some);
    }
}

/// Decides which stamps to store. `kept` names directories with rows that stay although their file is gone.
pub(super) fn decide_stamps(
    folders: &mut [PlannedFolder],
    kept: &HashSet<(u32, Subdirectory)>,
    started_ns: i64,
) {
    for folder in folders {
        for subdirectory in Subdirectory::ALL {
            let index = subdirectory.index();
            let stored = folder.row.directories[index].stamp;
            let Some(read) = folder.read[index] else { continue };
            let is_kept = !folder.is_new && kept.contains(&(folder.row.number, subdirectory));
            folder.stamps[index] = if is_kept || read.is_racy(started_ns) {
                untrusted_stamp(read, &stored)
            } else {
                stamp_to_store(read, Trust::Whole, &stored)
            };
        }
        folder.is_changed |= folder.stamps.iter().any(Option::is_some);
    }
}

/// Whether a stamp can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// A directory with this stamp has exactly the files in its rows.
    Whole,
    /// Its times could hide a change, or its rows are incomplete.
    None,
}

/// Returns the stamp to store, or `None` if the stored one stays. Untrusted times are left out. The device is
/// always stored, because it identifies moves between folders.
fn stamp_to_store(read: Stamp, trust: Trust, stored: &Stamp) -> Option<Stamp> {
    let without_times = Stamp { mtime_ns: 0, ctime_ns: 0, ..read };
    let is_same_directory = (read.device, read.inode) == (stored.device, stored.inode);
    match trust {
        Trust::Whole => (read != *stored).then_some(read),
        // A stored stamp with other times is untrusted too, until the directory has that stamp again.
        Trust::None if is_same_directory && (read != *stored || without_times == *stored) => None,
        Trust::None => Some(without_times),
    }
}

/// Returns the stamp to store for a directory whose rows are incomplete.
fn untrusted_stamp(read: Stamp, stored: &Stamp) -> Option<Stamp> {
    // If the directory is gone, its old device and inode are kept, to recognise moves.
    let place = if read == Stamp::default() { *stored } else { read };
    stamp_to_store(place, Trust::None, stored)
}
