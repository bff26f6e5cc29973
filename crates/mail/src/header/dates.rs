//! Parses dates, and chooses the date that a message is sorted by.
//!
//! Input: raw values of Date and Received, and the current time, so that the choice can be repeated. Output:
//! seconds since 1970. Does not depend on files. Knows only the time zones that mail names.
//!
//! mail-parser's date parser is not used, because it refuses forms that are often sent: no zone, months in
//! full, `5-Jan-2004`, the order of asctime, months in digits.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::decode::charset::guess;
use crate::header::quoted::without_comments;
use crate::problem::{Problem, Problems};

/// The source of a message's date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateSource {
    /// Its Date field.
    Date,
    /// The newest of its Received fields, because the Date was missing or implausible.
    Received,
}

/// How far in the future a date may be: a year.
const AHEAD_SECONDS_MAX: i64 = 366 * 86_400;

/// Chooses the date of a message from its Date and Received fields; `None` if neither is usable.
pub(crate) fn choose<'a>(
    date: Option<&[u8]>,
    received: impl Iterator<Item = &'a [u8]>,
    now_seconds: i64,
    problems: &mut Problems,
) -> Option<(i64, DateSource)> {
    let newest = now_seconds.saturating_add(AHEAD_SECONDS_MAX);
    match date.filter(|value| !value.is_empty()) {
        None => problems.add(Problem::DateMissing),
        Some(value) => match parse_date(value) {
            None => problems.add(Problem::DateUnreadable),
            Some(seconds) if seconds < 0 => problems.add(Problem::DateTooOld),
            Some(seconds) if seconds > newest => problems.add(Problem::DateInFuture),
            Some(seconds) => return Some((seconds, DateSource::Date)),
        },
    }
    let received = received.filter_map(received_date).filter(|seconds| (0..=newest).contains(seconds)).max();
    received.map(|seconds| (seconds, DateSource::Received))
}

/// Returns the date of a Received field, which follows its last semicolon.
fn received_date(value: &[u8]) -> Option<i64> {
    let start = memchr::memrchr(b';', value)?;
    parse_date(value.get(start.saturating_add(1)..)?)
}

/// The fields of a date found so far.
#[derive(Default)]
struct DateFields {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    time_seconds: Option<i64>,
    zone_seconds: Option<i64>,
}

/// Parses a date in the form of RFC 5322, its predecessors, asctime or ISO 8601. Without a zone it is UTC.
pub(crate) fn parse_date(value: &[u8]) -> Option<i64> {
    parse_zoned_date(value).map(|(seconds, _)| seconds)
}

/// Returns the same date, and how many seconds its zone is ahead of UTC.
pub(crate) fn parse_zoned_date(value: &[u8]) -> Option<(i64, i64)> {
    /// Longer than any date with its comments.
    const TOKEN_COUNT_MAX: usize = 24;
    let (text, _) = guess(value, None);
    // Usually the name of the zone.
    let text = without_comments(&text);
    let mut found = DateFields::default();
    let is_space =
        |character: char| character.is_ascii_whitespace() || matches!(character, ',' | '\0' | '"' | '\'');
    for token in text.split(is_space).filter(|token| !token.is_empty()).take(TOKEN_COUNT_MAX) {
        found.token(token);
    }
    Some((found.seconds()?, found.zone_seconds.unwrap_or_default()))
}

impl DateFields {
    fn token(&mut self, token: &str) {
        if token.contains(':') {
            self.time(token);
        } else if token.starts_with(['+', '-']) {
            self.zone(token);
        } else if let Some(numbers) = three_numbers(token) {
            self.date_in_digits(numbers, token.contains('/'));
        } else if token.contains(['-', '/']) {
            // `5-Jan-2004`, `2004-01-05`.
            token.split(['-', '/']).filter(|piece| !piece.is_empty()).for_each(|piece| self.token(piece));
        } else if token.starts_with(|character: char| character.is_ascii_digit()) {
            self.number(token);
        } else {
            self.name(token);
        }
    }

    /// `29-04-2017`, `29.04.17`, `4/29/2017`. If both numbers may be a month, the day comes first; with
    /// slashes the month does, since mostly Americans write these.
    fn date_in_digits(&mut self, [first, second, year]: [i64; 3], has_slashes: bool) {
        let is_month_first = second > 12 || (has_slashes && first <= 12);
        let (day, month) = if is_month_first { (second, first) } else { (first, second) };
        (self.day, self.month, self.year) = (Some(day), Some(month), Some(whole_year(year)));
    }

    /// A day, a month in digits or a year, decided by their order.
    fn number(&mut self, token: &str) {
        let digits = token.trim_end_matches(|character: char| !character.is_ascii_digit());
        let Ok(number) = digits.parse::<u16>().map(i64::from) else { return };
        if digits.len() == 4 {
            self.year = self.year.or(Some(number));
        } else if self.year.is_some() && self.month.is_none() {
            self.month = Some(number);
        } else if self.day.is_none() {
            self.day = Some(number);
        } else if self.year.is_none() {
            self.year = Some(whole_year(number));
        }
    }

    /// A month, a zone, or a day of the week, which is ignored.
    fn name(&mut self, token: &str) {
        const MONTHS: [&str; 12] =
            ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
        let name = token.trim_end_matches('.').to_ascii_lowercase();
        let month =
            MONTHS.iter().position(|month| name.starts_with(month)).and_then(|at| i64::try_from(at).ok());
        if let (Some(month), None) = (month, self.month) {
            self.month = Some(month.saturating_add(1));
        } else if self.time_seconds.is_some() {
            match name.as_str() {
                "pm" => self.shift_clock(12),
                "am" => self.shift_clock(0),
                _ => self.named_zone(&name),
            }
        }
    }

    /// Converts a time on a twelve-hour clock.
    fn shift_clock(&mut self, hours: i64) {
        const HALF_DAY_SECONDS: i64 = 43_200;
        self.time_seconds = self.time_seconds.map(|seconds| {
            let clock = if seconds < HALF_DAY_SECONDS.saturating_add(3_600) {
                seconds.rem_euclid(HALF_DAY_SECONDS)
            } else {
                seconds
            };
            if clock < HALF_DAY_SECONDS { clock.saturating_add(hours.saturating_mul(3_600)) } else { clock }
        });
    }

    /// `10:20`, `10:20:30`, `10:20:30.5`, with a zone or an ISO date attached: `2004-01-05T10:20:30+01:00`.
    fn time(&mut self, token: &str) {
        if let Some((date, time)) = token.split_once('T') {
            self.token(date);
            return self.time(time);
        }
        if self.time_seconds.is_some() {
            return;
        }
        let end = token.find(|character: char| !character.is_ascii_digit() && !":.".contains(character));
        let (clock, zone) = token.split_at_checked(end.unwrap_or(token.len())).unwrap_or((token, ""));
        let clock = clock.split('.').next().unwrap_or(clock);
        let mut seconds = 0_i64;
        for (piece, (unit, limit)) in clock.split(':').zip([(3_600, 24), (60, 60), (1, 61)]) {
            let Ok(number) = piece.parse::<u8>().map(i64::from) else { return };
            if number >= limit {
                return;
            }
            seconds = seconds.saturating_add(number.saturating_mul(unit));
        }
        self.time_seconds = Some(seconds);
        if zone.starts_with(['+', '-']) {
            self.zone(zone);
        } else if !zone.is_empty() {
            self.name(zone);
        }
    }

    /// `+0100`, `-05`, `+01:00`. Impossible zones are ignored.
    fn zone(&mut self, token: &str) {
        if self.time_seconds.is_none() || self.zone_seconds.is_some() {
            return;
        }
        let digits: String = token.chars().filter(char::is_ascii_digit).collect();
        let Ok(number) = digits.parse::<u16>().map(i64::from) else { return };
        let (hours, minutes) =
            if digits.len() <= 2 { (number, 0) } else { (number.div_euclid(100), number.rem_euclid(100)) };
        if hours <= 24 && minutes < 60 {
            let seconds = hours.saturating_mul(3_600).saturating_add(minutes.saturating_mul(60));
            self.zone_seconds = Some(if token.starts_with('-') { seconds.saturating_neg() } else { seconds });
        }
    }

    fn named_zone(&mut self, name: &str) {
        let hours = match name {
            "ut" | "utc" | "gmt" | "z" | "wet" => 0,
            "bst" | "cet" | "met" | "mez" | "west" => 1,
            "cest" | "mest" | "mesz" | "eet" | "sast" => 2,
            "eest" | "msk" => 3,
            "hkt" | "sgt" | "awst" => 8,
            "jst" | "kst" => 9,
            "aest" => 10,
            "aedt" => 11,
            "nzst" => 12,
            "nzdt" => 13,
            "ast" | "edt" => -4,
            "est" | "cdt" => -5,
            "cst" | "mdt" => -6,
            "mst" | "pdt" => -7,
            "pst" | "akdt" => -8,
            "akst" => -9,
            "hst" => -10,
            _ => return,
        };
        self.zone_seconds = self.zone_seconds.or(Some(3_600_i64.saturating_mul(hours)));
    }

    fn seconds(&self) -> Option<i64> {
        let days = days_since_1970(self.year?, self.month?, self.day?)?;
        let local = days.saturating_mul(86_400).saturating_add(self.time_seconds.unwrap_or_default());
        Some(local.saturating_sub(self.zone_seconds.unwrap_or_default()))
    }
}

/// Returns the year that two or three digits mean (RFC 5322, 4.3).
fn whole_year(year: i64) -> i64 {
    year.saturating_add(match year {
        0..50 => 2_000,
        50..1_000 => 1_900,
        _ => 0,
    })
}

/// Returns the numbers of a date with the year last: two of one or two digits, and one of two or four.
fn three_numbers(token: &str) -> Option<[i64; 3]> {
    let mut pieces = token.split(['-', '/', '.']);
    let mut number = |lengths: &[usize]| {
        let piece = pieces.next().filter(|piece| lengths.contains(&piece.len()))?;
        if piece.bytes().all(|byte| byte.is_ascii_digit()) { piece.parse().ok() } else { None }
    };
    let numbers = [number(&[1, 2])?, number(&[1, 2])?, number(&[2, 4])?];
    pieces.next().is_none().then_some(numbers)
}

/// Returns the days from 1970-01-01 to a day of the Gregorian calendar, or `None` if there is no such day.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    let length = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years start in March, so that the leap day comes last; see Hinnant, "chrono-compatible low-level date
    // algorithms". Years have four digits, so nothing here overflows.
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let month = month.checked_add(9)?.rem_euclid(12);
    let day_of_year =
        month.checked_mul(153)?.checked_add(2)?.div_euclid(5).checked_add(day)?.checked_sub(1)?;
    let leap_days =
        year.div_euclid(4).checked_sub(year.div_euclid(100))?.checked_add(year.div_euclid(400))?;
    year.checked_mul(365)?.checked_add(leap_days)?.checked_add(day_of_year)?.checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_every_form() {
        let seconds = 1_073_296_800; // 2004-01-05T10:00:00Z
        for value in [
            "Mon, 5 Jan 2004 10:00:00 +0000",
            "Mon, 5 Jan 2004 11:00:00 +0100 (CET)",
            "Mon, 05 Jan 2004 05:00:00 -0500 (EST)",
            "5 Jan 2004 10:00:00 GMT",
            "5 Jan 2004 10:00",
            "5 Jan 04 05:00 EST",
            "Monday, 5 January 2004 10:00:00 UT",
            "Mon Jan  5 10:00:00 2004",
            "Mon Jan  5 05:00:00 EST 2004",
            "Mon, 5-Jan-2004 10:00:00 -0000",
            "2004-01-05T11:00:00+01:00",
            "2004-01-05 10:00:00.123 Z",
            "Mon,5 Jan 2004 10:00:00+0000",
            "Mon, 5 Jan\r\n 2004 10:00:00 (a (nested) comment) +0000",
            "5 Jan 2004 10:00:00 AM",
            "05-01-2004 10:00",
            "5.1.2004 10:00",
            "5-1-04 10:00:00 +0000",
            "1/5/2004 10:00:00 AM",
            "Mon, 01/05/04 05:00 EST",
            "Mon, 5 Jan 2004 10:00:00 +9999",
        ] {
            assert_eq!(parse_date(value.as_bytes()), Some(seconds), "{value}");
        }
        assert_eq!(parse_date(b"5 Jan 2004 10:00:00 PM"), Some(seconds + 43_200));
        assert_eq!(parse_date(b"5 Jan 2004 12:30:00 am"), Some(seconds - 34_200));
        for value in [
            "29-04-2017 23:34",
            "4/29/2017 23:34",
            "29/4/2017 23:34",
            "04-29-17 23:34 UTC",
            "29.04.2017 23:34",
        ] {
            assert_eq!(parse_date(value.as_bytes()), Some(1_493_508_840), "{value}");
        }
        assert_eq!(parse_date(b"31 Dec 1969 23:59:59 +0000"), Some(-1));
        assert_eq!(parse_date(b"29 Feb 2000 00:00:60 +0000"), Some(951_782_460));
        assert_eq!(parse_date(b"5 Jan 99 10:00 +0530"), Some(915_510_600));
        assert_eq!(parse_date(b"5 Jan 104 10:00"), Some(seconds));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for value in [
            "",
            "soon",
            "31 Feb 2004 10:00",
            "5 2004",
            "Mon, 32 Jan 2004",
            "Jan 2004",
            "0 Jan 2004",
            "99999999999",
            "13-13-2017",
            "31/2/2017",
            "1.2.3",
            "192.168.1.20",
        ] {
            assert_eq!(parse_date(value.as_bytes()), None, "{value}");
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut expected = days_since_1970(1, 1, 1).unwrap_or_default();
        assert_eq!(days_since_1970(1970, 1, 1), Some(0));
        for year in 1..=9_999 {
            for (month, day) in (1..=12).flat_map(|month| (1..=31).map(move |day| (month, day))) {
                if let Some(days) = days_since_1970(year, month, day) {
                    assert_eq!(days, expected);
                    expected += 1;
                }
            }
        }
    }

    fn chosen(date: Option<&str>, received: &[&str]) -> (Option<(i64, DateSource)>, Vec<Problem>) {
        let mut problems = Problems::default();
        let received = received.iter().map(|value| value.as_bytes());
        (choose(date.map(str::as_bytes), received, 1_700_000_000, &mut problems), problems.into_list())
    }

    #[test]
    fn a_date_that_cannot_be_believed_is_replaced() {
        let received = [
            "from a by b; Mon, 5 Jan 2004 10:00:00 +0000",
            "from c; 5 Jan 2003 10:00 GMT",
            "from d; 1 Jan 2999",
            "x",
        ];
        let newest = 1_073_296_800;
        assert_eq!(
            chosen(Some("5 Jan 2001 10:00"), &received),
            (Some((978_688_800, DateSource::Date)), vec![])
        );
        for (date, problem) in [
            (None, Problem::DateMissing),
            (Some(""), Problem::DateMissing),
            (Some("soon"), Problem::DateUnreadable),
            (Some("31 Dec 1969 23:59:59"), Problem::DateTooOld),
            (Some("1 Jan 2040"), Problem::DateInFuture),
        ] {
            let by_received = Some((newest, DateSource::Received));
            assert_eq!(chosen(date, &received), (by_received, vec![problem.clone()]));
            assert_eq!(chosen(date, &["x", "y; z"]), (None, vec![problem]));
        }
    }
}
