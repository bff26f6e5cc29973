//! The names of a folder, and its path.
//!
//! Input: a row of `folders`. Output: its name as shown, its name on disk, and its path. Must not know which
//! folder is wanted.

use crate::rows::FolderRow;
use crate::search::mailbox::Mailbox;
use crate::search::mailbox::folder_place::FolderPlace;
use crate::state::Root;
use std::path::{Path, PathBuf};

/// Returns the names by which a folder is found: its name as shown, and its name on disk.
pub(in crate::search) fn folder_names(folder: &FolderRow) -> [String; 2] {
    [folder_name(folder), disk_name(folder)]
}

/// Returns a folder's name as it is shown: `/` for the root, `/lists/rust` below it.
pub(crate) fn folder_name(folder: &FolderRow) -> String {
    format!("/{}", mail::readable_folder(&folder.path))
}

/// Returns the path of a folder below its root, as it is on disk, with a leading slash.
pub(crate) fn disk_name(folder: &FolderRow) -> String {
    format!("/{}", String::from_utf8_lossy(&folder.path))
}

/// Returns the path of a folder.
pub(in crate::search) fn folder_path(roots: &[Root], folder: &FolderRow) -> PathBuf {
    let root = roots.iter().find(|root| root.name == folder.root);
    mail::join(root.map_or(Path::new(""), |root| &root.path), &folder.path)
}

impl Mailbox {
    /// Returns all folders, in the order in which they were found.
    pub fn folder_places(&self) -> Vec<FolderPlace> {
        let root = |row: &FolderRow| {
            let root = self.roots().iter().find(|root| root.name == row.root);
            root.map_or(Path::new(""), |root| &root.path)
        };
        self.folders().iter().map(|row| FolderPlace::below(root(row), &row.path)).collect()
    }
}
