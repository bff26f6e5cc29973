//! Folders that no backup has because a file `.noindex` excludes them.

use index::Root;
use std::path::PathBuf;

/// Returns the directories below these roots that hold a file `.noindex`. Walks the directories of all roots;
/// after an index update use [`index::Summary::excluded`] instead.
pub fn noindex_directories(roots: &[Root]) -> Vec<PathBuf> {
    // A directory that cannot be read is reported when its mail is read.
    let found = roots.iter().filter_map(|root| Some((root, mail::find_folders(&root.path).ok()?)));
    let paths = found.flat_map(|(root, found)| {
        found.excluded.into_iter().map(|path| mail::join(&root.path, &path)).collect::<Vec<_>>()
    });
    paths.collect()
}

/// Returns the folders at and below these directories that hold mail of their own, not only links to mail.
pub fn excluded_folders(excluded: &[PathBuf]) -> Vec<PathBuf> {
    excluded.iter().flat_map(|directory| mail::folders_left_out(directory)).collect()
}
