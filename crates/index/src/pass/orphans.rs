//! Removes files that an interrupted or failed run left: of segments of the text index that nothing names.
//!
//! In: an environment. Out: fewer files. What the store itself left is removed by whoever opens it to write.
//! Must not know what is in any of them.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::text::remove_unnamed;
use disk::Wait;
use store::Writer;

/// Name of the file whose lock says that segments of the text index are being merged.
pub(crate) const TEXT_MERGE_LOCK: &str = "merge.lock";

/// Removes what nothing names, unless somebody merges. The caller holds the writer's lock.
///
/// # Errors
/// Damage; what the disk says.
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

/// Removes what a run that failed left, so that a full disk is not left full. What cannot be removed now,
/// because another process writes or the disk refuses, the next run removes.
pub(super) fn remove_after_failure(environment: &Environment) {
    let options = open::options(environment, Wait::Refuse);
    if let Ok(writer) = Writer::open(&environment.disk, &environment.index_directory(), options) {
        let _ = remove(environment, &writer);
    }
}
