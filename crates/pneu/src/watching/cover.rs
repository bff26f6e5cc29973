//! Decides which directories are watched, and which roots must be looked at now and then because the kernel
//! does not tell what changes there.
//!
//! Input: roots, and the file of the configuration. Output: directories. Writes nothing.

use crate::watching::ways::add_ways;
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
    /// The names that lead to the roots, by symbolic links too.
    pub ways: BTreeSet<PathBuf>,
    /// The names that lead to the configuration, in the same way.
    pub configuration: BTreeSet<PathBuf>,
    /// The directories whose files it is: the one in which it is named, and the one that its links lead to.
    pub settings: BTreeSet<PathBuf>,
    /// Roots with a directory on a file system that does not give events for all changes, and its name.
    pub remote: Vec<(PathBuf, &'static str)>,
}

/// Finds the directories below the roots, and those of the configuration. What cannot be read is left out: a
/// pass reports it.
pub(super) fn find(roots: &[Root], configuration: Option<&Path>) -> Directories {
    let mut found = Directories::default();
    if let Some(path) = configuration {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        add_ways(&path, &mut found.configuration);
        // Links may be anywhere on the way: many keep such files elsewhere.
        let files = [path.canonicalize().ok(), Some(path)];
        found.settings.extend(files.iter().flatten().filter_map(|file| file.parent()).map(Path::to_owned));
    }
    for root in roots {
        let listed = mail::find_folders(&root.path).unwrap_or_default();
        found.folder_count += listed.folders.len();
        // They tell when the root, or a directory or a link on the way to it, is moved, replaced or mounted.
        add_ways(&root.path, &mut found.ways);
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

/// Watches these directories, and that of the index. Those of messages come first, in case there may not be
/// watches for all.
pub(super) fn cover(
    watcher: &mut Watcher,
    directories: &Directories,
    index_directory: &Path,
) -> std::io::Result<Covered> {
    let of = |wanted: Interest| {
        directories.watched.iter().filter(move |(_, interest)| *interest == wanted).cloned()
    };
    let ways = directories.ways.iter().chain(&directories.configuration);
    let above: BTreeSet<&Path> = ways.filter_map(|path| path.parent()).collect();
    let above = above.into_iter().map(|path| (path.to_owned(), Interest::Names));
    let settings = directories.settings.iter().map(|path| (path.clone(), Interest::NamesAndContents));
    // The index tells when another process adds a root.
    let index = (index_directory.to_owned(), Interest::NamesAndContents);
    // What is of interest in a directory is what is said last.
    let mail = of(Interest::NamesAndContents).chain([index]).chain(of(Interest::Names));
    watcher.cover(mail.chain(above).chain(settings))
}
