//! Filters in pneu's own query language.
//!
//! Input: a text of a client. Output: a query, or where in the text a mistake is. Does not know the
//! language.

use super::search_text::Allowance;
use crate::error::failed;
use jmap::{MethodError, MethodErrorKind};
use pneu::{Error, IndexError, View};
use query::Query;
use serde_json::json;
use std::ops::Range;

/// How the last word of a query is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// As the language says.
    Whole,
    /// It may go on, if a word or a value that may be cut short is last: somebody is typing.
    Prefix,
}

/// Reads a query.
///
/// # Errors
/// `unsupportedFilter`, if it has more bytes or terms than the filter may still have; as [`fault`].
pub(super) fn read(
    (text, ending): (&str, Ending),
    view: &View,
    allowance: &mut Allowance,
) -> Result<Query, MethodError> {
    allowance.take(text.len(), 0)?;
    let is_open = ending == Ending::Prefix && text.ends_with(char::is_alphanumeric);
    // The second is a phrase that is not closed yet. What cannot be cut short, such as a date, is no query
    // with a star. It is then meant as it is.
    let open =
        ["*", "*\""].iter().take_while(|_| is_open).find_map(|end| view.query(&format!("{text}{end}")).ok());
    let query = match open {
        Some(query) => query,
        None => view.query(text).map_err(|error| fault(text, error))?,
    };
    let mut term_count = 0;
    query.visit_leaves(&mut |_| term_count += 1);
    allowance.take(0, term_count)?;
    Ok(query)
}

/// Returns what a client is told of a query that cannot be understood or answered: what is wrong, and where.
/// If a saved query in it is wrong, that one is told.
pub(super) fn fault(text: &str, error: Error) -> MethodError {
    match error {
        Error::Parse(wrong) => {
            let mut told = told(&wrong.query, &wrong.span, &wrong.problem.to_string());
            let more = [("suggestion", wrong.suggestion()), ("savedQuery", wrong.saved)];
            let more = more.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into())));
            told.extra.extend(more);
            told
        }
        Error::Query { span, what, .. } | Error::Index(IndexError::Query { span, what, .. }) => {
            told(text, &span, &what)
        }
        other => failed(other),
    }
}

fn told(text: &str, span: &Range<usize>, what: &str) -> MethodError {
    let position = json!({ "start": units_before(text, span.start), "end": units_before(text, span.end) });
    let mut error = MethodError::new(MethodErrorKind::InvalidArguments, what);
    error.extra.insert("pneuQuery".to_owned(), text.into());
    error.extra.insert("position".to_owned(), position);
    error
}

/// Returns how many UTF-16 code units are before a byte.
fn units_before(text: &str, byte: usize) -> usize {
    text.get(..text.floor_char_boundary(byte)).map_or(0, |before| before.encode_utf16().count())
}
