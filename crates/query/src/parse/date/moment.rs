//! From the parts of a date expression to seconds. Input: the parts, and the current time. Output: a period
//! or a time ago. Knows nothing of how expressions are spelled.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Zoned};

/// What an expression means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// All seconds from the first to the last.
    Period { first: i64, last: i64 },
    /// One second, that long ago.
    Ago(i64),
}

/// The parts that an expression may have.
#[derive(Clone, Debug, Default)]
pub(super) struct Expression {
    pub(super) fixed: Option<Fixed>,
    pub(super) day: Option<Day>,
    pub(super) clock: Option<Clock>,
    pub(super) zone: Option<Offset>,
    /// How long before all that, or before now.
    pub(super) ago: Option<Span>,
}

/// One second, named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fixed {
    Now,
    /// Seconds since 1970.
    Epoch(i64),
}

/// Whole days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Day {
    Year(i16),
    /// The month of this day.
    Month(Date),
    /// Seven days from this one.
    Week(Date),
    Date(Date),
    /// A day such as 31 February, after the last of the month, which is given: mu takes its last second.
    PastMonth(Date),
}

/// A time of day, as precise as it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) hour: i8,
    pub(super) minute: Option<i8>,
    pub(super) second: Option<i8>,
}

impl Moment {
    pub(super) fn first(self) -> i64 {
        match self {
            Moment::Period { first, .. } => first,
            Moment::Ago(then) => then,
        }
    }

    pub(super) fn last(self) -> i64 {
        match self {
            Moment::Period { last, .. } => last,
            Moment::Ago(then) => then,
        }
    }
}

/// Turns an expression into seconds, or says why it cannot.
pub(super) fn resolve(expression: &Expression, now: &Zoned) -> Result<Moment, String> {
    let zone = expression.zone.map_or_else(|| now.time_zone().clone(), TimeZone::fixed);
    if let Some(fixed) = expression.fixed {
        return match (fixed, expression.ago) {
            (Fixed::Epoch(second), None) => Ok(Moment::Period { first: second, last: second }),
            (Fixed::Now, None) => {
                let second = now.timestamp().as_second();
                Ok(Moment::Period { first: second, last: second })
            }
            (Fixed::Now, Some(ago)) => time_ago(now, ago),
            (Fixed::Epoch(_), Some(_)) => Err("a number of seconds must be alone".to_owned()),
        };
    }
    let today = now.with_time_zone(zone.clone()).date();
    let (first, last) = match (expression.day, expression.clock, expression.ago) {
        (None, None, Some(ago)) => return time_ago(now, ago),
        (None, None, None) => return Err("a date is missing".to_owned()),
        (None, Some(clock), _) => clock_period(today, clock)?,
        (Some(Day::Date(day)), Some(clock), _) => clock_period(day, clock)?,
        (Some(Day::PastMonth(day)), _, _) => (last_second(day), last_second(day)),
        (Some(_), Some(_), _) => return Err("a time needs a day, not a month or year".to_owned()),
        (Some(day), None, _) => day_period(day)?,
    };
    let ago = expression.ago.unwrap_or_default();
    Ok(Moment::Period {
        first: first_such_second(before(first, ago)?, &zone)?,
        last: last_such_second(before(last, ago)?, &zone)?,
    })
}

/// Calendar units are counted in local time, so that a day ago is the same time of day even if the clocks
/// changed.
fn time_ago(now: &Zoned, ago: Span) -> Result<Moment, String> {
    let then = now.checked_sub(ago).map_err(|_| too_far())?;
    Ok(Moment::Ago(then.timestamp().as_second()))
}

fn day_period(day: Day) -> Result<(DateTime, DateTime), String> {
    let (first, last) = match day {
        Day::Year(year) => {
            let first = Date::new(year, 1, 1).map_err(|_| too_far())?;
            (first, first.last_of_year())
        }
        Day::Month(month) => (month.first_of_month(), month.last_of_month()),
        Day::Week(first) => (first, first.checked_add(Span::new().days(6)).map_err(|_| too_far())?),
        Day::Date(day) | Day::PastMonth(day) => (day, day),
    };
    Ok((first.to_datetime(Time::midnight()), last_second(last)))
}

fn clock_period(day: Date, clock: Clock) -> Result<(DateTime, DateTime), String> {
    let at = |minute: i8, second: i8| {
        let time = Time::new(clock.hour, minute, second, 0)
            .map_err(|_| "there is no such time of day".to_owned())?;
        Ok::<DateTime, String>(day.to_datetime(time))
    };
    let first = at(clock.minute.unwrap_or(0), clock.second.unwrap_or(0))?;
    let last = at(clock.minute.unwrap_or(59), clock.second.unwrap_or(59))?;
    Ok((first, last))
}

fn last_second(day: Date) -> DateTime {
    day.at(23, 59, 59, 0)
}

fn before(time: DateTime, ago: Span) -> Result<DateTime, String> {
    time.checked_sub(ago).map_err(|_| too_far())
}

/// The first second with this local time; where clocks went forward over it, the same distance after the
/// jump.
fn first_such_second(time: DateTime, zone: &TimeZone) -> Result<i64, String> {
    let timestamp = zone.to_ambiguous_timestamp(time).compatible().map_err(|_| too_far())?;
    Ok(timestamp.as_second())
}

/// The last second with this local time: where clocks went back it comes twice.
fn last_such_second(time: DateTime, zone: &TimeZone) -> Result<i64, String> {
    let timestamp = zone.to_ambiguous_timestamp(time).later().map_err(|_| too_far())?;
    Ok(timestamp.as_second())
}

fn too_far() -> String {
    "that is too far from now".to_owned()
}
