//! Removes segment files of the text index that an interrupted or failed run left and that no commit names.
//!
//! Input: an environment. Output: fewer files. The store removes its own leftovers when it is opened for
//! writing. Must not know what is in the files.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::text::remove_unnamed;
use disk::Wait;
use store::Writer;

/// Name of the lock file that is held while segments of the text index are merged.
pub(crate) const TEXT_MERGE_LOCK: &str = "merge.lock";

/// Removes files that no commit names, unless a merge is running. The caller holds the writer's lock.
///
/// # Errors
/// Damage; an error of the disk.
pub(super) fn remove(environment: &Environment, writer: &Writer) -> Result<()> {
    let (disk, directory) = (environment.disk.as_ref(), environment.text_directory());
    match disk.lock(&directory.join(TEXT_MERGE_LOCK), &environment.holder, Wait::Refuse) {
        Ok(_held) => {
            let state = open::state(&writer.snapshot()?, &environment.index_directory())?;
            let named = state.text.iter().map(|segment| segment.id.as_str()).collect();
            Ok(remove_unnamed(disk, &directory, &named)?)
        }
        Err(disk::Error::Locked { .. }) => Ok(()),
        Err(error) => Err(Error::Disk(error)),
    }
}

/// Removes what a failed run left, so that it does not keep a full disk full. If it cannot be removed now,
/// because another process writes or the disk refuses, the next run removes it.
pub(super) fn remove_after_failure(environment: &Environment) {
    let options = open::options(environment, Wait::Refuse);
    if let Ok(writer) = Writer::open(&environment.disk, &environment.index_directory(), options) {
        let _ = remove(environment, &writer);
    }
}
