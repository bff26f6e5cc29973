//! What a scan works from, and what it finds: folders, and one outcome for each of their directories.

use crate::environment::Environment;
use crate::pass::options::{Cleanup, Loss, Mode};
use crate::pass::scan::compare::Found;
use crate::pass::summary::Problem;
use crate::rows::{DirectoryState, FileRow, FolderRow};
use crate::state::Root;
use mail::FileStat;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use store::Snapshot;

/// What a scan works from.
pub(in crate::pass) struct Input<'a> {
    /// Clock and threads.
    pub environment: &'a Environment,
    /// The last commit.
    pub snapshot: &'a Snapshot,
    /// The roots: first those to list, then those that are no longer named and still have rows.
    pub roots: &'a [Root],
    /// How many of the roots are to be listed.
    pub named_count: usize,
    /// The folders to look at, by their paths; all if there is none. All others are left as they are.
    pub only: Option<&'a HashSet<&'a Path>>,
    /// All folders of the last commit.
    pub folders: Vec<FolderRow>,
    /// How much to trust.
    pub mode: Mode,
    /// Whether folders that may only be unmounted count as gone.
    pub loss: Loss,
    /// What becomes of rows whose file is gone.
    pub cleanup: Cleanup,
}

/// What a scan found.
#[derive(Debug, Default)]
pub(in crate::pass) struct Scan {
    /// Every folder of the roots, on the disk or in rows.
    pub folders: Vec<ScannedFolder>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Directories that a file `.noindex` leaves out.
    pub excluded: Vec<PathBuf>,
    /// Roots, by their place in the input, of which nothing is known: missing, empty, unreadable.
    pub unknown_roots: Vec<usize>,
    /// Roots on another device than before.
    pub other_device_roots: Vec<usize>,
    /// When the scan began, nanoseconds.
    pub started_ns: i64,
    /// How many rows each root has in directories of which something is known; empty where nothing is gone.
    pub row_counts: Vec<u64>,
    /// Rows of directories that were left unread because nothing changed in them.
    pub unread_count: u64,
    /// Folders with rows that this pass does not look at: their roots, by their place in the input, and their
    /// numbers.
    pub left_alone: Vec<(usize, u32)>,
}

impl Input<'_> {
    /// Says whether a folder is one to look at.
    pub(in crate::pass) fn has(&self, folder: &Path) -> bool {
        self.only.is_none_or(|only| only.contains(folder))
    }

    /// Says whether a folder to look at is here or below.
    pub(in crate::pass) fn has_below(&self, directory: &Path) -> bool {
        self.only.is_none_or(|only| only.iter().any(|folder| folder.starts_with(directory)))
    }
}

/// A folder and what its two directories hold.
#[derive(Debug)]
pub(in crate::pass) struct ScannedFolder {
    /// The root, by its place in the input.
    pub root: usize,
    /// Where it is.
    pub path: PathBuf,
    /// The row, with number 0 and `is_new` if there is none yet.
    pub row: FolderRow,
    /// Whether it has no row yet.
    pub is_new: bool,
    /// Whether it is still there.
    pub is_there: bool,
    /// Whether `.noupdate` says to leave it alone.
    pub no_update: bool,
    /// Which of `cur` and `new` were listed: one that cannot be read then is unknown, not empty.
    pub has: [bool; 2],
    /// The names of its keywords.
    pub keyword_names: Vec<u8>,
    /// `cur` and `new`.
    pub directories: [Outcome; 2],
}

/// What came of one directory.
#[derive(Debug, Default)]
pub(in crate::pass) enum Outcome {
    /// It was not read, or could not be: its rows stay.
    #[default]
    Unknown,
    /// It is as it was when it was last read whole, and was not read. Rows of drafts in it whose file may
    /// have other content.
    Unchanged(Vec<(FileRow, Found)>),
    /// It was read.
    Read(Box<Directory>),
}

/// A directory that was read.
#[derive(Debug, Default)]
pub(in crate::pass) struct Directory {
    /// The directory before it was read.
    pub state: DirectoryState,
    /// Files in it.
    pub file_count: u64,
    /// New files.
    pub added: Vec<Found>,
    /// Rows without a file.
    pub gone: Vec<FileRow>,
    /// Rows whose file is the same, with another inode or another time of status change.
    pub restated: Vec<(FileRow, Found, FileStat)>,
    /// Rows whose file may have other content.
    pub suspect: Vec<(FileRow, Found)>,
}
