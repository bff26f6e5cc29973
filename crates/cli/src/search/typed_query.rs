//! A query as the user typed it, and errors that point at the place.
//!
//! Turns words of the command line into a query. Does not know how queries are answered.

use crate::remedy;
use crate::sanitise::one_line;
use anyhow::anyhow;
use pneu::{Error, FolderHint, Query, View};
use std::ops::Range;
use terminal::screen::width;

/// A query with its text.
#[derive(Clone, Debug)]
pub(crate) struct TypedQuery {
    text: String,
    /// What it asks.
    pub query: Query,
}

impl TypedQuery {
    /// Reads a query from words, which the shell took apart. None at all asks for every message. The view
    /// knows the fields of the configuration, and the saved queries.
    ///
    /// # Errors
    /// It cannot be understood, and the message shows where; the saved queries cannot be read.
    pub(crate) fn new(words: &[String], view: &View) -> anyhow::Result<TypedQuery> {
        TypedQuery::read(words.join(" "), view)
    }

    /// Reads a query from a text.
    ///
    /// # Errors
    /// As [`TypedQuery::new`].
    pub(crate) fn read(text: String, view: &View) -> anyhow::Result<TypedQuery> {
        let query = view.query(&text)?;
        Ok(TypedQuery { text, query })
    }

    /// Makes an error of the library point at its place in the query, if it has one.
    pub(crate) fn explain(&self, error: Error) -> anyhow::Error {
        explain(&self.text, error)
    }

    /// Says why nothing was found, where that can be told: folders that it names, and that hold nothing.
    ///
    /// # Errors
    /// Damage in the index.
    pub(crate) fn why_nothing(&self, view: &View) -> anyhow::Result<Option<String>> {
        let hints: Vec<String> = view.folder_hints(&self.query)?.iter().map(sentence).collect();
        Ok((!hints.is_empty()).then(|| hints.join("; ")))
    }
}

/// Makes an error of the library point at its place in the text of a query, if it has one.
pub(crate) fn explain(text: &str, error: Error) -> anyhow::Error {
    match error {
        Error::Query { span, what, remedy } => {
            anyhow!("{}\n{}", remedy::sentence(what, remedy), pointed(text, span))
        }
        other => other.into(),
    }
}

fn sentence(hint: &FolderHint) -> String {
    match hint {
        FolderHint::Below { folder, term } => {
            format!("{folder} holds no message itself, but folders below it do: {term}")
        }
        FolderHint::Unknown { folder, term: Some(term) } => {
            format!("there is no folder {folder}; did you mean {term}?")
        }
        FolderHint::Unknown { folder, term: None } => format!("there is no folder {folder}"),
    }
}

/// Returns the query and a line with carets below the place.
fn pointed(text: &str, span: Range<usize>) -> String {
    let before = one_line(text.get(..span.start).unwrap_or_default());
    let place = one_line(text.get(span).unwrap_or_default());
    let carets = "^".repeat(width(&place).max(1));
    format!("  {}\n  {}{carets}", one_line(text), " ".repeat(width(&before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_below_the_place() {
        assert_eq!(pointed("a prio:high b", 2..11), "  a prio:high b\n    ^^^^^^^^^");
        assert_eq!(pointed("日本 x", 7..8), "  日本 x\n       ^");
        assert_eq!(pointed("a", 9..12), "  a\n  ^");
        assert_eq!(pointed("\u{1b}[m x:", 4..6), "  \u{fffd}[m x:\n      ^^");
    }
}
