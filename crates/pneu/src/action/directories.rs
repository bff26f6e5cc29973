//! Renames the directories of an action, finishes that after a crash, and undoes it.
//!
//! Input: steps from one name to another. Output: directories with other names. Each is one rename, so that a
//! directory always has its old name or its new one; of several, all are renamed or none. A directory is
//! known by its inode. Nothing is ever replaced.

use crate::action::hands::{Hands, Obstacle};
use crate::action::log::Step;
use index::{FolderPlace, Places, Root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Renames all directories. If one cannot be renamed, those before it get their old names back.
///
/// # Errors
/// The directory that could not be renamed, and why.
pub(super) fn rename(hands: &dyn Hands, steps: &mut [Step]) -> Result<(), (PathBuf, String)> {
    for step in steps.iter_mut().filter(|step| !step.is_done) {
        if let Err(error) = hands.rename_directory(&step.from.0, &step.to.0) {
            let failed = (step.from.0.clone(), error.reason());
            go_back(hands, steps);
            return Err(failed);
        }
        (step.is_done, step.new_inode) = (true, Some(step.inode));
    }
    Ok(())
}

/// Finds out after a crash which directories were renamed. If any was, renames the others, too; if that
/// cannot be, none.
pub(super) fn finish(hands: &dyn Hands, steps: &mut [Step]) {
    for step in &mut *steps {
        step.is_done = is_at(step, &step.to.0);
    }
    if !steps.iter().any(|step| step.is_done) {
        return;
    }
    let changed = steps.iter().flat_map(|step| [&step.from.0, &step.to.0]);
    let changed: BTreeSet<PathBuf> = changed.filter_map(|place| place.parent()).map(Path::to_owned).collect();
    match steps.iter().all(|step| step.is_done || is_at(step, &step.from.0)) {
        true => _ = rename(hands, steps),
        false => go_back(hands, steps),
    }
    for directory in changed {
        // Which names there are after another crash, the next action finds out.
        let _ = hands.sync(&directory);
    }
}

/// Gives all directories their old names back. One that cannot have it is noted as done, and can be undone
/// later.
fn go_back(hands: &dyn Hands, steps: &mut [Step]) {
    for step in steps.iter_mut().rev().filter(|step| step.is_done) {
        step.is_done = hands.rename_directory(&step.to.0, &step.from.0).is_err();
    }
}

/// Gives a directory its old name back. Returns the places that changed.
pub(super) fn undo(hands: &dyn Hands, step: &Step) -> Result<Vec<PathBuf>, Obstacle> {
    let (from, to) = (step.from.0.as_path(), step.to.0.as_path());
    if !is_at(step, to) {
        // A crash may have ended the undo after this step.
        return match is_at(step, from) {
            true => Ok(Vec::new()),
            false => Err(Obstacle::ForEver("it was renamed, moved or removed since".to_owned())),
        };
    }
    if from.symlink_metadata().is_ok() {
        return Err(Obstacle::Now(format!("there is another {}", from.display())));
    }
    if let Some(parent) = from.parent().filter(|parent| !parent.is_dir()) {
        return Err(Obstacle::Now(format!("its directory {} is not there", parent.display())));
    }
    hands.rename_directory(to, from)?;
    Ok(vec![to.to_owned(), from.to_owned()])
}

/// Returns whether [`undo`] can give a directory its old name back, or has done so before a crash.
pub(super) fn may_go_back(step: &Step) -> bool {
    let (from, to) = (step.from.0.as_path(), step.to.0.as_path());
    let is_free = || from.symlink_metadata().is_err() && from.parent().is_none_or(Path::is_dir);
    is_at(step, from) || (is_at(step, to) && is_free())
}

/// Returns the directories whose names change.
pub(super) fn parents(steps: &[Step]) -> BTreeSet<PathBuf> {
    let places = steps.iter().filter(|step| step.is_done).flat_map(|step| [&step.from.0, &step.to.0]);
    places.filter_map(|place| place.parent()).map(Path::to_owned).collect()
}

/// Returns the folders that a renaming touches: the old and the new place of each that the index knows.
pub(super) fn places_of(steps: &[Step], folders: &[FolderPlace]) -> Places {
    let mut places = Places::default();
    for Step { from, to, .. } in steps {
        for (one, other) in [(&from.0, &to.0), (&to.0, &from.0)] {
            places.add_folder(one);
            for FolderPlace { path, .. } in folders {
                let Ok(below) = path.strip_prefix(one) else { continue };
                places.add_folder(path);
                // `join` would end the path in a slash.
                places.add_folder(&other.join(below).components().collect::<PathBuf>());
            }
        }
    }
    places
}

/// Returns whether the directory of a step is at a place.
fn is_at(step: &Step, place: &Path) -> bool {
    mail::stat_entry(place).is_ok_and(|stat| stat.inode == step.inode && is_directory(stat.mode))
}

/// Returns whether the mode of an entry is that of a directory.
pub(super) fn is_directory(mode: u32) -> bool {
    const TYPE: u32 = 0o170_000;
    const DIRECTORY: u32 = 0o040_000;
    mode & TYPE == DIRECTORY
}

/// Removes the directories on the way to the new places of an undone renaming, if nothing is in them: the
/// renaming created them.
pub(super) fn remove_empty(steps: &[Step], roots: &[Root]) {
    for step in steps.iter().filter(|step| !step.is_done) {
        let is_below =
            |part: &&Path| roots.iter().any(|root| *part != root.path && part.starts_with(&root.path));
        let parts = step.to.0.ancestors().skip(1).take_while(is_below);
        // One that is not empty stays, and so do those above it.
        let _ = parts.map(std::fs::remove_dir).find(Result::is_err);
    }
}
