//! How the commands begin that remove data from a repository, and what they refuse, except in a dry run.
//!
//! Input: their options. Output: the repository, its lock, and the line of progress. Does not know what is
//! removed.

use crate::archive::repository::{ConfiguredRepository, LockOptions, ReadLock, RepositoryOptions};
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use restic::{Id, LockKind, Repository, Snapshot};

/// Nothing is changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct DryRun;

/// A repository from which something is to be removed.
pub(super) struct Removal {
    /// The repository.
    pub repository: Repository,
    /// Its exclusive lock; none in a dry run that takes none.
    pub lock: ReadLock,
    /// Watches the work.
    pub progress: Progress,
    /// Whether nothing is to be changed.
    pub dry_run: Option<DryRun>,
}

impl Removal {
    /// Opens a repository and locks it.
    ///
    /// # Errors
    /// Something would be changed without a lock, or while the clock is wrong: others would take the lock for
    /// stale. The repository cannot be opened, reached or locked.
    pub(super) fn begin(
        options: &RepositoryOptions,
        lock: LockOptions,
        dry_run: bool,
        session: &Session,
    ) -> Result<Removal> {
        let dry_run = dry_run.then_some(DryRun);
        if dry_run.is_none() {
            if lock.no_lock {
                bail!("--no-lock works only with --dry-run: without a lock nothing may be removed");
            }
            session.environment.credible_seconds()?;
        }
        let place = ConfiguredRepository::new(options, session)?;
        let repository = place.open()?;
        let lock = place.lock_unless(&repository, LockKind::Exclusive, lock)?;
        let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
            .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
        Ok(Removal { repository, lock, progress, dry_run })
    }

    /// Returns all snapshots, the oldest first.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub(super) fn snapshots(&self) -> Result<Vec<(Id, Snapshot)>> {
        Ok(self.repository.snapshots()?.complete()?)
    }
}
