//! Where roots are, as snapshots have it: without `..`.
//!
//! In: paths as users name them. Out: the same directories by plain absolute paths. `..` behind a link leads elsewhere than it looks, so the disk is
//! asked; a path without it stays as it is, links and all. Must not know what is in a root.

use crate::layout::plain;
use index::{Inventory, Root};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Returns roots with the paths that snapshots have. One that is not there stays as it is.
pub fn settled(roots: &[Root]) -> Vec<Root> {
    roots.iter().map(|root| Root { name: root.name.clone(), path: settled_path(&root.path) }).collect()
}

/// Returns where the folders of an inventory are, in its order.
pub(crate) fn settled_folders(inventory: &Inventory) -> Vec<PathBuf> {
    let mut roots: HashMap<&str, Option<PathBuf>> = HashMap::new();
    let folders = inventory.folders().iter().map(|folder| {
        let root = roots
            .entry(&folder.root)
            .or_insert_with(|| crate::layout::root_of(&folder.path, &folder.directory).map(settled_path));
        root.as_ref().map_or_else(|| folder.directory.clone(), |root| mail::join(root, &folder.path))
    });
    folders.collect()
}

fn settled_path(path: &Path) -> PathBuf {
    match plain(path) {
        Some(_) => path.to_owned(),
        None => std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
    }
}
