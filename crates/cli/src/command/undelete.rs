//! `pneu undelete`: puts messages back that only the archive still has.

use crate::amount::count;
use crate::archived;
use crate::command::index;
use crate::environment;
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::question::Question;
use crate::repository::LockOptions;
use crate::sanitise::one_line;
use crate::session::Session;
use ::index::{Order, Scope};
use anyhow::{Context, Result, anyhow};
use backup::{Archive, UndeleteReport};
use clap::Args;
use std::path::PathBuf;

/// Put messages back that only the archive still has
///
/// First the index is brought in step with the disk, as by "pneu index". Then each message goes into the folder where the newest snapshot that
/// has it had it, with its name, flags and times; those that are still there are left alone. Snapshots of this machine count before
/// others, and places outside of trash before those in it; what was marked as deleted comes back without that mark, and
/// without the number that mbsync gave it. A message that lay below none of the index's Maildirs needs --to.
///
/// "pneu find --archived" shows what a query matches. The repository is the one that the environment or the configuration names.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu find --archived from:ana subject:invoice
  pneu undelete from:ana subject:invoice
  pneu undelete --to ~/Maildir/.Restored date:2024..2025

Exit code 3: done, but something could not be read or put back; it is named.")]
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
    let question = Question::new(&arguments.query, session)?;
    let (place, repository) = archived::open(session)?;
    let archive = Archive { environment: &session.index, repository: &repository };
    let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
        .map_err(|error| anyhow!("cannot listen to Ctrl-C: {error}"))?;
    // What came back by other ways since the last pass must not come twice.
    let pass = index::in_step(session, &progress)?;
    let lock = place.lock_to_read(&repository, arguments.lock)?;
    let snapshots = archived::snapshots(&repository)?;
    progress.name("looking");
    let held = archive.held(&snapshots, &progress);
    let mailbox = session.mailbox()?.with_scope(Scope::WithAbsent(&held))?;
    let searched = archived::complain(&held)?;
    let hits = mailbox.find(&question.query, &Order::default()).map_err(|error| question.explain(error))?;
    let current = environment::current_directory().context("the current directory is gone")?;
    let to = arguments.to.as_ref().map(|to| current.join(to));
    let report = archive.undelete((&mailbox, &hits.list), &snapshots, to.as_deref(), &progress)?;
    progress.finish();
    lock.release()?;
    say(&report, session)?;
    if report.is_interrupted {
        return Ok(Outcome::Interrupted);
    }
    let is_whole = report.problems.is_empty() && pass.problems.is_empty() && searched == Outcome::Done;
    match report.done.is_empty() && is_whole {
        true if report.unindexed.is_empty() => session.nothing("no message that matches is gone"),
        true => Ok(Outcome::Nothing),
        false => Ok(if is_whole { Outcome::Done } else { Outcome::Partly }),
    }
}

/// Prints what is back, and what is not.
fn say(report: &UndeleteReport, session: &Session) -> Result<()> {
    for problem in &report.problems {
        output::complain_of(problem.path.display(), &problem.what);
    }
    for path in &report.unindexed {
        output::complain(one_line(&format!(
            "{}: it is there, but the index does not look there",
            path.display()
        )));
    }
    let mut output = session.output();
    for undeleted in &report.done {
        output.line(&one_line(&undeleted.path.display().to_string()))?;
    }
    output.finish()?;
    if !session.is_quiet && !report.done.is_empty() {
        let messages = count(report.done.len() as u64, "message");
        output::complain(format!("{messages} back; \"pneu index\" takes in what came back"));
    }
    Ok(())
}
