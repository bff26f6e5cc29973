//! Finds folders that another program renamed, so that what the user keeps of them goes along.
//!
//! Input: a plan. Output: a note in `user/`, before the index has the new names. A folder is known by its
//! directory: by the device and inode of `cur`. Must not know what is kept of folders.

use crate::error::{Error, Result};
use crate::pass::plan::{Plan, PlannedFolder};
use crate::pass::scan::Input;
use crate::pass::summary::Problem;
use crate::rows::Subdirectory;
use crate::user::{self, FolderKey};
use std::collections::{HashMap, HashSet};
use work::Progress;

/// Notes which folders of a plan have other names. If that cannot be written, the pass goes on, and they are
/// others for the user.
///
/// # Errors
/// [`Error::Interrupted`].
pub(super) fn note(plan: &Plan, input: &Input<'_>, observer: &dyn Progress) -> Result<Option<Problem>> {
    let pairs = renamed(plan);
    if pairs.is_empty() {
        return Ok(None);
    }
    let folders: Vec<FolderKey> = input.folders.iter().map(FolderKey::from).collect();
    match user::follow_folders((input.environment, observer), &folders, &pairs) {
        Ok(()) => Ok(None),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => {
            let what = format!("renamed folders do not keep their ids and order: {error}");
            Ok(Some(Problem::new(input.environment.user_directory(), what)))
        }
    }
}

/// Returns the old and the new places of folders. A folder whose files are all gone is another one, even if
/// the file system gave its inode to a new directory.
fn renamed(plan: &Plan) -> Vec<(FolderKey, FolderKey)> {
    let changed = || plan.folders.iter().enumerate().filter(|(_, folder)| folder.is_changed);
    let new: HashMap<(u64, u64), usize> = changed()
        .filter(|(_, folder)| folder.is_new)
        .filter_map(|(index, folder)| Some((directory_of_new(folder)?, index)))
        .collect();
    let lost: HashSet<u32> = plan.gone.iter().map(|row| row.folder).collect();
    let moved: HashSet<(u32, usize)> = (plan.moved.iter())
        .map(|moved| (moved.old.folder, moved.new.folder))
        .chain(plan.read.iter().filter_map(|read| Some((read.replaces.as_ref()?.folder, read.found.folder))))
        .collect();
    let pair = |(_, old): (usize, &PlannedFolder)| {
        let stamp = old.row.directories[Subdirectory::Cur.index()].stamp;
        let index = *new.get(&(stamp.device, stamp.inode))?;
        let is_same = !lost.contains(&old.row.number) || moved.contains(&(old.row.number, index));
        let new = plan.folders.get(index).filter(|_| is_same)?;
        Some((FolderKey::from(&old.row), FolderKey::from(&new.row)))
    };
    changed().filter(|(_, folder)| folder.is_gone).filter_map(pair).collect()
}

/// Returns the device and inode of `cur` of a new folder.
fn directory_of_new(folder: &PlannedFolder) -> Option<(u64, u64)> {
    let stamp = folder.read[Subdirectory::Cur.index()].filter(|stamp| stamp.inode != 0)?;
    Some((stamp.device, stamp.inode))
}
