//! `pneu undelete`: puts messages back that only the archive still has.

use crate::archived;
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::question::Question;
use crate::repository::LockOptions;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow};
use backup::Archive;
use clap::Args;
use index::{Order, Scope, UpdateOptions};
use std::path::PathBuf;

/// Put messages back that only the archive still has
///
/// Each goes into the folder where the newest snapshot that has it had it, with its name, flags and times; those that are still there are left alone.
/// "pneu find --archived" shows what a query matches. The repository is the one that the environment or the configuration names.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu find --archived from:ana subject:invoice
  pneu undelete from:ana subject:invoice
  pneu undelete --to ~/Maildir/.Restored date:2024..2025

Exit code 3: done, but something could not be put back; it is named.")]
pub(crate) struct Arguments {
    /// Which messages; see docs/query.md
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Put all of them into this Maildir folder
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    #[command(flatten)]
    lock: LockOptions,
}

/// Runs the command.
///
/// # Errors
/// The query cannot be understood; no repository is named, or it cannot be read; there is no index.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let question = Question::new(&arguments.query, session.configured()?.headers)?;
    let (place, repository) = archived::open(session)?;
    let lock = place.lock_to_read(&repository, arguments.lock)?;
    let snapshots = archived::snapshots(&repository)?;
    let archive = Archive { environment: &session.index, repository: &repository };
    let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
        .map_err(|error| anyhow!("cannot listen to Ctrl-C: {error}"))?;
    // What came back by other ways since the last pass must not come twice.
    let roots = session.mailbox()?.roots().to_vec();
    let options = UpdateOptions { headers: session.configured()?.headers, ..UpdateOptions::default() };
    match index::update(&session.index, &roots, &options, &progress) {
        Err(index::Error::Interrupted) => return Ok(Outcome::Interrupted),
        other => drop(other?),
    }
    progress.name("looking");
    let held = archive.held(&snapshots, &progress);
    let mailbox = session.mailbox()?.with_scope(Scope::WithAbsent(&held))?;
    let hits = mailbox.find(&question.query, &Order::default()).map_err(|error| question.explain(error))?;
    let report = archive.undelete((&mailbox, &hits.list), &snapshots, arguments.to.as_deref(), &progress);
    progress.finish();
    lock.release()?;
    let report = match report {
        Err(backup::Error::Interrupted) => return Ok(Outcome::Interrupted),
        other => other?,
    };
    for problem in &report.problems {
        output::complain(one_line(&format!("{}: {}", problem.path.display(), problem.what)));
    }
    if report.done.is_empty() && report.problems.is_empty() {
        return session.nothing("no message that matches is gone");
    }
    let mut output = session.output();
    for undeleted in &report.done {
        output.line(&one_line(&undeleted.path.display().to_string()))?;
    }
    output.finish()?;
    if !session.is_quiet {
        output::complain(format!("{} messages are back; \"pneu index\" takes them in", report.done.len()));
    }
    Ok(if report.problems.is_empty() { Outcome::Done } else { Outcome::Partly })
}
