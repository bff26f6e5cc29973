//! Dates and times written in digits. Input: one word of a date expression. Output: day, time of day, offset
//! from UTC. Knows neither the current time nor the names of months.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use jiff::civil::Date;
use jiff::tz::Offset;

use super::moment::{Clock, Day};

/// The meaning of a word in digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digits {
    pub(super) day: Option<Day>,
    pub(super) clock: Option<Clock>,
    pub(super) zone: Option<Offset>,
}

/// Reads a date that begins with its year, most significant part first, as mu does: `2024`, `202403`,
/// `2024-03-05`, `2024.03.05`, `20240305T1030`, `2024-03-05T10:30:00Z`. Returns `None` if the word is not
/// such a date.
pub(super) fn year_first(word: &str) -> Option<Result<Digits, String>> {
    let year_length = count_digits(word);
    let after = word.get(year_length..)?.chars().next();
    let goes_on = after.is_none_or(|c| is_separator(c) || matches!(c, 'Z' | 'z' | '+'));
    (year_length >= 4 && goes_on).then(|| year_first_parts(word))
}

fn year_first_parts(word: &str) -> Result<Digits, String> {
    let odd = || {
        format!("\"{word}\" is not year, month, day, hour, minute and second, two digits each but the year")
    };
    let (year, mut rest) = word.split_at_checked(4).ok_or_else(odd)?;
    let mut parts: Vec<i8> = Vec::new();
    let mut zone = None;
    // After the year's four digits the rest of its run, then runs with something between them.
    loop {
        let run_length = count_digits(rest);
        let (run, after) = rest.split_at_checked(run_length).ok_or_else(odd)?;
        push_pairs(run, &mut parts).ok_or_else(odd)?;
        rest = after;
        if rest.is_empty() {
            break;
        }
        let at_zone =
            parts.len() >= 3 && (rest.starts_with(['Z', 'z', '+']) || looks_like_west(rest, parts.len()));
        if at_zone {
            zone = Some(offset(rest).ok_or_else(odd)?);
            break;
        }
        let mut chars = rest.chars();
        if !chars.next().is_some_and(is_separator)
            || !chars.as_str().starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(odd());
        }
        rest = chars.as_str();
    }
    let year = year.parse().map_err(|_| odd())?;
    let mut parts = parts.into_iter();
    let day = day(year, parts.next(), parts.next())?;
    let clock = parts.next().map(|hour| clock(hour, parts.next(), parts.next())).transpose()?;
    if parts.next().is_some() {
        return Err(odd());
    }
    Ok(Digits { day: Some(day), clock, zone })
}

/// Reads a time of day, as notmuch does: `17:05`, `9:15:30`, with an offset right after it if there is one.
/// Other text after the digits (`pm`) is returned too.
pub(super) fn time_of_day(word: &str) -> Option<(Result<Digits, String>, &str)> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) || !word.contains(':') {
        return None;
    }
    let mut parts: Vec<i8> = Vec::new();
    let mut rest = word;
    loop {
        let (run, after) = rest.split_at_checked(count_digits(rest))?;
        if run.is_empty() || run.len() > 2 {
            return None;
        }
        parts.push(run.parse().ok()?);
        rest = after;
        let Some(more) = rest.strip_prefix(':') else { break };
        rest = more;
    }
    let &[hour, minute] = parts.get(..2)? else { return None };
    let second = parts.get(2).copied();
    if parts.len() > 3 {
        return None;
    }
    let read =
        |zone| clock(hour, Some(minute), second).map(|clock| Digits { day: None, clock: Some(clock), zone });
    Some(match offset(rest) {
        Some(zone) => (read(Some(zone)), ""),
        None => (read(None), rest),
    })
}

/// Reads the other orders that notmuch knows: `31-07-2012`, `07-2012`, `7/31/2012`, `7/2012`, `31.7.2012`;
/// without the year, this year's.
pub(super) fn year_last(word: &str, this_year: i16) -> Option<Result<Day, String>> {
    let separator = word.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let mut parts: Vec<&str> = word.split(separator).collect();
    if separator == '.' && parts.last() == Some(&"") {
        parts.pop();
    }
    let numeric =
        |part: &&str| !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
    if !parts.iter().all(numeric) {
        return None;
    }
    let small = |part: &str| if part.len() <= 2 { part.parse::<i8>().ok() } else { None };
    Some(match *parts.as_slice() {
        [month, year] if year.len() == 4 && separator != '.' => {
            day(short_year(year)?, Some(small(month)?), None)
        }
        [first, second, ref year @ ..] if year.len() <= 1 => {
            let year = year.first().map_or(Some(this_year), |year| short_year(year))?;
            let (month, number) = if separator == '/' { (first, second) } else { (second, first) };
            day(year, Some(small(month)?), Some(small(number)?))
        }
        _ => return None,
    })
}

/// Reads an offset from UTC: `Z`, `+01:00`, `-0800`, `+2`.
pub(super) fn offset(word: &str) -> Option<Offset> {
    if word.eq_ignore_ascii_case("z") {
        return Some(Offset::UTC);
    }
    let (sign, rest) = match word.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, word.strip_prefix('-')?),
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return None,
        None if rest.len() == 4 => rest.split_at_checked(2)?,
        None => (rest, "0"),
    };
    let number = |digits: &str| {
        let fits = matches!(digits.len(), 1 | 2) && digits.bytes().all(|b| b.is_ascii_digit());
        if fits { digits.parse::<i32>().ok() } else { None }
    };
    let (hours, minutes) = (number(hours)?, number(minutes).filter(|minutes| *minutes < 60)?);
    let seconds = hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?.checked_mul(sign)?;
    Offset::from_seconds(seconds).ok()
}

/// Returns the day, month or year; a day that the month does not have is its last second, as in mu.
pub(super) fn day(year: i16, month: Option<i8>, day: Option<i8>) -> Result<Day, String> {
    let Some(month) = month else { return Ok(Day::Year(year)) };
    let first = Date::new(year, month, 1).map_err(|_| format!("there is no month {month}"))?;
    match day {
        None => Ok(Day::Month(first)),
        Some(day @ 1..=31) => {
            Ok(Date::new(year, month, day).map_or(Day::PastMonth(first.last_of_month()), Day::Date))
        }
        Some(day) => Err(format!("there is no day {day} in a month")),
    }
}

/// Returns the time of day if there is one.
pub(super) fn clock(hour: i8, minute: Option<i8>, second: Option<i8>) -> Result<Clock, String> {
    let fits = (0..24).contains(&hour)
        && (0..60).contains(&minute.unwrap_or(0))
        && (0..60).contains(&second.unwrap_or(0));
    if fits { Ok(Clock { hour, minute, second }) } else { Err("there is no such time of day".to_owned()) }
}

/// Returns the year of two or four digits; 70 to 99 are of the last century.
fn short_year(digits: &str) -> Option<i16> {
    let year: i16 = digits.parse().ok()?;
    match (digits.len(), year) {
        (4, _) => Some(year),
        (2, 70..) => year.checked_add(1900),
        (2, _) => year.checked_add(2000),
        _ => None,
    }
}

fn push_pairs(run: &str, parts: &mut Vec<i8>) -> Option<()> {
    if run.len() == 1 {
        parts.push(run.parse().ok()?);
        return Some(());
    }
    let mut rest = run;
    while !rest.is_empty() {
        let (pair, after) = rest.split_at_checked(2)?;
        parts.push(pair.parse().ok()?);
        rest = after;
    }
    Some(())
}

/// Returns whether a minus begins an offset: after minutes or seconds, with hours and minutes and nothing
/// more.
fn looks_like_west(rest: &str, part_count: usize) -> bool {
    part_count >= 4 && rest.starts_with('-') && matches!(rest.len(), 5 | 6) && offset(rest).is_some()
}

fn is_separator(c: char) -> bool {
    matches!(c, '-' | '/' | '.' | ':' | 'T' | 't')
}

fn count_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}
