//! The line that begins a message in an mbox: `From SENDER DATE`.
//!
//! Input: lines, untrusted. Output: whether a line begins a message, and the date in it. Pure.
//!
//! Text may have such lines, too, because some programs quote none. So a line without a date, or with text
//! after it that is no header, is taken for text.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::trim_cr;
use crate::header::dates::parse_date;

/// How a line begins that begins a message.
pub(super) const FROM: &[u8] = b"From ";
/// A longer line begins no message. Addresses have 320 bytes at most.
pub(super) const LINE_BYTES_MAX: usize = 1024;
/// Git writes this date into each mail of a patch. It says nothing about the patch.
const DATE_OF_GIT: i64 = 1_000_684_800;

/// What a line `From ` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// It has a sender and a date, in seconds since 1970, or a date alone.
    Dated(i64),
    /// It has no date: Thunderbird writes only `From `, and `From -`.
    Bare,
    /// It is text.
    Text,
}

/// Which lines `From ` an mbox has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separators {
    /// Those of known programs. Text may have other ones.
    Known,
    /// Any: text has none, because they are quoted there, or even the first one is of no known program.
    Any,
}

impl Separators {
    /// Returns which lines an mbox has that begins with this one.
    pub(super) fn after(first: &[u8]) -> Separators {
        if form(first) == Form::Text { Separators::Any } else { Separators::Known }
    }
}

/// Returns whether `bytes`, from the beginning of a line, begin with a line that begins a message. Two whole
/// lines of bytes are enough.
pub(super) fn begins_message(bytes: &[u8], is_after_empty_line: bool, separators: Separators) -> bool {
    if !bytes.starts_with(FROM) {
        return false;
    }
    let Some((line, rest)) = first_line(bytes) else { return false };
    let is_any = separators == Separators::Any && is_after_empty_line;
    match form(line) {
        Form::Text => is_any && begins_header(rest),
        Form::Dated(_) if is_any => true,
        Form::Bare => is_after_empty_line && begins_header(rest),
        Form::Dated(_) if is_after_empty_line => {
            begins_header(rest) || is_empty_line(rest) || rest.is_empty()
        }
        Form::Dated(_) => begins_header(rest),
    }
}

/// Returns the date of a line `From `, in seconds since 1970, if it has one that says when a message came.
/// Programs that know no date write the first second of 1970, and Git one of its own.
pub(super) fn date(line: &[u8]) -> Option<i64> {
    match form(line) {
        Form::Dated(seconds) if seconds > 0 && seconds != DATE_OF_GIT => Some(seconds),
        _ => None,
    }
}

/// Returns the first line without its end, and what follows it.
pub(super) fn first_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let seen = bytes.get(..LINE_BYTES_MAX).unwrap_or(bytes);
    match memchr::memchr(b'\n', seen) {
        Some(end) => {
            let rest = bytes.get(end.saturating_add(1)..).unwrap_or_default();
            Some((trim_cr(bytes.get(..end).unwrap_or_default()), rest))
        }
        None if seen.len() < bytes.len() => None,
        None => Some((trim_cr(seen), &[])),
    }
}

/// Returns whether bytes begin with an empty line.
fn is_empty_line(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\n") || bytes.starts_with(b"\r\n")
}

/// Returns whether bytes begin with a header field, or with the line of an older mbox.
fn begins_header(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    let is_field = name.len() < line.len() && !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    is_field || line.starts_with(b">From ")
}

fn form(line: &[u8]) -> Form {
    let text = String::from_utf8_lossy(line.get(FROM.len()..).unwrap_or_default());
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    for place in 0..words.len() {
        let rest = words.get(place..).unwrap_or_default();
        if is_asctime(rest) || is_of_header(rest) {
            // "remote from HOST" may follow.
            let date = rest.get(..rest.len().min(7)).unwrap_or_default().join(" ");
            return parse_date(date.as_bytes()).map_or(Form::Text, Form::Dated);
        }
    }
    match words.as_slice() {
        [] | ["-"] => Form::Bare,
        [sender] if sender.contains('@') => Form::Bare,
        _ => Form::Text,
    }
}

/// Returns whether words begin with a date as asctime writes it: `Mon Jan  1 10:20:30 2024`, perhaps with a
/// zone before or after the year, or without seconds.
fn is_asctime(words: &[&str]) -> bool {
    let [weekday, month, day, time, rest @ ..] = words else { return false };
    is_one_of(weekday, &WEEKDAYS)
        && is_one_of(month, &MONTHS)
        && is_day(day)
        && is_time(time)
        && rest.iter().take(3).any(|word| is_year(word))
}

/// Returns whether words begin with a date as headers have it: `Mon, 1 Jan 2024 10:20:30 +0000`.
fn is_of_header(words: &[&str]) -> bool {
    let [weekday, day, month, year, time, ..] = words else { return false };
    weekday.strip_suffix(',').is_some_and(|weekday| is_one_of(weekday, &WEEKDAYS))
        && is_day(day)
        && is_one_of(month, &MONTHS)
        && is_year(year)
        && is_time(time)
}

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn is_one_of(word: &str, names: &[&str]) -> bool {
    names.contains(&word)
}

fn is_number(word: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_day(word: &str) -> bool {
    is_number(word, 1..=2)
}

fn is_year(word: &str) -> bool {
    is_number(word, 4..=4)
}

fn is_time(word: &str) -> bool {
    let count = word.split(':').count();
    (2..=3).contains(&count) && word.split(':').all(|part| is_number(part, 1..=2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_programs_are_read() {
        for line in [
            "From ana@example.org Mon Jan  5 10:00:00 2004",
            "From - Mon Jan  5 10:00:00 2004\r",
            "From ana Mon Jan  5 10:00 2004",
            "From 1566789012345678901@xxx Mon Jan 05 10:00:00 +0000 2004",
            "From ana Mon Jan  5 05:00:00 EST 2004",
            "From ana Mon Jan  5 05:00:00 2004 -0500",
            "From ana Mon, 5 Jan 2004 10:00:00 +0000",
            "From \"a b\"@x Mon Jan  5 10:00:00 2004",
            "From MAILER-DAEMON Mon Jan  5 10:00:00 2004",
            "From ana Mon Jan  5 10:00:00 2004 remote from host",
        ] {
            assert_eq!(date(trim_cr(line.as_bytes())), Some(1_073_296_800), "{line}");
        }
        for line in [
            "From mboxrd@z Thu Jan  1 00:00:00 1970",
            "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001",
            "From ",
            "From -",
            "From ana@example.org",
        ] {
            assert_eq!(date(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn text_begins_no_message() {
        let after = |line: &str, next: &str, is_after_empty: bool| {
            begins_message(format!("{line}\n{next}").as_bytes(), is_after_empty, Separators::Known)
        };
        let dated = "From ana Mon Jan  5 10:00:00 2004";
        for (line, next, after_empty, after_text) in [
            (dated, "Subject: x\n", true, true),
            (dated, ">From ana Mon\n", true, true),
            (dated, "\n", true, false),
            (dated, "", true, false),
            (dated, "we went home\n", false, false),
            ("From \r", "X-Mozilla-Status: 0001\r\n", true, false),
            ("From - ", "Subject: x\n", true, false),
            ("From -", "text\n", false, false),
            ("From ana@x", "Subject: x\n", true, false),
            ("From here on", "Subject: x\n", false, false),
            ("From Monday 5 Jan 2004, 10:00 on", "Subject: x\n", false, false),
            ("From Mon Jan 5 on we are at home", "Note: x\n", false, false),
            ("From: ana", "Subject: x\n", false, false),
            ("From", "Subject: x\n", false, false),
        ] {
            assert_eq!(after(line, next, true), after_empty, "{line:?}, {next:?}");
            assert_eq!(after(line, next, false), after_text, "{line:?}, {next:?} after text");
        }
        let long = format!("From {}@x Mon Jan  5 10:00:00 2004", "a".repeat(LINE_BYTES_MAX));
        assert!(!after(&long, "Subject: x\n", true));
    }

    #[test]
    fn unusual_lines_begin_messages_where_the_first_one_is_unusual_or_text_has_none() {
        for line in
            ["From a@b 2024-01-01T10:20:30Z", "From a@b Mo Jan  1 10:20:30 2024", "From MAILER-DAEMON"]
        {
            assert_eq!(Separators::after(line.as_bytes()), Separators::Any, "{line}");
            let begins = |next: &str, is_after_empty| {
                begins_message(format!("{line}\n{next}").as_bytes(), is_after_empty, Separators::Any)
            };
            assert!(begins("Subject: x\n", true) && !begins("Subject: x\n", false), "{line}");
            assert!(!begins("we went home\n", true), "{line}");
        }
        let dated = "From ana Mon Jan  5 10:00:00 2004";
        assert_eq!(Separators::after(dated.as_bytes()), Separators::Known);
        let odd = format!("{dated}\nSubject : x\n");
        assert!(begins_message(odd.as_bytes(), true, Separators::Any));
        assert!(!begins_message(odd.as_bytes(), true, Separators::Known));
    }
}
