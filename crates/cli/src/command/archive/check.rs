//! `pneu archive check`: looks for damage in a repository.

use crate::amount::count;
use crate::archive::repository::{ConfiguredRepository, LockOptions, RepositoryOptions};
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::Args;
use restic::{LockKind, ReadData};
use terminal::command_line::Run;

/// Check a repository for damage
///
/// Reads every tree and every index file, checks that everything that snapshots use is there, and checks the
/// size of every pack. --read-data also reads all packs, or a random part of them, and verifies every blob in
/// them. Changes nothing.
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
    /// Read all packs, or a random percentage of them
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "100%", value_parser = percent)]
    read_data: Option<f64>,
}

/// What to do about damage.
const WAY_OUT: &str = "if there is no copy of the repository to restore from, save what is left of it with \
    \"restic repair index\", then \"restic repair packs\" and the names of damaged packs, then \"restic \
    repair snapshots\"";

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The repository cannot be opened or reached. Damage is printed.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let place = ConfiguredRepository::new(&self.repository, session)?;
        let repository = place.open()?;
        // As restic does: files that come or go meanwhile would look like damage.
        let lock = place.lock_unless(&repository, LockKind::Exclusive, self.lock)?;
        let read_data = match self.read_data {
            None => ReadData::Nothing,
            Some(percent) if percent >= 100.0 => ReadData::All,
            Some(percent) => ReadData::Percent(percent),
        };
        let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
            .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
        progress.name("checking");
        let result = restic::check(&repository, read_data, &progress);
        progress.finish();
        lock.release()?;
        let report = match result {
            Err(restic::Error::Interrupted) => return Ok(Outcome::Interrupted),
            other => other?,
        };
        let mut output = session.output();
        for fault in &report.faults {
            output.line(&one_line(&fault.to_string()))?;
        }
        for hint in &report.hints {
            output::complain(remedy::repository_sentence(&hint.what, hint.remedy));
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
