//! Removes files that an interrupted or failed run left and that no commit names: segments of the text
//! index, and files of the store.
//!
//! Input: an environment. Output: fewer files. Must not know what is in the files.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::text;
use disk::{Lock, Wait};
use store::Writer;
use work::Progress;

/// Name of the lock file of the text index. Whoever writes segments has a share of the lock until a commit
/// names them. Whoever holds all of it, and the writer's lock, may remove segments that no commit names.
pub(crate) const TEXT_LOCK: &str = "merge.lock";
/// Name of the lock file that is held while segments of the text index are merged.
pub(crate) const TEXT_MERGER_LOCK: &str = "merger.lock";

/// Takes a share of the lock of the text index. If another process holds all of it, tells the observer which
/// one, and waits until the environment stops that.
///
/// # Errors
/// [`Error::Interrupted`]; a directory that cannot be written.
pub(super) fn share(environment: &Environment, observer: &dyn Progress) -> Result<Lock> {
    let path = open::text_lock(environment, TEXT_LOCK)?;
    match environment.disk.share_lock(&path, Wait::Refuse) {
        Err(disk::Error::Locked { holder, .. }) => {
            observer.waiting(&holder);
            let take = |wait| Ok(environment.disk.share_lock(&path, wait)?);
            Ok(store::until_free(Some(&environment.context.cancel), take)?)
        }
        other => Ok(other?),
    }
}

/// Removes files that no commit names, unless somebody is writing some. The caller has no share. The writer's
/// lock is given up as soon as it is known which files these are: removing large ones takes a while.
///
/// # Errors
/// Damage; an error of the disk.
pub(super) fn remove(environment: &Environment, writer: Writer) -> Result<()> {
    writer.remove_unnamed();
    let (disk, directory) = (environment.disk.as_ref(), environment.text_directory());
    match disk.lock(&open::text_lock(environment, TEXT_LOCK)?, &environment.holder, Wait::Refuse) {
        Ok(_held) => {
            let state = open::state(&writer.snapshot()?, &environment.index_directory())?;
            let named = state.text.iter().map(|segment| segment.id.as_str()).collect();
            let unnamed = text::unnamed(disk, &directory, &named)?;
            drop(writer);
            Ok(unnamed.iter().try_for_each(|path| disk.remove(path))?)
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
        let _ = remove(environment, writer);
    }
}
