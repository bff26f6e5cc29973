//! The paths of roots as snapshots have them: absolute, without `..`.
//!
//! `..` after a symbolic link leads to another directory than the text suggests, so a path with `..` is
//! resolved on the disk. A path without it stays as it is, with its links.

use crate::paths::plain;
use index::{Inventory, Root};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Returns roots with their paths resolved. A missing root stays as it is. Accesses the disk only for paths
/// with `..`.
pub fn resolved_roots(roots: &[Root]) -> Vec<Root> {
    roots.iter().map(|root| Root { name: root.name.clone(), path: resolved(&root.path) }).collect()
}

/// Returns the resolved directories of the folders of an inventory, in its order.
pub(crate) fn resolved_folders(inventory: &Inventory) -> Vec<PathBuf> {
    let mut roots: HashMap<&str, Option<PathBuf>> = HashMap::new();
    let folders = inventory.folders().iter().map(|folder| {
        let root = roots
            .entry(&folder.root)
            .or_insert_with(|| crate::paths::root_of(&folder.path, &folder.directory).map(resolved));
        root.as_ref().map_or_else(|| folder.directory.clone(), |root| mail::join(root, &folder.path))
    });
    folders.collect()
}

fn resolved(path: &Path) -> PathBuf {
    match plain(path) {
        Some(_) => path.to_owned(),
        None => std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
    }
}
