//! Lists every folder of every root, on all cores, and compares it with its rows.
//!
//! In: roots, and the folders of the last commit. Out: one outcome for each directory. Directories that cannot be read are unknown,
//! never empty. Writes nothing.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::pass::compare::{Closer, Difference, Found, compare};
use crate::pass::known::Known;
use crate::pass::listing::Listing;
use crate::pass::{Loss, Mode, Observer, Problem};
use crate::rows::{DirectoryState, FileRow, FolderRow, Place, file_key};
use crate::state::Root;
use mail::{FileStat, Folder, FolderProblem, FolderProblemKind, Folders, ScanBuffer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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
}

/// What a scan found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Every folder of the roots, on the disk or in rows.
    pub folders: Vec<ScannedFolder>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Roots, by their place in the input, of which nothing is known: missing, empty, unreadable.
    pub unknown_roots: Vec<usize>,
    /// Roots on another device than before.
    pub other_device_roots: Vec<usize>,
    /// When the scan began, nanoseconds.
    pub started_ns: i64,
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
    /// Rows it had.
    pub row_count: u64,
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
    let mut scan = Scan { started_ns: (input.environment.clock_ns)(), ..Scan::default() };
    for (index, root) in input.roots.iter().enumerate() {
        let rows = input.folders.iter().filter(|row| row.root == root.name);
        let known = rows.map(|row| (row.path.as_slice(), row)).collect();
        if index < input.named_count {
            list_root(&mut scan, input, index, known);
        } else {
            missing_folders(&mut scan, input, index, (known, &[]));
        }
    }
    read_directories(input, &mut scan, observer)?;
    Ok(scan)
}

/// Says whether there is mail to index: a first index of nothing is a mistake in the name of a directory.
///
/// # Errors
/// [`Error::NoMaildir`] if no root holds a folder.
pub(super) fn expect_mail(roots: &[Root]) -> Result<()> {
    let mut first = None;
    for root in roots {
        let what = match mail::find_folders(&root.path) {
            Ok(listed) if listed.folders.is_empty() => "no directory in it has cur and new".to_owned(),
            Ok(_) => return Ok(()),
            Err(error) => error.to_string(),
        };
        first.get_or_insert(Error::NoMaildir { path: root.path.clone(), what });
    }
    first.map_or(Ok(()), Err)
}

/// Folders of one root that have rows, by their path.
type KnownFolders<'a> = BTreeMap<&'a [u8], &'a FolderRow>;

fn list_root(scan: &mut Scan, input: &Input<'_>, index: usize, mut known: KnownFolders<'_>) {
    let root = &input.roots[index];
    let listed = match mail::find_folders(&root.path) {
        Ok(listed)
            if listed.folders.is_empty() && listed.problems.is_empty() && listed.excluded.is_empty() =>
        {
            let what = if !known.is_empty() {
                "holds no Maildir any more; nothing was changed (is it not mounted?)"
            } else {
                "holds no Maildir: no directory with cur and new in it"
            };
            unknown_root(scan, index, &root.path, what);
            return;
        }
        Ok(listed) => listed,
        Err(error) => {
            unknown_root(scan, index, &root.path, &format!("{error}; what is indexed of it stays"));
            return;
        }
    };
    if is_on_other_device(&listed, &known) {
        scan.other_device_roots.push(index);
    }
    let hidden = hidden_paths(scan, root, listed.problems, &known);
    for folder in listed.folders {
        let path = mail::join(&root.path, &folder.path);
        let row = known.remove(folder.path.as_slice()).cloned();
        let keyword_names = keyword_names(scan, &folder, &path, row.as_ref());
        scan.folders.push(ScannedFolder {
            root: index,
            path,
            is_new: row.is_none(),
            is_there: true,
            no_update: folder.no_update,
            has: [folder.has_cur, folder.has_new],
            keyword_names,
            row: row.unwrap_or_else(|| FolderRow {
                root: root.name.clone(),
                path: folder.path,
                ..FolderRow::default()
            }),
            directories: Default::default(),
        });
    }
    missing_folders(scan, input, index, (known, &hidden));
}

/// Returns the names of a folder's keywords: those known if they cannot be read now, or are to be left alone.
fn keyword_names(scan: &mut Scan, folder: &Folder, path: &Path, row: Option<&FolderRow>) -> Vec<u8> {
    let known = || row.map(|row| row.keyword_names.clone()).unwrap_or_default();
    if folder.no_update {
        return known();
    }
    if !folder.has_keywords {
        return Vec::new();
    }
    match mail::read_keyword_names(path) {
        Ok(names) => names,
        Err(error) if error.is_not_found() => Vec::new(),
        Err(error) => {
            let what = format!("{error}; the names of keywords stay as they were");
            scan.problems.push(Problem { path: error.path().to_owned(), what });
            known()
        }
    }
}

/// Folders that have rows and were not listed are gone, unless what hides them could not be read, or they lay on a device that is
/// not mounted there now.
fn missing_folders(
    scan: &mut Scan,
    input: &Input<'_>,
    index: usize,
    (known, hidden): (KnownFolders<'_>, &[PathBuf]),
) {
    let root = &input.roots[index];
    for row in known.into_values() {
        let path = mail::join(&root.path, &row.path);
        let is_hidden = hidden.iter().any(|hidden| path.starts_with(hidden));
        let is_unmounted = !is_hidden
            && index < input.named_count
            && input.loss == Loss::Refuse
            && is_unmounted(&path, &root.path, row);
        if is_unmounted {
            let what =
                "is not there, and lay on another device: is it not mounted? What is indexed of it stays. \
                        If it is gone for good, use --accept-loss"
                    .to_owned();
            scan.problems.push(Problem { path: path.clone(), what });
        }
        scan.folders.push(ScannedFolder {
            root: index,
            path,
            row: row.clone(),
            is_new: false,
            is_there: is_hidden || is_unmounted,
            no_update: is_hidden || is_unmounted,
            has: [false, false],
            keyword_names: row.keyword_names.clone(),
            directories: Default::default(),
        });
    }
}

/// Says whether a folder that is not there lay on another device than what is left of its path.
fn is_unmounted(path: &Path, root: &Path, row: &FolderRow) -> bool {
    let left = path
        .ancestors()
        .take_while(|part| part.starts_with(root))
        .find_map(|part| mail::stat_directory(part).ok());
    let devices = row.directories.iter().map(|directory| directory.stamp.device);
    left.is_some_and(|left| devices.into_iter().any(|device| device != 0 && device != left.device))
}

fn unknown_root(scan: &mut Scan, index: usize, path: &Path, what: &str) {
    scan.unknown_roots.push(index);
    scan.problems.push(Problem { path: path.to_owned(), what: what.to_owned() });
}

/// Tells the problems of a listing, and returns the paths at and below which folders may be there unseen.
fn hidden_paths(
    scan: &mut Scan,
    root: &Root,
    problems: Vec<FolderProblem>,
    known: &KnownFolders<'_>,
) -> Vec<PathBuf> {
    let mut hidden = Vec::new();
    for problem in problems.into_iter().filter(FolderProblem::hides_folders) {
        let hides_known = known.keys().any(|path| mail::join(&root.path, path).starts_with(&problem.path));
        // A link that leads nowhere is worth a line only where there were folders: programs keep locks in such links.
        if hides_known || !matches!(problem.kind, FolderProblemKind::Dangling) {
            scan.problems.push(Problem {
                path: problem.path.clone(),
                what: format!("{problem}; what is indexed of it stays"),
            });
        }
        hidden.push(problem.path);
    }
    hidden
}

/// Says whether no folder is on the device that it was on. Of a root whose folders are all gone the root's own device counts.
fn is_on_other_device(listed: &Folders, known: &KnownFolders<'_>) -> bool {
    let was_on = |row: &FolderRow, device: u64| {
        row.directories.iter().any(|directory| directory.stamp.device == device)
    };
    let has_device = |row: &&FolderRow| !was_on(row, 0);
    let here: Vec<bool> = listed
        .folders
        .iter()
        .filter_map(|folder| Some((*known.get(folder.path.as_slice())?, folder.stamp.device)))
        .filter(|(row, _)| has_device(row))
        .map(|(row, device)| was_on(row, device))
        .collect();
    if !here.is_empty() {
        return !here.contains(&true);
    }
    let mut rows = known.values().copied().filter(has_device).peekable();
    rows.peek().is_some() && rows.all(|row| !was_on(row, listed.stamp.device))
}

/// One directory to read.
struct Task {
    folder: usize,
    place: Place,
    row_count: u64,
}

fn read_directories(input: &Input<'_>, scan: &mut Scan, observer: &dyn Observer) -> Result<()> {
    let known = Known::new(input.snapshot)?;
    let mut tasks = Vec::new();
    for (index, folder) in scan.folders.iter().enumerate().filter(|(_, folder)| !folder.no_update) {
        for place in Place::ALL {
            let row_count = if folder.is_new { 0 } else { known.count(folder.row.number, place)? };
            tasks.push(Task { folder: index, place, row_count });
        }
    }
    // The largest first, so that no thread is left alone with it at the end.
    tasks.sort_by_key(|task| std::cmp::Reverse(task.row_count));
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(tasks.len()));
    let worker = || {
        let mut reader =
            Reader { input, known: &known, buffer: ScanBuffer::new(), listing: Listing::default() };
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            if observer.is_interrupted() {
                break;
            }
            let outcome = reader.read(&scan.folders[task.folder], task);
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

/// Reads directories one after another with the same memory.
struct Reader<'a> {
    input: &'a Input<'a>,
    known: &'a Known,
    buffer: ScanBuffer,
    listing: Listing,
}

impl Reader<'_> {
    fn read(&mut self, folder: &ScannedFolder, task: &Task) -> Result<(Outcome, Vec<Problem>)> {
        let mut problems = Vec::new();
        let path = folder.path.join(task.place.name());
        let is_listed = folder.has[task.place.index()];
        let stamp = if folder.is_there && !is_listed && task.row_count > 0 {
            let what = "is no directory any more; what is indexed of it stays".to_owned();
            return Ok((Outcome::Unknown, vec![Problem { path, what }]));
        } else if folder.is_there && is_listed {
            match self.list(&path, &mut problems) {
                Some(stamp) => stamp,
                None => return Ok((Outcome::Unknown, problems)),
            }
        } else {
            self.listing.clear();
            mail::Stamp::default()
        };
        let mut directory = Directory {
            state: DirectoryState { stamp, fingerprint: self.listing.fingerprint() },
            file_count: self.listing.len() as u64,
            row_count: task.row_count,
            ..Directory::default()
        };
        let stored = folder.row.directories[task.place.index()].fingerprint;
        let closer = self.closer(folder);
        let at = (task.folder, task.place);
        let same = !folder.is_new && stored == directory.state.fingerprint;
        let difference = if same && closer == Closer::Drafts {
            self.drafts(folder.row.number, at)?
        } else if folder.is_new && task.row_count == 0 {
            compare(&self.listing, at, closer, &crate::pass::known::NoRows)?
        } else {
            compare(&self.listing, at, closer, &self.known.directory(folder.row.number, task.place)?)?
        };
        look_closer(&folder.path, difference, &mut directory);
        Ok((Outcome::Read(Box::new(directory)), problems))
    }

    fn closer(&self, folder: &ScannedFolder) -> Closer {
        if self.input.mode == Mode::Thorough || is_drafts_folder(&folder.row.path) {
            Closer::All
        } else {
            Closer::Drafts
        }
    }

    /// Fills the listing; `None` if the directory cannot be read.
    fn list(&mut self, path: &Path, problems: &mut Vec<Problem>) -> Option<mail::Stamp> {
        self.listing.clear();
        let listing = &mut self.listing;
        let mut unknown = None;
        let result = mail::read_directory(path, &mut self.buffer, |entry| match entry.is_message_file() {
            Ok(true) => listing.push(entry.name, entry.inode),
            Ok(false) => {}
            Err(error) => unknown = Some(error),
        });
        let result = unknown.map_or(result, Err);
        match result {
            Ok(stamp) => Some(stamp),
            Err(error) => {
                problems.push(Problem {
                    path: path.to_owned(),
                    what: format!("{error}; what is indexed of it stays"),
                });
                None
            }
        }
    }

    /// An unchanged directory: only drafts are looked at.
    fn drafts(&self, folder: u32, at: (usize, Place)) -> Result<Difference> {
        let mut difference = Difference::default();
        for entry in self.listing.entries() {
            let name = self.listing.name(entry);
            if mail::is_draft(name)
                && let Some(row) = self.known.file(&file_key(folder, at.1, name))?
            {
                let found = Found { folder: at.0, place: at.1, name: name.to_vec(), inode: entry.inode };
                difference.to_stat.push((row, found));
            }
        }
        Ok(difference)
    }
}

/// Says whether a folder is one where programs rewrite files in place.
fn is_drafts_folder(path: &[u8]) -> bool {
    let last = path.rsplit(|byte| matches!(byte, b'/' | b'.')).next().unwrap_or_default();
    last.eq_ignore_ascii_case(b"drafts") || last.eq_ignore_ascii_case(b"draft")
}

/// Looks at the files whose rows may be outdated. One that is gone meanwhile is left to the next pass.
fn look_closer(folder: &Path, difference: Difference, directory: &mut Directory) {
    directory.added = difference.added;
    directory.gone = difference.gone;
    let stat =
        |found: &Found| mail::stat_file(&mail::join(&folder.join(found.place.name()), &found.name)).ok();
    for (row, found) in difference.other_inode {
        match stat(&found) {
            Some(stat) if stat.size_bytes == row.size_bytes && stat.mtime_ns == row.mtime_ns => {
                directory.restated.push((row, found, stat));
            }
            Some(_) => directory.suspect.push((row, found)),
            None => {}
        }
    }
    for (row, found) in difference.to_stat {
        if stat(&found).is_some_and(|stat| !row.has_stat(&stat)) {
            directory.suspect.push((row, found));
        }
    }
}
