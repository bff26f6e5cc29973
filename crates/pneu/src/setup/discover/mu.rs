//! mu's log: which directory it indexed last. Its configuration is in a database, which pneu does not read.
//!
//! Input: the text. Output: the directory.

use std::path::{Path, PathBuf};

/// The text before the directory.
const BEFORE: &str = "created indexer for ";
/// The text between the directory and the database.
const BEHIND: &str = " -> ";

/// Returns the directory that the newest line names.
pub(super) fn directories(text: &str) -> Vec<PathBuf> {
    let named = |line: &str| Some(line.split_once(BEFORE)?.1.rsplit_once(BEHIND)?.0.to_owned());
    let newest = text.lines().rev().find_map(named).filter(|path| Path::new(path).is_absolute());
    newest.map(PathBuf::from).into_iter().collect()
}
