//! The canonical form of a query, for `--analyze` and tests. Input: a tree. Output: text that parses to the
//! same tree, in a context with the same languages in which plain words are not stemmed
//! (`StemScope::Marked`). Knows nothing of how the query was typed.

use std::fmt::{self, Display, Formatter, Write};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::ast::{Leaf, Matcher, Pattern, Query, Target};
use crate::parse::lex::regex_literal;

/// Years that a date can be written with; other seconds are written as numbers.
const WRITTEN_YEARS: std::ops::RangeInclusive<i16> = 0..=9999;

impl Display for Query {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Query::All => formatter.write_char('*'),
            Query::And(children) => chain(children, "and", formatter),
            Query::Or(children) => chain(children, "or", formatter),
            Query::Xor(children) => chain(children, "xor", formatter),
            Query::Not(child) => {
                formatter.write_str("not ")?;
                operand(child, formatter)
            }
            Query::Leaf(leaf) => leaf.fmt(formatter),
        }
    }
}

impl Display for Leaf {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let name = match &self.target {
            Target::Fields(fields) => fields.name(),
            Target::Header(name) => Some(name.as_str()),
        };
        if let Some(name) = name {
            write!(formatter, "{name}:")?;
        }
        match &self.matcher {
            // A word that is also an operator needs quotation marks unless a field precedes it.
            Matcher::Words(words) => match words.as_slice() {
                [word] if name.is_some() || !is_operator(word) => formatter.write_str(word),
                words => write!(formatter, "\"{}\"", words.join(" ")),
            },
            Matcher::Prefix { before, last } if before.is_empty() => write!(formatter, "{last}*"),
            Matcher::Prefix { before, last } => write!(formatter, "\"{} {last}*\"", before.join(" ")),
            Matcher::Stem { word, .. } => write!(formatter, "~{word}"),
            Matcher::Suffix(end) => write!(formatter, "*{end}"),
            Matcher::Infix(part) => write!(formatter, "*{part}*"),
            Matcher::Regex(regex) => slashed(regex, formatter),
            Matcher::Value(pattern) => pattern.fmt(formatter),
            Matcher::DateRange { from, to } => range(from.map(Second), to.map(Second), formatter),
            Matcher::SizeRange { from, to } => range(*from, *to, formatter),
            Matcher::Flag(flag) => formatter.write_str(flag.name()),
            Matcher::Priority(priority) => formatter.write_str(priority.name()),
        }
    }
}

impl Display for Pattern {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Whole(text) => quoted(text, formatter),
            Pattern::Start(text) => {
                if !text.is_empty() {
                    quoted(text, formatter)?;
                }
                formatter.write_char('*')
            }
            Pattern::End(text) => {
                formatter.write_char('*')?;
                quoted(text, formatter)
            }
            Pattern::Anywhere(text) => {
                formatter.write_char('*')?;
                quoted(text, formatter)?;
                formatter.write_char('*')
            }
            Pattern::Below(text) if text.is_empty() => formatter.write_str("**"),
            Pattern::Below(text) => {
                quoted(text, formatter)?;
                formatter.write_str(if text.ends_with('/') { "**" } else { "/**" })
            }
            Pattern::WholeElseRegex(text) => slashed(text, formatter),
        }
    }
}

/// A second as text: an ISO date in UTC that means this second alone.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Second(i64);

impl Display for Second {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let timestamp = Timestamp::from_second(self.0).ok();
        let utc = timestamp.map(|timestamp| timestamp.to_zoned(TimeZone::UTC));
        match utc.filter(|utc| WRITTEN_YEARS.contains(&utc.year())) {
            Some(utc) => write!(formatter, "{}", utc.strftime("%Y-%m-%dT%H:%M:%SZ")),
            None => write!(formatter, "@{}", self.0),
        }
    }
}

fn chain(children: &[Query], operator: &str, formatter: &mut Formatter<'_>) -> fmt::Result {
    for (index, child) in children.iter().enumerate() {
        if index > 0 {
            write!(formatter, " {operator} ")?;
        }
        operand(child, formatter)?;
    }
    Ok(())
}

/// Writes parentheses around every operator with children, so that readers need not know the precedence.
fn operand(query: &Query, formatter: &mut Formatter<'_>) -> fmt::Result {
    match query {
        Query::And(_) | Query::Or(_) | Query::Xor(_) => write!(formatter, "({query})"),
        Query::All | Query::Not(_) | Query::Leaf(_) => query.fmt(formatter),
    }
}

fn range<T: Display + PartialEq>(
    from: Option<T>,
    to: Option<T>,
    formatter: &mut Formatter<'_>,
) -> fmt::Result {
    match (from, to) {
        (Some(from), Some(to)) if from == to => from.fmt(formatter),
        (Some(from), Some(to)) => write!(formatter, "{from}..{to}"),
        (Some(from), None) => write!(formatter, "{from}.."),
        (None, Some(to)) => write!(formatter, "..{to}"),
        (None, None) => formatter.write_str(".."),
    }
}

/// Writes a regular expression. Adds quotation marks if it would be misread without them: as ending early, or
/// as an address (`file://`).
fn slashed(regex: &str, formatter: &mut Formatter<'_>) -> fmt::Result {
    let plain = format!("/{regex}/");
    if !regex.starts_with('/') && regex_literal(&plain) == Some((regex, plain.len())) {
        formatter.write_str(&plain)
    } else {
        write!(formatter, "\"/{}/\"", regex.replace('"', "\"\""))
    }
}

/// Writes a value, with quotation marks and escapes where a character could be read as more than itself.
fn quoted(text: &str, formatter: &mut Formatter<'_>) -> fmt::Result {
    let is_plain = |c: char| c.is_alphanumeric() || "._-@/+=$%&~!,;'#".contains(c);
    let like_regex = text.len() > 1 && text.starts_with('/') && text.ends_with('/');
    if !text.is_empty() && text.chars().all(is_plain) && !like_regex {
        return formatter.write_str(text);
    }
    formatter.write_char('"')?;
    for (index, c) in text.char_indices() {
        if matches!(c, '"' | '\\' | '*') || (index == 0 && like_regex) {
            formatter.write_char('\\')?;
        }
        formatter.write_char(c)?;
    }
    formatter.write_char('"')
}

fn is_operator(word: &str) -> bool {
    matches!(word, "and" | "or" | "xor" | "not")
}
