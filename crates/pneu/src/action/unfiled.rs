//! Removes the file of a message that stays in another folder, and brings it back.
//!
//! Input: a step from the file that goes to the file that stays. Output: whether the file may go; or a copy
//! of the file that stays at the old place. A file goes only if the other one has the same bytes at that
//! moment. Does not know why a message leaves a folder.

use crate::action::hands::{Hands, Obstacle};
use crate::action::log::Step;
use crate::action::places::{IsTaken, folder_of, is_unchanged, name_of, name_with};
use std::path::{Path, PathBuf};

/// Says whether the file of a step may be removed.
///
/// # Errors
/// Why not.
pub(super) fn may_go(step: &Step) -> Result<(), String> {
    let (from, to) = (step.from.0.as_path(), step.to.0.as_path());
    if !is_unchanged(from, step.inode, step) {
        return Err("it changed just now; try again".to_owned());
    }
    if is_same_entry(from, to) {
        return Err("by a link it is the same file as the one that stays".to_owned());
    }
    match mail::have_same_bytes(from, to) {
        Ok(true) => Ok(()),
        Ok(false) => Err("the file in the other folder has other bytes".to_owned()),
        Err(error) => Err(error.reason()),
    }
}

/// Returns whether two paths are one entry of a directory, or lead to one file by a symbolic link.
fn is_same_entry(from: &Path, to: &Path) -> bool {
    let identity = |path: &Path| mail::stat_directory(path).ok().map(|stamp| (stamp.device, stamp.inode));
    let is_link = |path: &Path| mail::stat_entry(path).is_ok_and(|stat| stat.is_link());
    let (Some(one), Some(other)) = (from.parent(), to.parent()) else { return true };
    is_link(to) || (from.file_name() == to.file_name() && identity(one) == identity(other))
}

/// Copies the file that stayed to where the other one was. Returns the places that changed.
pub(super) fn undo(
    hands: &dyn Hands,
    step: &Step,
    (is_taken, other): (&IsTaken<'_>, &dyn Fn() -> Vec<u8>),
) -> Result<Vec<PathBuf>, Obstacle> {
    let (from, folder) = (step.from.0.as_path(), folder_of(&step.from.0));
    let folder = folder.ok_or_else(|| Obstacle::ForEver("it was in no folder".to_owned()))?;
    if !folder.join("cur").is_dir() {
        return Err(Obstacle::Now(format!("its folder {} is not there", folder.display())));
    }
    let stayed = stayed(step)?;
    let stayed =
        stayed.ok_or_else(|| Obstacle::ForEver("the file that stayed was moved or removed".to_owned()))?;
    // A crash may have ended an undo after this step.
    let own = mail::parse_name(name_of(from)).unique;
    let renamed = mail::join(from.parent().unwrap_or(folder), &name_with(&other(), from));
    for place in [from, &renamed] {
        if mail::stat_entry(place).is_ok() && mail::have_same_bytes(&stayed, place)? {
            return Ok(vec![place.to_owned()]);
        }
    }
    let is_free = mail::stat_entry(from).is_err() && !is_taken(folder, own);
    let to = if is_free { from.to_owned() } else { renamed };
    hands.copy_file(&stayed, &to)?;
    Ok(vec![to])
}

/// Returns where the file is that stayed: under its name, or under another one in its folder.
fn stayed(step: &Step) -> mail::Result<Option<PathBuf>> {
    let (to, inode) = (step.to.0.as_path(), step.new_inode);
    let is_it = |path: &Path| {
        mail::stat_entry(path).is_ok_and(|stat| {
            Some(stat.inode) == inode && stat.size_bytes == step.size_bytes && !stat.is_link()
        })
    };
    if is_it(to) {
        return Ok(Some(to.to_owned()));
    }
    let (Some(folder), Some(inode)) = (folder_of(to), inode) else { return Ok(None) };
    let names = mail::files_by_inode(folder)?.remove(&inode).unwrap_or_default();
    let unique = mail::parse_name(name_of(to)).unique;
    Ok(names.into_iter().find(|path| mail::parse_name(name_of(path)).unique == unique && is_it(path)))
}
