//! Lets what the user keeps of folders (ids, order, subscription) go along when their directories get other
//! names, and changes it.
//!
//! Input: directories with their old and new paths, folders of the index. Output: notes in the user's data:
//! one before the first directory is renamed, and one when the index has the new names, or when directories
//! keep their old ones. Does not know how directories are renamed, and what is kept.

use crate::action::log::Step;
use crate::error::Result;
use crate::host::Host;
use crate::view::View;
use index::{FolderKey, IndexedFolder, Root};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use work::Progress;

/// A directory's path, and the one that it gets.
pub(super) type Way<'a> = (&'a Path, &'a Path);

impl Host {
    /// Notes, before directories are renamed, that what is kept of the folders in them goes along.
    ///
    /// # Errors
    /// The user's data is damaged, or cannot be written; [`Error::Cancelled`](crate::Error::Cancelled).
    pub(super) fn note_ways(&self, view: &View, ways: &[Way<'_>], progress: &dyn Progress) -> Result<()> {
        let folders = view.indexed_folders();
        let pair = |folder: &IndexedFolder| {
            let new = ways.iter().find_map(|way| new_path(&folder.place.path, *way))?;
            Some((FolderKey::from(folder), key_in(view.roots(), folder, &new)?))
        };
        let pairs: Vec<(FolderKey, FolderKey)> = folders.iter().filter_map(pair).collect();
        let folders = keys(&folders);
        self.write_user_for(progress, |environment| {
            index::follow_folders((environment, progress), &folders, &pairs)
        })
    }

    /// Takes the notes back of those ways that were not gone.
    ///
    /// # Errors
    /// As [`Host::note_ways`].
    pub(super) fn take_ways_back(
        &self,
        view: &View,
        ways: &[Way<'_>],
        progress: &dyn Progress,
    ) -> Result<()> {
        if ways.is_empty() {
            return Ok(());
        }
        let roots = view.roots();
        let has_stayed = |old: &FolderKey, new: &FolderKey| {
            let (Some(old), Some(new)) = (path_of(roots, old), path_of(roots, new)) else { return false };
            ways.iter().any(|way| new_path(&old, *way).as_ref() == Some(&new))
        };
        let folders = keys(&view.indexed_folders());
        self.write_user_for(progress, |environment| {
            index::keep_folders_back((environment, progress), &folders, &has_stayed)
        })
    }

    /// Ends the notes of directories that the index has at their new places.
    ///
    /// # Errors
    /// As [`Host::note_ways`]. The next change of what is kept ends them.
    pub(super) fn settle_ways(&self, progress: &dyn Progress) -> Result<()> {
        let folders = keys(&self.newest_view()?.indexed_folders());
        self.write_user_for(progress, |environment| index::settle_folders((environment, progress), &folders))
    }

    /// Gives a folder a place in the order of folders, or none of its own, and says whether the user wants to
    /// see it. The next view shows it.
    ///
    /// # Errors
    /// The user's data is damaged, or cannot be written; [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn change_kept_folder(
        &self,
        folder: &IndexedFolder,
        (sort_order, is_subscribed): (Option<u32>, bool),
        progress: &dyn Progress,
    ) -> Result<()> {
        let folders = keys(&self.newest_view()?.indexed_folders());
        let key = FolderKey::from(folder);
        self.write_user_for(progress, |environment| {
            let kept = (sort_order, is_subscribed);
            index::change_folder((environment, progress), &folders, &key, kept)
        })
    }

    /// Forgets what is kept of a folder that was removed.
    ///
    /// # Errors
    /// As [`Host::change_kept_folder`].
    pub(super) fn forget_kept_folder(&self, folder: &IndexedFolder, progress: &dyn Progress) -> Result<()> {
        let folders = keys(&self.newest_view()?.indexed_folders());
        let key = FolderKey::from(folder);
        self.write_user_for(progress, |environment| {
            index::forget_folder((environment, progress), &folders, &key)
        })
    }
}

/// Returns the ways of those steps that the test accepts.
pub(super) fn ways(steps: &[Step], is_meant: impl Fn(&Step) -> bool) -> Vec<Way<'_>> {
    steps
        .iter()
        .filter(|step| is_meant(step))
        .map(|step| (step.from.0.as_path(), step.to.0.as_path()))
        .collect()
}

/// Returns the same ways backwards.
pub(super) fn backwards<'a>(ways: &[Way<'a>]) -> Vec<Way<'a>> {
    ways.iter().map(|(from, to)| (*to, *from)).collect()
}

fn keys(folders: &[IndexedFolder]) -> Vec<FolderKey> {
    folders.iter().map(FolderKey::from).collect()
}

/// Returns the path of a folder in a directory that goes a way.
fn new_path(path: &Path, (from, to): Way<'_>) -> Option<PathBuf> {
    // `join` would end the path in a slash.
    Some(to.join(path.strip_prefix(from).ok()?).components().collect())
}

/// Returns what names a folder in the same root as another one.
fn key_in(roots: &[Root], folder: &IndexedFolder, path: &Path) -> Option<FolderKey> {
    let root = roots.iter().find(|root| root.name == folder.root)?;
    let below = path.strip_prefix(&root.path).ok()?;
    Some(FolderKey { root: root.name.clone(), path: below.as_os_str().as_bytes().to_vec() })
}

fn path_of(roots: &[Root], key: &FolderKey) -> Option<PathBuf> {
    let root = roots.iter().find(|root| root.name == key.root)?;
    Some(mail::join(&root.path, &key.path).components().collect())
}

#[cfg(test)]
mod tests;
