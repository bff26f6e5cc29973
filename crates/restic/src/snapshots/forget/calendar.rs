//! Hours, days, weeks, months and years of snapshots, each in the time zone that the snapshot was made in.
//!
//! Output: numbers that are equal for all times of the same hour, day and so on, and the time a given span
//! ago.

use super::policy::Span;
use crate::encoding::time::Time;
use jiff::civil::{Date, DateTime, date};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// What snapshots are gathered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Period {
    /// Each is alone.
    Each,
    /// One hour of the clock.
    Hour,
    /// One day.
    Day,
    /// One week, from Monday on.
    Week,
    /// One month.
    Month,
    /// One year.
    Year,
}

impl Period {
    /// Returns a number that is the same for all times of a period. `place` is the snapshot's own.
    pub(super) fn number(self, time: &Time, place: usize) -> i64 {
        let local = local(time);
        let (year, month) = (i64::from(local.year()), i64::from(local.month()));
        match self {
            Period::Each => i64::try_from(place).unwrap_or(i64::MAX),
            Period::Hour => {
                ((year * 100 + month) * 100 + i64::from(local.day())) * 100 + i64::from(local.hour())
            }
            Period::Day => (year * 100 + month) * 100 + i64::from(local.day()),
            Period::Week => {
                let week = local.date().iso_week_date();
                i64::from(week.year()) * 100 + i64::from(week.week())
            }
            Period::Month => year * 100 + month,
            Period::Year => year,
        }
    }
}

/// Returns the time that is `span` before `time`, in seconds since 1970; `None` if no calendar goes back so
/// far.
///
/// Days, months and years are of the calendar, where the 31st of a month that has less days is as many days
/// into the next; hours are counted. The clock is `zone`'s if the time was noted in it, so that a day may
/// have 23 hours; otherwise that of the time's own offset.
pub(super) fn before(time: &Time, span: &Span, zone: &TimeZone) -> Option<i64> {
    let local = local(time);
    let months = i64::from(local.year()) * 12 + i64::from(local.month()) - 1;
    let months = months - i64::from(span.years) * 12 - i64::from(span.months);
    let year = i16::try_from(months.div_euclid(12)).ok()?;
    let month = i8::try_from(months.rem_euclid(12) + 1).ok()?;
    let days = i64::from(local.day()) - 1 - i64::from(span.days);
    let first = Date::new(year, month, 1).ok()?;
    let earlier = DateTime::from_parts(first, local.time())
        .checked_add(SignedDuration::from_hours(days.checked_mul(24)?))
        .ok()?;
    let wall = earlier.duration_since(epoch()).as_secs();
    let is_of_zone = time.offset_seconds() != 0 && offset(zone, time.seconds()) == time.offset_seconds();
    let seconds = if is_of_zone { seconds_of(wall, zone) } else { wall - i64::from(time.offset_seconds()) };
    Some(seconds - i64::from(span.hours) * 3600)
}

/// Returns the time at which a clock of `zone` shows `wall`. If that happens twice or never, returns the time
/// that Go chooses.
fn seconds_of(wall: i64, zone: &TimeZone) -> i64 {
    match offset(zone, wall) {
        0 => wall,
        guess => wall - i64::from(offset(zone, wall - i64::from(guess))),
    }
}

fn offset(zone: &TimeZone, seconds: i64) -> i32 {
    Timestamp::from_second(seconds).map_or(0, |timestamp| zone.to_offset(timestamp).seconds())
}

fn epoch() -> DateTime {
    date(1970, 1, 1).at(0, 0, 0, 0)
}

/// Returns the local time that the clock showed.
fn local(time: &Time) -> DateTime {
    let seconds = time.seconds().saturating_add(i64::from(time.offset_seconds()));
    epoch().saturating_add(SignedDuration::new(seconds, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        Time::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn periods_by_the_clock_of_the_time() {
        let number = |period: Period, text| period.number(&time(text), 7);
        let late = "2020-12-31T23:30:00-05:00";
        let all = [Period::Each, Period::Hour, Period::Day, Period::Week, Period::Month, Period::Year];
        assert_eq!(
            all.map(|period| number(period, late)),
            [7, 2_020_123_123, 20_201_231, 202_053, 202_012, 2020]
        );
        assert_eq!(number(Period::Week, "2021-01-03T00:00:00Z"), 202_053);
        assert_eq!(number(Period::Week, "2021-01-04T00:00:00Z"), 202_101);
        assert_eq!(number(Period::Week, "2018-12-31T00:00:00Z"), 201_901);
        assert_eq!(number(Period::Year, "9999-12-31T23:59:59.999999999Z"), 9999);
        assert_eq!(number(Period::Day, "0000-01-01T00:00:00Z"), 101);
    }

    #[test]
    fn so_long_ago_by_the_calendar() {
        let cases = [
            ("2020-10-31T12:00:00Z", "1m", "2020-10-01T12:00:00Z"),
            ("2020-03-31T12:00:00Z", "1m", "2020-03-02T12:00:00Z"),
            ("2021-03-31T12:00:00Z", "1m", "2021-03-03T12:00:00Z"),
            ("2020-02-29T12:00:00Z", "1y", "2019-03-01T12:00:00Z"),
            ("2020-01-15T12:30:00Z", "1m20d3h", "2019-11-25T09:30:00Z"),
            ("2020-01-15T00:00:00+14:00", "14m15d", "2018-10-31T00:00:00+14:00"),
            ("1969-12-31T23:59:59.5Z", "1d", "1969-12-30T23:59:59Z"),
        ];
        for (from, span, to) in cases {
            let found = before(&time(from), &span.parse().unwrap(), &TimeZone::UTC);
            assert_eq!(found, Some(time(to).seconds()), "{from} {span}");
        }
        let far = Span { years: u32::MAX, ..Span::default() };
        assert_eq!(before(&time("2020-01-01T00:00:00Z"), &far, &TimeZone::UTC), None);
        let far = Span { days: u32::MAX, ..Span::default() };
        assert_eq!(before(&time("2020-01-01T00:00:00Z"), &far, &TimeZone::UTC), None);
    }

    #[test]
    fn a_day_in_which_clocks_change() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let ago = |from: &str, span: &str, zone: &TimeZone| before(&time(from), &span.parse().unwrap(), zone);
        let day = "1d".parse().unwrap();
        let summer = "2020-03-29T12:00:00+02:00";
        assert_eq!(before(&time(summer), &day, &zone), Some(time("2020-03-28T12:00:00+01:00").seconds()));
        assert_eq!(
            before(&time(summer), &day, &TimeZone::UTC),
            Some(time("2020-03-28T12:00:00+02:00").seconds())
        );
        assert_eq!(ago(summer, "24h", &zone), Some(time("2020-03-28T11:00:00+01:00").seconds()));
        // Noted elsewhere, at an offset that the zone has in winter only.
        assert_eq!(
            ago("2020-07-01T12:00:00+01:00", "5m", &zone),
            Some(time("2020-02-01T12:00:00+01:00").seconds())
        );
        assert_eq!(
            ago("2020-02-01T12:00:00+01:00", "7m", &zone),
            Some(time("2019-07-01T12:00:00+02:00").seconds())
        );
        // 02:30 is twice on that day; what counts is the second.
        let twice = ago("2020-10-26T02:30:00+01:00", "1d", &zone);
        assert_eq!(twice, Some(time("2020-10-25T02:30:00+01:00").seconds()));
    }
}
