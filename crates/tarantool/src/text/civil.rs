//! Days and times of the Gregorian calendar: from seconds since 1970 to text, and back.
//!
//! Knows no time zones by name: offsets are minutes east of UTC.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::number::whole;
use std::io::Write;

const DAY_SECONDS: i64 = 86_400;
/// Seconds beyond which no time is written: about 5.9 million years, the range of Tarantool's times.
pub(super) const SECONDS_MAX: i64 = 185_604_722_870_400;

/// Appends a time as `2024-03-01T12:30:00.5+0300`; UTC ends with `Z`. Zeros at the end of the fraction are
/// left out. Returns whether the time is in range; else nothing is appended.
pub(super) fn put_time(seconds: i64, nanoseconds: u32, offset_minutes: i16, out: &mut Vec<u8>) -> bool {
    if !(-SECONDS_MAX..=SECONDS_MAX).contains(&seconds) || nanoseconds > 999_999_999 {
        return false;
    }
    let local = seconds.saturating_add(i64::from(offset_minutes).saturating_mul(60));
    let (days, second) = (local.div_euclid(DAY_SECONDS), local.rem_euclid(DAY_SECONDS));
    let (year, month, day) = date_of_days(days);
    let (hour, minute) = (second.div_euclid(3600), second.div_euclid(60).rem_euclid(60));
    let second = second.rem_euclid(60);
    let written = write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    written.expect("a vector takes all bytes");
    put_fraction(nanoseconds, out);
    if offset_minutes == 0 {
        out.push(b'Z');
    } else {
        let sign = if offset_minutes < 0 { '-' } else { '+' };
        let minutes = offset_minutes.unsigned_abs();
        let (hours, minutes) = (minutes.div_euclid(60), minutes.rem_euclid(60));
        write!(out, "{sign}{hours:02}{minutes:02}").expect("a vector takes all bytes");
    }
    true
}

/// Returns a time in UTC, with seconds since 1970 to the microsecond, if it is in range.
pub fn time_of_seconds(seconds: f64) -> Option<String> {
    if !seconds.is_finite() || seconds.abs() > SECONDS_MAX as f64 {
        return None;
    }
    let micros: u32 = whole((seconds.rem_euclid(1.0) * 1e6).round())?;
    // A fraction may be rounded up to a second.
    let seconds: i64 = whole::<i64>(seconds.floor())?.saturating_add(i64::from(micros / 1_000_000));
    let mut out = Vec::new();
    let is_put = put_time(seconds, (micros % 1_000_000).saturating_mul(1000), 0, &mut out);
    String::from_utf8(out).ok().filter(|_| is_put)
}

fn put_fraction(nanoseconds: u32, out: &mut Vec<u8>) {
    if nanoseconds != 0 {
        let digits = format!(".{nanoseconds:09}");
        out.extend_from_slice(digits.trim_end_matches('0').as_bytes());
    }
}

/// Returns year, month and day of a number of days since 1970-01-01.
fn date_of_days(days: i64) -> (i64, i64, i64) {
    // Years begin in March here, so that the leap day is the last one; 400 years have 146,097 days.
    let days = days.saturating_add(719_468);
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let leap_days = day / 1460;
    let (centuries, eras) = (day / 36_524, day / 146_096);
    let year = day.saturating_sub(leap_days).saturating_add(centuries).saturating_sub(eras) / 365;
    let past = year.saturating_mul(365).saturating_add(year / 4).saturating_sub(year / 100);
    let day = day.saturating_sub(past);
    let month = day.saturating_mul(5).saturating_add(2) / 153;
    let first = month.saturating_mul(153).saturating_add(2) / 5;
    let day = day.saturating_sub(first).saturating_add(1);
    let month = if month < 10 { month.saturating_add(3) } else { month.saturating_sub(9) };
    let year = era.saturating_mul(400).saturating_add(year);
    (if month <= 2 { year.saturating_add(1) } else { year }, month, day)
}

/// Returns the number of days since 1970-01-01, if there is such a date.
fn days_of_date(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day) && (-9999..=9999).contains(&year);
    if !is_date {
        return None;
    }
    let year_of_march = if month <= 2 { year.saturating_sub(1) } else { year };
    let (era, of_era) = (year_of_march.div_euclid(400), year_of_march.rem_euclid(400));
    let months = month.saturating_add(9) % 12;
    let of_year = months.saturating_mul(153).saturating_add(2) / 5;
    let of_year = of_year.saturating_add(day).saturating_sub(1);
    let of_era = of_era.saturating_mul(365).saturating_add(of_era / 4).saturating_sub(of_era / 100);
    let days = era.saturating_mul(146_097).saturating_add(of_era).saturating_add(of_year);
    let days = days.saturating_sub(719_468);
    // 30 February is no date.
    (date_of_days(days) == (year, month, day)).then_some(days)
}

/// Returns the seconds since 1970 of a time as people write it: `2024-03-01`, `2024-03-01T12:30`,
/// `2024-03-01 12:30:00.5`, with `Z` or an offset such as `+03:00` at its end. Without one it is UTC.
pub fn seconds_of_text(text: &str) -> Option<f64> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, time),
        None => (text, "00:00"),
    };
    let mut parts = date.splitn(3, '-');
    let mut number = |length: usize| parts.next().and_then(|part| digits(part, length));
    let days = days_of_date(number(4)?, number(2)?, number(2)?)?;
    let (time, offset_seconds) = split_offset(time)?;
    let mut parts = time.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let (second, fraction) = match parts.next() {
        None => (0, 0.0),
        Some(text) => {
            let (second, fraction) = text.split_once('.').unwrap_or((text, "0"));
            let is_number = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
            (digits(second, 2)?, format!("0.{fraction}").parse::<f64>().ok().filter(|_| is_number)?)
        }
    };
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let minutes = hour.checked_mul(60)?.checked_add(minute)?;
    let of_day = minutes.checked_mul(60)?.checked_add(second)?.checked_sub(offset_seconds)?;
    let whole = days.checked_mul(DAY_SECONDS)?.checked_add(of_day)?;
    Some(whole as f64 + fraction)
}

/// Returns the seconds since 1970, the nanoseconds and the offset in minutes of a time in one of these forms:
/// nothing is rounded.
pub(crate) fn exact_time_of_text(text: &str) -> Option<(i64, u32, i16)> {
    let (before, after) = text.split_once('.').unwrap_or((text, ""));
    let digits = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
    let (fraction, zone) = after.split_at(digits);
    // Only seconds have a fraction, and a zone comes after it.
    let has_seconds = before.matches(':').count() == 2 && !before.contains('+');
    if text.contains('.') && !((1..=9).contains(&fraction.len()) && has_seconds) {
        return None;
    }
    let plain = format!("{before}{zone}");
    let seconds = whole(seconds_of_text(&plain)?)?;
    let nanoseconds = format!("{fraction:0<9}").parse().ok()?;
    let offset_seconds = match plain.split_once(['T', 't', ' ']) {
        Some((_, time)) => split_offset(time)?.1,
        None => 0,
    };
    Some((seconds, nanoseconds, i16::try_from(offset_seconds.div_euclid(60)).ok()?))
}

/// Splits the offset off the end of a time. Returns it in seconds.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.find(['+', '-']) else { return Some((time, 0)) };
    let (time, offset) = time.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let plain = offset.get(1..)?.replace(':', "");
    let (hours, minutes) = plain.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2)? };
    let hours = digits(hours, 2)?;
    if minutes > 59 {
        return None;
    }
    let seconds = hours.checked_mul(60)?.checked_add(minutes)?.checked_mul(60)?;
    Some((time, seconds.checked_mul(sign)?))
}

/// Returns the number that exactly `length` digits write.
fn digits(text: &str, length: usize) -> Option<i64> {
    let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(seconds: i64, nanoseconds: u32, offset: i16) -> String {
        let mut out = Vec::new();
        assert!(put_time(seconds, nanoseconds, offset, &mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn times_are_written_and_read_back() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_799, "2024-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (-62_135_596_800, "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(written(seconds, 0, 0), text);
            assert_eq!(seconds_of_text(text), Some(seconds as f64), "{text}");
        }
        assert_eq!(written(0, 500_000_000, 180), "1970-01-01T03:00:00.5+0300");
        assert_eq!(written(0, 1, -90), "1969-12-31T22:30:00.000000001-0130");
        assert_eq!(time_of_seconds(1.25).unwrap(), "1970-01-01T00:00:01.25Z");
        assert_eq!(time_of_seconds(-0.000_000_1).unwrap(), "1970-01-01T00:00:00Z");
        assert_eq!((time_of_seconds(1e300), time_of_seconds(f64::NAN)), (None, None));
        assert!(!put_time(SECONDS_MAX + 1, 0, 0, &mut Vec::new()));
        assert!(!put_time(0, 1_000_000_000, 0, &mut Vec::new()));
    }

    #[test]
    fn times_are_read_to_the_nanosecond() {
        let read = exact_time_of_text;
        assert_eq!(read("1970-01-02"), Some((86_400, 0, 0)));
        assert_eq!(read("2024-03-01T12:30:00.123456789+03:00"), Some((1_709_285_400, 123_456_789, 180)));
        assert_eq!(read("2024-03-01T12:30:00.5-0130"), Some((1_709_301_600, 500_000_000, -90)));
        for text in [
            "",
            "2024",
            "12",
            "2024-03-01T12:30:00.",
            "2024-03-01T12:30:00.1234567890",
            "2024-03-01.5",
            "2024-03-01T12:30.5",
            "2024-03-01T12:30+03:00.5",
            "2024-03-01T12:30:00+03:99",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn people_write_times_in_several_ways() {
        for (text, seconds) in [
            ("1970-01-02", 86_400.0),
            ("1970-01-01T01:00", 3600.0),
            ("1970-01-01 00:00:01.25", 1.25),
            ("1970-01-01T03:00:00+03:00", 0.0),
            ("1970-01-01T00:00:00-0130", 5400.0),
            ("1970-01-01T01:00+01", 0.0),
        ] {
            assert_eq!(seconds_of_text(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            "1970",
            "1970-1-1",
            "1970-02-30",
            "1970-13-01",
            "1970-01-01T24:00",
            "1970-01-01T1:00",
            "x",
            "1970-01-01T00:00:00.",
            "1970-01-01T00:00:00+3",
            "1970-01-01T00:00:00+é",
        ] {
            assert_eq!(seconds_of_text(text), None, "{text}");
        }
    }
}
