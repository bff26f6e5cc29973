//! Dates (RFC 8620, section 1.4): texts of RFC 3339 in one normal form.
//!
//! Input: a text, or seconds since 1970. Output: the other of the two. Knows neither a clock nor time zones.

/// Seconds of a day.
const DAY: i64 = 86_400;

/// The first and the last second that have a year of four digits.
const SECONDS: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// A moment as a `Date` or a `UTCDate` states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// Seconds since the beginning of 1970, in UTC.
    pub seconds: i64,
    /// Nanoseconds after that second. What is smaller is dropped.
    pub nanoseconds: u32,
    /// How many minutes the clock of the writer was ahead of UTC: less than a day.
    pub offset_minutes: i32,
}

impl Date {
    /// Returns the moment of a whole second in UTC.
    pub fn utc(seconds: i64) -> Date {
        Date { seconds, nanoseconds: 0, offset_minutes: 0 }
    }

    /// Reads a `Date`: `2014-10-30T14:12:00+08:00`. Its letters are capital. A fraction of a second should be
    /// left out if it is zero, but clients in JavaScript write `.000`, so that is read, too. A leap second,
    /// at the end of a day in UTC, is the first second of the next day.
    pub fn read(text: &str) -> Option<Date> {
        let mut rest = Rest(text.as_bytes());
        let year = rest.number(4)?;
        let month = rest.after(b'-')?.number(2)?;
        let day = rest.after(b'-')?.number(2)?;
        let hour = rest.after(b'T')?.number(2)?;
        let minute = rest.after(b':')?.number(2)?;
        let second = rest.after(b':')?.number(2)?;
        let nanoseconds = rest.fraction()?;
        let offset_minutes = rest.offset()?;
        let is_date = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        if !is_date || hour > 23 || minute > 59 || second > 60 || !rest.0.is_empty() {
            return None;
        }
        let of_day = hour * 3_600 + minute * 60 + second - i64::from(offset_minutes) * 60;
        let seconds = days(year, month, day) * DAY + of_day;
        let is_leap_second = second == 60 && seconds % DAY == 0;
        (second < 60 || is_leap_second).then_some(Date { seconds, nanoseconds, offset_minutes })
    }

    /// Reads a `UTCDate`: a `Date` that ends in `Z`.
    pub fn read_utc(text: &str) -> Option<Date> {
        text.ends_with('Z').then(|| Date::read(text)).flatten()
    }

    /// Returns the moment as a `Date`, which is a `UTCDate` if the offset is 0, or `None` if its year does
    /// not have four digits or its offset is a day or more.
    pub fn text(self) -> Option<String> {
        let offset = self.offset_minutes;
        let local = self.seconds.checked_add(i64::from(offset).checked_mul(60)?)?;
        if !SECONDS.contains(&local) || offset.abs() >= 1_440 {
            return None;
        }
        let (year, month, day) = civil(local.div_euclid(DAY));
        let of_day = local.rem_euclid(DAY);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        let fraction = match self.nanoseconds {
            0 => String::new(),
            nanoseconds => format!(".{nanoseconds:09}").trim_end_matches('0').to_owned(),
        };
        let zone = match offset {
            0 => "Z".to_owned(),
            _ => {
                let sign = if offset < 0 { '-' } else { '+' };
                format!("{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60)
            }
        };
        Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}"))
    }
}

/// What is left of a text.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Takes `byte`.
    fn after(&mut self, byte: u8) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(self)
    }

    /// Takes a number of `count` digits.
    fn number(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.iter().try_fold(0_i64, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        })
    }

    /// Takes a fraction of a second, if one is there, and returns its nanoseconds.
    fn fraction(&mut self) -> Option<u32> {
        if self.after(b'.').is_none() {
            return Some(0);
        }
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        let digit = |place: usize| digits.get(place).map_or(0, |byte| u32::from(byte - b'0'));
        let nanoseconds = (0..9).fold(0, |number, place| number * 10 + digit(place));
        (!digits.is_empty()).then_some(nanoseconds)
    }

    /// Takes `Z`, or the hours and minutes by which a clock is ahead of UTC.
    fn offset(&mut self) -> Option<i32> {
        if self.after(b'Z').is_some() {
            return Some(0);
        }
        let sign = if self.after(b'+').is_some() { 1 } else { self.after(b'-').map(|_| -1)? };
        let hours = self.number(2).filter(|&hours| hours < 24)?;
        let minutes = self.after(b':')?.number(2).filter(|&minutes| minutes < 60)?;
        i32::try_from(sign * (hours * 60 + minutes)).ok()
    }
}

/// Returns how many days a month has.
fn days_in_month(year: i64, month: i64) -> i64 {
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap_year => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the day of a date, counted from 1970 (Howard Hinnant's `days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns year, month and day of a day counted from 1970 (Howard Hinnant's `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_the_rfc_are_read_and_written() {
        let date = Date::read("2014-10-30T14:12:00+08:00").unwrap();
        assert_eq!(date, Date { seconds: 1_414_649_520, nanoseconds: 0, offset_minutes: 480 });
        assert_eq!(date.text().unwrap(), "2014-10-30T14:12:00+08:00");
        assert_eq!(Date::utc(date.seconds).text().unwrap(), "2014-10-30T06:12:00Z");
        assert_eq!(Date::read_utc("2014-10-30T06:12:00Z"), Some(Date::utc(date.seconds)));
        assert_eq!(Date::read_utc("2014-10-30T14:12:00+08:00"), None);
    }

    #[test]
    fn the_ends_of_the_calendar_leap_days_and_leap_seconds() {
        let seconds = |text| Date::read(text).map(|date| date.seconds);
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("1969-12-31T23:59:59Z"), Some(-1));
        assert_eq!(seconds("0000-01-01T00:00:00Z"), Some(*SECONDS.start()));
        assert_eq!(seconds("9999-12-31T23:59:59Z"), Some(*SECONDS.end()));
        assert_eq!(seconds("2000-02-29T00:00:00Z"), Some(951_782_400));
        assert_eq!(seconds("2016-12-31T23:59:60Z"), Some(1_483_228_800));
        assert_eq!(seconds("2017-01-01T00:59:60+01:00"), Some(1_483_228_800));
        assert_eq!(seconds("1970-01-01T00:00:00-00:00"), Some(0));
        assert_eq!(Date::utc(*SECONDS.end()).text().unwrap(), "9999-12-31T23:59:59Z");
        assert_eq!(Date::utc(*SECONDS.start()).text().unwrap(), "0000-01-01T00:00:00Z");
        let outside = [Date::utc(*SECONDS.end() + 1), Date::utc(i64::MAX), Date::utc(i64::MIN)];
        assert_eq!(outside.map(Date::text), [None, None, None]);
        assert_eq!(Date { offset_minutes: 1_440, ..Date::utc(0) }.text(), None);
        assert_eq!(Date { offset_minutes: i32::MIN, ..Date::utc(0) }.text(), None);
    }

    #[test]
    fn fractions_are_kept_to_the_nanosecond() {
        let date = Date::read("1970-01-01T00:00:01.0250Z").unwrap();
        assert_eq!((date.seconds, date.nanoseconds), (1, 25_000_000));
        assert_eq!(date.text().unwrap(), "1970-01-01T00:00:01.025Z");
        for zero in ["1970-01-01T00:00:01.000Z", "1970-01-01T00:00:01.0Z", "1970-01-01T00:00:01.0000000009Z"]
        {
            assert_eq!(Date::read_utc(zero), Some(Date::utc(1)), "{zero}");
        }
    }

    #[test]
    fn anything_else_is_no_date() {
        let wrong = [
            "",
            "2014",
            "2014-10-30",
            "2014-10-30T06:12:00",
            "2014-10-30T06:12:00z",
            "2014-10-30t06:12:00Z",
            "2014-10-30 06:12:00Z",
            "2014-10-30T06:12Z",
            "2014-10-30T06:12:00.Z",
            "2014-10-30T06:12:00,5Z",
            "2014-00-30T06:12:00Z",
            "2014-13-30T06:12:00Z",
            "2014-10-00T06:12:00Z",
            "2014-10-32T06:12:00Z",
            "2014-02-29T06:12:00Z",
            "1900-02-29T06:12:00Z",
            "2014-10-30T24:00:00Z",
            "2014-10-30T06:60:00Z",
            "2014-10-30T06:12:60Z",
            "2014-10-30T23:59:61Z",
            "2014-10-30T06:12:00+24:00",
            "2014-10-30T06:12:00+08:60",
            "2014-10-30T06:12:00+0800",
            "2014-10-30T06:12:00+08",
            "2014-10-30T06:12:00ZZ",
            " 2014-10-30T06:12:00Z",
            "2014-10-30T06:12:00Z ",
            "+014-10-30T06:12:00Z",
            "02014-10-30T06:12:00Z",
            "2014-10-3٠T06:12:00Z",
            "2014-1-030T06:12:00Z",
        ];
        for text in wrong {
            assert_eq!(Date::read(text), None, "{text:?}");
        }
    }
}
