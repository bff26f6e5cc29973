//! What can be wrong with a query. Input: the problem and its place. Output: a sentence, the query with
//! carets below the place, and a suggestion. Knows nothing of how queries are parsed.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::fmt;
use std::ops::Range;

use crate::flags::FLAGS;
use crate::limits;
use crate::pointed::{pointed, printable};

/// A query that cannot be answered, with the position of the mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The whole query: as typed, or the saved query with the mistake.
    pub query: String,
    /// The name of the saved query, if it is one.
    pub saved: Option<String>,
    /// The place, in bytes of the query.
    pub span: Range<usize>,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text before a colon looks like a mistyped field name.
    #[error("there is no field \"{typed}\"")]
    UnknownField {
        /// As typed.
        typed: String,
        /// The name that is nearest.
        nearest: String,
    },
    /// A field of another program.
    #[error("there is no field \"{typed}\"")]
    ForeignField {
        /// As typed.
        typed: String,
        /// How to write the term here; `None` if nothing here means the same.
        here: Option<String>,
    },
    /// A feature of mu or notmuch that this language lacks.
    #[error("{what} is not supported")]
    Unsupported {
        /// What it is.
        what: String,
    },
    /// A field without a value.
    #[error("expected a value right after \"{field}:\"")]
    MissingValue {
        /// As typed.
        field: String,
    },
    /// Not the name of a saved query.
    #[error("there is no saved query \"{typed}\"")]
    UnknownQuery {
        /// As typed.
        typed: String,
        /// The name that is nearest, if one is near.
        nearest: Option<String>,
    },
    /// A saved query that refers to itself.
    #[error("the saved query \"{name}\" refers to itself{}", by_way_of(others))]
    CircularQuery {
        /// Its name.
        name: String,
        /// The queries in between, in order.
        others: Vec<String>,
    },
    /// A field inside another's parentheses.
    #[error("expected values only: the parentheses already belong to \"{outer}:\"")]
    FieldInGroup {
        /// The field before the parentheses, as typed.
        outer: String,
    },
    /// Nothing to the left of an operator.
    #[error("expected a term before \"{operator}\"")]
    MissingLeft {
        /// As typed.
        operator: String,
    },
    /// Nothing to the right of an operator.
    #[error("expected a term after \"{operator}\"")]
    MissingRight {
        /// As typed.
        operator: String,
    },
    /// Parentheses around nothing.
    #[error("expected a term between the parentheses")]
    EmptyParentheses,
    /// A parenthesis that nothing closes.
    #[error("expected a \")\" for this \"(\"")]
    UnclosedParenthesis,
    /// A parenthesis of a regular expression that nothing closes.
    #[error("expected a \")\" for this \"(\" in the regular expression")]
    UnclosedGroup,
    /// A parenthesis that nothing opened.
    #[error("expected no \")\" here: no \"(\" is open")]
    UnexpectedClose,
    /// A quotation mark that nothing closes.
    #[error("expected another quotation mark for this one")]
    UnclosedQuote,
    /// A term without a letter or digit.
    #[error("expected a letter or digit: nothing else is searched for in text")]
    NoWords,
    /// A star in the middle.
    #[error("expected \"*\" at the start or end only")]
    StarInside,
    /// A star in front of, or around, more than one word.
    #[error("expected one word after \"*\", not {count}")]
    StarOverWords {
        /// How many there are.
        count: usize,
    },
    /// A `~` before something else than one whole word.
    #[error("expected one whole word after \"~\"")]
    StemOfMany,
    /// A `~` before a parenthesis.
    #[error("expected a word right after \"~\"")]
    StemOfGroup,
    /// A matcher that the field does not take.
    #[error("\"{field}:\" takes no {what}")]
    NotForField {
        /// As typed.
        field: String,
        /// What it does not take.
        what: &'static str,
    },
    /// Not a date or range of dates.
    #[error("expected a date: {reason}")]
    BadDate {
        /// What is wrong with it.
        reason: String,
    },
    /// Not a size or range of sizes.
    #[error("expected a size: {reason}")]
    BadSize {
        /// What is wrong with it.
        reason: String,
    },
    /// Not a flag.
    #[error("there is no flag \"{typed}\"")]
    UnknownFlag {
        /// As typed.
        typed: String,
        /// The name that is nearest, if one is near.
        nearest: Option<&'static str>,
    },
    /// Not a priority.
    #[error("there is no priority \"{typed}\"")]
    UnknownPriority {
        /// As typed.
        typed: String,
    },
    /// A regular expression that does not compile. Reported by the code that evaluates the query.
    #[error("the regular expression cannot be used: {reason}")]
    BadRegex {
        /// What is wrong with it.
        reason: String,
    },
    /// Longer than `QUERY_BYTES_MAX`.
    #[error("the query has {bytes} bytes, more than {}", limits::QUERY_BYTES_MAX)]
    QueryTooLong {
        /// How long it is.
        bytes: usize,
    },
    /// More than `TERM_COUNT_MAX`.
    #[error("the query has more than {} terms", limits::TERM_COUNT_MAX)]
    TooManyTerms,
    /// Deeper than `NESTING_DEPTH_MAX`.
    #[error("parentheses are nested more than {} deep", limits::NESTING_DEPTH_MAX)]
    TooDeep,
    /// More than `PHRASE_WORD_COUNT_MAX`.
    #[error("the phrase has more than {} words", limits::PHRASE_WORD_COUNT_MAX)]
    PhraseTooLong,
    /// Longer than `REGEX_BYTES_MAX`.
    #[error("the regular expression has more than {} bytes", limits::REGEX_BYTES_MAX)]
    RegexTooLong,
}

fn by_way_of(others: &[String]) -> String {
    match others {
        [] => String::new(),
        others => format!(", by way of \"{}\"", others.join("\", \"")),
    }
}

/// What is wrong with a date or size, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueError {
    /// The wrong part, in bytes of the text.
    pub(crate) span: Range<usize>,
    /// What is wrong with it, without a full stop.
    pub(crate) reason: String,
}

impl Error {
    /// Returns a suggestion, if there is one: a sentence without a full stop.
    pub fn suggestion(&self) -> Option<String> {
        let typed = self.query.get(self.span.clone()).unwrap_or("");
        Some(match &self.problem {
            Problem::UnknownField { nearest, typed } => {
                format!("did you mean \"{nearest}:\"? To search for the text, quote it: \"{typed}:...\"")
            }
            Problem::ForeignField { here: Some(here), typed } => {
                format!("write: {here} (to search for the text, quote it: \"{typed}:...\")")
            }
            Problem::ForeignField { here: None, typed } => {
                format!("no field here means this; to search for the text, quote it: \"{typed}:...\"")
            }
            Problem::MissingValue { field } => {
                format!("write the value without a space: {field}:word, or {field}:\"two words\"")
            }
            Problem::MissingLeft { operator } | Problem::MissingRight { operator } => {
                format!("to search for the word itself, quote it: \"{operator}\"")
            }
            Problem::UnclosedParenthesis | Problem::UnexpectedClose => {
                "to search for text with parentheses, quote it: \"f(x)\"".to_owned()
            }
            Problem::UnclosedGroup => {
                "to search for the character itself, write \\( there; to search for text, quote it".to_owned()
            }
            Problem::UnclosedQuote => "to search without quotation marks, leave them out".to_owned(),
            Problem::StarInside if typed.ends_with('/') => {
                "write a regular expression with spaces in quotes: subject:\"/one .*two/\"".to_owned()
            }
            Problem::StarInside => {
                format!("for part of a word, use a regular expression: /{}/", typed.replace('*', ".*"))
            }
            Problem::StarOverWords { .. } => {
                "leave the first \"*\" out, or search for the words one by one".to_owned()
            }
            Problem::StemOfMany | Problem::StemOfGroup => {
                "each word has its own, right before it and after a field: ~word subject:~word".to_owned()
            }
            Problem::BadDate { .. } => {
                "write dates like 2024, 2024-03-05, 2w (two weeks ago), yesterday, 2024-03..now".to_owned()
            }
            Problem::BadSize { .. } => {
                "write sizes like 500, 10k, 2M, and ranges like 10k..2M or 1M..".to_owned()
            }
            Problem::UnknownFlag { nearest: Some(nearest), .. } => format!("did you mean \"{nearest}\"?"),
            Problem::UnknownFlag { nearest: None, .. } => {
                let names: Vec<&str> = FLAGS.iter().map(|info| info.name).collect();
                format!("flags are {}", names.join(" "))
            }
            Problem::UnknownQuery { nearest: Some(nearest), .. } => format!("did you mean \"{nearest}\"?"),
            Problem::UnknownPriority { .. } => "priorities are low, normal, high".to_owned(),
            Problem::Unsupported { .. } => "to search for the text, quote it".to_owned(),
            _ => return None,
        })
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    /// Writes the problem, the query that was typed or saved, a line with carets, and the suggestion: lines,
    /// the last without a line end.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The sentences also contain text as it was typed.
        let clean = |text: String| text.chars().map(printable).collect::<String>();
        if let Some(name) = &self.saved {
            write!(formatter, "in the saved query \"{}\": ", clean(name.clone()))?;
        }
        formatter.write_str(&clean(self.problem.to_string()))?;
        if !matches!(self.problem, Problem::QueryTooLong { .. }) {
            write!(formatter, "\n{}", pointed(&self.query, self.span.clone()))?;
        }
        if let Some(suggestion) = self.suggestion() {
            write!(formatter, "\n{}", clean(suggestion))?;
        }
        Ok(())
    }
}
