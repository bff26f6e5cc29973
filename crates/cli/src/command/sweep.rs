//! `pneu sweep`: removes messages from the index whose last file has been gone for long and that no archive
//! holds.

use crate::amount::count;
use crate::archive::repository;
use crate::exit::Outcome;
use crate::output;
use crate::progress::Progress;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::Args;
use jiff::Timestamp;
use pneu::{Absent, Error, Swept};
use restic::Repository;
use terminal::command_line::Run;

/// How long an hour is in seconds.
const HOUR: i64 = 3600;
/// How long a day is in seconds.
const DAY: i64 = 24 * HOUR;

/// Remove long-deleted messages from the index
///
/// A message whose last file is gone is no longer found, but its data stays in the index. If the message
/// comes back, from a backup or in another folder, it need not be read again. This command removes the data
/// of messages that have been gone for a long time. Their tags are kept.
///
/// If the environment or the configuration names an archive, messages that it still holds stay, and "pneu
/// find --archived" finds them. If the archive cannot be read, or if the clock is wrong, nothing is removed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu sweep
  pneu sweep --older-than 1y
  pneu sweep --dry-run --older-than 0d               everything that is gone")]
pub(crate) struct Arguments {
    /// Remove messages gone for at least this long: a number and h, d, w, m (30 days) or y (365 days)
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = age)]
    older_than: i64,
    /// List what would be removed: date, sender, subject
    #[arg(long)]
    dry_run: bool,
    /// Do not check the archive: also remove messages that only the archive still holds
    #[arg(long)]
    no_archive: bool,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no index, it is damaged or cannot be written; Ctrl-C.
    fn run(&self, session: &Session) -> Result<Outcome> {
        // Opened first to report roots that are not indexed.
        session.view()?;
        let repository = if self.no_archive { None } else { named(session)? };
        let archive = repository.as_ref();
        if self.dry_run { list(self, archive, session) } else { sweep(self, archive, session) }
    }
}

/// Opens the repository, if one is named. If it cannot be read, it may hold every message, so nothing is
/// removed.
///
/// # Errors
/// It cannot be opened, reached or read.
pub(super) fn named(session: &Session) -> Result<Option<Repository>> {
    let opened = repository::open_if_named(session).and_then(|opened| {
        if let Some(repository) = &opened {
            repository.index()?;
        }
        Ok(opened)
    });
    opened.inspect_err(|_| {
        output::complain(
            "nothing was removed, because the archive could not be read; --no-archive removes without \
             asking it",
        );
    })
}

fn list(arguments: &Arguments, archive: Option<&Repository>, session: &Session) -> Result<Outcome> {
    let mut output = session.output();
    for absent in session.host()?.sweepable(arguments.older_than, archive)? {
        output.line(&one_line(&line(&absent)))?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

fn sweep(arguments: &Arguments, archive: Option<&Repository>, session: &Session) -> Result<Outcome> {
    let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
        .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
    let result = session.host()?.sweep(arguments.older_than, archive, &progress);
    progress.finish();
    let swept = match result {
        Err(Error::Cancelled) => {
            output::complain("interrupted; run \"pneu sweep\" again for the rest");
            return Ok(Outcome::Interrupted);
        }
        other => other?,
    };
    Ok(session.conclude(&summary(swept), Outcome::Done))
}

fn summary(Swept { forgotten, held, dated }: Swept) -> String {
    let mut line = format!("{} forgotten", count(forgotten, "message"));
    if held > 0 {
        line += &format!("; {held} kept, still in the archive");
    }
    if dated > 0 {
        line += &format!("; {dated} count as gone since now, because the clock was wrong when they went");
    }
    line
}

fn line(absent: &Absent) -> String {
    let since = Timestamp::from_second(absent.since_seconds);
    let day = since.map_or("?".to_owned(), |since| since.strftime("%Y-%m-%d").to_string());
    format!("{day}  {}  {}", absent.from, absent.subject)
}

/// Parses an age, and returns it in seconds.
fn age(text: &str) -> Result<i64, String> {
    let unit = match text.bytes().last() {
        Some(b'h') => HOUR,
        Some(b'd') => DAY,
        Some(b'w') => 7 * DAY,
        Some(b'm') => 30 * DAY,
        Some(b'y') => 365 * DAY,
        _ => return Err("write a number and h, d, w, m or y: 30d".to_owned()),
    };
    let digits = text.get(..text.len() - 1).unwrap_or_default();
    let number =
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok()).flatten();
    number.and_then(|number| number.checked_mul(unit)).ok_or_else(|| format!("\"{text}\" is not a valid age"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit() {
        assert_eq!(age("30d"), Ok(30 * DAY));
        assert_eq!(
            [age("0h"), age("2w"), age("1m"), age("1y")],
            [Ok(0), Ok(14 * DAY), Ok(30 * DAY), Ok(365 * DAY)]
        );
        for mistake in ["", "d", "30", "30x", "-1d", "+1d", "1.5d", "ä", "99999999999999999y"] {
            assert!(age(mistake).is_err(), "{mistake}");
        }
    }

    #[test]
    fn a_line_says_since_when() {
        let absent = Absent {
            sha256: [0; 32],
            from: "Ana".into(),
            subject: "Hello".into(),
            since_seconds: 1_900_000_000,
        };
        assert_eq!(line(&absent), "2030-03-17  Ana  Hello");
    }
}
