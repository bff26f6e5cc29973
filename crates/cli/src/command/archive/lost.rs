//! Messages that `forget` and `prune` would lose: reports them, and saves them if that is wanted.
//!
//! Takes the snapshots that are removed, those that stay, and the index if there is one. Prints a sentence,
//! for a dry run also a list, and makes a snapshot with --keep-messages. Does not know why snapshots are
//! removed.

use super::removal::DryRun;
use super::shown::local_time;
use crate::amount::{count, people};
use crate::command::index::in_step;
use crate::exit::Outcome;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::remedy;
use crate::sanitise::{one_line, one_line_of_bytes};
use crate::session::Session;
use anyhow::{Result, anyhow};
use backup::{BackupOptions, LostMessage, Target, Unreferenced};
use clap::Args;
use pneu::View;
use pneu::archive::{About, Archive};
use restic::{HeldLock, Repository, SaveOptions, Snapshot, Time};
use terminal::screen::{cut, padding};
use work::Silent;

/// Columns of the date, the sender and the subject in a list.
const DATE_COLUMNS: usize = 16;
const PERSON_COLUMNS: usize = 24;
const SUBJECT_COLUMNS: usize = 40;

/// What to do with messages that nothing else has.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Keeping {
    /// First save messages that would be in no Maildir and in no snapshot any more, in a snapshot with the
    /// tag pneu-deleted
    #[arg(long)]
    pub(super) keep_messages: bool,
    /// Rely on the index without updating it first
    #[arg(long)]
    no_index: bool,
}

/// The snapshots to remove, and those that stay.
pub(super) struct Losing<'a> {
    pub(super) repository: &'a Repository,
    /// `None` only if nothing is to be changed.
    pub(super) lock: Option<&'a HeldLock>,
    pub(super) going: &'a [Snapshot],
    pub(super) staying: &'a [Snapshot],
    pub(super) forgotten: Unreferenced,
    pub(super) if_none: IfNone,
    pub(super) dry_run: Option<DryRun>,
}

/// What is printed if nothing would be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IfNone {
    /// A sentence.
    SaySo,
    /// Nothing: other messages are removed on purpose.
    SayNothing,
}

/// The result of the search for messages that would be lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looked {
    /// Whether everything could be read for it.
    pub(super) outcome: Outcome,
    /// How many trees of snapshots could not: what is only in them is not known.
    pub(super) unread_count: usize,
}

/// Reports what would be lost, and saves it if that is wanted.
///
/// # Errors
/// The index or the archive cannot be read, the snapshot not be written.
pub(super) fn before(
    losing: &Losing<'_>,
    keeping: Keeping,
    (session, progress): (&Session, &Progress),
    output: &mut Output,
) -> Result<Looked> {
    let mut is_whole = true;
    let view = view(keeping, (session, progress), &mut is_whole)?;
    progress.name("looking for messages that nothing else has");
    let archive = Archive::new(session.host()?.settings(), losing.repository, &Silent);
    let snapshots = (losing.going, losing.staying);
    let report = archive.lost_messages(view.as_ref(), snapshots, losing.forgotten, progress)?;
    progress.finish();
    for problem in &report.problems {
        is_whole = false;
        output::complain_of(problem.path.display(), &problem.what);
    }
    let outcome = if is_whole { Outcome::Done } else { Outcome::Partly };
    let list = &report.messages;
    let is_dry = losing.dry_run.is_some();
    let is_told = losing.if_none == IfNone::SaySo || !list.is_empty() || !is_whole;
    if is_told && (!session.is_quiet || is_dry) {
        let seen = Seen { has_index: view.is_some(), is_whole };
        output.line(&sentence(list, seen, losing.dry_run))?;
    }
    if is_dry {
        for lost in list {
            let about = archive.about(view.as_ref(), lost).unwrap_or_default();
            output.line(&line(lost, &about, output.terminal.is_terminal()))?;
        }
    }
    if let (Some(lock), true, false) = (losing.lock, keeping.keep_messages && !is_dry, list.is_empty()) {
        let options = BackupOptions {
            tags: Vec::new(),
            configuration: None,
            save: SaveOptions::default(),
            program_version: concat!("pneu ", env!("CARGO_PKG_VERSION")).to_owned(),
        };
        let target = Target { repository: losing.repository, lock };
        let id = backup::keep_messages(&session.environment, &target, list, &options)?;
        if !session.is_quiet {
            let messages = count(list.len() as u64, "message");
            output.line(&format!("kept    {}  [{}]  {messages}", id.short(), backup::DELETED_TAG))?;
        }
    } else if !list.is_empty() && !session.is_quiet && !keeping.keep_messages {
        output::complain(match (losing.dry_run, losing.forgotten) {
            (Some(_), _) => "--keep-messages saves them first, in a snapshot of their own",
            (None, Unreferenced::Keep) => {
                "they can be saved until the next prune: pneu archive prune --keep-messages"
            }
            (None, Unreferenced::Remove) => "they are not saved; --keep-messages would save them first",
        });
    }
    Ok(Looked { outcome, unread_count: report.problems.len() })
}

/// Opens the index after updating it; `None` if there is none.
fn view(
    keeping: Keeping,
    (session, progress): (&Session, &Progress),
    is_whole: &mut bool,
) -> Result<Option<View>> {
    let host = session.host()?;
    let view = match host.open_view() {
        Err(pneu::Error::Index(index::Error::NoIndex { .. })) => return Ok(None),
        other => other?,
    };
    if keeping.no_index {
        return Ok(Some(view));
    }
    let passed = in_step(session, progress).map_err(|error| match error.downcast_ref() {
        Some(pneu::Error::Cancelled) => error,
        _ => anyhow!(
            "{}. The index may differ from the disk; --no-index uses it as it is",
            remedy::explained(&error)
        ),
    })?;
    *is_whole &= passed.problems.is_empty();
    Ok(Some(host.open_view()?))
}

/// Where the search looked for messages.
#[derive(Clone, Copy)]
struct Seen {
    /// Whether there is an index, which knows the messages in Maildirs.
    has_index: bool,
    /// Whether everything could be read.
    is_whole: bool,
}

/// Returns the sentence about how many messages would be lost.
fn sentence(list: &[LostMessage], seen: Seen, dry_run: Option<DryRun>) -> String {
    let Seen { has_index, is_whole } = seen;
    let is_known =
        if has_index { "" } else { "; there is no index here, so the messages in Maildirs are not known" };
    if list.is_empty() && !is_whole {
        return format!("no message is known to be lost, but not everything could be read{is_known}");
    }
    if list.is_empty() {
        let elsewhere = if has_index { " or in a Maildir" } else { "" };
        return format!("no message is lost: all are in a snapshot that stays{elsewhere}");
    }
    let amount = count(list.len() as u64, "message");
    let bytes = people(list.iter().map(|lost| lost.size_bytes).sum());
    let verb = match (dry_run.is_some(), list.len()) {
        (true, _) => "would then be",
        (false, 1) => "is then",
        (false, _) => "are then",
    };
    let places = if has_index { "in no Maildir and in no snapshot" } else { "in no snapshot" };
    format!("{amount}, {bytes}, {verb} {places}{is_known}")
}

/// Returns a line for one message: date, sender, subject, size, path.
fn line(lost: &LostMessage, About { date_seconds, from, subject }: &About, is_cut: bool) -> String {
    let column = |text: &str, columns| {
        let text = one_line(text);
        let text = if is_cut { cut(&text, columns) } else { text };
        format!("{text}{}", padding(&text, columns))
    };
    let date = date_seconds.map(|seconds| local_time(&Time::new(seconds, 0, 0)));
    let date = date.as_deref().and_then(|time| time.rsplit_once(':')).map_or("", |(minutes, _)| minutes);
    let (date, from, subject) =
        (column(date, DATE_COLUMNS), column(from, PERSON_COLUMNS), column(subject, SUBJECT_COLUMNS));
    format!("lost    {date} {from} {subject} {:>9} {}", lost.size_bytes, one_line_of_bytes(&lost.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_lost_is_said_as_far_as_it_is_known() {
        let said = |has_index, is_whole| sentence(&[], Seen { has_index, is_whole }, None);
        assert_eq!(said(true, true), "no message is lost: all are in a snapshot that stays or in a Maildir");
        assert_eq!(said(false, true), "no message is lost: all are in a snapshot that stays");
        assert_eq!(said(true, false), "no message is known to be lost, but not everything could be read");
        assert_eq!(
            said(false, false),
            "no message is known to be lost, but not everything could be read; there is no index here, so \
             the messages in Maildirs are not known"
        );
    }
}
