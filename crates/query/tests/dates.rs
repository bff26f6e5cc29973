//! Dates, as tables and against slow and obvious twins. Input: date expressions. Output: the seconds they
//! mean. Does not know how they are read.

use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};
use proptest::prelude::*;
use query::{Context, Leaf, Matcher, Query, parse};

use crate::context::{BERLIN, assert_canonical, canonical, context};

/// Compares with the canonical form of what `date:"..."` means. Times are in UTC, an hour behind now.
#[track_caller]
fn assert_dates(cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (input, expected) in cases {
        let found = canonical(&format!("date:\"{input}\""));
        if found != format!("date:{expected}") {
            wrong.push_str(&format!("{input}\n  expected date:{expected}\n  found    {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn dates_with_their_year_first() {
    assert_dates(&[
        ("2024", "2023-12-31T23:00:00Z..2024-12-31T22:59:59Z"),
        ("2024-03", "2024-02-29T23:00:00Z..2024-03-31T21:59:59Z"),
        ("202403", "2024-02-29T23:00:00Z..2024-03-31T21:59:59Z"),
        ("2024-03-05", "2024-03-04T23:00:00Z..2024-03-05T22:59:59Z"),
        ("20240305", "2024-03-04T23:00:00Z..2024-03-05T22:59:59Z"),
        ("2024.03.05", "2024-03-04T23:00:00Z..2024-03-05T22:59:59Z"),
        ("2024/3/5", "2024-03-04T23:00:00Z..2024-03-05T22:59:59Z"),
        ("2024-03-05T10", "2024-03-05T09:00:00Z..2024-03-05T09:59:59Z"),
        ("2024-03-05T10:30", "2024-03-05T09:30:00Z..2024-03-05T09:30:59Z"),
        ("2024-03-05 10:30", "2024-03-05T09:30:00Z..2024-03-05T09:30:59Z"),
        ("20240305103015", "2024-03-05T09:30:15Z"),
        ("20240305T1030", "2024-03-05T09:30:00Z..2024-03-05T09:30:59Z"),
        ("2024-03-05T10:30:15", "2024-03-05T09:30:15Z"),
        ("2024-03-05T10:30:15Z", "2024-03-05T10:30:15Z"),
        ("2024-03-05T10:30+02:00", "2024-03-05T08:30:00Z..2024-03-05T08:30:59Z"),
        ("2024-03-05T10:30:15-0800", "2024-03-05T18:30:15Z"),
        ("2024-03-05 UTC", "2024-03-05T00:00:00Z..2024-03-05T23:59:59Z"),
        ("2024-07-01", "2024-06-30T22:00:00Z..2024-07-01T21:59:59Z"),
        // There is no such day: its month's last second, as in mu.
        ("2023-02-31", "2023-02-28T22:59:59Z"),
        ("2000-02-31T09:10:23", "2000-02-29T22:59:59Z"),
        ("1969", "1968-12-31T23:00:00Z..1969-12-31T22:59:59Z"),
        ("@1709634615", "2024-03-05T10:30:15Z"),
        ("@-1", "1969-12-31T23:59:59Z"),
        ("@99999999999999", "@99999999999999"),
    ]);
}

#[test]
fn ranges_take_the_start_of_one_and_the_end_of_the_other() {
    assert_dates(&[
        ("2024-03..2024-05", "2024-02-29T23:00:00Z..2024-05-31T21:59:59Z"),
        ("2016..2016", "2015-12-31T23:00:00Z..2016-12-31T22:59:59Z"),
        ("20170505..20170602", "2017-05-04T22:00:00Z..2017-06-02T21:59:59Z"),
        ("..2017-10-01T12:00", "..2017-10-01T10:00:59Z"),
        ("2015-06-01..", "2015-05-31T22:00:00Z.."),
        ("20170505..now", "2017-05-04T22:00:00Z..2024-03-15T11:30:45Z"),
        ("today..", "2024-03-14T23:00:00Z.."),
        ("..today", "..2024-03-15T22:59:59Z"),
        ("2w..now", "2024-03-01T11:30:45Z..2024-03-15T11:30:45Z"),
        ("3m..", "2023-12-15T11:30:45Z.."),
        ("5w..2w", "2024-02-09T11:30:45Z..2024-03-01T11:30:45Z"),
        ("2017.01.01..5w", "2016-12-31T23:00:00Z..2024-02-09T11:30:45Z"),
        ("2024-05..2024-03", "2024-02-29T23:00:00Z..2024-05-31T21:59:59Z"),
        ("now..2w", "2024-03-01T11:30:45Z..2024-03-15T11:30:45Z"),
        ("2010-12-16..!", "2010-12-15T23:00:00Z..2010-12-16T22:59:59Z"),
        ("2010-12-16..12/16/2010", "2010-12-15T23:00:00Z..2010-12-16T22:59:59Z"),
        ("2 weeks .. yesterday", "2024-03-01T11:30:45Z..2024-03-14T22:59:59Z"),
        ("@1..@2", "1970-01-01T00:00:01Z..1970-01-01T00:00:02Z"),
    ]);
}

#[test]
fn times_ago_last_until_now() {
    assert_dates(&[
        ("2w", "2024-03-01T11:30:45Z..2024-03-15T11:30:45Z"),
        ("3d", "2024-03-12T11:30:45Z..2024-03-15T11:30:45Z"),
        ("5h", "2024-03-15T06:30:45Z..2024-03-15T11:30:45Z"),
        ("30M", "2024-03-15T11:00:45Z..2024-03-15T11:30:45Z"),
        ("45s", "2024-03-15T11:30:00Z..2024-03-15T11:30:45Z"),
        ("1m", "2024-02-15T11:30:45Z..2024-03-15T11:30:45Z"),
        ("1y", "2023-03-15T11:30:45Z..2024-03-15T11:30:45Z"),
        ("5M2d", "2024-03-13T11:25:45Z..2024-03-15T11:30:45Z"),
        ("1 hour 25 minutes", "2024-03-15T10:05:45Z..2024-03-15T11:30:45Z"),
        ("2_hours_ago", "2024-03-15T09:30:45Z..2024-03-15T11:30:45Z"),
        ("two weeks", "2024-03-01T11:30:45Z..2024-03-15T11:30:45Z"),
        ("4-mont", "2023-11-15T11:30:45Z..2024-03-15T11:30:45Z"),
        ("two mo", "2024-01-15T11:30:45Z..2024-03-15T11:30:45Z"),
        ("dozen mi", "2024-03-15T11:18:45Z..2024-03-15T11:30:45Z"),
        ("month ago", "2024-02-15T11:30:45Z..2024-03-15T11:30:45Z"),
        ("last_hour", "2024-03-15T10:30:45Z..2024-03-15T11:30:45Z"),
        ("19701223s", "2023-07-31T10:57:02Z..2024-03-15T11:30:45Z"),
        ("now-2w", "2024-03-01T11:30:45Z..2024-03-15T11:30:45Z"),
        // Across the change of clocks (31 March in 2023 was summer time already): the same time of day.
        ("351d", "2023-03-30T10:30:45Z..2024-03-15T11:30:45Z"),
    ]);
}

#[test]
fn names_of_days_and_months() {
    assert_dates(&[
        ("now", "2024-03-15T11:30:45Z"),
        ("today", "2024-03-14T23:00:00Z..2024-03-15T22:59:59Z"),
        ("yesterday", "2024-03-13T23:00:00Z..2024-03-14T22:59:59Z"),
        ("this_week", "2024-03-09T23:00:00Z..2024-03-16T22:59:59Z"),
        ("last_week", "2024-03-02T23:00:00Z..2024-03-09T22:59:59Z"),
        ("this month", "2024-02-29T23:00:00Z..2024-03-31T21:59:59Z"),
        ("last-month", "2024-01-31T23:00:00Z..2024-02-29T22:59:59Z"),
        ("last_year", "2022-12-31T23:00:00Z..2023-12-31T22:59:59Z"),
        ("last day", "2024-03-13T23:00:00Z..2024-03-14T22:59:59Z"),
        // It is Friday: the one of a week ago is meant, as in notmuch.
        ("friday", "2024-03-07T23:00:00Z..2024-03-08T22:59:59Z"),
        ("Thu", "2024-03-13T23:00:00Z..2024-03-14T22:59:59Z"),
        ("saturday", "2024-03-08T23:00:00Z..2024-03-09T22:59:59Z"),
        ("sunday", "2024-03-09T23:00:00Z..2024-03-10T22:59:59Z"),
        ("last monday", "2024-03-10T23:00:00Z..2024-03-11T22:59:59Z"),
        ("monday..", "2024-03-10T23:00:00Z.."),
        ("january..february", "2023-12-31T23:00:00Z..2024-02-29T22:59:59Z"),
        ("Aug 2012", "2012-07-31T22:00:00Z..2012-08-31T21:59:59Z"),
        ("August 3", "2024-08-02T22:00:00Z..2024-08-03T21:59:59Z"),
        ("3rd aug 2012", "2012-08-02T22:00:00Z..2012-08-03T21:59:59Z"),
        ("Jan 2", "2024-01-01T23:00:00Z..2024-01-02T22:59:59Z"),
        ("31-07-2012", "2012-07-30T22:00:00Z..2012-07-31T21:59:59Z"),
        ("07-2012", "2012-06-30T22:00:00Z..2012-07-31T21:59:59Z"),
        ("7/31/2012", "2012-07-30T22:00:00Z..2012-07-31T21:59:59Z"),
        ("7/31/12", "2012-07-30T22:00:00Z..2012-07-31T21:59:59Z"),
        ("7/31/99", "1999-07-30T22:00:00Z..1999-07-31T21:59:59Z"),
        ("7/31/70", "1970-07-30T22:00:00Z..1970-07-31T21:59:59Z"),
        ("7/31/69", "2069-07-30T22:00:00Z..2069-07-31T21:59:59Z"),
        ("7/2012", "2012-06-30T22:00:00Z..2012-07-31T21:59:59Z"),
        ("31.7.2012", "2012-07-30T22:00:00Z..2012-07-31T21:59:59Z"),
        ("31.1.", "2024-01-30T23:00:00Z..2024-01-31T22:59:59Z"),
    ]);
}

#[test]
fn times_of_day() {
    assert_dates(&[
        ("17:05", "2024-03-15T16:05:00Z..2024-03-15T16:05:59Z"),
        ("10:30:40", "2024-03-15T09:30:40Z"),
        ("5pm", "2024-03-15T16:00:00Z..2024-03-15T16:00:59Z"),
        ("5 p.m.", "2024-03-15T16:00:00Z..2024-03-15T16:00:59Z"),
        ("12am", "2024-03-14T23:00:00Z..2024-03-14T23:00:59Z"),
        ("10:30pm", "2024-03-15T21:30:00Z..2024-03-15T21:30:59Z"),
        ("noon", "2024-03-15T11:00:00Z..2024-03-15T11:00:59Z"),
        ("yesterday_noon", "2024-03-14T11:00:00Z..2024-03-14T11:00:59Z"),
        ("midnight", "2024-03-14T23:00:00Z..2024-03-14T23:00:59Z"),
        ("18-Nov-2009_02:19:26-0800", "2009-11-18T10:19:26Z"),
        ("2009-11-18_04:49:52-06:00", "2009-11-18T10:49:52Z"),
        ("Fri Aug 3 23:06:06 2012", "2012-08-03T21:06:06Z"),
        ("Fri, 03 Aug 2012 23:07:46 +0100", "2012-08-03T22:07:46Z"),
        ("2012-08-03 23:09:37+03:00", "2012-08-03T20:09:37Z"),
        ("yesterday 2d", "2024-03-11T23:00:00Z..2024-03-12T22:59:59Z"),
        ("2024-03-10 12:00 2 hours", "2024-03-10T09:00:00Z..2024-03-10T09:00:59Z"),
    ]);
}

#[test]
fn a_change_of_clocks_leaves_no_gap_and_no_overlap() {
    assert_dates(&[
        // Summer time begins on 31 March 2024 at two and ends on 27 October at three.
        ("2024-03-31", "2024-03-30T23:00:00Z..2024-03-31T21:59:59Z"),
        ("2024-10-27", "2024-10-26T22:00:00Z..2024-10-27T22:59:59Z"),
        ("2024-10-27T02", "2024-10-27T00:00:00Z..2024-10-27T01:59:59Z"),
        ("2024-10-27T02:30", "2024-10-27T00:30:00Z..2024-10-27T01:30:59Z"),
        ("2024-03-31T02:30", "2024-03-31T01:30:00Z..2024-03-31T01:30:59Z"),
    ]);
}

#[test]
fn what_is_no_date() {
    for (input, reason) in [
        ("", "a date is missing"),
        ("foo", "\"foo\" is not a date"),
        ("tomorrow", "\"tomorrow\" is not a date"),
        ("2024-13", "there is no month 13"),
        ("2024-00", "there is no month 0"),
        ("2024-03-00", "there is no day 0 in a month"),
        ("2024-03-32", "there is no day 32 in a month"),
        ("2024-03-05T24:00", "there is no such time of day"),
        ("12:60", "there is no such time of day"),
        ("13pm", "there is no such time of day"),
        ("pm", "\"am\" and \"pm\" come after a time"),
        ("2024-", "\"2024-\" is not year, month, day, hour, minute and second, two digits each but the year"),
        (
            "2024-123",
            "\"2024-123\" is not year, month, day, hour, minute and second, two digits each but the year",
        ),
        ("..", "a range needs a date on one side at least"),
        ("12", "12 is neither a date nor has a unit"),
        ("300", "300 is neither a date nor has a unit"),
        ("99999999999999999999d", "99999999999999999999 is too large a number"),
        ("999999y", "that is too far from now"),
        ("9223372036854775807s", "that is too far from now"),
        ("2024_12:00", "a time needs a day, not a month or year"),
        ("today yesterday", "it says the same part twice"),
        ("now 12:00", "\"now\" is a date and a time already"),
        ("last", "\"last\" is not a date"),
        ("last foo", "\"foo\" is not a date"),
        ("d", "\"d\" is not a date"),
        ("@x", "after \"@\" come seconds since 1970"),
        ("2024-03-05..foo", "\"foo\" is not a date"),
    ] {
        let error = parse(&format!("date:\"{input}\""), &context()).expect_err(input);
        assert_eq!(error.problem.to_string(), format!("expected a date: {reason}"), "{input}");
    }
}

#[test]
fn changed_takes_dates_too() {
    assert_canonical(&[
        ("changed:30M..", "changed:2024-03-15T11:00:45Z.."),
        ("k:@1", "changed:1970-01-01T00:00:01Z"),
    ]);
}

/// Zones with whole and odd offsets, north and south, with their changes at night.
const ZONES: [&str; 6] = [
    "UTC0",
    BERLIN,
    "EST5EDT,M3.2.0,M11.1.0",
    "AEST-10AEDT,M10.1.0,M4.1.0/3",
    "IST-5:30",
    "<-03>3<-02>,M10.3.0/0,M2.3.0/0",
];

fn seconds(input: &str, now: &Zoned) -> (Option<i64>, Option<i64>) {
    let context = Context {
        now: now.clone(),
        headers: vec![],
        queries: Default::default(),
        stemming: Default::default(),
    };
    match parse(&format!("date:\"{input}\""), &context) {
        Ok(Query::Leaf(Leaf { matcher: Matcher::DateRange { from, to }, .. })) => (from, to),
        other => panic!("{input}: {other:?}"),
    }
}

fn zone() -> impl Strategy<Value = TimeZone> {
    prop::sample::select(&ZONES[..]).prop_map(|rules| TimeZone::posix(rules).expect("well-formed"))
}

fn day() -> impl Strategy<Value = Date> {
    (0_i64..40_000).prop_map(|days| date(1960, 1, 1) + days.days())
}

/// A second near a change of clocks or anywhere.
fn second() -> impl Strategy<Value = i64> {
    prop_oneof![
        1_711_800_000_i64..1_711_900_000,
        1_729_960_000_i64..1_730_090_000,
        -300_000_000_i64..3_000_000_000
    ]
}

proptest! {
    #[test]
    fn a_period_holds_just_the_seconds_that_have_its_local_date(
        zone in zone(),
        second in second(),
        nearby in -200_000_i64..200_000,
    ) {
        let now = Timestamp::from_second(second).unwrap().to_zoned(zone.clone());
        let other = Timestamp::from_second(second + nearby).unwrap().to_zoned(zone);
        for format in ["%Y", "%Y-%m", "%Y%m%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H"] {
            let written = now.strftime(format).to_string();
            let (from, to) = seconds(&written, &now);
            for moment in [&now, &other] {
                let second = Some(moment.timestamp().as_second());
                let inside = from <= second && second <= to;
                // An hour or minute that comes twice holds all between its first and last second.
                let again = format.contains("%H") && inside;
                let same = moment.strftime(format).to_string() == written;
                prop_assert!(inside == same || again, "{} {} {:?} {:?}", written, moment, from, to);
            }
        }
    }

    #[test]
    fn days_ago_are_counted_on_the_calendar(
        zone in zone(),
        second in second(),
        count in 0_i64..3_000,
        unit in 0_usize..4,
    ) {
        let now = Timestamp::from_second(second).unwrap().to_zoned(zone.clone());
        let units = [("d", count, 0), ("w", 7 * count, 0), ("m", 0, count), ("y", 0, 12 * count)];
        let (letter, days, months) = units[unit];
        // Step by step: count months on the calendar, cut the day to the month's length, then count days.
        let month = i64::from(now.year()) * 12 + i64::from(now.month()) - 1 - months;
        prop_assume!(month > 0);
        let first = date(i16::try_from(month / 12).unwrap(), i8::try_from(month % 12 + 1).unwrap(), 1);
        let then = first + Span::new().days(now.day().min(first.days_in_month()) - 1);
        let mut then = then;
        for _ in 0..days {
            then = then.yesterday().unwrap();
        }
        let expected = then.to_datetime(now.time()).to_zoned(zone).unwrap().timestamp().as_second();
        prop_assert_eq!(seconds(&format!("{count}{letter}.."), &now), (Some(expected), None));
        prop_assert_eq!(seconds(&format!("{count}{letter}"), &now), (Some(expected), Some(second)));
    }

    #[test]
    fn the_last_such_weekday_is_found_by_walking_back(
        zone in zone(),
        second in second(),
        wanted in 0_usize..7,
    ) {
        let now = Timestamp::from_second(second).unwrap().to_zoned(zone);
        let name = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"][wanted];
        let mut day = now.date().yesterday().unwrap();
        while usize::try_from(day.weekday().to_sunday_zero_offset()).unwrap() != wanted {
            day = day.yesterday().unwrap();
        }
        prop_assert_eq!(seconds(name, &now), seconds(&day.to_string(), &now));
    }

    #[test]
    fn all_spellings_of_a_day_mean_the_same(day in day(), zone in zone()) {
        let now = date(2024, 3, 15).at(12, 0, 0, 0).to_zoned(zone).unwrap();
        let expected = seconds(&day.to_string(), &now);
        for format in ["%Y%m%d", "%Y.%m.%d", "%d-%m-%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%b-%Y", "%B %d \
            %Y", "%A,_%d %b %Y", "%Y-%m-%d..!"] {
            prop_assert_eq!(seconds(&day.strftime(format).to_string(), &now), expected, "{}", format);
        }
    }

    #[test]
    fn a_range_spans_what_it_is_made_of(first in day(), last in day(), zone in zone()) {
        let now = date(2024, 3, 15).at(12, 0, 0, 0).to_zoned(zone).unwrap();
        let (a, b) = (seconds(&first.to_string(), &now), seconds(&last.to_string(), &now));
        prop_assert_eq!(seconds(&format!("{first}..{last}"), &now), (a.0.min(b.0), a.1.max(b.1)));
    }
}
