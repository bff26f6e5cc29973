//! The mail as of an earlier time, for `--at`: reads the time, chooses the snapshots, and reports the
//! choice to the user.
//!
//! Takes a day or a time as typed, in the user's time zone. Does not know any command.

use super::repository::{self, LockOptions};
use crate::environment;
use crate::exit::NotFound;
use crate::output;
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Result, anyhow};
use backup::ChosenSnapshot;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use pneu::archive::{Archive, SnapshotsAt};
use pneu::{Root, View};
use terminal::signals;
use work::Silent;

/// A time as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointInTime {
    /// A day: its last snapshot counts.
    Day(Date),
    /// A second of local time.
    Second(DateTime),
}

/// Reads a day, 2025-06-01, or a time, 2025-06-01T14:00.
///
/// # Errors
/// A sentence that says what can be written.
pub(crate) fn parse(text: &str) -> Result<PointInTime, String> {
    let mistake = |_| "write a day, 2025-06-01, or a time of your time zone, 2025-06-01T14:00".to_owned();
    // The reader of days ignores a time after them, and the reader of times takes a day as its first second.
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        text.parse().map(PointInTime::Day).map_err(mistake)
    } else {
        text.parse().map(PointInTime::Second).map_err(mistake)
    }
}

impl PointInTime {
    /// Returns the first second that is later, since 1970.
    fn end_seconds(self, zone: &TimeZone) -> i64 {
        let end = match self {
            PointInTime::Day(day) => day.tomorrow().and_then(|next| next.to_zoned(zone.clone())),
            PointInTime::Second(time) => {
                time.to_zoned(zone.clone()).and_then(|time| time.checked_add(jiff::Span::new().seconds(1)))
            }
        };
        // Nothing is later than the last day that can be written.
        end.map_or(i64::MAX, |end| end.timestamp().as_second())
    }

    /// Returns whether it is later than now; today is not.
    fn is_to_come(self, now: &Zoned) -> bool {
        match self {
            PointInTime::Day(day) => day > now.date(),
            PointInTime::Second(time) => time > now.datetime(),
        }
    }
}

impl std::fmt::Display for PointInTime {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PointInTime::Day(day) => day.fmt(formatter),
            PointInTime::Second(time) => write!(formatter, "{}", time.strftime("%Y-%m-%d %H:%M:%S")),
        }
    }
}

/// Returns the view of the mail as of that time, using each root's latest snapshot up to then. Reports which
/// snapshots those are.
///
/// # Errors
/// No repository is named, or it cannot be opened or read; there is no such snapshot; a signal.
pub(crate) fn view(view: View, at: PointInTime, lock: LockOptions, session: &Session) -> Result<View> {
    let repository = repository::open_named(session)?;
    let lock = repository::lock_to_read(&repository, lock)?;
    let archive = Archive::new(session.host()?.settings(), &repository, &Silent);
    let now = environment::now();
    let snapshots = archive.choose(&view, at.end_seconds(now.time_zone()))?;
    if snapshots.chosen.snapshots.is_empty() {
        return Err(NotFound(nothing(at, &snapshots, &now)).into());
    }
    if !session.is_quiet {
        tell(at, &snapshots, &now);
    }
    let progress = Progress::start(session.stderr_is_terminal, session.is_quiet)
        .map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
    let (view, unknown) = archive.view_at(view, &snapshots, &progress)?;
    progress.finish();
    lock.release()?;
    signals::only_prints();
    if unknown.messages > 0 && !session.is_quiet {
        let (number, are) =
            (unknown.messages, if unknown.messages == 1 { "message is" } else { "messages are" });
        output::complain(format!(
            "of that time, {number} {are} not in the index; run \"pneu index --archived\" to add them"
        ));
    }
    Ok(view)
}

/// Says that no snapshot is old enough.
fn nothing(at: PointInTime, snapshots: &SnapshotsAt, now: &Zoned) -> String {
    match snapshots.first_seconds() {
        Some(first) => {
            let first = shown(first, now.time_zone());
            format!("there is no snapshot from {at} or earlier; the first is from {first}")
        }
        None => "the archive has no snapshot of mail yet; \"pneu archive backup\" makes one".to_owned(),
    }
}

/// Reports which snapshots are used.
fn tell(at: PointInTime, SnapshotsAt { all, chosen, .. }: &SnapshotsAt, now: &Zoned) {
    if at.is_to_come(now) {
        output::complain(format!("{at} is in the future; searching the latest backup"));
    }
    for ChosenSnapshot { snapshot, roots } in &chosen.snapshots {
        let Some((id, snapshot)) = all.get(*snapshot) else { continue };
        let time = shown(snapshot.time.seconds(), now.time_zone());
        // If one snapshot has all roots, they need not be named.
        let whose = if chosen.snapshots.len() == 1 { String::new() } else { format!("{}: ", names(roots)) };
        output::complain(format!("{whose}as of {time}, snapshot {}", id.short()));
    }
    if !chosen.missing.is_empty() {
        output::complain(format!("no snapshot up to that time has {}", names(&chosen.missing)));
    }
}

fn names(roots: &[Root]) -> String {
    roots.iter().map(|root| root.path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn shown(seconds: i64, zone: &TimeZone) -> String {
    let time = Timestamp::from_second(seconds).map(|time| time.to_zoned(zone.clone()));
    time.map_or_else(|_| "?".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_at_local_midnight_and_a_second_with_itself() {
        let end = |text: &str, zone: &str| {
            let zone = TimeZone::posix(zone).unwrap();
            parse(text).map(|at| at.end_seconds(&zone))
        };
        let midnight = 1_748_822_400; // 2025-06-02T00:00:00Z
        assert_eq!(end("2025-06-01", "UTC0"), Ok(midnight));
        assert_eq!(end("2025-06-01", "EST5"), Ok(midnight + 5 * 3600));
        assert_eq!(end("2025-06-01T23:59:59", "UTC0"), Ok(midnight));
        assert_eq!(end("2025-06-01 14:00", "UTC0"), Ok(midnight - 10 * 3600 + 1));
        // A day on which clocks are put forward has 23 hours.
        let summer = |day: &str| end(day, "CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(summer("2025-03-30") - summer("2025-03-29"), 23 * 3600);
        assert_eq!(end("9999-12-31", "UTC0"), Ok(i64::MAX));
    }

    #[test]
    fn today_is_not_to_come() {
        let now = Timestamp::from_second(1_748_822_399).unwrap().to_zoned(TimeZone::UTC);
        let is_to_come = |text| parse(text).unwrap().is_to_come(&now);
        assert_eq!(["2025-06-01", "2025-06-02"].map(is_to_come), [false, true]);
        assert_eq!(["2025-06-01T23:59:59", "2025-06-02T00:00"].map(is_to_come), [false, true]);
    }

    #[test]
    fn mistakes_say_what_can_be_written() {
        for text in
            ["", "2025", "2025-13-01", "2025-02-30", "yesterday", "2025-06-01T25:00", "2025-06-01T12:00Z"]
        {
            let error = parse(text).unwrap_err();
            assert!(error.contains("2025-06-01T14:00"), "{text}: {error}");
        }
    }
}
