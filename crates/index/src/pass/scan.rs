//! Lists every folder of every root, on all cores, and compares it with its rows.
//!
//! In: roots, and the folders of the last commit. Out: one outcome for each directory. Directories that cannot be read are unknown,
//! never empty. Writes nothing.

use crate::environment::Environment;
use crate::error::Result;
use crate::pass::compare::Found;
use crate::pass::known::Known;
use crate::pass::lazy::{Drafts, is_unchanged};
use crate::pass::reader::{Reader, changed_in_place};
use crate::pass::{Cleanup, Loss, Mode, Observer, Problem, roots};
use crate::rows::{DirectoryState, FileRow, FolderRow, Place};
use crate::state::Root;
use mail::FileStat;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use store::Snapshot;

/// What a scan works from.
pub(super) struct Input<'a> {
    /// Clock and threads.
    pub environment: &'a Environment,
    /// The last commit.
    pub snapshot: &'a Snapshot,
    /// The roots: first those to list, then those that are no longer named and still have rows.
    pub roots: &'a [Root],
    /// How many of the roots are to be listed.
    pub named_count: usize,
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
pub(super) struct Scan {
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
}

/// A folder and what its two directories hold.
#[derive(Debug)]
pub(super) struct ScannedFolder {
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
pub(super) enum Outcome {
    /// It was not read, or could not be: its rows stay.
    #[default]
    Unknown,
    /// It is as it was when it was last read whole, and was not read. Rows of drafts in it whose file may have other content.
    Unchanged(Vec<(FileRow, Found)>),
    /// It was read.
    Read(Box<Directory>),
}

/// A directory that was read.
#[derive(Debug, Default)]
pub(super) struct Directory {
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

/// Lists and compares.
///
/// # Errors
/// Damage in the store.
pub(super) fn scan(input: &Input<'_>, observer: &dyn Observer) -> Result<Scan> {
    let known = Known::new(input.snapshot)?;
    let mut scan = roots::find(input);
    read_directories(input, &known, &mut scan, observer)?;
    count_rows(input, &known, &mut scan)?;
    Ok(scan)
}

/// One directory to look at.
struct Task {
    folder: usize,
    place: Place,
    work: Work,
}

/// How to look at it.
enum Work {
    /// Read it. It has at most so many rows.
    Read { row_count_max: u64 },
    /// Only at these of its files.
    Drafts(Vec<(FileRow, Found)>),
}

impl Task {
    fn row_count_max(&self) -> u64 {
        match &self.work {
            Work::Read { row_count_max } => *row_count_max,
            Work::Drafts(_) => 0,
        }
    }
}

fn tasks(input: &Input<'_>, known: &Known, scan: &Scan) -> Result<Vec<Task>> {
    let mut drafts = match input.mode {
        Mode::Lazy => Drafts::find(known, &scan.folders)?,
        Mode::Default | Mode::Thorough => Drafts::default(),
    };
    let mut tasks = Vec::new();
    for (index, folder) in scan.folders.iter().enumerate().filter(|(_, folder)| !folder.no_update) {
        for place in Place::ALL {
            let work = if input.mode == Mode::Lazy && is_unchanged(folder, place) {
                Work::Drafts(drafts.take(index, place))
            } else if folder.is_new {
                Work::Read { row_count_max: 0 }
            } else {
                Work::Read { row_count_max: known.count_at_most(folder.row.number, place)? }
            };
            tasks.push(Task { folder: index, place, work });
        }
    }
    // The largest first, so that no thread is left alone with it at the end.
    tasks.sort_by_key(|task| std::cmp::Reverse(task.row_count_max()));
    Ok(tasks)
}

fn read_directories(
    input: &Input<'_>,
    known: &Known,
    scan: &mut Scan,
    observer: &dyn Observer,
) -> Result<()> {
    let tasks = tasks(input, known, scan)?;
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(tasks.len()));
    let worker = || {
        let mut reader = Reader::new(input.mode, known);
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            if observer.is_interrupted() {
                break;
            }
            let folder = &scan.folders[task.folder];
            let outcome = match &task.work {
                Work::Read { .. } => reader.read(folder, task.folder, task.place),
                Work::Drafts(rows) => {
                    let changed = changed_in_place(&folder.path, rows.iter().cloned()).collect();
                    Ok((Outcome::Unchanged(changed), Vec::new()))
                }
            };
            if let Ok((Outcome::Read(directory), _)) = &outcome {
                observer.advance(directory.file_count);
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).push((task, outcome));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..input.environment.thread_count.min(tasks.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut found = Vec::with_capacity(tasks.len());
    for (task, outcome) in results.into_inner().unwrap_or_else(PoisonError::into_inner) {
        found.push((task.folder, task.place, outcome?));
    }
    for (folder, place, (outcome, problems)) in found {
        scan.folders[folder].directories[place.index()] = outcome;
        scan.problems.extend(problems);
    }
    Ok(())
}

/// Counts rows where somebody asks: of roots where something is gone, and in directories that were not read.
fn count_rows(input: &Input<'_>, known: &Known, scan: &mut Scan) -> Result<()> {
    let outcomes = || scan.folders.iter().flat_map(|folder| &folder.directories);
    let is_lossy = input.cleanup == Cleanup::Legacy
        || outcomes().any(|outcome| matches!(outcome, Outcome::Read(read) if !read.gone.is_empty()));
    let has_unread = outcomes().any(|outcome| matches!(outcome, Outcome::Unchanged(_)));
    if !is_lossy && !has_unread {
        return Ok(());
    }
    let mut row_counts = vec![0; input.roots.len()];
    let mut elsewhere = 0;
    for folder in scan.folders.iter().filter(|folder| !folder.is_new) {
        for place in Place::ALL {
            let outcome = &folder.directories[place.index()];
            if !is_lossy && matches!(outcome, Outcome::Unchanged(_)) {
                continue;
            }
            let count = known.count(folder.row.number, place)?;
            if !matches!(outcome, Outcome::Unknown) {
                row_counts[folder.root] += count;
            }
            if !matches!(outcome, Outcome::Unchanged(_)) {
                elsewhere += count;
            }
        }
    }
    if has_unread {
        scan.unread_count = known.row_count() - elsewhere;
    }
    if is_lossy {
        scan.row_counts = row_counts;
    }
    Ok(())
}
