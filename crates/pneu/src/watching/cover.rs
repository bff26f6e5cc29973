//! Decides which directories are watched, and which roots must be looked at now and then because the kernel
//! does not tell what changes there.
//!
//! Input: roots. Output: directories. Writes nothing.

use index::Root;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use watch::{Covered, Interest, Watcher};

/// The directories below some roots.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Directories {
    /// How many folders there are.
    pub folder_count: usize,
    /// Each directory with what is of interest there.
    pub watched: Vec<(PathBuf, Interest)>,
    /// The directories above the roots.
    pub above: BTreeSet<PathBuf>,
    /// Roots with a directory on a file system that does not give events for all changes, and its name.
    pub remote: Vec<(PathBuf, &'static str)>,
}

/// Finds the directories below the roots. What cannot be read is left out: a pass reports it.
pub(super) fn find(roots: &[Root]) -> Directories {
    let mut found = Directories::default();
    for root in roots {
        let listed = mail::find_folders(&root.path).unwrap_or_default();
        found.folder_count += listed.folders.len();
        // They tell when the root, or a directory on the way to it, is moved, replaced or mounted.
        let above = root.path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
        found.above.extend(above.map(Path::to_owned));
        let directories = listed.directories.iter().map(|path| mail::join(&root.path, path));
        found.watched.extend(directories.map(|path| (path, Interest::Names)));
        let mut devices = HashSet::new();
        let mut remote = watch::gives_no_events(&root.path);
        for folder in &listed.folders {
            let path = mail::join(&root.path, &folder.path);
            if devices.insert(folder.stamp.device) {
                remote = remote.or_else(|| watch::gives_no_events(&path));
            }
            let places = ["cur", "new"].map(|name| (path.join(name), Interest::NamesAndContents));
            found.watched.extend(places);
        }
        found.remote.extend(remote.map(|name| (root.path.clone(), name)));
    }
    found
}

/// Watches these directories. Those of messages come first, in case there may not be watches for all.
pub(super) fn cover(watcher: &mut Watcher, directories: &Directories) -> std::io::Result<Covered> {
    let of = |wanted: Interest| {
        directories.watched.iter().filter(move |(_, interest)| *interest == wanted).cloned()
    };
    let above = directories.above.iter().map(|path| (path.clone(), Interest::Names));
    watcher.cover(of(Interest::NamesAndContents).chain(of(Interest::Names)).chain(above))
}
