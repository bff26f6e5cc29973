//! A policy: how many snapshots to keep, and how to group them.
//!
//! Parses text such as `7`, `unlimited`, `1y5m7d2h` and `host,paths`. Does not depend on snapshots.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// Which snapshots of a group are kept: each that any of these rules keeps. Without any rule, all are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The newest ones.
    pub last: Count,
    /// The newest one of each of the newest hours that have one.
    pub hourly: Count,
    /// The same of days.
    pub daily: Count,
    /// The same of weeks, which begin on Monday.
    pub weekly: Count,
    /// The same of months.
    pub monthly: Count,
    /// The same of years.
    pub yearly: Count,
    /// All within this span before the newest one.
    pub within: Span,
    /// The newest one of each hour within this span before the newest one.
    pub within_hourly: Span,
    /// The same of days.
    pub within_daily: Span,
    /// The same of weeks.
    pub within_weekly: Span,
    /// The same of months.
    pub within_monthly: Span,
    /// The same of years.
    pub within_yearly: Span,
    /// All with all tags of one of these lists. An empty tag is that of a snapshot that has none.
    pub tags: Vec<Vec<String>>,
}

impl Policy {
    /// Returns whether there is no rule.
    pub fn is_empty(&self) -> bool {
        *self == Policy::default()
    }
}

/// How many are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// At most this many.
    Some(u32),
    /// As many as there are.
    All,
}

impl Default for Count {
    fn default() -> Count {
        Count::Some(0)
    }
}

/// A time by the calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Years.
    pub years: u32,
    /// Months.
    pub months: u32,
    /// Days.
    pub days: u32,
    /// Hours.
    pub hours: u32,
}

/// The properties that group snapshots: each group has its own newest snapshot, its own hours and days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupBy {
    /// By host.
    pub host: bool,
    /// By what was backed up.
    pub paths: bool,
    /// By tags.
    pub tags: bool,
}

impl Default for GroupBy {
    fn default() -> GroupBy {
        GroupBy { host: true, paths: true, tags: false }
    }
}

/// A text that is not a valid rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPolicy {
    /// No count.
    #[error("\"{0}\" is not a number of snapshots: give a number, or \"unlimited\"")]
    Count(String),
    /// No time.
    #[error("\"{0}\" is not a time span: give years, months, days, hours as in 1y5m7d2h")]
    Span(String),
    /// Nothing to group by.
    #[error("snapshots cannot be grouped by \"{0}\": give host, paths or tags, separated by commas")]
    GroupBy(String),
}

impl FromStr for Count {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Count, NotAPolicy> {
        match text {
            // The number is what older versions of restic take.
            "unlimited" | "-1" => Ok(Count::All),
            _ => text.parse().map(Count::Some).map_err(|_| NotAPolicy::Count(text.to_owned())),
        }
    }
}

impl Span {
    /// Returns whether it has no length.
    pub fn is_empty(&self) -> bool {
        *self == Span::default()
    }
}

impl FromStr for Span {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Span, NotAPolicy> {
        let wrong = || NotAPolicy::Span(text.to_owned());
        let mut span = Span::default();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let unit = rest.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(wrong)?;
            let (number, behind) = rest.split_at(unit);
            let number = number.parse().map_err(|_| wrong())?;
            let mut letters = behind.chars();
            match letters.next() {
                Some('y') => span.years = number,
                Some('m') => span.months = number,
                Some('d') => span.days = number,
                Some('h') => span.hours = number,
                _ => return Err(wrong()),
            }
            rest = letters.as_str();
        }
        Ok(span)
    }
}

impl Display for Span {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        for (number, unit) in [(self.years, 'y'), (self.months, 'm'), (self.days, 'd'), (self.hours, 'h')] {
            if number > 0 {
                write!(formatter, "{number}{unit}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for GroupBy {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<GroupBy, NotAPolicy> {
        let mut group_by = GroupBy { host: false, paths: false, tags: false };
        for word in text.split(',') {
            match word {
                "host" | "hosts" => group_by.host = true,
                "path" | "paths" => group_by.paths = true,
                "tag" | "tags" => group_by.tags = true,
                "" => {}
                _ => return Err(NotAPolicy::GroupBy(word.to_owned())),
            }
        }
        Ok(group_by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        assert_eq!("7".parse(), Ok(Count::Some(7)));
        assert_eq!(("unlimited".parse(), "-1".parse()), (Ok(Count::All), Ok(Count::All)));
        for text in ["", "-2", "all", "4294967296"] {
            assert_eq!(text.parse::<Count>(), Err(NotAPolicy::Count(text.to_owned())));
        }
    }

    #[test]
    fn spans_there_and_back() {
        let span = |text: &str| text.parse::<Span>();
        assert_eq!(span("1y5m7d2h"), Ok(Span { years: 1, months: 5, days: 7, hours: 2 }));
        assert_eq!(span(" 2h1y ").unwrap().to_string(), "1y2h");
        assert_eq!((span("").unwrap().is_empty(), span("0d").unwrap().is_empty()), (true, true));
        assert!(!span("1h").unwrap().is_empty());
        for text in ["1", "y", "1w", "-1d", "1d2", "99999999999d", "1é"] {
            assert_eq!(span(text), Err(NotAPolicy::Span(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_to_group_by() {
        let group_by = |host, paths, tags| Ok(GroupBy { host, paths, tags });
        assert_eq!("".parse(), group_by(false, false, false));
        assert_eq!("host,paths".parse::<GroupBy>(), Ok(GroupBy::default()));
        assert_eq!("tags,path".parse(), group_by(false, true, true));
        assert_eq!("host,day".parse::<GroupBy>(), Err(NotAPolicy::GroupBy("day".to_owned())));
    }
}
