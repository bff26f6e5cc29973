//! Decides which directories are watched, and which roots must be looked at now and then because the kernel
//! does not tell what changes there.
//!
//! Input: roots, and the file of the configuration. Output: directories. Writes nothing.

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
    /// The directories above the roots and above the configuration.
    pub above: BTreeSet<PathBuf>,
    /// Where the configuration is: its path, and if that is a symbolic link, the file that it leads to.
    pub configuration: Vec<PathBuf>,
    /// Roots with a directory on a file system that does not give events for all changes, and its name.
    pub remote: Vec<(PathBuf, &'static str)>,
}

/// Finds the directories below the roots, and those of the configuration. What cannot be read is left out: a
/// pass reports it.
pub(super) fn find(roots: &[Root], configuration: Option<&Path>) -> Directories {
    let mut found = Directories::default();
    if let Some(path) = configuration {
        found.configuration.push(path.to_owned());
        // Links may be anywhere on the way: many keep such files elsewhere.
        found.configuration.extend(path.canonicalize().ok().filter(|target| target != path));
        for file in &found.configuration {
            let above = file.ancestors().skip(2).filter(|path| !path.as_os_str().is_empty());
            found.above.extend(above.map(Path::to_owned));
        }
    }
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
    let settings = directories.configuration.iter().filter_map(|file| file.parent());
    let settings: BTreeSet<&Path> = settings.collect();
    // What is of interest in a directory is what was said last.
    let above = directories.above.iter().filter(|path| !settings.contains(path.as_path()));
    let above = above.map(|path| (path.clone(), Interest::Names));
    let settings = settings.iter().map(|path| ((*path).to_owned(), Interest::NamesAndContents));
    watcher.cover(of(Interest::NamesAndContents).chain(of(Interest::Names)).chain(above).chain(settings))
}
