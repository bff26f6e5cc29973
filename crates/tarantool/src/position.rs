//! A position in logs: a row's number, a VClock, or a time.
//!
//! Input: text, rows. Output: whether a row comes before the position. Does not know files.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::file::row::Row;
use crate::text::{seconds_of_text, time_of_seconds};
use crate::vclock::VClock;
use std::fmt;

/// A place in a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Position {
    /// The number of a row. That row does not come before it.
    Lsn(i64),
    /// The number of the last row of each replica. These rows come before it.
    Clock(VClock),
    /// A time, in seconds since 1970. Rows of that time do not come before it.
    Time(f64),
}

impl Position {
    /// Reads a number, `{1: 5, 2: 7}`, a date or time, or `@` and seconds since 1970.
    pub fn parse(text: &str) -> Option<Position> {
        if text.starts_with('{') {
            return VClock::parse(text).map(Position::Clock);
        }
        if let Some(seconds) = text.strip_prefix('@') {
            return seconds.parse().ok().filter(|seconds: &f64| seconds.is_finite()).map(Position::Time);
        }
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match is_number {
            true => text.parse().ok().map(Position::Lsn),
            false => seconds_of_text(text).map(Position::Time),
        }
    }

    /// Returns whether a row of a log comes at this position or later. A row that a VClock includes comes
    /// before it.
    pub(crate) fn is_reached_by(&self, row: &Row) -> bool {
        match self {
            Position::Lsn(lsn) => row.lsn >= *lsn,
            Position::Time(seconds) => row.timestamp >= *seconds,
            Position::Clock(clock) => row.lsn > clock.get(row.replica),
        }
    }

    /// Returns whether rows up to `clock` all come before this position. A time says nothing about that.
    /// Rows that are not replicated have numbers of their own: they count only in a VClock that has them.
    pub(crate) fn is_after_clock(&self, clock: &VClock) -> bool {
        clock.iter().filter(|(replica, _)| self.counts(*replica)).all(|(replica, lsn)| match self {
            Position::Lsn(first) => lsn < *first,
            Position::Clock(last) => lsn <= last.get(replica),
            Position::Time(_) => true,
        })
    }

    /// Returns whether the rows of a replica have a place relative to this position. Replica 0 stands for
    /// rows that are not replicated.
    pub(crate) fn counts(&self, replica: u32) -> bool {
        match self {
            Position::Lsn(_) => replica != 0,
            Position::Clock(clock) => replica != 0 || clock.get(0) > 0,
            Position::Time(_) => true,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Lsn(lsn) => write!(formatter, "LSN {lsn}"),
            Position::Clock(clock) => write!(formatter, "{{{clock}}}"),
            Position::Time(seconds) => match time_of_seconds(*seconds) {
                Some(time) => formatter.write_str(&time),
                None => write!(formatter, "@{seconds}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_in_several_forms() {
        let clock = VClock::parse("{1: 5}").unwrap();
        for (text, position) in [
            ("17", Some(Position::Lsn(17))),
            ("{1: 5}", Some(Position::Clock(clock))),
            ("@1.5", Some(Position::Time(1.5))),
            ("1970-01-02", Some(Position::Time(86_400.0))),
            ("{1}", None),
            ("@x", None),
            ("@nan", None),
            ("-5", None),
            ("", None),
        ] {
            assert_eq!(Position::parse(text), position, "{text}");
        }
    }

    #[test]
    fn rows_that_are_not_replicated_count_only_where_a_clock_has_them() {
        let clock = |text: &str| VClock::parse(text).unwrap();
        for (position, rows, expected) in [
            ("5", "{0: 9, 1: 4}", true),
            ("5", "{1: 5}", false),
            ("{1: 5}", "{0: 9, 1: 5}", true),
            ("{0: 8, 1: 5}", "{0: 9, 1: 5}", false),
            ("{1: 5}", "{1: 5, 2: 1}", false),
            ("@1", "{1: 5}", true),
        ] {
            let position = Position::parse(position).unwrap();
            assert_eq!(position.is_after_clock(&clock(rows)), expected, "{position} {rows}");
        }
    }
}
