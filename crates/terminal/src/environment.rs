//! Reads the surroundings of any program: arguments, the clock, the time zone, the terminal. A program that
//! reads more has a file of its own for that.
//!
//! Returns values, and does not know what they are used for.

use crate::{complaint, zone};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, IsTerminal, stderr, stdin, stdout};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The terminal of a program, and the settings for its output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Whether the user wants no colours (`NO_COLOR`), or the terminal has none.
    pub no_color: bool,
    /// Whether text is UTF-8, by the locale (`LC_ALL`, or else `LC_CTYPE`, or else `LANG`).
    pub is_utf8: bool,
    /// Columns of the terminal on standard output; `None` if that is not a terminal.
    pub columns: Option<usize>,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// Whether standard input is a terminal.
    pub stdin_is_terminal: bool,
    /// The program that shows the user long output of this program (`PNEU_PAGER`); empty for none.
    pub own_pager: Option<String>,
    /// The program that shows the user long output of any program (`PAGER`); empty for none.
    pub pager: Option<String>,
    /// Whether the user has options for less (`LESS`).
    pub has_less_options: bool,
    /// Whether the user says which characters less shows (`LESSCHARSET`).
    pub has_less_charset: bool,
    /// Whether the user has options for lv (`LV`).
    pub has_lv_options: bool,
}

/// Columns of a terminal with an unknown width.
const COLUMNS_DEFAULT: usize = 80;

/// Returns the columns of the terminal on standard error.
pub(crate) fn stderr_columns() -> usize {
    columns_of(terminal_size::terminal_size_of(stderr()))
}

fn columns_of(size: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    size.map_or(COLUMNS_DEFAULT, |(width, _)| usize::from(width.0)).max(1)
}

/// Returns the surroundings of the process.
pub fn surroundings() -> Surroundings {
    let columns = stdout().is_terminal().then(|| columns_of(terminal_size::terminal_size_of(stdout())));
    Surroundings {
        columns,
        stderr_is_terminal: stderr().is_terminal(),
        stdin_is_terminal: stdin().is_terminal(),
        ..from_variables(|name| std::env::var_os(name))
    }
}

fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Surroundings {
    let text = |name| variable(name).and_then(|value| value.into_string().ok());
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    Surroundings {
        is_utf8: is_utf8(text),
        own_pager: text("PNEU_PAGER"),
        pager: text("PAGER"),
        has_less_options: variable("LESS").is_some(),
        has_less_charset: variable("LESSCHARSET").is_some(),
        has_lv_options: variable("LV").is_some(),
        no_color: is_set("NO_COLOR") || variable("TERM").is_some_and(|term| term == "dumb"),
        ..Surroundings::default()
    }
}

/// Returns whether the locale's character set is UTF-8: `de_DE.UTF-8`, `C.utf8`.
fn is_utf8(text: impl Fn(&'static str) -> Option<String>) -> bool {
    let locales = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(text);
    let locale = locales.into_iter().find(|locale| !locale.is_empty()).unwrap_or_default();
    let charset = locale.split('@').next().and_then(|locale| locale.split_once('.'));
    charset.is_some_and(|(_, charset)| charset.replace('-', "").eq_ignore_ascii_case("utf8"))
}

/// Returns whether a signal was ignored when the process started, or is now.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    u32::try_from(signal - 1).ok().and_then(|place| mask.checked_shr(place)).is_some_and(|mask| mask & 1 == 1)
}

/// Returns the process's arguments, the program's name first.
pub fn arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os()
}

/// Returns the directory that relative paths start from.
///
/// # Errors
/// It is gone.
pub fn current_directory() -> io::Result<PathBuf> {
    std::env::current_dir()
}

/// Returns the time in nanoseconds since 1970.
pub fn clock_ns() -> i64 {
    ns_since_1970(SystemTime::now())
}

/// Returns a time in nanoseconds since 1970; before 1677 and after 2262 the nearest one that fits.
fn ns_since_1970(time: SystemTime) -> i64 {
    let ns = |distance: Duration| i64::try_from(distance.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => ns(since),
        Err(before) => -ns(before.duration()),
    }
}

/// Returns a time, or the nearest one from the year -9999 to 9999.
fn timestamp(time: SystemTime) -> Timestamp {
    let nearest = if time < UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::try_from(time).unwrap_or(nearest)
}

/// Returns the time, in the time zone of the user. If no zone can be used, reports that once.
pub fn now() -> Zoned {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let zone = ZONE.get_or_init(|| {
        zone::of(std::env::var_os("TZ").as_deref()).unwrap_or_else(|what| {
            complaint::complain(what);
            TimeZone::UTC
        })
    });
    timestamp(SystemTime::now()).to_zoned(zone.clone())
}

/// Returns a random number.
pub fn seed() -> u64 {
    RandomState::new().hash_one(clock_ns())
}

/// Returns how many threads may work.
pub fn threads() -> work::Threads {
    work::Threads::All
}

/// Returns whether every wait for locks and servers ends at once, for tests in which they fail
/// (`PNEU_NO_WAITING`).
#[cfg(feature = "testing")]
pub fn is_waiting_left_out() -> bool {
    std::env::var_os("PNEU_NO_WAITING").is_some_and(|value| !value.is_empty())
}

/// Returns false, so that locks and servers are waited for: only programs under test may skip that.
#[cfg(not(feature = "testing"))]
pub const fn is_waiting_left_out() -> bool {
    false
}

/// A stopwatch.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts it.
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Returns the time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)]) -> Surroundings {
        from_variables(|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_locale_says_whether_text_is_utf8() {
        for (variables, expected) in [
            (&[("LANG", "de_DE.UTF-8")][..], true),
            (&[("LANG", "C.utf8")], true),
            (&[("LANG", "de_DE.UTF-8@euro")], true),
            (&[("LC_CTYPE", "C"), ("LANG", "en_GB.UTF-8")], false),
            (&[("LC_ALL", ""), ("LC_CTYPE", "C.UTF-8"), ("LANG", "C")], true),
            (&[("LC_ALL", "POSIX"), ("LC_CTYPE", "C.UTF-8")], false),
            (&[("LANG", "de_DE.ISO-8859-1")], false),
            (&[], false),
        ] {
            assert_eq!(from(variables).is_utf8, expected, "{variables:?}");
        }
    }

    #[test]
    fn colours_can_be_refused() {
        assert!(from(&[("NO_COLOR", "1")]).no_color);
        assert!(from(&[("TERM", "dumb")]).no_color);
        assert!(!from(&[("NO_COLOR", ""), ("TERM", "xterm")]).no_color);
    }

    #[test]
    fn clocks_of_all_years_are_read() {
        let at = |seconds: i64| {
            let distance = Duration::from_secs(seconds.unsigned_abs());
            if seconds < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance }
        };
        for (seconds, ns, shown) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (-1, -1_000_000_000, "1969-12-31T23:59:59Z"),
            (9_223_372_037, i64::MAX, "2262-04-11T23:47:17Z"),
            (-9_223_372_037, -i64::MAX, "1677-09-21T00:12:43Z"),
            (253_402_300_800, i64::MAX, "9999-12-30T22:00:00.999999999Z"),
            (i64::MAX, i64::MAX, "9999-12-30T22:00:00.999999999Z"),
            (-400_000_000_000, -i64::MAX, "-009999-01-02T01:59:59Z"),
        ] {
            assert_eq!(
                (ns_since_1970(at(seconds)), timestamp(at(seconds)).to_string()),
                (ns, shown.to_owned())
            );
        }
    }
}
