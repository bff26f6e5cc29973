//! `pneu archive prune`: removes what no snapshot uses.

use super::shown::count;
use crate::command::info::people;
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::repository::{Place, RepositoryOptions};
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow};
use archive::{HeldLock, LockKind, MaxUnused, PruneFigures, PruneOptions, Repository};
use clap::Args;

/// Remove what no snapshot uses
///
/// First everything is looked at: if anything that a snapshot needs is missing or damaged, nothing is removed. Packs of which enough is unused are
/// written anew without it; how much waste may stay, --max-unused says.
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
    how: How,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// How to prune; `forget --prune` takes it, too.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct How {
    /// How much may stay unused: a part of what is left, such as 5%, an amount such as 500M, or unlimited
    #[arg(long, value_name = "AMOUNT", default_value = "5%", value_parser = max_unused)]
    max_unused: MaxUnused,
}

/// Runs the command.
///
/// # Errors
/// Something that snapshots need is missing or damaged; the repository cannot be opened, reached or locked.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let place = Place::new(&arguments.repository, session)?;
    let repository = place.open()?;
    let lock = place.lock(&repository, LockKind::Exclusive)?;
    let outcome = prune(&repository, &lock, arguments.how, arguments.dry_run.then_some(DryRun), session);
    lock.release()?;
    outcome
}

/// Says that nothing is to be changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct DryRun;

/// Prunes a repository that is locked.
///
/// # Errors
/// As [`run`].
pub(super) fn prune(
    repository: &Repository,
    lock: &HeldLock,
    how: How,
    dry_run: Option<DryRun>,
    session: &Session,
) -> Result<Outcome> {
    let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
        .map_err(|error| anyhow!("cannot listen to Ctrl-C: {error}"))?;
    progress.name("looking");
    let options = PruneOptions { max_unused: how.max_unused };
    let planned = archive::plan_prune(repository, &options, &progress);
    let plan = match planned {
        Err(archive::Error::Interrupted) => {
            progress.finish();
            return Ok(Outcome::Interrupted);
        }
        other => other.inspect_err(|_| progress.finish())?,
    };
    let mut output = session.output();
    if !session.is_quiet || dry_run.is_some() {
        for line in lines(&plan.figures) {
            output.line(&line)?;
        }
    }
    if dry_run.is_some() {
        progress.finish();
        output.finish()?;
        return Ok(Outcome::Done);
    }
    progress.name("pruning");
    let done = archive::prune(repository, lock, &plan, &progress);
    progress.finish();
    let report = match done {
        Err(archive::Error::Interrupted) => {
            output::complain("interrupted; nothing is lost, and the next prune does the rest");
            return Ok(Outcome::Interrupted);
        }
        other => other?,
    };
    for failed in &report.failed {
        output::complain(one_line(&format!("{failed}; the next prune tries again")));
    }
    if !session.is_quiet {
        output.line(&format!("done      {} removed", count(report.removed_pack_count, "pack")))?;
    }
    output.finish()?;
    Ok(if report.failed.is_empty() { Outcome::Done } else { Outcome::Partly })
}

/// Says what a plan comes to.
fn lines(figures: &PruneFigures) -> Vec<String> {
    let blobs = |number, bytes| format!("{}, {}", count(number, "blob"), people(bytes));
    let packs = |number, bytes| format!("{}, {}", count(number, "pack"), people(bytes));
    let mut lines = vec![
        format!("used      {}", blobs(figures.used_blob_count, figures.used_bytes)),
        format!("unused    {}", blobs(figures.unused_blob_count, figures.unused_bytes)),
    ];
    if figures.duplicate_count > 0 {
        lines.push(format!("twice     {}", blobs(figures.duplicate_count, figures.duplicate_bytes)));
    }
    if figures.unindexed_pack_count > 0 {
        lines.push(format!("unindexed {}", packs(figures.unindexed_pack_count, figures.unindexed_bytes)));
    }
    lines.push(format!("anew      {}", packs(figures.repacked_pack_count, figures.repacked_bytes)));
    lines.push(format!(
        "to remove {} of {}, {}",
        figures.removed_pack_count,
        count(figures.pack_count, "pack"),
        people(figures.removed_bytes)
    ));
    lines.push(format!("stays     {} unused", people(figures.left_bytes)));
    lines
}

/// Reads how much may stay unused.
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
