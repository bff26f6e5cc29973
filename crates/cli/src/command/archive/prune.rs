//! `pneu archive prune`: removes what no snapshot uses.

use super::lost::{self, IfNone, Keeping, Losing};
use super::removal::{DryRun, Removal};
use crate::amount::{count, people};
use crate::archive::repository::{LockOptions, RepositoryOptions};
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, bail};
use backup::Unreferenced;
use clap::Args;
use restic::{HeldLock, Id, MaxUnused, PruneFigures, PruneOptions, PrunePlan, Repository, Snapshot};
use terminal::command_line::Run;

/// Remove data that no snapshot uses
///
/// First checks the whole repository. If anything that a snapshot needs is missing or damaged, nothing is
/// removed. Packs with enough unused data are rewritten without it; --max-unused limits how much unused data
/// may stay.
///
/// Before that, the index is updated, and the number of messages is printed that are left only in forgotten
/// snapshots: in no Maildir here and in no snapshot. --dry-run lists these messages. --keep-messages saves
/// them in a snapshot with the tag pneu-deleted. Messages that an interrupted backup saved without a snapshot
/// do not count.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive prune --dry-run
  pneu archive prune
  pneu archive prune --max-unused 0%")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    #[command(flatten)]
    keeping: Keeping,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    lock: LockOptions,
    /// Only print what would be done
    #[arg(long)]
    dry_run: bool,
}

/// How to prune; `forget --prune` takes it, too.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct How {
    /// How much unused data may stay: a percentage of what is left, such as 5%, a size such as 500M, or
    /// unlimited
    #[arg(long, value_name = "AMOUNT", default_value = "5%", value_parser = max_unused)]
    max_unused: MaxUnused,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// Something that snapshots need is missing or damaged; the repository cannot be opened, reached or
    /// locked.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let removal = Removal::begin(&self.repository, self.lock, self.dry_run, session)?;
        let staying: Vec<Snapshot> = removal.snapshots()?.into_iter().map(|(_, snapshot)| snapshot).collect();
        let Removal { repository, lock, progress, dry_run } = removal;
        let losing = Losing {
            repository: &repository,
            lock: lock.held(),
            going: &[],
            staying: &staying,
            forgotten: Unreferenced::Remove,
            if_none: IfNone::SaySo,
            dry_run,
        };
        let mut output = session.output();
        let looked = lost::before(&losing, self.keeping, (session, &progress), &mut output)?;
        output.finish()?;
        if self.keeping.keep_messages && looked.unread_count > 0 && dry_run.is_none() {
            bail!(
                "nothing was removed, because trees that cannot be read may name messages; \
                 run \"pneu archive check\""
            );
        }
        let lost = looked.outcome;
        let plan = plan(&repository, self.how, &[], &progress)?;
        let pruned = carry_out(&plan, lock.held(), dry_run, (session, &progress))?;
        lock.release()?;
        Ok(if pruned == Outcome::Done { lost } else { pruned })
    }
}

/// Reads everything and decides what to remove after the snapshots `going` are removed. Changes nothing.
///
/// # Errors
/// Something that other snapshots need is missing or damaged, so that nothing may be removed; the repository
/// cannot be reached.
pub(super) fn plan(
    repository: &Repository,
    how: How,
    going: &[Id],
    progress: &Progress,
) -> Result<PrunePlan> {
    progress.name("looking");
    let options = PruneOptions { max_unused: how.max_unused };
    let plan = restic::plan_prune_without(repository, &options, going, progress);
    Ok(plan.inspect_err(|_| progress.finish())?)
}

/// Prunes a repository that is locked; without a lock only for a dry run.
///
/// # Errors
/// As [`Arguments::run`].
pub(super) fn carry_out(
    plan: &PrunePlan,
    lock: Option<&HeldLock>,
    dry_run: Option<DryRun>,
    (session, progress): (&Session, &Progress),
) -> Result<Outcome> {
    let mut output = session.output();
    if !session.is_quiet || dry_run.is_some() {
        for line in lines(&plan.figures) {
            output.line(&line)?;
        }
    }
    let (Some(lock), None) = (lock, dry_run) else {
        progress.finish();
        output.finish()?;
        return Ok(Outcome::Done);
    };
    progress.name("pruning");
    let done = restic::prune(lock, plan, progress);
    progress.finish();
    let report = match done {
        Err(restic::Error::Interrupted) => {
            output::complain("interrupted; nothing is lost, and the next prune does the rest");
            return Ok(Outcome::Interrupted);
        }
        other => other?,
    };
    for failed in &report.failed {
        output::complain(one_line(&format!("{failed}; the next prune tries again")));
    }
    let done = format!("done      {} removed", count(report.removed_pack_count, "pack"));
    let outcome = if report.failed.is_empty() { Outcome::Done } else { Outcome::Partly };
    Ok(output.conclude((!session.is_quiet).then_some(&*done), outcome))
}

/// Prints what a plan does.
fn lines(figures: &PruneFigures) -> Vec<String> {
    let blobs = |number, bytes| format!("{}, {}", count(number, "blob"), people(bytes));
    let packs = |number, bytes| format!("{}, {}", count(number, "pack"), people(bytes));
    let mut lines = vec![
        format!("used      {}", blobs(figures.used_blob_count, figures.used_bytes)),
        format!("unused    {}", blobs(figures.unused_blob_count, figures.unused_bytes)),
    ];
    if figures.duplicate_count > 0 {
        lines.push(format!("duplicate {}", blobs(figures.duplicate_count, figures.duplicate_bytes)));
    }
    if figures.unindexed_pack_count > 0 {
        lines.push(format!("unindexed {}", packs(figures.unindexed_pack_count, figures.unindexed_bytes)));
    }
    lines.push(format!("to repack {}", packs(figures.repacked_pack_count, figures.repacked_bytes)));
    lines.push(format!(
        "to remove {} of {}, {}",
        figures.removed_pack_count,
        count(figures.pack_count, "pack"),
        people(figures.removed_bytes)
    ));
    lines.push(format!("stays     {} unused", people(figures.left_bytes)));
    lines
}

/// Parses how much may stay unused.
fn max_unused(text: &str) -> Result<MaxUnused, String> {
    if text == "unlimited" {
        return Ok(MaxUnused::Unlimited);
    }
    let wrong = || "write a part such as 5%, an amount such as 500M, or unlimited".to_owned();
    if let Some(digits) = text.strip_suffix('%') {
        let percent: u8 = digits.parse().map_err(|_| wrong())?;
        return if percent < 100 { Ok(MaxUnused::Percent(percent)) } else { Err(wrong()) };
    }
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).map(MaxUnused::Bytes).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_parts_or_bytes() {
        assert_eq!(max_unused("5%"), Ok(MaxUnused::Percent(5)));
        assert_eq!(max_unused("500m"), Ok(MaxUnused::Bytes(500 << 20)));
        assert_eq!(max_unused("7"), Ok(MaxUnused::Bytes(7)));
        assert_eq!(max_unused("unlimited"), Ok(MaxUnused::Unlimited));
        for mistake in ["", "100%", "-1%", "x", "5X", "99999999999T", "ä"] {
            assert!(max_unused(mistake).is_err(), "{mistake}");
        }
    }
}
