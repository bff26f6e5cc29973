//! Names of work: the task, the folder, and the state of the page cache.
//!
//! Does not know which program does the work.

pub(super) const INIT: &str = "init";
pub(super) const RELOAD: &str = "reload";
pub(super) const UNVERIFIED: &str = "reload, files' times not asked for";

/// Returns the name of work that began with an empty page cache.
pub(super) fn cold(work: &str) -> String {
    format!("{work}, cold")
}

/// Returns the work on a folder.
pub(super) fn work(folder: &str, work: &str) -> String {
    format!("{folder}: {work}")
}
