//! Backs up all mail in one snapshot.
//!
//! Input: closures that open and lock the repository, which are the front end's: it knows the address and the
//! password. Output: what the snapshot has, and what was left out. First brings the index in step, if that is
//! wanted.

use crate::error::{Error, Result};
use crate::host::Host;
use backup::{BackupOptions, BackupReport, LookAhead, Target};
use index::{Mode, Root, Summary, UpdateOptions};
use restic::{HeldLock, Repository};
use std::path::PathBuf;
use std::result;
use std::sync::atomic::{AtomicBool, Ordering};
use work::{Progress, Relay};

/// The result of a backup.
#[derive(Debug)]
pub struct BackedUp {
    /// What bringing the index in step did, if that was wanted.
    pub updated: Option<Summary>,
    /// What the snapshot has.
    pub report: BackupReport,
}

impl BackedUp {
    /// Returns whether nothing was left out that the user did not exclude.
    pub fn is_whole(&self) -> bool {
        let updated = self.updated.as_ref();
        self.report.problems.is_empty() && updated.is_none_or(|summary| summary.problems.is_empty())
    }
}

impl Host {
    /// Backs up all mail of the index in one snapshot. `update` names the roots that are indexed first; with
    /// `None`, what the index has is backed up.
    ///
    /// `open` is called on a thread of its own while the index is brought in step and files are looked at: a
    /// repository's key takes time. `lock` is called after that, with what the pass did, since a pass may
    /// take long and the lock is not needed for it. The lock is released at the end.
    ///
    /// # Errors
    /// What `open` and `lock` return; as [`Host::update`]; the repository cannot be read or written;
    /// [`Error::Cancelled`]. There is no new snapshot then.
    pub fn back_up<E: From<Error> + Send>(
        &self,
        update: Option<&[Root]>,
        (open, lock): (
            impl FnOnce() -> result::Result<Repository, E> + Send,
            impl FnOnce(&Repository, Option<&Summary>) -> result::Result<HeldLock, E>,
        ),
        options: &BackupOptions,
        progress: &dyn Progress,
    ) -> result::Result<BackedUp, E> {
        let is_stopped = AtomicBool::new(false);
        let stoppable =
            Relay { progress, at_stage: &|_| (), is_stopped: &|| is_stopped.load(Ordering::Relaxed) };
        let environment = &self.settings().environment;
        // The backup looks at every file itself.
        let brief = UpdateOptions { mode: Mode::Brief, ..UpdateOptions::default() };
        let (opened, updated, ahead) = std::thread::scope(|scope| {
            let opening = scope.spawn(|| {
                // Without a key, the pass would be in vain.
                open().inspect_err(|_| is_stopped.store(true, Ordering::Relaxed))
            });
            let updated = update.map(|roots| self.update(roots, &brief, &stoppable)).transpose();
            let ahead = if updated.is_ok() { LookAhead::begin(environment) } else { None };
            let opened = opening.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (opened, updated, ahead)
        });
        let (repository, updated) = (opened?, updated?);
        let lock = lock(&repository, updated.as_ref())?;
        let target = Target { repository: &repository, lock: &lock };
        let report = backup::backup_after(environment, (&target, ahead), options, progress);
        let report = report.map_err(Error::from)?;
        lock.release().map_err(Error::from)?;
        Ok(BackedUp { updated, report })
    }

    /// Returns the folders with mail that a backup leaves out because a file `.noindex` excludes them.
    /// `updated` is what bringing the index in step did; without it, the directories of all roots are walked.
    ///
    /// # Errors
    /// There is no index.
    pub fn excluded_folders(&self, updated: Option<&Summary>) -> Result<Vec<PathBuf>> {
        Ok(match updated {
            Some(summary) => backup::excluded_folders(&summary.excluded),
            None => {
                let roots = index::roots(&self.settings().environment)?;
                backup::excluded_folders(&backup::noindex_directories(&roots))
            }
        })
    }
}
