//! Places of files in folders: names, and whether a file is still the one that a step knows.
//!
//! Input: paths. Output: parts of them, and what the disk says of a file. Must not know actions.

use crate::action::log::Step;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Tells whether another file in a folder has a name with this unique part.
pub(super) type IsTaken<'a> = dyn Fn(&Path, &[u8]) -> bool + 'a;

/// Returns whether a place has a file with an inode, and with the size and time of a step.
pub(super) fn is_unchanged(path: &Path, inode: u64, step: &Step) -> bool {
    mail::stat_entry(path).is_ok_and(|stat| {
        (stat.inode, stat.size_bytes, stat.mtime_ns) == (inode, step.size_bytes, step.mtime_ns)
    })
}

/// Returns the name of a file in another folder, with this unique part.
pub(super) fn name_with(unique: &[u8], file: &Path) -> Vec<u8> {
    let name = mail::name_elsewhere(name_of(file));
    let rest = name.get(mail::parse_name(&name).unique.len()..).unwrap_or_default();
    [unique, rest].concat()
}

/// Returns the folder of a file in its `cur` or `new`.
pub(super) fn folder_of(path: &Path) -> Option<&Path> {
    path.parent()?.parent()
}

/// Returns the name of a file.
pub(super) fn name_of(path: &Path) -> &[u8] {
    path.file_name().map_or(&[], |name| name.as_bytes())
}
