//! Finds the folders of every root, and decides which of them exist, are gone, or are unknown.
//!
//! Input: roots, and the folders of the last commit. Output: a scan whose directories are still to be read. A
//! root or a folder that may only be unmounted or unreadable is unknown, never empty. Must not know what is
//! in `cur` and `new`.

use crate::error::{Error, Result};
use crate::overlap::overlaps;
use crate::pass::options::Loss;
use crate::pass::scan::scanned::{Input, Scan, ScannedFolder};
use crate::pass::summary::{Problem, STAYS};
use crate::remedy::Remedy;
use crate::rows::FolderRow;
use crate::state::Root;
use mail::{Folder, FolderProblem, FolderProblemKind, Folders};
use std::collections::{BTreeMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Finds the folders of all roots.
pub(in crate::pass) fn find_folders(input: &Input<'_>) -> Scan {
    let mut scan = Scan { started_ns: input.environment.context.now_ns(), ..Scan::default() };
    let overlaps = overlaps(input.roots.get(..input.named_count).unwrap_or_default());
    for (index, root) in input.roots.iter().enumerate() {
        let rows = input.folders.iter().filter(|row| row.root == root.name);
        let known = rows.map(|row| (row.path.as_slice(), row)).collect();
        if let Some(&Some(first)) = overlaps.get(index) {
            doubled_root(&mut scan, input, (index, first));
        } else if index < input.named_count {
            list_root(&mut scan, input, index, known);
        } else {
            missing_folders(&mut scan, input, index, (known, &HashSet::new()), false);
            if input.loss == Loss::Refuse {
                scan.unnamed_roots.push((index, unnamed_root(root)));
            }
        }
    }
    scan
}

/// Checks that there is mail to index. Without any mail, the path of the root is probably wrong.
///
/// # Errors
/// [`Error::NoMaildir`] if no root has a folder.
pub(crate) fn expect_mail(roots: &[Root]) -> Result<()> {
    let mut first = None;
    for root in roots {
        let what = match mail::find_folders(&root.path) {
            Ok(listed) if listed.folders.is_empty() => "no directory in it has cur and new".to_owned(),
            Ok(_) => return Ok(()),
            Err(error) => error.reason(),
        };
        first.get_or_insert(Error::NoMaildir { path: root.path.clone(), what });
    }
    first.map_or(Ok(()), Err)
}

/// Folders of one root that have rows, by their path.
type KnownFolders<'a> = BTreeMap<&'a [u8], &'a FolderRow>;

fn list_root(scan: &mut Scan, input: &Input<'_>, index: usize, mut known: KnownFolders<'_>) {
    let root = &input.roots[index];
    if let Some(folders) = known_alone(input, root, &known) {
        return take_known(scan, input, index, (known, folders));
    }
    let listed = match mail::find_folders(&root.path) {
        Ok(listed)
            if listed.folders.is_empty() && listed.problems.is_empty() && listed.excluded.is_empty() =>
        {
            let what = if !known.is_empty() {
                "holds no Maildir any more; nothing was changed (is it not mounted?)"
            } else {
                "it holds no directory with \"cur\" and \"new\""
            };
            unknown_root(scan, index, &root.path, what);
            return;
        }
        Ok(listed) => listed,
        Err(error) => {
            unknown_root(scan, index, &root.path, &format!("{}{STAYS}", error.reason()));
            return;
        }
    };
    let here = known_devices(&listed, &known);
    if is_on_other_device(&listed, (&known, &here)) {
        scan.other_device_roots.push(index);
    }
    let excluded = listed.excluded.iter().map(|path| mail::join(&root.path, path));
    scan.excluded.extend(excluded.filter(|path| input.has_below(path)));
    let hidden = hidden_paths(scan, (input, root), listed.problems, &known);
    for folder in listed.folders {
        let path = mail::join(&root.path, &folder.path);
        let row = known.remove(folder.path.as_slice()).cloned();
        if !input.has(&path) {
            let is_counted = |row: &FolderRow| (!folder.no_update).then_some((index, row.number));
            scan.left_alone.extend(row.as_ref().and_then(is_counted));
            continue;
        }
        take_folder(scan, (index, root), folder, row);
    }
    missing_folders(scan, input, index, (known, &hidden), here.contains(&true));
}

/// Looks at the wanted folders of a root one by one, if all of them are known and still there. Returns `None`
/// if the whole root must be listed.
fn known_alone(input: &Input<'_>, root: &Root, known: &KnownFolders<'_>) -> Option<Vec<Folder>> {
    let wanted = input.only?.folders().filter_map(|path| path.strip_prefix(&root.path).ok());
    wanted
        .map(|path| {
            let path = path.as_os_str().as_bytes();
            known.contains_key(path).then(|| mail::look_at_folder(&root.path, path))?
        })
        .collect()
}

/// Takes folders that were looked at one by one. All others of the root are left alone.
fn take_known(
    scan: &mut Scan,
    input: &Input<'_>,
    index: usize,
    (mut known, folders): (KnownFolders<'_>, Vec<Folder>),
) {
    let root = &input.roots[index];
    let listed = Folders { folders, ..Folders::default() };
    if is_on_other_device(&listed, (&known, &known_devices(&listed, &known))) {
        scan.other_device_roots.push(index);
    }
    for folder in listed.folders {
        let row = known.remove(folder.path.as_slice()).cloned();
        take_folder(scan, (index, root), folder, row);
    }
    let left = known.into_values().filter(|row| !row.no_update);
    scan.left_alone.extend(left.map(|row| (index, row.number)));
}

/// Adds a folder that is there.
fn take_folder(scan: &mut Scan, (index, root): (usize, &Root), folder: Folder, row: Option<FolderRow>) {
    let path = mail::join(&root.path, &folder.path);
    let keyword_names = keyword_names(scan, &folder, &path, row.as_ref());
    scan.folders.push(ScannedFolder {
        root: index,
        path,
        is_new: row.is_none(),
        is_there: true,
        is_removed: false,
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

/// Returns the names of a folder's keywords. If they cannot be read now, or the folder is to be left alone,
/// returns the stored ones.
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
            let what = format!("{}; the names of keywords stay as they were", error.reason());
            scan.problems.push(Problem::new(error.path().to_owned(), what));
            known()
        }
    }
}

/// Adds the folders that have rows but were not listed. They are gone, unless an unreadable directory may
/// hide them, or their device is not mounted now. If other folders of the root are where they were
/// (`has_others`), those on the device of their parent were removed.
fn missing_folders(
    scan: &mut Scan,
    input: &Input<'_>,
    index: usize,
    (known, hidden): (KnownFolders<'_>, &HashSet<PathBuf>),
    has_others: bool,
) {
    let root = &input.roots[index];
    for row in known.into_values() {
        let path = mail::join(&root.path, &row.path);
        let is_hidden = path.ancestors().any(|part| hidden.contains(part));
        if !input.has(&path) {
            scan.left_alone.extend((!is_hidden).then_some((index, row.number)));
            continue;
        }
        let device = device_left(&path, &root.path);
        let is_unmounted = !is_hidden
            && index < input.named_count
            && input.loss == Loss::Refuse
            && devices(row).any(|known| device.is_some_and(|left| left != known));
        let is_removed = !is_hidden
            && has_others
            && device.is_some_and(|left| devices(row).count() > 0 && devices(row).all(|known| known == left));
        if is_unmounted {
            let what = "does not exist, and was on another device: is it not mounted? \
                        Its messages stay in the index";
            let remedy = Some(Remedy::AcceptLossOfFolder);
            scan.problems.push(Problem { path: path.clone(), what: what.to_owned(), remedy });
        }
        scan.folders.push(ScannedFolder {
            root: index,
            path,
            row: row.clone(),
            is_new: false,
            is_there: is_hidden || is_unmounted,
            is_removed,
            no_update: is_hidden || is_unmounted,
            has: [false, false],
            keyword_names: row.keyword_names.clone(),
            directories: Default::default(),
        });
    }
}

/// Returns whether a missing folder was on another device than the existing part of its path.
pub(crate) fn is_unmounted(path: &Path, root: &Path, row: &FolderRow) -> bool {
    device_left(path, root).is_some_and(|left| devices(row).any(|device| device != left))
}

/// Returns the device of the existing part of the path of a missing folder.
fn device_left(path: &Path, root: &Path) -> Option<u64> {
    let parts = path.ancestors().take_while(|part| part.starts_with(root));
    parts.into_iter().find_map(|part| mail::stat_directory(part).ok()).map(|stamp| stamp.device)
}

/// Returns the devices on which a folder's directories were, as far as they are known.
fn devices(row: &FolderRow) -> impl Iterator<Item = u64> + '_ {
    row.directories.iter().map(|directory| directory.stamp.device).filter(|device| *device != 0)
}

/// Leaves a root alone whose messages are indexed with another root, and reports that.
fn doubled_root(scan: &mut Scan, input: &Input<'_>, (index, first): (usize, usize)) {
    let (root, first) = (&input.roots[index], &input.roots[first]);
    if input.only.is_some() {
        // A pass over the whole root reports it.
        scan.unknown_roots.push(index);
        return;
    }
    let what = format!(
        "is the directory of root \"{}\", {}, or one lies in the other by a symbolic link or a mount. \
         Its messages would be indexed twice, so root \"{}\" stays as it was; take one of the two out of \
         the configuration",
        first.name,
        first.path.display(),
        root.name
    );
    unknown_root(scan, index, &root.path, &what);
}

/// Returns what to say of a root that is no longer named.
fn unnamed_root(root: &Root) -> Problem {
    let of_root = format!("root \"{}\" is not in the configuration{STAYS}", root.name);
    let (what, remedy) = match mail::stat_directory(&root.path) {
        Ok(_) => (of_root, Remedy::NameRootOrAcceptLoss),
        Err(_) => (format!("does not exist, and {of_root}"), Remedy::AcceptLossOfFolder),
    };
    Problem { path: root.path.clone(), what, remedy: Some(remedy) }
}

fn unknown_root(scan: &mut Scan, index: usize, path: &Path, what: &str) {
    scan.unknown_roots.push(index);
    scan.problems.push(Problem::new(path.to_owned(), what.to_owned()));
}

/// Reports the problems of a listing, and returns the paths at and below which folders may exist unseen.
fn hidden_paths(
    scan: &mut Scan,
    (input, root): (&Input<'_>, &Root),
    problems: Vec<FolderProblem>,
    known: &KnownFolders<'_>,
) -> HashSet<PathBuf> {
    let mut hidden = HashSet::new();
    for problem in problems {
        let is_told = input.has_below(&problem.path);
        if matches!(problem.kind, FolderProblemKind::OutsideRoot) {
            if is_told {
                scan.problems.push(Problem::new(problem.path.clone(), problem.to_string()));
            }
            continue;
        }
        if !problem.hides_folders() {
            continue;
        }
        let hides_known = problem.path.strip_prefix(&root.path).is_ok_and(|path| has_any_below(known, path));
        // A dangling link is reported only if it hides known folders, as programs also use such links as
        // locks.
        if is_told && (hides_known || !matches!(problem.kind, FolderProblemKind::Dangling)) {
            scan.problems.push(Problem::new(problem.path.clone(), format!("{problem}{STAYS}")));
        }
        hidden.insert(problem.path);
    }
    hidden
}

/// Returns whether a known folder is at or below a path.
fn has_any_below(known: &KnownFolders<'_>, path: &Path) -> bool {
    let path = path.as_os_str().as_bytes();
    let below = if path.is_empty() { Vec::new() } else { [path, b"/"].concat() };
    let next = known.range(below.as_slice()..).next();
    known.contains_key(path) || next.is_some_and(|(folder, _)| folder.starts_with(&below))
}

/// Returns whether no folder is on its former device: `here` says of which that is known. If all folders of a
/// root are gone, compares the device of the root itself.
fn is_on_other_device(listed: &Folders, (known, here): (&KnownFolders<'_>, &[bool])) -> bool {
    if !here.is_empty() {
        return !here.contains(&true);
    }
    let mut rows = known.values().copied().filter(|row| has_device(row)).peekable();
    rows.peek().is_some() && rows.all(|row| !was_on(row, listed.stamp.device))
}

/// Returns for each listed folder whose former device is known whether it is there.
fn known_devices(listed: &Folders, known: &KnownFolders<'_>) -> Vec<bool> {
    let folders = listed.folders.iter();
    folders
        .filter_map(|folder| Some((*known.get(folder.path.as_slice())?, folder.stamp.device)))
        .filter(|(row, _)| has_device(row))
        .map(|(row, device)| was_on(row, device))
        .collect()
}

fn was_on(row: &FolderRow, device: u64) -> bool {
    row.directories.iter().any(|directory| directory.stamp.device == device)
}

fn has_device(row: &FolderRow) -> bool {
    !was_on(row, 0)
}
