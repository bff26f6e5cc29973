//! Dates in the form of mail headers.
//!
//! Input: seconds since 1970. Output: text. Does not depend on what the dates are for.

/// Days from Thursday, 1 January 1970.
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns `seconds` as in `Tue, 03 Mar 2015 14:05:09 +0200`, in the zone that lies `offset_minutes` east of
/// Greenwich.
pub(super) fn header(seconds: i64, offset_minutes: i64) -> String {
    let local = seconds + offset_minutes * 60;
    let days = local.div_euclid(86_400);
    let time = local.rem_euclid(86_400);
    let (year, month, day) = civil(days);
    let week_day = DAYS[usize::try_from(days.rem_euclid(7)).expect("below 7")];
    let month = MONTHS[usize::try_from(month - 1).expect("a month is 1 to 12")];
    let sign = if offset_minutes < 0 { '-' } else { '+' };
    let zone = offset_minutes.abs() / 60 * 100 + offset_minutes.abs() % 60;
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    format!("{week_day}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} {sign}{zone:04}")
}

/// Returns year, month and day of a day counted from 1970 (Howard Hinnant's `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_days_and_zones_as_they_were() {
        assert_eq!(header(0, 0), "Thu, 01 Jan 1970 00:00:00 +0000");
        assert_eq!(header(1_709_210_096, 0), "Thu, 29 Feb 2024 12:34:56 +0000");
        assert_eq!(header(1_709_251_199, 330), "Fri, 01 Mar 2024 05:29:59 +0530");
        assert_eq!(header(1_425_340_800, -480), "Mon, 02 Mar 2015 16:00:00 -0800");
    }
}
