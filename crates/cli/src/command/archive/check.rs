//! `pneu archive check`: looks for damage in a repository.

use crate::amount::count;
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::repository::{LockOptions, Place, RepositoryOptions};
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow};
use archive::{LockKind, ReadData};
use clap::Args;

/// Look for damage in a repository
///
/// Compares what snapshots name with what is there: every tree is read, every index file, and the size of every pack. --read-data reads the packs
/// themselves and verifies every blob in them, or of a part of them, chosen by chance. Changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu archive check
  pneu archive check --read-data
  pneu archive check --read-data=10%

Exit code 2: there is damage.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    #[command(flatten)]
    lock: LockOptions,
    /// Read all packs, or that part of them
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, default_missing_value = "100%", value_parser = percent)]
    read_data: Option<f64>,
}

/// What to do about damage.
const WAY_OUT: &str = "what no copy of the repository brings back: \"restic repair index\", then \"restic repair packs\" with the names of damaged \
                       packs and \"restic repair snapshots\" save what is left of it";

/// Runs the command.
///
/// # Errors
/// The repository cannot be opened or reached. Damage is printed.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let place = Place::new(&arguments.repository, session)?;
    let repository = place.open()?;
    // As restic does: what comes or goes meanwhile would look like damage.
    let lock = place.lock_unless(&repository, LockKind::Exclusive, arguments.lock)?;
    let read_data = match arguments.read_data {
        None => ReadData::Nothing,
        Some(percent) if percent >= 100.0 => ReadData::All,
        Some(percent) => ReadData::Percent(percent),
    };
    let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
        .map_err(|error| anyhow!("cannot listen to Ctrl-C: {error}"))?;
    progress.name("checking");
    let result = archive::check(&repository, read_data, &progress);
    progress.finish();
    lock.release()?;
    let report = match result {
        Err(archive::Error::Interrupted) => return Ok(Outcome::Interrupted),
        other => other?,
    };
    let mut output = session.output();
    for fault in &report.faults {
        output.line(&one_line(&fault.to_string()))?;
    }
    for hint in &report.hints {
        output::complain(hint);
    }
    if !report.faults.is_empty() {
        output::complain(WAY_OUT);
    }
    if !session.is_quiet {
        let unused = match report.unused_blob_count {
            0 => String::new(),
            unused => format!(", {unused} of them used by no snapshot"),
        };
        output.line(&format!(
            "{}, {}, {}{unused}; {} read",
            count(report.snapshot_count, "snapshot"),
            count(report.pack_count, "pack"),
            count(report.blob_count, "blob"),
            count(report.read_pack_count, "pack"),
        ))?;
        if report.faults.is_empty() {
            output.line("no damage found")?;
        }
    }
    output.finish()?;
    Ok(if report.faults.is_empty() { Outcome::Done } else { Outcome::Damaged })
}

/// Reads a part, such as 10%.
fn percent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.strip_suffix('%').and_then(|digits| digits.parse().ok());
    match number {
        Some(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent),
        _ => Err("write a part of 100 and %: 10%".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_percents() {
        assert_eq!((percent("10%"), percent("0.5%"), percent("100%")), (Ok(10.0), Ok(0.5), Ok(100.0)));
        for mistake in ["", "10", "0%", "101%", "-1%", "x%", "NaN%"] {
            assert!(percent(mistake).is_err(), "{mistake}");
        }
    }
}
