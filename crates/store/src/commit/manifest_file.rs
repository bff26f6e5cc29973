//! The manifest in a directory: whether it exists, and what a store that replaces it must know about it.

use crate::commit::manifest::Manifest;
use crate::error::{Error, Result};
use crate::file::names;
use crate::limits::JOURNAL_BYTES_MAX;
use disk::Disk;
use std::ffi::OsString;
use std::path::Path;

/// Returns whether a directory holds a store.
pub(crate) fn has_manifest(disk: &dyn Disk, directory: &Path) -> Result<bool> {
    match disk.read(&directory.join(names::MANIFEST)) {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns the manifest in a directory, if it can be read.
pub(crate) fn manifest_in(disk: &dyn Disk, directory: &Path) -> Result<Option<Manifest>> {
    let path = directory.join(names::MANIFEST);
    match disk.read(&path) {
        Err(error) if error.is_not_found() => Ok(None),
        bytes => match Manifest::decode(&path, &bytes?) {
            // It may hold data that this program cannot make again.
            Err(error @ Error::Version { .. }) => Err(error),
            manifest => Ok(manifest.ok()),
        },
    }
}

/// Returns a manifest number and a commit number that the old store has not exceeded, as far as can be
/// told.
pub(crate) fn newest(old: Option<&Manifest>, names: &[OsString]) -> (u64, u64) {
    let journals =
        names.iter().filter_map(|name| name.to_str()?.strip_prefix("journal-")?.parse::<u64>().ok());
    let number = journals.max().unwrap_or(0);
    // A commit in a journal takes at least one byte.
    old.map_or((number, 0), |old| (number.max(old.number), old.sequence.saturating_add(JOURNAL_BYTES_MAX)))
}
