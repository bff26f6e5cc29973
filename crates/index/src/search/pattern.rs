//! Turns what a leaf looks for into a test of one value.
//!
//! In: a matcher. Out: a test of the bytes of a word, a name or another value. Must not know where values come from.

use crate::error::{Error, Result};
use memchr::memmem::Finder;
use query::fold::fold;
use query::{Leaf, Matcher, Pattern};
use regex::bytes::Regex;

/// Says whether a value, a word or a whole one, is wanted. A thread that tests many takes a clone: each has memory of its own.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// This value.
    Whole(String),
    /// Values that begin so.
    Start(String),
    /// Values that end so.
    End(String),
    /// Values that hold this.
    Holds(Box<Finder<'static>>),
    /// This directory, written without a slash behind, and all below it.
    Below(String),
    /// Values in which this is found.
    Regex(Regex),
}

impl Wanted {
    /// Says whether a value is wanted.
    pub(super) fn is_match(&self, value: &[u8]) -> bool {
        match self {
            Wanted::Whole(whole) => value == whole.as_bytes(),
            Wanted::Start(start) => value.starts_with(start.as_bytes()),
            Wanted::End(end) => value.ends_with(end.as_bytes()),
            Wanted::Holds(part) => part.find(value).is_some(),
            Wanted::Below(name) => is_below(value, name.as_bytes()),
            Wanted::Regex(regex) => regex.is_match(value),
        }
    }

    /// Says whether values are wanted as they are, and not folded.
    pub(super) fn is_regex(&self) -> bool {
        matches!(self, Wanted::Regex(_))
    }
}

/// How values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Without case and diacritics: values are folded already.
    Folded,
    /// Byte by byte.
    Exact,
}

impl Spelling {
    /// Returns a value of a query as values are kept.
    pub(crate) fn apply(self, value: &str) -> String {
        match self {
            Spelling::Folded => fold(value).into_owned(),
            Spelling::Exact => value.to_owned(),
        }
    }
}

/// Returns the test that a leaf's matcher asks for. `is_known` says whether a value exists, for patterns that are then that value.
///
/// # Errors
/// A regular expression that is none, or too large.
pub(super) fn wanted(leaf: &Leaf, spelling: Spelling, is_known: impl Fn(&str) -> bool) -> Result<Wanted> {
    Ok(match &leaf.matcher {
        Matcher::Suffix(end) => Wanted::End(end.clone()),
        Matcher::Infix(part) => holds(part),
        Matcher::Regex(source) => regex(leaf, source)?,
        Matcher::Value(pattern) => match pattern {
            Pattern::Whole(value) => Wanted::Whole(spelling.apply(value)),
            Pattern::Start(start) => Wanted::Start(spelling.apply(start)),
            Pattern::End(end) => Wanted::End(spelling.apply(end)),
            Pattern::Anywhere(part) => holds(&spelling.apply(part)),
            Pattern::Below(name) => Wanted::Below(spelling.apply(name).trim_end_matches('/').to_owned()),
            Pattern::WholeElseRegex(source) => {
                let name = spelling.apply(&format!("/{}", source.trim_matches('/')));
                if is_known(&name) { Wanted::Whole(name) } else { regex(leaf, source)? }
            }
        },
        _ => return Err(unanswerable(leaf, "this form of value")),
    })
}

/// Says whether a path is a directory or lies below it. The directory is written without a slash behind.
pub(super) fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
}

/// Returns the error for a leaf that has no answer.
pub(super) fn unanswerable(leaf: &Leaf, what: &str) -> Error {
    Error::Query { span: leaf.span.clone(), what: format!("{what} cannot be searched") }
}

fn holds(part: &str) -> Wanted {
    Wanted::Holds(Box::new(Finder::new(part).into_owned()))
}

fn regex(leaf: &Leaf, source: &str) -> Result<Wanted> {
    let built = regex::bytes::RegexBuilder::new(source).case_insensitive(true).build();
    built.map(Wanted::Regex).map_err(|error| {
        // The first lines repeat the expression, the last one says what is wrong with it.
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        Error::Query {
            span: leaf.span.clone(),
            what: format!("the regular expression cannot be used: {reason}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::{Field, FieldSet, Target};

    fn test(matcher: Matcher) -> Wanted {
        let leaf = Leaf { target: Target::Fields(FieldSet::of(Field::Tag)), matcher, span: 0..1 };
        wanted(&leaf, Spelling::Folded, |name| name == "/known").unwrap()
    }

    #[test]
    fn values_are_tested() {
        let value = |pattern| Matcher::Value(pattern);
        for (matcher, yes, no) in [
            (value(Pattern::Whole("Ärger".into())), "arger", "argere"),
            (value(Pattern::Start("Ä".into())), "arger", "barger"),
            (value(Pattern::End("ER".into())), "arger", "argere"),
            (value(Pattern::Anywhere("RG".into())), "arger", "ager"),
            (value(Pattern::Below("/A/".into())), "/a/b", "/ab"),
            (value(Pattern::Below("/".into())), "/a", "a"),
            (value(Pattern::WholeElseRegex("known".into())), "/known", "/known/x"),
            (value(Pattern::WholeElseRegex("other".into())), "/another", "/known"),
            (Matcher::Suffix("er".into()), "arger", "argere"),
            (Matcher::Infix("rg".into()), "arger", "ager"),
            (Matcher::Regex("^A.*R$".into()), "arger", "barger"),
        ] {
            assert!(test(matcher.clone()).is_match(yes.as_bytes()), "{matcher:?}");
            assert!(!test(matcher.clone()).is_match(no.as_bytes()), "{matcher:?}");
        }
    }
}
