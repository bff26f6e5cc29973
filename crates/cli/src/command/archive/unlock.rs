//! `pneu archive unlock`: removes stale locks.

use crate::amount::count;
use crate::archive::repository::{ConfiguredRepository, RepositoryOptions};
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use restic::WhichLocks;
use terminal::command_line::Run;

/// Remove stale locks
///
/// A lock is stale if it is older than 30 minutes, or if its process ran on this machine and has ended.
/// --remove-all removes all locks. Use it only if no other program is using the repository. Locks that pneu
/// itself left on this machine since it was started need no unlock: the next command removes them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive unlock
  pneu archive unlock --remove-all")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    /// Remove locks that are in use, too
    #[arg(long)]
    remove_all: bool,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The repository cannot be opened, or a lock not removed.
    fn run(&self, session: &Session) -> Result<Outcome> {
        if !self.remove_all {
            // Locks are taken for stale by their age.
            session.environment.credible_seconds()?;
        }
        let repository = ConfiguredRepository::new(&self.repository, session)?.open()?;
        let which = if self.remove_all { WhichLocks::All } else { WhichLocks::Stale };
        let removed = restic::unlock(repository.parts(), which)?;
        Ok(session.conclude(&format!("{} removed", count(removed as u64, "lock")), Outcome::Done))
    }
}
