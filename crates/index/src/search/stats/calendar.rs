//! Years, months, weekdays and hours of dates in a time zone.
//!
//! Input: seconds since 1970. Output: a number that sorts like the time, and its name. A day's offset is
//! computed once, since a time zone's rules take longer than all the rest. Must not know messages.

use crate::search::stats::dimension::Dimension;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

const DAY_SECONDS: i64 = 86_400;
/// Days since 1970 that are kept once they are computed: until 2149. Dates in mail are anything, and others
/// are computed each time.
const DAY_COUNT: usize = 1 << 16;
/// No number that a calendar returns is above this, and none below its negative: the months of 10,000 years.
pub(super) const NUMBER_MAX: i64 = 120_000;

/// A time zone, and what it said of some days.
pub(super) struct Calendar<'a> {
    zone: &'a TimeZone,
    /// By the day in UTC: seconds east of UTC, if they are the same for the whole day.
    offsets: Vec<Option<Option<i64>>>,
    /// By the local day.
    days: Vec<Option<Day>>,
}

/// A day of the calendar.
#[derive(Clone, Copy)]
struct Day {
    year: i16,
    /// From 1.
    month: i8,
    /// From Monday, which is 0.
    weekday: i8,
}

impl<'a> Calendar<'a> {
    /// Returns the calendar of a time zone.
    pub(super) fn new(zone: &'a TimeZone) -> Calendar<'a> {
        Calendar { zone, offsets: vec![None; DAY_COUNT], days: vec![None; DAY_COUNT] }
    }

    /// Returns the number of the year, month, weekday or hour of a date. `None` for a date that no calendar
    /// has, and for a dimension that is none of time.
    pub(super) fn number(&mut self, by: Dimension, seconds: i64) -> Option<i64> {
        let local = seconds.checked_add(self.offset(seconds)?)?;
        if by == Dimension::Hour {
            return Some(local.rem_euclid(DAY_SECONDS) / 3600);
        }
        let Day { year, month, weekday } = self.day(local.div_euclid(DAY_SECONDS))?;
        match by {
            Dimension::Year => Some(i64::from(year)),
            Dimension::Month => Some(i64::from(year) * 12 + i64::from(month) - 1),
            Dimension::Weekday => Some(i64::from(weekday)),
            _ => None,
        }
    }

    fn offset(&mut self, seconds: i64) -> Option<i64> {
        let zone = self.zone;
        let exact = |seconds| {
            let time = Timestamp::from_second(seconds).ok()?;
            Some(i64::from(zone.to_offset(time).seconds()))
        };
        let day = seconds.div_euclid(DAY_SECONDS);
        let Some(known) = usize::try_from(day).ok().and_then(|day| self.offsets.get_mut(day)) else {
            return exact(seconds);
        };
        let whole_day = known.get_or_insert_with(|| {
            let begin = day * DAY_SECONDS;
            let offset = exact(begin)?;
            (exact(begin + DAY_SECONDS - 1) == Some(offset)).then_some(offset)
        });
        whole_day.or_else(|| exact(seconds))
    }

    fn day(&mut self, day: i64) -> Option<Day> {
        match usize::try_from(day).ok().and_then(|place| self.days.get_mut(place)) {
            Some(Some(known)) => Some(*known),
            Some(slot) => {
                *slot = computed(day);
                *slot
            }
            None => computed(day),
        }
    }
}

fn computed(day: i64) -> Option<Day> {
    let epoch = Date::constant(1970, 1, 1);
    let date = epoch.checked_add(SignedDuration::from_hours(day.checked_mul(24)?)).ok()?;
    Some(Day { year: date.year(), month: date.month(), weekday: date.weekday().to_monday_zero_offset() })
}

/// Returns the name of a number that a calendar returned.
pub(super) fn name(by: Dimension, number: i64) -> String {
    match by {
        Dimension::Month => format!("{:04}-{:02}", number.div_euclid(12), number.rem_euclid(12) + 1),
        Dimension::Hour => format!("{number:02}"),
        Dimension::Weekday => {
            let weekday = i8::try_from(number).ok().and_then(|n| Weekday::from_monday_zero_offset(n).ok());
            weekday.map_or_else(String::new, |weekday| format!("{weekday:?}"))
        }
        _ => format!("{number:04}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_the_year_month_weekday_and_hour_of_the_zone() {
        let zones = [
            TimeZone::UTC,
            TimeZone::get("Europe/Berlin").unwrap(),
            TimeZone::get("Asia/Kathmandu").unwrap(),
        ];
        for zone in &zones {
            let mut calendar = Calendar::new(zone);
            // Days around changes of clocks, and steps that meet every hour.
            for seconds in (0..4000).map(|step| 1_700_000_000 + step * 13_577).chain([-1, 0, -86_400 * 9000])
            {
                let time = Timestamp::from_second(seconds).unwrap().to_zoned(zone.clone());
                for (by, format) in [
                    (Dimension::Year, "%Y"),
                    (Dimension::Month, "%Y-%m"),
                    (Dimension::Hour, "%H"),
                    (Dimension::Weekday, "%A"),
                ] {
                    let number = calendar.number(by, seconds).unwrap();
                    assert_eq!(name(by, number), time.strftime(format).to_string(), "{time}");
                }
            }
            for seconds in [i64::MIN + 1, i64::MAX, 1 << 50] {
                assert_eq!(calendar.number(Dimension::Year, seconds), None);
            }
            assert_eq!(calendar.number(Dimension::Folder, 0), None);
        }
    }
}
