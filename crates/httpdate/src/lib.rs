//! Dates of HTTP (RFC 9110, 5.6.7), with the interface of the crate `httpdate` as far as hyper calls it.
//!
//! Input: a time. Output: its text, as in `Sun, 06 Nov 1994 08:49:37 GMT`. Does not know who asks for it.
//!
//! hyper writes the `Date` of each answer with `httpdate`, which also reads dates in three formats. Nobody
//! needs that here, and the workspace takes no further library for one line of text.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY_SECONDS: u64 = 24 * 60 * 60;
/// The first second of the year 10000. The format has four digits for a year.
const SECONDS_END: u64 = 253_402_300_800;
/// 1970-01-01 was a Thursday.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A second in the years 1970 to 9999. `Display` writes it in the format that HTTP prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpDate {
    seconds: u64,
}

impl From<SystemTime> for HttpDate {
    /// Takes the nearest second that can be written, for a clock that is wrong by thousands of years.
    fn from(time: SystemTime) -> HttpDate {
        let seconds = time.duration_since(UNIX_EPOCH).as_ref().map_or(0, Duration::as_secs);
        HttpDate { seconds: seconds.min(SECONDS_END - 1) }
    }
}

impl fmt::Display for HttpDate {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (days, second) = (self.seconds / DAY_SECONDS, self.seconds % DAY_SECONDS);
        let (year, month, day) = civil(days);
        let weekday = WEEKDAYS.get((days % 7) as usize).unwrap_or(&"");
        let month = MONTHS.get(month).unwrap_or(&"");
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(out, "{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
    }
}

/// Returns the year, the month (January is 0) and the day of the month, some days after 1970-01-01.
///
/// Counts in years that begin in March, so that the leap day is the last one, and in eras of 400 years.
fn civil(days: u64) -> (u64, usize, u64) {
    const ERA_DAYS: u64 = 146_097;
    const DAYS_BEFORE_1970: u64 = 719_468;
    let days = days + DAYS_BEFORE_1970;
    let (era, day) = (days / ERA_DAYS, days % ERA_DAYS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let day = day - (153 * from_march + 2) / 5 + 1;
    let month = ((from_march + 2) % 12) as usize;
    (era * 400 + year + u64::from(month < 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seconds: u64) -> String {
        HttpDate::from(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
    }

    #[test]
    fn dates_are_those_of_other_programs() {
        // Those of `date -u -R`, and the example of RFC 9110.
        assert_eq!(text(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(text(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(text(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(text(4_107_542_400), "Mon, 01 Mar 2100 00:00:00 GMT");
        assert_eq!(text(SECONDS_END - 1), "Fri, 31 Dec 9999 23:59:59 GMT");
    }

    #[test]
    fn each_day_follows_the_one_before() {
        let leap =
            |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let (mut year, mut month, mut day) = (1970, 0, 1);
        for days in 0..SECONDS_END / DAY_SECONDS {
            assert_eq!(civil(days), (year, month, day), "day {days}");
            let length = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            day += 1;
            if day > length[month] {
                (month, day) = (month + 1, 1);
            }
            if month == 12 {
                (year, month) = (year + 1, 0);
            }
        }
    }

    #[test]
    fn a_wrong_clock_has_a_date() {
        assert_eq!(HttpDate::from(UNIX_EPOCH - Duration::from_secs(1)).seconds, 0);
        assert_eq!(text(u64::MAX / 4), text(SECONDS_END - 1));
    }
}
