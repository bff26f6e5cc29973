//! The input of a scan, and its result: folders, with one outcome for each of their directories.

use crate::environment::Environment;
use crate::pass::options::{Cleanup, Loss, Mode};
use crate::pass::places::Places;
use crate::pass::scan::compare::Found;
use crate::pass::summary::Problem;
use crate::rows::{DirectoryState, FileRow, FolderRow};
use crate::state::Root;
use mail::FileStat;
use std::path::{Path, PathBuf};
use store::Snapshot;

/// The input of a scan.
pub(in crate::pass) struct Input<'a> {
    /// Clock and threads.
    pub environment: &'a Environment,
    /// The last commit.
    pub snapshot: &'a Snapshot,
    /// The roots: first those to list, then those that are no longer named but still have rows.
    pub roots: &'a [Root],
    /// How many of the roots are to be listed.
    pub named_count: usize,
    /// What to look at; `None` means all folders. Other folders are left as they are.
    pub only: Option<&'a Places>,
    /// All folders of the last commit.
    pub folders: Vec<FolderRow>,
    /// How much to trust.
    pub mode: Mode,
    /// Whether folders that may only be unmounted count as gone.
    pub loss: Loss,
    /// What happens to rows whose file is gone.
    pub cleanup: Cleanup,
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(in crate::pass) struct Scan {
    /// Every folder of the roots, on disk or in rows.
    pub folders: Vec<ScannedFolder>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Directories excluded by a file `.noindex`.
    pub excluded: Vec<PathBuf>,
    /// Roots, by their index in the input, that are unknown: missing, empty or unreadable.
    pub unknown_roots: Vec<usize>,
    /// Roots on another device than before.
    pub other_device_roots: Vec<usize>,
    /// Roots that are no longer named, and lose nothing but what moved to others; and what to say of them.
    pub unnamed_roots: Vec<(usize, Problem)>,
    /// When the scan began, in nanoseconds.
    pub started_ns: i64,
    /// How many rows each root has in known directories; empty if nothing is gone.
    pub row_counts: Vec<u64>,
    /// Rows of directories that were not read because they are unchanged.
    pub unread_count: u64,
    /// Folders with rows that this pass does not look at: the index of the root in the input, and the
    /// folder's number.
    pub left_alone: Vec<(usize, u32)>,
}

impl Directory {
    /// Returns whether its rows stay as they are.
    pub(in crate::pass) fn is_unchanged(&self) -> bool {
        self.added.is_empty() && self.gone.is_empty() && self.restated.is_empty() && self.suspect.is_empty()
    }
}

impl Input<'_> {
    /// Returns whether a folder is to be looked at.
    pub(in crate::pass) fn has(&self, folder: &Path) -> bool {
        self.only.is_none_or(|only| only.wanted(folder).is_some())
    }

    /// Returns whether a folder to look at is here or below.
    pub(in crate::pass) fn has_below(&self, directory: &Path) -> bool {
        self.only.is_none_or(|only| only.folders().any(|folder| folder.starts_with(directory)))
    }
}

/// A folder and its two directories.
#[derive(Debug)]
pub(in crate::pass) struct ScannedFolder {
    /// The root, by its place in the input.
    pub root: usize,
    /// Its path.
    pub path: PathBuf,
    /// Its row; with number 0 and `is_new` if there is none yet.
    pub row: FolderRow,
    /// Whether it has no row yet.
    pub is_new: bool,
    /// Whether it still exists.
    pub is_there: bool,
    /// Whether it was removed as a whole, and is not only unmounted.
    pub is_removed: bool,
    /// Whether it has a file `.noupdate`, and is left alone.
    pub no_update: bool,
    /// Which of `cur` and `new` were listed. If one of these cannot be read, it is unknown, not empty.
    pub has: [bool; 2],
    /// The names of its keywords.
    pub keyword_names: Vec<u8>,
    /// `cur` and `new`.
    pub directories: [Outcome; 2],
}

/// The outcome of one directory.
#[derive(Debug, Default)]
pub(in crate::pass) enum Outcome {
    /// It was not read, or could not be read. Its rows stay.
    #[default]
    Unknown,
    /// It is unchanged since it was last read completely, and was not read. Holds the rows of drafts in it
    /// whose content may have changed.
    Unchanged(Vec<(FileRow, Found)>),
    /// It was read.
    Read(Box<Directory>),
}

/// How much of a directory was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::pass) enum Extent {
    /// All of it.
    #[default]
    Whole,
    /// Files that were named. Nothing is known of others.
    Named,
}

/// A directory that was read.
#[derive(Debug, Default)]
pub(in crate::pass) struct Directory {
    /// How much of it.
    pub extent: Extent,
    /// The state of the directory before it was read.
    pub state: DirectoryState,
    /// Files in it.
    pub file_count: u64,
    /// New files.
    pub added: Vec<Found>,
    /// Rows without a file.
    pub gone: Vec<FileRow>,
    /// Rows whose file is the same, but has another inode or time of status change.
    pub restated: Vec<(FileRow, Found, FileStat)>,
    /// Rows whose file may have new content.
    pub suspect: Vec<(FileRow, Found)>,
}
