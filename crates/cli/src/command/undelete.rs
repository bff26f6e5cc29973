//! `pneu undelete`: puts back messages that only the archive still has.

use crate::amount::count;
use crate::archive::messages;
use crate::archive::repository::{self, LockOptions};
use crate::command::index;
use crate::environment;
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::remedy;
use crate::sanitise::one_line;
use crate::search::question::TypedQuery;
use crate::session::Session;
use anyhow::{Context, Result, anyhow};
use backup::UndeleteReport;
use clap::Args;
use pneu::Order;
use pneu::archive::Archive;
use restic::Snapshot;
use std::path::PathBuf;
use terminal::command_line::Run;

/// Put back messages that only the archive still has
///
/// First updates the index, like "pneu index". Then puts each message into the folder where its newest
/// snapshot has it, with the same name, flags and times. Messages that still have a file are left alone.
/// Snapshots of this host are preferred to others, and other folders to trash. A message that was marked as
/// deleted comes back without that mark and without its mbsync UID. A message from outside the indexed
/// Maildirs needs --to.
///
/// "pneu find --archived" shows what a query matches. The repository is the one that the environment or the
/// configuration names.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu find --archived from:ana subject:invoice
  pneu undelete from:ana subject:invoice
  pneu undelete --to ~/Maildir/.Restored date:2024..2025

Exit code 3: done, but something could not be read or put back. Each such file is reported.")]
pub(crate) struct Arguments {
    /// The query; see docs/query.md
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Put all messages into this Maildir folder
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    #[command(flatten)]
    lock: LockOptions,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The query cannot be understood; no repository is named, or it cannot be read; there is no index.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let question = TypedQuery::new(&self.query, &session.view()?)?;
        let repository = repository::open_named(session)?;
        let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
            .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
        // Messages that came back in another way since the last pass must not come back twice.
        let pass = index::in_step(session, &progress)?;
        let lock = repository::lock_to_read(&repository, self.lock)?;
        let snapshots = repository.snapshots()?.complete()?;
        let snapshots: Vec<Snapshot> = snapshots.into_iter().map(|(_, snapshot)| snapshot).collect();
        progress.name("looking");
        let archive = Archive::new(session.host()?.settings(), &repository, &progress);
        let (view, unread) = archive.with_absent(session.view()?)?;
        let searched = messages::complain(unread);
        let hits = view.find(&question.query, &Order::default()).map_err(|error| question.explain(error))?;
        let current = environment::current_directory().context("the current directory is gone")?;
        let to = self.to.as_ref().map(|to| current.join(to));
        let report = archive.undelete((&view, &hits.list), &snapshots, to.as_deref(), &progress)?;
        progress.finish();
        lock.release()?;
        let is_whole = report.problems.is_empty() && pass.problems.is_empty() && searched == Outcome::Done;
        let outcome = match (report.is_interrupted, is_whole) {
            (true, _) => Outcome::Interrupted,
            (false, true) if report.done.is_empty() => Outcome::Nothing,
            (false, true) => Outcome::Done,
            (false, false) => Outcome::Partly,
        };
        let outcome = say(&report, session, outcome);
        if outcome == Outcome::Nothing && report.unindexed.is_empty() {
            return session.nothing("no matching message is gone");
        }
        Ok(outcome)
    }
}

/// Prints what was put back, and what was not. Returns the outcome.
fn say(report: &UndeleteReport, session: &Session, outcome: Outcome) -> Outcome {
    for problem in &report.problems {
        output::complain_of(problem.path.display(), &remedy::backup_problem(problem));
    }
    for path in &report.unindexed {
        output::complain(one_line(&format!(
            "{}: the file exists, but in a folder that is not indexed",
            path.display()
        )));
    }
    let paths: Vec<String> = report.done.iter().map(|done| done.path.display().to_string()).collect();
    let lines: Vec<_> = paths.iter().map(|path| one_line(path)).collect();
    let outcome = session.output().conclude_lines(&lines, None, outcome);
    if !session.is_quiet && !report.done.is_empty() {
        let messages = count(report.done.len() as u64, "message");
        output::complain(format!("{messages} put back; \"pneu index\" indexes them"));
    }
    outcome
}
