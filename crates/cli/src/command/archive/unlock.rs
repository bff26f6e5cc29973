//! `pneu archive unlock`: takes away locks that nobody holds any more.

use crate::amount::count;
use crate::exit::Outcome;
use crate::repository::{Place, RepositoryOptions};
use crate::session::Session;
use anyhow::Result;
use archive::WhichLocks;
use clap::Args;

/// Take away locks that nobody holds any more
///
/// Those that are older than 30 minutes, and those of processes of this machine that are gone. --remove-all
/// takes away all of them: only for when it is certain that nobody else is at work. Locks that pneu left on
/// this machine since it was started need no unlock: the next command removes them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive unlock
  pneu archive unlock --remove-all")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    /// Take away those of others at work, too
    #[arg(long)]
    remove_all: bool,
}

/// Runs the command.
///
/// # Errors
/// The repository cannot be opened, or a lock not removed.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    if !arguments.remove_all {
        // Locks are taken for stale by their age.
        session.index.credible_seconds()?;
    }
    let repository = Place::new(&arguments.repository, session)?.open()?;
    let which = if arguments.remove_all { WhichLocks::All } else { WhichLocks::Stale };
    let removed = archive::unlock(repository.parts(), which)?;
    let mut output = session.output();
    if !session.is_quiet {
        output.line(&format!("{} removed", count(removed as u64, "lock")))?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}
