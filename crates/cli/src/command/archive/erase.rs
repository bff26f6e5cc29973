//! `pneu archive erase`: removes messages from all snapshots, and their bytes from the repository.

use super::lost::{self, IfNone, Keeping, Losing};
use super::removal::{DryRun, Removal};
use super::shown::snapshot_line;
use crate::amount::count;
use crate::archive::messages;
use crate::archive::repository::{LockOptions, RepositoryOptions};
use crate::command::act::{agrees, question};
use crate::exit::Outcome;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use backup::{Erased, MessageArchive, Unreferenced};
use clap::Args;
use index::Archive as _;
use pneu::archive::Archive;
use restic::{HeldLock, Id, Repository, Snapshot};
use std::collections::BTreeSet;
use terminal::command_line::Run;
use work::Silent;

/// Remove messages from all snapshots for good
///
/// For messages that must not be kept, by law for example. Every snapshot that has one of them is replaced by
/// one without it, with the same time, host, tags and paths and another ID; its field "original" names the
/// old one. Tags of the messages in snapshots go, too. Then all data that no snapshot uses is removed, as
/// "pneu archive prune --max-unused 0" does: packs that hold the messages are rewritten without them. This
/// cannot be undone. You are asked first.
///
/// Messages are found by a query, also deleted ones that the index still knows, or named by their SHA-256 of
/// 64 digits. "pneu index --archived" adds to the index what only the archive has. All copies of a message
/// go. A file that was compressed before it was backed up is found if pneu made the backup. Parts that other
/// files share stay. What is in Maildirs stays, and the next backup stores it again: see "pneu delete
/// --for-good". What the index here knows of deleted messages goes with "pneu sweep --older-than 0d". Other
/// repositories, and copies of this one, are not changed.
///
/// As for "prune", the number of messages is printed that are left only in forgotten snapshots, and
/// --keep-messages saves them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive erase --dry-run from:applicant@example.org
  pneu archive erase id:1234@example.org

Exit code 1: no snapshot has any of these messages, or you did not agree. 3: done, but something could not be
read or removed. It is reported.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    #[command(flatten)]
    keeping: Keeping,
    #[command(flatten)]
    lock: LockOptions,
    /// Only print what would be done
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// The query, or the SHA-256 of messages
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The query cannot be understood; something that snapshots need is missing or damaged; nobody agrees;
    /// the repository cannot be opened, reached or locked.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let Removal { repository, lock, progress, .. } =
            Removal::begin(&self.repository, self.lock, self.dry_run, session)?;
        let wanted = self.messages(&repository, session)?;
        if wanted.is_empty() {
            progress.finish();
            lock.release()?;
            return session.nothing(
                "no message matches; \"pneu index --archived\" adds those that only the archive has",
            );
        }
        progress.name("looking");
        let archive = MessageArchive { environment: &session.environment, repository: &repository };
        let planned = archive.plan_erasing(&wanted, &progress).inspect_err(|_| progress.finish())?;
        progress.finish();
        if planned.snapshots.is_empty() {
            let ids: Vec<[u8; 32]> = wanted.iter().copied().collect();
            if !archive.messages_strict(&Silent).holds(&ids)?.contains(&true) {
                lock.release()?;
                return session.nothing("no snapshot has any of these messages");
            }
            // An erasure that was interrupted, or a snapshot that was forgotten, left them.
            output::complain("no snapshot has any of these messages, but packs still have them");
        }
        let mut output = session.output();
        if !session.is_quiet || self.dry_run {
            show(&planned, wanted.len(), &mut output)?;
        }
        warn_of_files(&planned.messages, session)?;
        // Before the question: what is lost besides has no way back either.
        let lost = self.before(lock.held(), &repository, (session, &progress), &mut output)?;
        let (Some(held), false) = (lock.held(), self.dry_run) else {
            output.finish()?;
            lock.release()?;
            return Ok(Outcome::Done);
        };
        output.flush()?;
        let if_nobody = "nothing was changed; --yes erases without asking";
        if !self.yes && !agrees("Erase them for good?", if_nobody, session)? {
            lock.release()?;
            return session.nothing("nothing was changed");
        }
        progress.name("erasing");
        let erased = archive.erase(held, &wanted, &progress);
        progress.finish();
        let outcome = tell(erased, session, output)?;
        lock.release()?;
        Ok(if outcome == Outcome::Done { lost } else { outcome })
    }
}

impl Arguments {
    /// Returns the messages that are meant.
    fn messages(&self, repository: &Repository, session: &Session) -> Result<BTreeSet<[u8; 32]>> {
        let named = self.query.iter().map(|word| word.parse::<Id>().ok().map(|id| id.0));
        if let Some(named) = named.collect::<Option<BTreeSet<[u8; 32]>>>() {
            return Ok(named);
        }
        let question = question(&self.query, session)?;
        let archive = Archive::new(session.host()?.settings(), repository, &Silent);
        let (view, unread) = archive.with_absent(session.view()?)?;
        messages::complain(unread);
        let found = view.matching(&question.query).map_err(|error| question.explain(error))?;
        Ok(view.mailbox().contents_of(&found)?.into_iter().collect())
    }

    /// Reports which messages of forgotten snapshots are lost besides, and saves them if that is wanted.
    fn before(
        &self,
        lock: Option<&HeldLock>,
        repository: &Repository,
        (session, progress): (&Session, &Progress),
        output: &mut Output,
    ) -> Result<Outcome> {
        let staying: Vec<Snapshot> =
            repository.snapshots()?.complete()?.into_iter().map(|(_, snapshot)| snapshot).collect();
        let losing = Losing {
            repository,
            lock,
            going: &[],
            staying: &staying,
            forgotten: Unreferenced::Remove,
            if_none: IfNone::SayNothing,
            dry_run: self.dry_run.then_some(DryRun),
        };
        Ok(lost::before(&losing, self.keeping, (session, progress), output)?.outcome)
    }
}

/// Prints which snapshots are replaced, and how much goes.
fn show(planned: &Erased, wanted_count: usize, output: &mut Output) -> Result<()> {
    for (old, snapshot) in &planned.snapshots {
        output.line(&format!("replace {}", snapshot_line(old, snapshot, None)))?;
    }
    let found = planned.messages.len();
    output.line(&format!(
        "{} of {}, {}, in {} of {}",
        found,
        count(wanted_count as u64, "message"),
        count(planned.file_count, "file"),
        planned.snapshots.len(),
        count(planned.snapshot_count, "snapshot"),
    ))
}

/// Warns of messages that the next backup would store again.
fn warn_of_files(messages: &BTreeSet<[u8; 32]>, session: &Session) -> Result<()> {
    let Ok(view) = session.host()?.open_view() else { return Ok(()) };
    let ids: Vec<[u8; 32]> = messages.iter().copied().collect();
    let here = view.mailbox().has_files(&ids)?.into_iter().filter(|has_files| *has_files).count();
    if here > 0 {
        let (is, it) = if here == 1 { ("is", "it") } else { ("are", "them") };
        output::complain(format!(
            "{here} of the messages {is} in a Maildir here, and the next backup stores {it} again"
        ));
    }
    Ok(())
}

/// Prints what was erased, and reports what could not be removed.
fn tell(erased: backup::Result<Erased>, session: &Session, output: Output) -> Result<Outcome> {
    let erased = match erased {
        Err(backup::Error::Interrupted) => {
            output::complain(
                "interrupted; the same command does the rest. If it finds nothing any more, run \"pneu \
                 archive prune --max-unused 0\": packs may still hold the messages",
            );
            return Ok(Outcome::Interrupted);
        }
        other => other?,
    };
    let pruned = erased.pruned.unwrap_or_default();
    for failed in &pruned.failed {
        output::complain(one_line(&format!(
            "{failed}; it may still hold the messages. Run \"pneu archive prune\""
        )));
    }
    let done = format!(
        "erased  {}, {}; {} removed",
        count(erased.messages.len() as u64, "message"),
        count(erased.file_count, "file"),
        count(pruned.removed_pack_count, "pack"),
    );
    let outcome = if pruned.failed.is_empty() { Outcome::Done } else { Outcome::Partly };
    Ok(output.conclude((!session.is_quiet).then_some(&*done), outcome))
}
