//! Date expressions in words, or words mixed with digits. Input: one expression as typed. Output: its parts.
//! Knows nothing of ranges or of seconds since 1970.
//!
//! Words are parted by spaces, `_`, `,` and (next to letters) `-`; digits and letters part each other:
//! `5M2d`, `last_week`, `18-Nov-2009_02:19`, `two weeks ago`.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use jiff::civil::Date;
use jiff::tz::Offset;
use jiff::{Span, ToSpan, Zoned};

use super::digits::{self, Digits};
use super::moment::{Clock, Day, Expression, Fixed};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// From Sunday, on which weeks begin, as in notmuch.
const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

const NUMBERS: [(&str, i64); 14] = [
    ("a", 1),
    ("an", 1),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("dozen", 12),
    ("hundred", 100),
];

/// Shortest abbreviation of a month or weekday.
const NAME_LENGTH_MIN: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// What has been read so far.
struct Reader<'a> {
    now: &'a Zoned,
    expression: Expression,
    /// A number whose meaning the next word tells.
    number: Option<i64>,
    /// Whether the word before was `last` or `this`, and how many units back that is.
    back: Option<i64>,
    year: Option<i16>,
    month: Option<i8>,
    month_day: Option<i8>,
    weekday: Option<i64>,
}

/// Reads one expression, or says why it is not one.
pub(super) fn parse(text: &str, now: &Zoned) -> Result<Expression, String> {
    if let Some(seconds) = text.strip_prefix('@') {
        let second = seconds.parse().map_err(|_| "after \"@\" come seconds since 1970".to_owned())?;
        return Ok(Expression { fixed: Some(Fixed::Epoch(second)), ..Expression::default() });
    }
    let mut reader = Reader {
        now,
        expression: Expression::default(),
        number: None,
        back: None,
        year: None,
        month: None,
        month_day: None,
        weekday: None,
    };
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, '_' | ',')) {
        reader.word(word)?;
    }
    reader.finish(text)
}

impl Reader<'_> {
    fn word(&mut self, word: &str) -> Result<(), String> {
        if let Some(read) = digits::year_first(word) {
            return self.digits(read?);
        }
        if let Some((read, rest)) = digits::time_of_day(word) {
            self.digits(read?)?;
            return self.pieces(rest);
        }
        if let Some(day) = digits::year_last(word, self.now.year()) {
            return self.day(day?);
        }
        if let Some(zone) = digits::offset(word) {
            return self.zone(zone);
        }
        self.pieces(word)
    }

    /// Reads a word that has letters: runs of letters and runs of digits, with `-` between them or nothing.
    fn pieces(&mut self, word: &str) -> Result<(), String> {
        for part in word.split('-') {
            let mut rest = part;
            while let Some(first) = rest.chars().next() {
                let digit = first.is_ascii_digit();
                let length = rest.find(|c: char| c.is_ascii_digit() != digit).unwrap_or(rest.len());
                let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
                rest = after;
                if digit { self.number(piece)? } else { self.name(piece)? }
            }
        }
        Ok(())
    }

    fn digits(&mut self, read: Digits) -> Result<(), String> {
        match read.day {
            Some(Day::Year(year)) if read.clock.is_none() => set(&mut self.year, year)?,
            Some(day) => self.day(day)?,
            None => {}
        }
        if let Some(clock) = read.clock {
            set(&mut self.expression.clock, clock)?;
        }
        read.zone.map_or(Ok(()), |zone| self.zone(zone))
    }

    fn day(&mut self, day: Day) -> Result<(), String> {
        set(&mut self.expression.day, day)
    }

    fn zone(&mut self, zone: Offset) -> Result<(), String> {
        set(&mut self.expression.zone, zone)
    }

    fn number(&mut self, digits: &str) -> Result<(), String> {
        self.settle_number()?;
        if digits.len() == 4 && self.month.is_some() {
            return set(&mut self.year, digits.parse().map_err(|_| unknown(digits))?);
        }
        self.number = Some(digits.parse().map_err(|_| format!("{digits} is too large a number"))?);
        Ok(())
    }

    /// Reads a run of letters: names of days and months, units, and the small words around them.
    fn name(&mut self, name: &str) -> Result<(), String> {
        let lower = name.to_ascii_lowercase();
        if let Some(back) = self.back.take() {
            return self.named_period(back, &lower, name);
        }
        if self.number.is_some()
            && let Some(done) = self.name_after_number(&lower, name)
        {
            return done;
        }
        self.settle_number()?;
        if let Some((_, number)) = NUMBERS.iter().find(|(word, _)| *word == lower) {
            self.number = Some(*number);
            return Ok(());
        }
        let today = self.now.date();
        match lower.as_str() {
            "ago" if self.expression.ago.is_some() => Ok(()),
            "now" => set(&mut self.expression.fixed, Fixed::Now),
            "today" => self.day(Day::Date(today)),
            "yesterday" => self.day(Day::Date(days_before(today, 1)?)),
            "noon" => set(&mut self.expression.clock, Clock { hour: 12, minute: Some(0), second: None }),
            "midnight" => set(&mut self.expression.clock, Clock { hour: 0, minute: Some(0), second: None }),
            "am" | "pm" | "a.m." | "p.m." => self.half_day_of_clock(lower.starts_with('p')),
            "last" => set(&mut self.back, 1),
            "this" => set(&mut self.back, 0),
            "utc" | "gmt" | "z" => self.zone(Offset::UTC),
            _ => self.calendar_name(&lower, name),
        }
    }

    fn calendar_name(&mut self, lower: &str, name: &str) -> Result<(), String> {
        if let Some(month) = abbreviated(&MONTHS, lower) {
            set(&mut self.month, i8::try_from(month).unwrap_or(0).saturating_add(1))
        } else if let Some(weekday) = abbreviated(&WEEKDAYS, lower) {
            set(&mut self.weekday, i64::try_from(weekday).unwrap_or(0))
        } else if let Some(unit) = unit(name).filter(|_| name.len() >= NAME_LENGTH_MIN) {
            self.add_ago(1, unit)
        } else {
            Err(unknown(name))
        }
    }

    /// Reads what gives the number before it its meaning. `None` if the name does not.
    fn name_after_number(&mut self, lower: &str, name: &str) -> Option<Result<(), String>> {
        let number = self.number?;
        let done = match lower {
            "am" | "pm" | "a.m." | "p.m." => self.hour_of_half_day(number, lower.starts_with('p')),
            "st" | "nd" | "rd" | "th" => return Some(Ok(())),
            _ => {
                let unit = unit(name)?;
                self.add_ago(number, unit)
            }
        };
        self.number = None;
        Some(done)
    }

    fn hour_of_half_day(&mut self, hour: i64, afternoon: bool) -> Result<(), String> {
        let hour = half_day_hour(hour, afternoon)?;
        set(&mut self.expression.clock, Clock { hour, minute: Some(0), second: None })
    }

    /// Reads `pm` after `10:30`.
    fn half_day_of_clock(&mut self, afternoon: bool) -> Result<(), String> {
        let clock =
            self.expression.clock.as_mut().ok_or_else(|| "\"am\" and \"pm\" come after a time".to_owned())?;
        clock.hour = half_day_hour(clock.hour.into(), afternoon)?;
        Ok(())
    }

    /// Reads the word after `last` or `this`.
    fn named_period(&mut self, back: i64, lower: &str, name: &str) -> Result<(), String> {
        let today = self.now.date();
        if let Some(weekday) = abbreviated(&WEEKDAYS, lower).filter(|_| back == 1) {
            return set(&mut self.weekday, i64::try_from(weekday).unwrap_or(0));
        }
        let before = |span: Span| today.checked_sub(span).map_err(|_| too_far());
        let day = match unit(name).ok_or_else(|| unknown(name))? {
            Unit::Day => Day::Date(days_before(today, back)?),
            Unit::Week => {
                let since_sunday = i64::from(today.weekday().to_sunday_zero_offset());
                Day::Week(days_before(today, back.saturating_mul(7).saturating_add(since_sunday))?)
            }
            Unit::Month => Day::Month(before(back.months())?),
            Unit::Year => Day::Year(before(back.years())?.year()),
            unit if back == 1 => return self.add_ago(1, unit),
            _ => return Err(unknown(name)),
        };
        self.day(day)
    }

    fn add_ago(&mut self, number: i64, unit: Unit) -> Result<(), String> {
        let ago = self.expression.ago.get_or_insert_with(Span::new);
        let sum = |count: i64| count.checked_add(number).ok_or_else(too_far);
        let span = match unit {
            Unit::Second => ago.try_seconds(sum(ago.get_seconds())?),
            Unit::Minute => ago.try_minutes(sum(ago.get_minutes())?),
            Unit::Hour => ago.try_hours(sum(ago.get_hours().into())?),
            Unit::Day => ago.try_days(sum(ago.get_days().into())?),
            Unit::Week => ago.try_weeks(sum(ago.get_weeks().into())?),
            Unit::Month => ago.try_months(sum(ago.get_months().into())?),
            Unit::Year => ago.try_years(sum(ago.get_years().into())?),
        };
        *ago = span.map_err(|_| too_far())?;
        Ok(())
    }

    /// A number that nothing explained is the day of a month.
    fn settle_number(&mut self) -> Result<(), String> {
        let Some(number) = self.number.take() else { return Ok(()) };
        let day = i8::try_from(number).map_err(|_| format!("{number} is neither a date nor has a unit"))?;
        set(&mut self.month_day, day)
    }

    fn finish(mut self, text: &str) -> Result<Expression, String> {
        self.settle_number()?;
        if self.back.is_some() {
            return Err(unknown(text));
        }
        if let Some(month) = self.month {
            let day = digits::day(self.year.unwrap_or(self.now.year()), Some(month), self.month_day)?;
            self.day(day)?;
        } else if let Some(day) = self.month_day {
            return Err(format!("{day} is neither a date nor has a unit"));
        } else if let Some(year) = self.year {
            self.day(Day::Year(year))?;
        } else if let (Some(weekday), None) = (self.weekday, self.expression.day) {
            let today = self.now.date();
            let since_sunday = i64::from(today.weekday().to_sunday_zero_offset());
            // The last such day before today, at most a week ago: as in notmuch, today is not meant.
            let back = since_sunday.saturating_sub(weekday).saturating_sub(1).rem_euclid(7).saturating_add(1);
            self.day(Day::Date(days_before(today, back)?))?;
        }
        if self.expression.fixed.is_some()
            && (self.expression.day.is_some() || self.expression.clock.is_some())
        {
            return Err("\"now\" is a date and a time already".to_owned());
        }
        Ok(self.expression)
    }
}

fn half_day_hour(hour: i64, afternoon: bool) -> Result<i8, String> {
    let hour = i8::try_from(hour).ok().filter(|hour| (1..=12).contains(hour));
    let hour = hour.ok_or_else(|| "there is no such time of day".to_owned())?;
    Ok(match (hour, afternoon) {
        (12, true) => 12,
        (12, false) => 0,
        (hour, true) => hour.saturating_add(12),
        (hour, false) => hour,
    })
}

/// Units as mu has them (`m` is months, `M` minutes); longer ones may be cut short, as notmuch allows.
fn unit(name: &str) -> Option<Unit> {
    match name {
        "m" => return Some(Unit::Month),
        "M" => return Some(Unit::Minute),
        _ => {}
    }
    let lower = name.to_ascii_lowercase();
    let units = [
        ("seconds", Unit::Second),
        ("secs", Unit::Second),
        ("minutes", Unit::Minute),
        ("mins", Unit::Minute),
        ("hours", Unit::Hour),
        ("hrs", Unit::Hour),
        ("days", Unit::Day),
        ("weeks", Unit::Week),
        ("months", Unit::Month),
        ("years", Unit::Year),
        ("yrs", Unit::Year),
    ];
    units.into_iter().find(|(full, _)| full.starts_with(&lower)).map(|(_, unit)| unit)
}

fn abbreviated(names: &[&str], name: &str) -> Option<usize> {
    if name.len() < NAME_LENGTH_MIN { None } else { names.iter().position(|full| full.starts_with(name)) }
}

fn days_before(day: Date, count: i64) -> Result<Date, String> {
    day.checked_sub(count.days()).map_err(|_| too_far())
}

fn set<T>(part: &mut Option<T>, value: T) -> Result<(), String> {
    if part.replace(value).is_some() { Err("it says the same part twice".to_owned()) } else { Ok(()) }
}

fn unknown(word: &str) -> String {
    format!("\"{word}\" is not a date")
}

fn too_far() -> String {
    "that is too far from now".to_owned()
}
