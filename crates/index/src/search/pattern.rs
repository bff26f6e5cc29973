//! Turns what a leaf looks for into a test of one folded value.
//!
//! In: a matcher. Out: a function that says whether a value matches. Must not know where values come from.

use crate::error::{Error, Result};
use crate::search::eval::unanswerable;
use query::fold::fold;
use query::{Leaf, Matcher, Pattern};

/// Says whether a folded value, a word or a whole one, is wanted.
pub(super) type Wanted = Box<dyn Fn(&str) -> bool>;

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
pub(super) fn wanted(leaf: &Leaf, spelling: Spelling, is_known: impl Fn(&str) -> bool) -> Result<Wanted> {
    Ok(match &leaf.matcher {
        Matcher::Suffix(end) => ends(end),
        Matcher::Infix(part) => holds(part),
        Matcher::Regex(source) => regex(leaf, source)?,
        Matcher::Value(pattern) => match pattern {
            Pattern::Whole(value) => whole(spelling.apply(value)),
            Pattern::Start(start) => {
                let start = spelling.apply(start);
                Box::new(move |value| value.starts_with(&start))
            }
            Pattern::End(end) => ends(&spelling.apply(end)),
            Pattern::Anywhere(part) => holds(&spelling.apply(part)),
            Pattern::Below(name) => {
                let name = spelling.apply(name).trim_end_matches('/').to_owned();
                Box::new(move |value| is_below(value, &name))
            }
            Pattern::WholeElseRegex(source) => {
                let name = format!("/{}", source.trim_matches('/'));
                if is_known(&spelling.apply(&name)) {
                    whole(spelling.apply(&name))
                } else {
                    regex(leaf, source)?
                }
            }
        },
        _ => return Err(unanswerable(leaf, "this form of value")),
    })
}

/// Says whether a path is a directory or lies below it. The directory is written without a slash behind.
pub(super) fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn whole(value: String) -> Wanted {
    Box::new(move |other| other == value)
}

fn ends(end: &str) -> Wanted {
    let end = end.to_owned();
    Box::new(move |value| value.ends_with(&end))
}

fn holds(part: &str) -> Wanted {
    let part = part.to_owned();
    Box::new(move |value| value.contains(&part))
}

fn regex(leaf: &Leaf, source: &str) -> Result<Wanted> {
    let regex =
        regex::RegexBuilder::new(source).case_insensitive(true).build().map_err(|error| Error::Query {
            span: leaf.span.clone(),
            what: format!(
                "the regular expression is not valid: {}",
                error.to_string().lines().last().unwrap_or_default()
            ),
        })?;
    Ok(Box::new(move |value| regex.is_match(value)))
}
