//! What the commands that remove data refuse, except in a dry run.
//!
//! Takes their options. Does not know what is removed.

use crate::archive::repository::LockOptions;
use crate::session::Session;
use anyhow::{Result, bail};

/// Nothing is changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct DryRun;

/// Refuses to change anything without a lock.
///
/// # Errors
/// A sentence.
pub(super) fn refuse_no_lock(lock: LockOptions, dry_run: Option<DryRun>) -> Result<()> {
    if lock.no_lock && dry_run.is_none() {
        bail!("--no-lock works only with --dry-run: without a lock nothing may be removed");
    }
    Ok(())
}

/// Refuses to remove anything while the clock is wrong: others would take the lock for stale.
///
/// # Errors
/// A sentence.
pub(super) fn refuse_wrong_clock(dry_run: Option<DryRun>, session: &Session) -> Result<()> {
    if dry_run.is_none() {
        session.environment.credible_seconds()?;
    }
    Ok(())
}
