//! The parts of a plan that all batches of a pass need.
//!
//! Input: a plan. Output: its files and folders, and where they are. Must not know batches.

use crate::pass::plan::{Candidate, PlannedFolder};
use crate::rows::FileRow;
use crate::state::Root;
use mail::FileStat;
use std::path::Path;

/// The parts of a plan that all batches need.
#[derive(Clone, Copy)]
pub(in crate::pass) struct Planned<'a> {
    pub(in crate::pass) roots: &'a RootChange,
    pub(in crate::pass) files: &'a [Candidate],
    pub(in crate::pass) folders: &'a [PlannedFolder],
    pub(in crate::pass) gone: &'a [FileRow],
}

/// A pass's change to the list of roots.
#[derive(Clone, Debug, Default)]
pub(in crate::pass) struct RootChange {
    /// The roots on which the plan is based.
    pub remembered: Vec<Root>,
    /// The roots to remember.
    pub wanted: Vec<Root>,
}

impl RootChange {
    /// No change.
    pub(super) const NONE: &RootChange = &RootChange { remembered: Vec::new(), wanted: Vec::new() };

    /// Returns whether nothing changes.
    pub(in crate::pass) fn is_none(&self) -> bool {
        self.remembered == self.wanted
    }

    /// Applies the change to the newest list. Roots that another writer added meanwhile stay.
    pub(super) fn apply(&self, newest: &[Root]) -> Vec<Root> {
        if self.is_none() {
            return newest.to_vec();
        }
        let is_in = |list: &[Root], root: &Root| list.iter().any(|other| other.name == root.name);
        let others =
            newest.iter().filter(|root| !is_in(&self.wanted, root) && !is_in(&self.remembered, root));
        self.wanted.iter().chain(others).cloned().collect()
    }
}

/// Returns the stat of a file to read, if it is there.
pub(in crate::pass) fn stat_of(folders: &[PlannedFolder], candidate: &Candidate) -> Option<FileStat> {
    let found = &candidate.found;
    let place = folders.get(found.folder)?.path.join(found.subdirectory.name());
    mail::stat_file(&mail::join(&place, &found.name)).ok()
}

/// Returns the folders that are incomplete while a file is not read: its folder, and the folder of the row
/// that it replaces.
pub(in crate::pass) fn folders_of(
    candidate: &Candidate,
    folders: &[PlannedFolder],
) -> impl Iterator<Item = usize> {
    let old = candidate
        .replaces
        .as_ref()
        .and_then(|old| folders.iter().position(|folder| !folder.is_new && folder.row.number == old.folder));
    std::iter::once(candidate.found.folder).chain(old)
}

/// Returns the directory of a folder.
pub(in crate::pass) fn directory_of(folders: &[PlannedFolder], index: usize) -> &Path {
    folders.get(index).map_or(Path::new(""), |folder| folder.path.as_path())
}

/// Returns whether a file to read is only moved: it has another place than its row says, but the row's size
/// and time of modification. Such a file is a draft that was moved or reflagged.
pub(in crate::pass) fn is_moved_only(folders: &[PlannedFolder], candidate: &Candidate) -> bool {
    let (Some(old), Some(folder)) = (&candidate.replaces, folders.get(candidate.found.folder)) else {
        return false;
    };
    let found = &candidate.found;
    let is_moved =
        (folder.row.number, found.subdirectory, &found.name) != (old.folder, old.subdirectory, &old.name);
    is_moved
        && stat_of(folders, candidate)
            .is_some_and(|stat| (stat.size_bytes, stat.mtime_ns) == (old.size_bytes, old.mtime_ns))
}
