//! Times as restic writes them: RFC 3339 with nanoseconds, in the writer's time zone.
//!
//! Converts between text and nanoseconds since 1970. Knows no clock and no rules of time zones.
//!
//! The text is that of Go's `time.Time.MarshalJSON`: `2026-11-21T10:02:03.0456+01:00`, without zeros at the
//! end of the fraction, `Z` for UTC, years from 0 to 9999. As in restic, a year outside that range becomes
//! the nearest one in it.

use crate::encoding::decimal::{push_decimal, put_decimal};
use std::fmt::{Display, Formatter};

/// A point in time with the writer's offset from UTC. Ordered by time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    seconds: i64,
    /// Below a second's worth.
    nanoseconds: u32,
    offset_seconds: i32,
}

const NS_A_SECOND: u32 = 1_000_000_000;
const SECONDS_A_DAY: i64 = 86_400;
/// The last zone that can be written, a minute before a day.
const OFFSET_SECONDS_MAX: i32 = 86_340;
const YEAR_MAX: i64 = 9999;
/// From the 1st of March of year 0 to 1970.
const DAYS_TO_1970: i64 = 719_468;
const DAYS_IN_400_YEARS: i64 = 146_097;

impl Time {
    /// Returns a time from seconds since 1970 and nanoseconds. Nanoseconds beyond a second are added to the
    /// seconds.
    pub fn new(seconds: i64, nanoseconds: u32, offset_seconds: i32) -> Time {
        let more = i64::from(nanoseconds / NS_A_SECOND);
        let nanoseconds = nanoseconds % NS_A_SECOND;
        let offset_seconds = offset_seconds.clamp(-OFFSET_SECONDS_MAX, OFFSET_SECONDS_MAX);
        Time { seconds: seconds.saturating_add(more), nanoseconds, offset_seconds }
    }

    /// Returns a time in nanoseconds since 1970, in a zone that many seconds east of UTC.
    #[expect(clippy::cast_possible_truncation, reason = "a remainder is from 0 to a second")]
    pub fn from_ns(ns: i64, offset_seconds: i32) -> Time {
        let second = i64::from(NS_A_SECOND);
        Time::new(ns.div_euclid(second), ns.rem_euclid(second) as u32, offset_seconds)
    }

    /// Returns nanoseconds since 1970. Before 1677 and after 2262, returns the nearest representable time.
    pub fn ns(&self) -> i64 {
        let ns = i128::from(self.seconds) * i128::from(NS_A_SECOND) + i128::from(self.nanoseconds);
        i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
    }

    /// Returns whole seconds since 1970.
    pub fn seconds(&self) -> i64 {
        self.seconds
    }

    /// Returns the nanoseconds after the whole seconds.
    pub fn nanoseconds(&self) -> u32 {
        self.nanoseconds
    }

    /// Returns how many seconds the zone is east of UTC.
    pub fn offset_seconds(&self) -> i32 {
        self.offset_seconds
    }

    /// Reads what [`Time::write`] writes; `None` if it is something else.
    pub fn parse(text: &[u8]) -> Option<Time> {
        let (date, rest) = text.split_first_chunk::<19>()?;
        let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1, b'T', clock @ ..] = date else { return None };
        let [h0, h1, b':', n0, n1, b':', s0, s1] = clock else { return None };
        let year = number(&[*y0, *y1, *y2, *y3], YEAR_MAX)?;
        let month = number(&[*m0, *m1], 12).filter(|&month| month > 0)?;
        let day = number(&[*d0, *d1], days_in(year, month)).filter(|&day| day > 0)?;
        let seconds =
            number(&[*h0, *h1], 23)? * 3600 + number(&[*n0, *n1], 59)? * 60 + number(&[*s0, *s1], 59)?;
        let (nanoseconds, zone) = parse_fraction(rest)?;
        let offset_seconds = parse_zone(zone)?;
        let local = days_since_1970(year, month, day) * SECONDS_A_DAY + seconds;
        Some(Time { seconds: local - i64::from(offset_seconds), nanoseconds, offset_seconds })
    }

    /// Appends the time as restic writes it.
    pub fn write(&self, out: &mut Vec<u8>) {
        let ((year, month, day), clock) = self.local();
        let (year, month, day) = in_range(year, month, day);
        let mut text = *b"0000-00-00T00:00:00.000000000";
        let parts = [year, month, day, clock / 3600, clock / 60 % 60, clock % 60, self.nanoseconds.into()];
        for (place, part) in [0..4, 5..7, 8..10, 11..13, 14..16, 17..19, 20..29].into_iter().zip(parts) {
            put_decimal(&mut text[place], part.unsigned_abs());
        }
        let shown = match self.nanoseconds {
            0 => &text[..19],
            _ => &text[..text.iter().rposition(|digit| *digit != b'0').map_or(19, |last| last + 1)],
        };
        out.extend_from_slice(shown);
        self.push_zone(out);
    }

    /// Returns year, month and day, and the second of the day, in the time's own zone.
    fn local(&self) -> ((i64, i64, i64), i64) {
        let local = self.seconds.saturating_add(i64::from(self.offset_seconds));
        (date(local.div_euclid(SECONDS_A_DAY)), local.rem_euclid(SECONDS_A_DAY))
    }

    fn push_zone(&self, out: &mut Vec<u8>) {
        if self.offset_seconds == 0 {
            return out.push(b'Z');
        }
        let minutes = self.offset_seconds / 60;
        out.push(if minutes < 0 { b'-' } else { b'+' });
        push_decimal(out, u64::from(minutes.unsigned_abs() / 60), 2);
        out.push(b':');
        push_decimal(out, u64::from(minutes.unsigned_abs() % 60), 2);
    }
}

/// For people: day, minute and zone.
impl Display for Time {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let (date, clock) = self.local();
        let mut text = Vec::new();
        push_date(&mut text, date);
        text.push(b' ');
        push_decimal(&mut text, (clock / 3600).unsigned_abs(), 2);
        text.push(b':');
        push_decimal(&mut text, (clock / 60 % 60).unsigned_abs(), 2);
        text.push(b' ');
        match self.offset_seconds {
            0 => text.extend_from_slice(b"UTC"),
            _ => self.push_zone(&mut text),
        }
        formatter.write_str(&String::from_utf8_lossy(&text))
    }
}

fn push_date(out: &mut Vec<u8>, (year, month, day): (i64, i64, i64)) {
    let (year, month, day) = in_range(year, month, day);
    push_decimal(out, year.unsigned_abs(), 4);
    out.push(b'-');
    push_decimal(out, month.unsigned_abs(), 2);
    out.push(b'-');
    push_decimal(out, day.unsigned_abs(), 2);
}

/// Returns the date with the nearest year that can be written.
fn in_range(year: i64, month: i64, day: i64) -> (i64, i64, i64) {
    let near = year.clamp(0, YEAR_MAX);
    let is_lost = day > days_in(near, month);
    let (month, day) = if is_lost { (month + 1, 1) } else { (month, day) };
    (near, month, day)
}

/// Returns the number that all these digits make, if it is at most `limit`.
fn number(digits: &[u8], limit: i64) -> Option<i64> {
    digits
        .iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
        .filter(|&number| number <= limit)
}

/// Reads a fraction of a second if there is one. Ignores digits after the ninth. Also returns the rest.
fn parse_fraction(text: &[u8]) -> Option<(u32, &[u8])> {
    let Some((b'.', rest)) = text.split_first() else { return Some((0, text)) };
    let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, zone) = rest.split_at(end);
    let ninth = digits.iter().copied().chain(std::iter::repeat(b'0')).take(9);
    let nanoseconds = ninth.fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    (!digits.is_empty()).then_some((nanoseconds, zone))
}

/// Reads `Z`, `+01:00` or `-01:00` to the end.
fn parse_zone(text: &[u8]) -> Option<i32> {
    match text {
        b"Z" => Some(0),
        [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] => {
            let seconds = number(&[*h0, *h1], 23)? * 3600 + number(&[*m0, *m1], 59)? * 60;
            i32::try_from(if *sign == b'-' { -seconds } else { seconds }).ok()
        }
        _ => None,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Years begin in March here, so that the day that some have more is their last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_IN_400_YEARS + day_of_era - DAYS_TO_1970
}

/// Returns year, month and day: the inverse of [`days_since_1970`].
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (era, day) = (days.div_euclid(DAYS_IN_400_YEARS), days.rem_euclid(DAYS_IN_400_YEARS));
    let year_of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * month_from_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(time: Time) -> String {
        let mut out = Vec::new();
        time.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    /// Made with Go 1.26: `json.Marshal(time.Time)`.
    #[test]
    fn there_and_back_as_by_go() {
        let cases = [
            ((0, 0, 0), "1970-01-01T00:00:00Z"),
            ((-1, 999_999_999, 0), "1969-12-31T23:59:59.999999999Z"),
            ((1_795_255_320, 123_456_789, 3600), "2026-11-21T11:02:00.123456789+01:00"),
            ((1_795_255_320, 120_000_000, -12_600), "2026-11-21T06:32:00.12-03:30"),
            ((1_795_255_320, 1, 19_800), "2026-11-21T15:32:00.000000001+05:30"),
            ((951_782_399, 0, 0), "2000-02-28T23:59:59Z"),
            ((951_782_400, 500, 86_340), "2000-02-29T23:59:00.0000005+23:59"),
            ((-62_135_596_800, 0, 0), "0001-01-01T00:00:00Z"),
            ((253_402_300_799, 999_999_999, 0), "9999-12-31T23:59:59.999999999Z"),
            ((-62_167_219_200, 0, 0), "0000-01-01T00:00:00Z"),
            ((4_107_542_399, 0, 0), "2100-02-28T23:59:59Z"),
            ((253_402_387_139, 999_999_999, -86_340), "9999-12-31T23:59:59.999999999-23:59"),
        ];
        for ((seconds, nanoseconds, offset), text) in cases {
            let time = Time::new(seconds, nanoseconds, offset);
            assert_eq!((written(time).as_str(), Time::parse(text.as_bytes())), (text, Some(time)));
        }
    }

    /// Made with Go 1.26: `json.Marshal(time.Time)`, after restic's `FixTime` if a year is out of range.
    #[test]
    fn what_cannot_be_said_is_written_as_by_restic() {
        let cases = [
            ((1_709_164_800, 0, 3661), "2024-02-29T01:01:01+01:01"),
            ((1_795_255_320, 100, -1), "2026-11-21T10:01:59.0000001+00:00"),
            ((1_795_255_320, 0, -3599), "2026-11-21T09:02:01-00:59"),
            ((253_402_300_800, 5, 0), "9999-01-01T00:00:00.000000005Z"),
            ((253_407_398_400, 5, 0), "9999-03-01T00:00:00.000000005Z"),
            ((-62_167_219_201, 5, 0), "0000-12-31T23:59:59.000000005Z"),
            ((-62_170_000_000, 5, 0), "0000-11-29T19:33:20.000000005Z"),
            ((1 << 40, 5, 0), "9999-02-20T00:36:16.000000005Z"),
            ((100_000_000_000_000, 5, 0), "9999-11-07T09:46:40.000000005Z"),
            ((-100_000_000_000_000, 5, 0), "0000-02-24T14:13:20.000000005Z"),
        ];
        for ((seconds, nanoseconds, offset), text) in cases {
            assert_eq!(written(Time::new(seconds, nanoseconds, offset)), text);
        }
        for extreme in [Time::new(i64::MAX, u32::MAX, i32::MAX), Time::new(i64::MIN, 0, i32::MIN)] {
            assert!(Time::parse(written(extreme).as_bytes()).is_some(), "{extreme:?}");
        }
    }

    #[test]
    fn other_text_is_no_time() {
        let wrong = "2026-11-21T10:02:00 2026-11-21T10:02:00.Z 2026-02-29T10:02:00Z 2026-11-21t10:02:00Z \
            2026-11-21T10:02:60Z
            2026-11-21T24:02:00Z 2026-11-21T10:60:00Z 2026-11-21T10:02:00+24:00 2026-11-21T10:02:00+01:60 \
            2026-11-21T10:02:00,5Z
            2026-11-21T1:02:00Z 2026-00-21T10:02:00Z 2026-13-21T10:02:00Z 2026-11-00T10:02:00Z \
            2026-11-31T10:02:00Z
            2026-11-21T10:02:00Zx 2026-11-21T10:02:00+0100 10000-01-01T00:00:00Z 2026-11-21T10:02:00.5 \
            2026/11-21T10:02:00Z
            2026-11-21T10:02:00*01:00 +026-11-21T10:02:00Z 2026-11-21T10:02-00Z Z";
        for text in wrong.split_whitespace().chain([""]) {
            assert_eq!(Time::parse(text.as_bytes()), None, "{text}");
        }
        let digits = Time::parse(b"2026-11-21T10:02:00.1234567899Z");
        assert_eq!(digits, Some(Time::new(1_795_255_320, 123_456_789, 0)));
        assert_eq!(Time::parse(b"2026-11-21T10:02:00-00:00"), Some(Time::new(1_795_255_320, 0, 0)));
    }

    #[test]
    fn every_day_of_all_years_follows_the_one_before() {
        let (mut year, mut month, mut day) = (0, 1, 1);
        for days in days_since_1970(0, 1, 1)..=days_since_1970(9999, 12, 31) {
            assert!(date(days) == (year, month, day) && days_since_1970(year, month, day) == days, "{days}");
            (year, month, day) = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                _ if day == days_in(year, month) => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
        assert_eq!([1900, 2000, 2023, 2024].map(|year| days_in(year, 2)), [28, 29, 28, 29]);
    }

    #[test]
    fn nanoseconds_there_and_back_and_no_further() {
        for ns in [0, 1, -1, i64::MAX, i64::MIN, 1_795_255_320_123_456_789, -999_999_999] {
            assert_eq!(Time::from_ns(ns, 60).ns(), ns);
        }
        assert_eq!([i64::MAX, i64::MIN].map(|seconds| Time::new(seconds, 0, 0).ns()), [i64::MAX, i64::MIN]);
        let time = Time::from_ns(-1, 7200);
        assert_eq!((time.seconds(), time.nanoseconds(), time.offset_seconds()), (-1, 999_999_999, 7200));
        assert!(time < Time::new(0, 0, 0) && Time::new(5, 1, 0) < Time::new(5, 2, -60));
    }

    #[test]
    fn people_are_shown_the_minute_in_the_zone_it_was_noted_in() {
        let shown = [0, 3600, -12_600].map(|offset| Time::new(1_795_255_379, 5, offset).to_string());
        assert_eq!(shown, ["2026-11-21 10:02 UTC", "2026-11-21 11:02 +01:00", "2026-11-21 06:32 -03:30"]);
    }
}
