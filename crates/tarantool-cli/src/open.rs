//! Opens what the commands of `pneu-tarantool` work with.
//!
//! Turns paths into stores, checked files and locks. Prints nothing but progress.

use crate::session::Session;
use anyhow::{Context, Result, anyhow, bail};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use store::Snapshot;
use tarantool::{CheckedFiles, UncheckedFiles};

/// What a directory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Snapshots and logs of Tarantool.
    Tarantool,
    /// A store of ours, or nothing.
    Store,
}

/// Says what a directory holds, by the names in it.
///
/// # Errors
/// It cannot be listed.
pub(crate) fn content(session: &Session, directory: &Path) -> Result<Content> {
    let names = session.disk.list(directory)?;
    let is_foreign = |name: &std::ffi::OsString| {
        Path::new(name).extension().is_some_and(|end| end == "snap" || end == "xlog")
    };
    Ok(if names.iter().any(is_foreign) { Content::Tarantool } else { Content::Store })
}

/// Opens a store.
///
/// # Errors
/// There is none, or it is damaged.
pub(crate) fn open_store(session: &Session, directory: &Path) -> Result<Snapshot> {
    Snapshot::open(&session.disk, directory).map_err(|error| {
        if error.is_not_found() {
            let path = directory.display();
            anyhow!("there is no store in {path}; make one: pneu-tarantool load DIR --into {path}")
        } else {
            error.into()
        }
    })
}

/// Reads every block of a directory of Tarantool, on all cores and with progress.
///
/// # Errors
/// What the disk says.
pub(crate) fn read_ahead(
    session: &Session,
    directory: &Path,
    logs: &Path,
    what: &'static str,
) -> Result<Arc<CheckedFiles>> {
    let files = UncheckedFiles::open(session.disk.as_ref(), directory, logs)?;
    let progress = session.progress(what, files.stored_bytes());
    let checked = files.check(session.thread_count, &progress);
    progress.finish();
    Ok(Arc::new(checked))
}

/// Returns what is said of a torn end.
pub(crate) fn torn_line(torn: &tarantool::Torn) -> String {
    let (path, length) = (torn.path.display(), torn.length_bytes - torn.keep_bytes);
    format!("{path} ends with a torn write: {length} bytes from byte {} on: {}", torn.keep_bytes, torn.what)
}

/// Takes the lock that Tarantool holds on the directory of its logs while it runs. It ends when the file is
/// closed.
///
/// # Errors
/// Somebody has it: what looks torn may be a write that is not done yet.
pub(crate) fn lock_directory(directory: &Path) -> Result<File> {
    let opened = File::open(directory).with_context(|| format!("cannot open {}", directory.display()))?;
    match opened.try_lock() {
        Ok(()) => Ok(opened),
        Err(TryLockError::WouldBlock) => {
            bail!("{} is in use: stop the Tarantool that runs there first", directory.display())
        }
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", directory.display()))
        }
    }
}
