//! Decides from a scan what to do: which rows move, which files to read, which rows to remove, and what to
//! leave alone.
//!
//! Input: a scan. Output: a plan. Pure. `folder` decides what is stored about folders.

mod folder;
mod order;

use crate::pass::options::Loss;
use crate::pass::scan::{Extent, Found, LookedUp, Outcome, Scan, is_drafts_folder};
use crate::pass::summary::{Problem, Summary};
use crate::remedy::Remedy;
use crate::rows::{FileRow, Subdirectory};
use crate::state::Root;
pub(in crate::pass) use folder::PlannedFolder;
use folder::decide_stamps;
use mail::FileStat;
pub(in crate::pass) use order::newest_first;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

/// The work of a pass.
#[derive(Debug, Default)]
pub(in crate::pass) struct Plan {
    /// The folders. Other fields refer to them by index.
    pub folders: Vec<PlannedFolder>,
    /// Rows that get a new name, folder or flags.
    pub moved: Vec<Move>,
    /// Rows that get a new inode or new times.
    pub restated: Vec<(FileRow, Found, FileStat)>,
    /// Files to read, each with the row that it replaces.
    pub read: Vec<Candidate>,
    /// Rows to remove.
    pub gone: Vec<FileRow>,
    /// Roots, by their index in the scan's input, that are unknown or whose losses are refused. They stay as
    /// remembered.
    pub kept_roots: Vec<usize>,
    /// The summary so far.
    pub summary: Summary,
}

/// A file to read.
#[derive(Clone, Debug)]
pub(in crate::pass) struct Candidate {
    /// The file.
    pub found: Found,
    /// The row that it replaces. Few files of a long list have one, so the list has no room for it.
    pub replaces: Option<Box<FileRow>>,
}

/// A file that is at another place or has another name than its row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pass) struct Move {
    /// The present row.
    pub old: FileRow,
    /// The file now.
    pub new: Found,
}

impl Plan {
    /// Returns whether there is nothing to write.
    pub(in crate::pass) fn is_empty(&self) -> bool {
        self.moved.is_empty()
            && self.restated.is_empty()
            && self.read.is_empty()
            && self.gone.is_empty()
            && !self.folders.iter().any(|folder| folder.is_changed)
    }
}

/// Which rows are removed.
#[derive(Debug)]
pub(in crate::pass) enum Gone {
    /// Rows whose file the scan did not see.
    NotSeen,
    /// None.
    None,
    /// These rows, except those whose file the scan saw elsewhere.
    LookedUp(LookedUp),
}

/// Makes the plan for these roots, which are those of the scan.
pub(in crate::pass) fn plan(scan: Scan, all_roots: &[Root], loss: Loss, gone: Gone) -> Plan {
    let mut plan = Plan {
        summary: Summary {
            problems: scan.problems,
            excluded: scan.excluded,
            file_count: scan.unread_count,
            ..Summary::default()
        },
        kept_roots: scan.unknown_roots,
        ..Plan::default()
    };
    let mut not_seen = Vec::new();
    let mut added = Vec::new();
    let (mut roots, mut removed) = (Vec::new(), HashSet::new());
    for mut folder in scan.folders {
        // If its rows stay, the folder stays too.
        let is_gone = !folder.is_there && !matches!(gone, Gone::None);
        let mut planned = PlannedFolder::new(&folder, is_gone);
        for (place, outcome) in std::mem::take(&mut folder.directories).into_iter().enumerate() {
            let directory = match outcome {
                Outcome::Unknown => continue,
                Outcome::Unchanged(changed) => {
                    plan.read.extend(suspects(changed));
                    continue;
                }
                Outcome::Read(directory) => *directory,
            };
            plan.summary.file_count += directory.file_count;
            planned.device_now[place] = directory.state.stamp.device;
            match directory.extent {
                Extent::Whole => planned.read[place] = Some(directory.state.stamp),
                Extent::Named if directory.is_unchanged() => {}
                // The times stand for the rows of before. Without times, the next pass reads the directory.
                Extent::Named => {
                    let stamp = directory.state.stamp.without_times();
                    planned.stamps[place] = (planned.row.directories[place].stamp != stamp).then_some(stamp);
                }
            }
            not_seen.extend(directory.gone);
            added.extend(directory.added);
            plan.restated.extend(directory.restated);
            plan.read.extend(suspects(directory.suspect));
        }
        roots.push(folder.root);
        removed.extend(folder.is_removed.then_some(folder.row.number));
        plan.folders.push(planned);
    }
    let matched = match_moves(not_seen, added, &Places::new(&plan.folders));
    take_moves(&mut plan, matched.moved);
    plan.read.extend(matched.added.into_iter().map(|found| Candidate { found, replaces: None }));
    let mut kept = HashSet::new();
    match gone {
        Gone::NotSeen => plan.gone = matched.gone,
        Gone::None => kept = matched.gone.iter().map(|row| (row.folder, row.subdirectory)).collect(),
        Gone::LookedUp(looked_up) => {
            let read = plan.read.iter().filter_map(|candidate| candidate.replaces.as_deref());
            let looked_up = looked_up.without(plan.moved.iter().map(|moved| &moved.old).chain(read));
            plan.gone = looked_up.gone;
            plan.summary.problems.extend(looked_up.problems);
        }
    }
    keep_unnamed(&mut plan, scan.unnamed_roots, &roots, &mut kept);
    decide_stamps(&mut plan.folders, &kept, scan.started_ns);
    let Scan { row_counts, other_device_roots, .. } = scan;
    let limits = Limits { row_counts, roots, other_device_roots, removed };
    if loss == Loss::Refuse {
        refuse_losses(&mut plan, &limits, all_roots);
    }
    sort_by_place(&mut plan.read);
    plan
}

/// Sorts files by their folders and names.
fn sort_by_place(read: &mut [Candidate]) {
    read.sort_by(|a, b| {
        (a.found.folder, a.found.subdirectory, &a.found.name).cmp(&(
            b.found.folder,
            b.found.subdirectory,
            &b.found.name,
        ))
    });
}

/// Rows and files after those that belong together were paired.
#[derive(Debug, Default)]
struct Matched {
    /// Pairs.
    moved: Vec<Move>,
    /// New files without a matching row.
    added: Vec<Found>,
    /// Rows without a matching new file.
    gone: Vec<FileRow>,
}

/// Finds files that were moved, renamed or reflagged: pairs of a row without a file and a file without a row.
/// Uses each row and each file at most once.
fn match_moves(gone: Vec<FileRow>, added: Vec<Found>, places: &Places<'_>) -> Matched {
    // Some file systems give all files one inode, so the unique part of the name belongs to the key.
    let hasher = RandomState::new();
    let key = |inode: u64, name: &[u8]| hasher.hash_one((inode, mail::parse_name(name).unique));
    let mut by_key: HashMap<u64, Vec<usize>> = HashMap::with_capacity(gone.len());
    for (index, row) in gone.iter().enumerate() {
        by_key.entry(key(row.inode, &row.name)).or_default().push(index);
    }
    let mut rows: Vec<Option<FileRow>> = gone.into_iter().map(Some).collect();
    let mut matched = Matched::default();
    for found in added {
        let fits = |index: &usize| {
            rows.get(*index).and_then(Option::as_ref).is_some_and(|row| places.is_same_file(row, &found))
        };
        let taken = by_key.get_mut(&key(found.inode, &found.name)).and_then(|candidates| {
            let position = candidates.iter().position(fits)?;
            Some(candidates.remove(position))
        });
        match taken.and_then(|index| rows.get_mut(index)).and_then(Option::take) {
            Some(old) => matched.moved.push(Move { old, new: found }),
            None => matched.added.push(found),
        }
    }
    matched.gone = rows.into_iter().flatten().collect();
    matched
}

/// Adds moved files to the plan. A file that was a draft before it moved, or is one now, may also have been
/// rewritten in place, so it is added to the files to read. The commit reads it only if it changed.
fn take_moves(plan: &mut Plan, moved: Vec<Move>) {
    let is_drafts: Vec<bool> = plan.folders.iter().map(|folder| is_drafts_folder(&folder.row.path)).collect();
    let numbers: HashSet<u32> = (plan.folders.iter().zip(&is_drafts))
        .filter(|(folder, is_drafts)| !folder.is_new && **is_drafts)
        .map(|(folder, _)| folder.row.number)
        .collect();
    let was_draft = |row: &FileRow| mail::is_draft(&row.name) || numbers.contains(&row.folder);
    let is_draft = |found: &Found| {
        mail::is_draft(&found.name) || is_drafts.get(found.folder).is_some_and(|is_drafts| *is_drafts)
    };
    for Move { old, new } in moved {
        if was_draft(&old) || is_draft(&new) {
            plan.read.push(Candidate { found: new, replaces: Some(Box::new(old)) });
        } else {
            plan.moved.push(Move { old, new });
        }
    }
}

fn suspects(suspect: Vec<(FileRow, Found)>) -> impl Iterator<Item = Candidate> {
    suspect.into_iter().map(|(row, found)| Candidate { found, replaces: Some(Box::new(row)) })
}

/// Finds the folders of rows and files.
struct Places<'a> {
    folders: &'a [PlannedFolder],
    by_number: HashMap<u32, usize>,
}

impl<'a> Places<'a> {
    fn new(folders: &'a [PlannedFolder]) -> Places<'a> {
        let numbers = folders.iter().enumerate().filter(|(_, folder)| !folder.is_new);
        Places { folders, by_number: numbers.map(|(index, folder)| (folder.row.number, index)).collect() }
    }

    /// Returns the stored device of a row's directory.
    fn device_of_row(&self, row: &FileRow) -> u64 {
        let folder = self.by_number.get(&row.folder).and_then(|index| self.folders.get(*index));
        folder.map_or(0, |folder| folder.row.directories[row.subdirectory.index()].stamp.device)
    }

    /// Returns the present device of a found file's directory.
    fn device_of_found(&self, found: &Found) -> u64 {
        self.folders[found.folder].device_now[found.subdirectory.index()]
    }

    fn is_same_folder(&self, row: &FileRow, found: &Found) -> bool {
        self.by_number.get(&row.folder) == Some(&found.folder)
    }

    /// Returns whether a row without a file and a file without a row, with one inode, are the same file: the
    /// unique part of the name is the same, and between folders the device too, because inodes are unique
    /// only within a device.
    fn is_same_file(&self, row: &FileRow, found: &Found) -> bool {
        mail::parse_name(&row.name).unique == mail::parse_name(&found.name).unique
            && (self.is_same_folder(row, found) || self.device_of_row(row) == self.device_of_found(found))
    }
}

/// The values that limit what a pass may remove.
struct Limits {
    /// Rows of each root.
    row_counts: Vec<u64>,
    /// The root of each folder.
    roots: Vec<usize>,
    /// Roots on another device than before. These may lose nothing.
    other_device_roots: Vec<usize>,
    /// Folders that were removed as a whole: these are no loss.
    removed: HashSet<u32>,
}

/// Keeps the rows of roots that are no longer named, except those whose file moved to another root. Adds the
/// directories of these rows to `kept`.
fn keep_unnamed(
    plan: &mut Plan,
    unnamed: Vec<(usize, Problem)>,
    roots: &[usize],
    kept: &mut HashSet<(u32, Subdirectory)>,
) {
    for (root, problem) in unnamed {
        let numbers = plan.folders.iter().zip(roots).filter(|(_, of)| **of == root);
        let numbers: HashSet<u32> = numbers.map(|(folder, _)| folder.row.number).collect();
        let stay: Vec<FileRow> = plan.gone.extract_if(.., |row| numbers.contains(&row.folder)).collect();
        if stay.is_empty() {
            continue;
        }
        kept.extend(stay.iter().map(|row| (row.folder, row.subdirectory)));
        let has_rows: HashSet<u32> = stay.iter().map(|row| row.folder).collect();
        for (folder, of) in plan.folders.iter_mut().zip(roots) {
            if *of == root && has_rows.contains(&folder.row.number) {
                (folder.is_gone, folder.is_changed) = (false, false);
            }
        }
        plan.summary.problems.push(problem);
    }
}

/// Removes from the plan everything that belongs to a root which would lose more than half of its files, not
/// counting folders that were removed.
fn refuse_losses(plan: &mut Plan, limits: &Limits, roots: &[Root]) {
    let by_number = Places::new(&plan.folders).by_number;
    let folder_of = |row: &FileRow| by_number.get(&row.folder).copied();
    let root_of = |row: &FileRow| folder_of(row).and_then(|folder| limits.roots.get(folder).copied());
    let mut not_done = HashSet::new();
    for ((root, row_count), Root { path, .. }) in limits.row_counts.iter().enumerate().zip(roots) {
        let gone = || plan.gone.iter().filter(|row| root_of(row) == Some(root));
        let is_removed = |row: &&FileRow| limits.removed.contains(&row.folder);
        let removed = gone().filter(is_removed).count() as u64;
        let (lost, row_count) = (gone().count() as u64 - removed, row_count.saturating_sub(removed));
        let other_device = limits.other_device_roots.contains(&root) && lost > 0;
        if lost * 2 <= row_count && !other_device {
            continue;
        }
        let lost_from = gone().filter(|row| !is_removed(row)).filter_map(folder_of);
        let from = most_of(lost_from, &plan.folders, path);
        let (what, remedy) = if other_device {
            let what = format!(
                "is on another device than before and {lost} of {row_count} messages are not there; \
                 nothing was changed"
            );
            (what, Remedy::MountOrAcceptLoss)
        } else {
            let what = format!("{lost} of {row_count} messages are gone{from}; nothing was changed");
            (what, Remedy::AcceptLoss)
        };
        let is_other = |folder: usize| limits.roots.get(folder) != Some(&root);
        let row_is_other = |row: &FileRow| root_of(row) != Some(root);
        let mut stays = |old: Option<&FileRow>, new: &Found| {
            let stays = is_other(new.folder) && old.is_none_or(row_is_other);
            if !stays {
                not_done.insert(new.folder);
                not_done.extend(old.and_then(folder_of));
            }
            stays
        };
        plan.moved.retain(|moved| stays(Some(&moved.old), &moved.new));
        plan.read.retain(|candidate| stays(candidate.replaces.as_deref(), &candidate.found));
        plan.gone.retain(row_is_other);
        plan.restated.retain(|(row, _, _)| row_is_other(row));
        for (folder, _) in plan.folders.iter_mut().zip(&limits.roots).filter(|(_, of)| **of == root) {
            folder.is_changed = false;
            folder.stamps = [None, None];
        }
        plan.summary.problems.push(Problem { path: path.clone(), what, remedy: Some(remedy) });
        plan.kept_roots.push(root);
    }
    distrust(plan, limits, &not_done);
}

/// Returns words that name the folder from which most messages are gone, below its root. Nothing if that is
/// the root itself, or there is only one folder.
fn most_of(gone: impl Iterator<Item = usize>, folders: &[PlannedFolder], root: &Path) -> String {
    let mut counts = vec![0_u64; folders.len()];
    gone.for_each(|folder| counts[folder] += 1);
    let most = counts.iter().zip(folders).max_by_key(|(count, _)| **count);
    match most {
        Some((count, folder)) if folders.len() > 1 && folder.path != root => {
            let below = folder.path.strip_prefix(root).unwrap_or(&folder.path);
            format!(", {count} of them from the folder {}", below.display())
        }
        _ => String::new(),
    }
}

/// Marks stamps in other roots as untrusted if part of their work was dropped together with a refused root.
fn distrust(plan: &mut Plan, limits: &Limits, not_done: &HashSet<usize>) {
    let folders = plan.folders.iter_mut().zip(&limits.roots).enumerate();
    for (_, (folder, _)) in
        folders.filter(|(index, (_, root))| not_done.contains(index) && !plan.kept_roots.contains(root))
    {
        folder.distrust();
    }
}
