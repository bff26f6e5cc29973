//! A query as the user typed it, and errors that point at the place.
//!
//! Turns words of the command line into a query. Does not know how queries are answered.

use crate::environment;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::anyhow;
use index::{Error, FolderHint, Mailbox};
use pneu::setup::configuration::Configuration;
use query::{Context, Query, fields};
use std::collections::BTreeMap;
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
    /// Reads a query from words, which the shell took apart. None at all asks for every message. The session
    /// knows the fields of the configuration, and the saved queries.
    ///
    /// # Errors
    /// It cannot be understood, and the message shows where; the configuration or the saved queries cannot be
    /// read.
    pub(crate) fn new(words: &[String], session: &Session) -> anyhow::Result<TypedQuery> {
        let text = words.join(" ");
        // What is not asked for need not be sound.
        let queries = if text.to_ascii_lowercase().contains(fields::SAVED) {
            index::saved_queries(&session.index)?
        } else {
            BTreeMap::new()
        };
        let query = query::parse(&text, &context(session.configured()?, queries))?;
        Ok(TypedQuery { text, query })
    }

    /// Makes an error of the library point at its place in the query, if it has one.
    pub(crate) fn explain(&self, error: Error) -> anyhow::Error {
        match error {
            Error::Query { span, what, remedy } => {
                anyhow!("{}\n{}", remedy::sentence(what, remedy), pointed(&self.text, span))
            }
            other => other.into(),
        }
    }

    /// Says why nothing was found, where that can be told: folders that it names, and that hold nothing.
    ///
    /// # Errors
    /// Damage in the index.
    pub(crate) fn why_nothing(&self, mailbox: &Mailbox) -> anyhow::Result<Option<String>> {
        let hints: Vec<String> = mailbox.folder_hints(&self.query)?.iter().map(sentence).collect();
        Ok((!hints.is_empty()).then(|| hints.join("; ")))
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

/// Returns what the meaning of queries depends on.
pub(crate) fn context(configured: Configuration, queries: BTreeMap<String, String>) -> Context {
    let Configuration { headers, stemming, .. } = configured;
    Context { now: environment::now(), headers, queries, stemming }
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
