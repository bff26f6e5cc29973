//! Lists every folder of every root, on all cores, and compares it with its rows.
//!
//! Input: roots, and the folders of the last commit. Output: one outcome per directory. A directory that
//! cannot be read is unknown, never empty. Writes nothing.

mod compare;
mod file_rows;
mod lazy;
mod lookup;
mod reader;
mod roots;
mod scanned;

use crate::error::Result;
use crate::pass::options::{Cleanup, Mode};
use crate::rows::{FileRow, Subdirectory};
pub(in crate::pass) use compare::Found;
pub(in crate::pass) use file_rows::FileRows;
use lazy::{Drafts, is_unchanged};
pub(in crate::pass) use lookup::{LookedUp, look_up};
pub(in crate::pass) use reader::is_drafts_folder;
use reader::{Reader, changed_in_place};
pub(crate) use roots::{expect_mail, is_unmounted};
pub(in crate::pass) use scanned::{Input, Outcome, Scan, ScannedFolder};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use work::Progress;

/// Lists and compares all directories.
///
/// # Errors
/// Damage in the store.
pub(in crate::pass) fn scan(input: &Input<'_>, observer: &dyn Progress) -> Result<Scan> {
    let known = FileRows::new(input.snapshot)?;
    let mut scan = roots::find(input);
    read_directories(input, &known, &mut scan, observer)?;
    count_rows(input, &known, &mut scan)?;
    Ok(scan)
}

/// One directory to look at.
struct Task {
    folder: usize,
    subdirectory: Subdirectory,
    work: Work,
}

/// How to look at it.
enum Work {
    /// Read it. `row_count_max` is an upper bound of its rows.
    Read { row_count_max: u64 },
    /// Check only these files in it.
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

fn tasks(input: &Input<'_>, known: &FileRows, scan: &Scan) -> Result<Vec<Task>> {
    let mut drafts = match input.mode {
        Mode::Lazy => Drafts::find(known, &scan.folders)?,
        Mode::Default | Mode::Thorough => Drafts::default(),
    };
    let mut tasks = Vec::new();
    for (index, folder) in scan.folders.iter().enumerate().filter(|(_, folder)| !folder.no_update) {
        for subdirectory in Subdirectory::ALL {
            let work = if input.mode == Mode::Lazy && is_unchanged(folder, subdirectory) {
                Work::Drafts(drafts.take(index, subdirectory))
            } else if folder.is_new {
                Work::Read { row_count_max: 0 }
            } else {
                Work::Read { row_count_max: known.count_at_most(folder.row.number, subdirectory)? }
            };
            tasks.push(Task { folder: index, subdirectory, work });
        }
    }
    // Largest first, so that no thread starts a large one when the others are done.
    tasks.sort_by_key(|task| std::cmp::Reverse(task.row_count_max()));
    Ok(tasks)
}

fn read_directories(
    input: &Input<'_>,
    known: &FileRows,
    scan: &mut Scan,
    observer: &dyn Progress,
) -> Result<()> {
    let tasks = tasks(input, known, scan)?;
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(tasks.len()));
    let worker = || {
        let mut reader = Reader::new(input.mode, known);
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            if observer.is_cancelled() {
                break;
            }
            let folder = &scan.folders[task.folder];
            let outcome = match &task.work {
                Work::Read { .. } => reader.read(folder, task.folder, task.subdirectory),
                Work::Drafts(rows) => {
                    let changed = changed_in_place(&folder.path, rows.iter().cloned()).collect();
                    Ok((Outcome::Unchanged(changed), Vec::new()))
                }
            };
            if let Ok((Outcome::Read(directory), _)) = &outcome {
                observer.add(directory.file_count, 0);
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).push((task, outcome));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..input.environment.context.thread_count.min(tasks.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut found = Vec::with_capacity(tasks.len());
    for (task, outcome) in results.into_inner().unwrap_or_else(PoisonError::into_inner) {
        found.push((task.folder, task.subdirectory, outcome?));
    }
    for (folder, subdirectory, (outcome, problems)) in found {
        scan.folders[folder].directories[subdirectory.index()] = outcome;
        scan.problems.extend(problems);
    }
    Ok(())
}

/// Counts rows where the counts are needed: in roots where something is gone, and in directories that were
/// not read.
fn count_rows(input: &Input<'_>, known: &FileRows, scan: &mut Scan) -> Result<()> {
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
