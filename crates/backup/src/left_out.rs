//! Says which folders are in no backup because a file `.noindex` leaves them out.
//!
//! In: roots, or what a pass left out. Out: folders that hold mail. Only directories are read. Must not know what a backup does.

use index::Root;
use std::path::PathBuf;

/// Returns the directories of these roots that a file `.noindex` leaves out: for who has not just made a pass, which knows them.
pub fn excluded(roots: &[Root]) -> Vec<PathBuf> {
    // What cannot be read is said by who wants to read mail in it.
    let found = roots.iter().filter_map(|root| Some((root, mail::find_folders(&root.path).ok()?)));
    let paths = found.flat_map(|(root, found)| {
        found.excluded.into_iter().map(|path| mail::join(&root.path, &path)).collect::<Vec<_>>()
    });
    paths.collect()
}

/// Returns the folders at and below these directories that hold mail of their own, and not only links to mail that lies elsewhere.
pub fn left_out(excluded: &[PathBuf]) -> Vec<PathBuf> {
    excluded.iter().flat_map(|directory| mail::folders_left_out(directory)).collect()
}
