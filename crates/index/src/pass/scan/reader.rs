//! Reads the directories of all folders, on all cores, and compares each with its rows.
//!
//! Input: a scan whose folders are found, and their rows. Output: one outcome per directory. A directory that
//! cannot be read is unknown, never empty. Must not know which folders there should be. Writes nothing.

use crate::error::Result;
use crate::pass::options::Mode;
use crate::pass::places::Wanted;
use crate::pass::scan::closer_look::{changed_in_place, look_closer, root_of};
use crate::pass::scan::compare::{Closer, Found, Listing, compare};
use crate::pass::scan::file_rows::{FileRows, NoRows, Telling};
use crate::pass::scan::lazy::{Drafts, is_drafts_folder, is_unchanged};
use crate::pass::scan::named::look_at_named;
use crate::pass::scan::scanned::{Directory, Input, Outcome, Scan, ScannedFolder};
use crate::pass::summary::{Problem, STAYS};
use crate::rows::{DirectoryState, FileRow, Subdirectory, file_key};
use mail::{FileStat, Fingerprint, RootBoundary, ScanBuffer, Stamp};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use work::Progress;

/// The message about links that are not followed.
const ELSEWHERE: &str = "is a link to a file outside the mail; it is not followed";

/// A brief pass leaves the files of a directory that changed since then to a later pass.
const YOUNG_NS: i64 = 60 * 1_000_000_000;

/// One directory to look at.
struct Task<'a> {
    folder: usize,
    subdirectory: Subdirectory,
    work: Work<'a>,
}

/// How to look at it.
enum Work<'a> {
    /// Read it. `row_count_max` is an upper bound of its rows.
    Read { row_count_max: u64 },
    /// Check only these files in it.
    Drafts(Vec<(FileRow, Found)>),
    /// Look at the files with these names, and at no others.
    Named(Vec<&'a [u8]>),
}

/// Reads directories one after another, reusing its memory.
struct Reader<'a> {
    mode: Mode,
    /// When the scan began.
    started_ns: i64,
    known: &'a FileRows,
    buffer: ScanBuffer,
    listing: Listing,
}

/// Reads all directories that `input` wants to be read, and adds their outcomes to the scan.
///
/// # Errors
/// Damage in the store.
pub(in crate::pass) fn read_directories(
    input: &Input<'_>,
    known: &FileRows,
    scan: &mut Scan,
    observer: &dyn Progress,
) -> Result<()> {
    let tasks = tasks(input, known, scan)?;
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(tasks.len()));
    let worker = || {
        let mut reader = Reader::new(input.mode, known, scan.started_ns);
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
                Work::Named(names) => look_at_named((folder, task.folder), task.subdirectory, names, known),
            };
            if let Ok((Outcome::Read(directory), _)) = &outcome {
                observer.add(directory.file_count, 0);
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).push((task, outcome));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..input.environment.context.threads.count().min(tasks.len()) {
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

fn tasks<'a>(input: &Input<'a>, known: &FileRows, scan: &Scan) -> Result<Vec<Task<'a>>> {
    let mut drafts = match input.mode {
        Mode::Lazy => Drafts::find(known, &scan.folders)?,
        Mode::Default | Mode::Brief | Mode::Thorough => Drafts::default(),
    };
    let mut tasks = Vec::new();
    for (index, folder) in scan.folders.iter().enumerate().filter(|(_, folder)| !folder.no_update) {
        let wanted = input.only.and_then(|only| only.wanted(&folder.path));
        for subdirectory in Subdirectory::ALL {
            let work = if let Some(Wanted::Files(files)) = wanted.filter(|_| !folder.is_new) {
                let here = files.iter().filter(|(place, _)| *place == subdirectory);
                Work::Named(here.map(|(_, name)| name.as_slice()).collect())
            } else if input.mode == Mode::Lazy && is_unchanged(folder, subdirectory) {
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

impl Task<'_> {
    fn row_count_max(&self) -> u64 {
        match &self.work {
            Work::Read { row_count_max } => *row_count_max,
            Work::Drafts(_) | Work::Named(_) => 0,
        }
    }
}

impl<'a> Reader<'a> {
    /// Allocates the memory.
    fn new(mode: Mode, known: &'a FileRows, started_ns: i64) -> Reader<'a> {
        Reader { mode, started_ns, known, buffer: ScanBuffer::new(), listing: Listing::default() }
    }

    /// Reads `cur` or `new` of the scan's folder `index`.
    ///
    /// # Errors
    /// Damage in the store.
    fn read(
        &mut self,
        folder: &ScannedFolder,
        index: usize,
        subdirectory: Subdirectory,
    ) -> Result<(Outcome, Vec<Problem>)> {
        let mut problems = Vec::new();
        let path = folder.path.join(subdirectory.name());
        let root = RootBoundary::new(root_of(folder));
        let is_listed = folder.has[subdirectory.index()];
        let stored = folder.row.directories[subdirectory.index()];
        let (closer, at) = (self.closer(folder), (index, subdirectory));
        if folder.is_there
            && is_listed
            && !folder.is_new
            && let Some((opened, file_count)) = self.glance((&path, &root), &stored, closer)
        {
            let mut directory = Directory { state: stored, file_count, ..Directory::default() };
            problems = self.look_at_unchanged(folder, at, &opened, &mut directory)?;
            return Ok((Outcome::Read(Box::new(directory)), problems));
        }
        let has_rows = || Ok::<bool, crate::Error>(self.known.count(folder.row.number, subdirectory)? > 0);
        let mut opened = None;
        if folder.is_there && !is_listed && !folder.is_new && has_rows()? {
            let what = format!("is no longer a directory{STAYS}");
            return Ok((Outcome::Unknown, vec![Problem::new(path, what)]));
        } else if folder.is_there && is_listed {
            opened = self.list((&path, &root), &mut problems);
            if opened.is_none() {
                return Ok((Outcome::Unknown, problems));
            }
        } else {
            self.listing.clear();
        }
        let stamp = opened.as_ref().map(mail::Directory::stamp).unwrap_or_default();
        let mut directory = Directory {
            state: DirectoryState { stamp, fingerprint: self.listing.fingerprint() },
            file_count: self.listing.len() as u64,
            ..Directory::default()
        };
        match &opened {
            Some(opened) if !folder.is_new && stored.fingerprint == directory.state.fingerprint => {
                problems.extend(self.look_at_unchanged(folder, at, opened, &mut directory)?);
            }
            _ if folder.is_new => {
                let difference = compare(&self.listing, at, closer, &NoRows)?;
                look_closer(&folder.path, (difference, closer), &mut directory);
            }
            _ => {
                let rows = self.known.directory(folder.row.number, subdirectory)?;
                let difference = compare(&self.listing, at, closer, &rows)?;
                look_closer(&folder.path, (difference, closer), &mut directory);
            }
        }
        Ok((Outcome::Read(Box::new(directory)), problems))
    }

    /// Checks the files of a directory whose names and inodes equal those of its rows: all of them, or only
    /// drafts. If the directory's times changed since it was read, checks all: a name may have been removed
    /// and added again with another file that got the same inode. If no times were stored because they were
    /// too recent, this is not done; otherwise every second pass would check every file. Returns the files
    /// that cannot be checked; the directory is then not trusted.
    fn look_at_unchanged(
        &self,
        folder: &ScannedFolder,
        at: (usize, Subdirectory),
        opened: &mail::Directory,
        directory: &mut Directory,
    ) -> Result<Vec<Problem>> {
        let number = folder.row.number;
        let (index, subdirectory) = at;
        let mut unchecked = Vec::new();
        let look = |name: &[u8]| match opened.stat_file(name) {
            Ok(stat) => Some(stat),
            // It disappeared meanwhile, and is left to the next pass.
            Err(error) if error.is_not_found() => None,
            Err(error) => {
                let what = format!("{}; it was not checked for changes", error.reason());
                unchecked.push(Problem::new(error.path().to_owned(), what));
                None
            }
        };
        let stored = folder.row.directories[subdirectory.index()].stamp;
        let outdated = match self.closer(folder) {
            Closer::Drafts if self.is_left_to_later(&opened.stamp(), &stored) => {
                // The stamp stays what it is, so that a later pass checks all.
                directory.state.stamp = stored;
                self.outdated_drafts(number, subdirectory, look)?
            }
            Closer::All => {
                self.known.directory(number, subdirectory)?.outdated(Telling::SizeAndTimes, look)?
            }
            Closer::Drafts if has_other_times(&opened.stamp(), &stored) => {
                self.known.directory(number, subdirectory)?.outdated(Telling::SizeAndModification, look)?
            }
            Closer::Drafts => self.outdated_drafts(number, subdirectory, look)?,
        };
        directory.suspect.extend(outdated.into_iter().map(|row| {
            let found = Found { folder: index, subdirectory, name: row.name.clone(), inode: row.inode };
            (row, found)
        }));
        if !unchecked.is_empty() {
            directory.state.stamp = directory.state.stamp.without_times();
        }
        Ok(unchecked)
    }

    /// Returns whether a directory with the names of its rows changed too recently for its files to be
    /// checked. The stored stamp must be trusted, so that it stays.
    fn is_left_to_later(&self, now: &Stamp, stored: &Stamp) -> bool {
        self.mode == Mode::Brief
            && has_other_times(now, stored)
            && !stored.is_racy(self.started_ns)
            && now.mtime_ns.max(now.ctime_ns) > self.started_ns.saturating_sub(YOUNG_NS)
    }

    fn closer(&self, folder: &ScannedFolder) -> Closer {
        if self.mode == Mode::Thorough || is_drafts_folder(&folder.row.path) {
            Closer::All
        } else {
            Closer::Drafts
        }
    }

    /// Reads the names of a directory with an unchanged stamp without storing them: in a large directory,
    /// memory for names costs as much as everything else. Returns the directory and its number of files, and
    /// lists only drafts (none if all files are checked anyway). Returns `None` if the directory has changed
    /// after all, or cannot be read.
    fn glance(
        &mut self,
        (path, root): (&Path, &RootBoundary),
        stored: &DirectoryState,
        closer: Closer,
    ) -> Option<(mail::Directory, u64)> {
        let directory = mail::Directory::open(path).ok()?;
        if directory.stamp() != stored.stamp {
            return None;
        }
        self.listing.clear();
        let listing = &mut self.listing;
        let mut fingerprint = Fingerprint::default();
        let (mut file_count, mut is_unknown) = (0, false);
        let read = directory.read(&mut self.buffer, |entry| {
            if entry.name.starts_with(b".") {
                return;
            }
            match entry.is_message_file(root) {
                Ok(true) => {
                    fingerprint.add(mail::entry_hash(entry.name, entry.inode));
                    file_count += 1;
                    if closer == Closer::Drafts && mail::is_draft(entry.name) {
                        listing.push(entry.name, entry.inode);
                    }
                }
                // Such a link is listed, so that it is reported again.
                Ok(false) => is_unknown |= entry.is_unfollowed_link(root),
                Err(_) => is_unknown = true,
            }
        });
        (read.is_ok() && !is_unknown && fingerprint == stored.fingerprint).then_some((directory, file_count))
    }

    /// Fills the listing. Returns `None` if the directory cannot be read.
    fn list(
        &mut self,
        (path, root): (&Path, &RootBoundary),
        problems: &mut Vec<Problem>,
    ) -> Option<mail::Directory> {
        self.listing.clear();
        let listing = &mut self.listing;
        let (mut unknown, mut elsewhere) = (None, Vec::new());
        let read = mail::read_directory(path, &mut self.buffer, |entry| match entry.is_message_file(root) {
            Ok(true) => listing.push(entry.name, entry.inode),
            Ok(false) if entry.is_unfollowed_link(root) => elsewhere.push(entry.name.to_vec()),
            Ok(false) => {}
            Err(error) => unknown = Some(error),
        });
        if let Some(first) = elsewhere.iter().min() {
            let more = match elsewhere.len() {
                1 => String::new(),
                count => format!("; the same of {} more in this directory", count.saturating_sub(1)),
            };
            problems.push(Problem::new(mail::join(path, first), format!("{ELSEWHERE}{more}")));
        }
        match unknown.map_or(read, Err) {
            Ok(directory) => Some(directory),
            Err(error) => {
                problems.push(Problem::new(path.to_owned(), format!("{}{STAYS}", error.reason())));
                None
            }
        }
    }

    /// Returns the rows of the listed drafts whose size or times differ from those that `look` returns.
    fn outdated_drafts(
        &self,
        folder: u32,
        subdirectory: Subdirectory,
        mut look: impl FnMut(&[u8]) -> Option<FileStat>,
    ) -> Result<Vec<FileRow>> {
        let mut outdated = Vec::new();
        for name in self.listing.names() {
            if mail::is_draft(name)
                && let Some(stat) = look(name)
                && let Some(row) = self.known.file(&file_key(folder, subdirectory, name))?
                && !row.has_stat(&stat)
            {
                outdated.push(row);
            }
        }
        Ok(outdated)
    }
}

/// Returns whether a directory changed since its stamp was stored with times.
fn has_other_times(now: &Stamp, stored: &Stamp) -> bool {
    let times = |stamp: &Stamp| (stamp.mtime_ns, stamp.ctime_ns);
    stored.has_times() && times(now) != times(stored)
}
