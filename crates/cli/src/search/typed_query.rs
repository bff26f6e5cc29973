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
        QueryReader::new(session)?.read(words.join(" "))
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

/// Reads queries, one after the other, with one configuration and one state of the saved queries.
pub(crate) struct QueryReader<'a> {
    session: &'a Session,
    configured: Configuration,
    /// Read when a query first names one: what is not asked for need not be sound.
    saved: Option<BTreeMap<String, String>>,
}

impl<'a> QueryReader<'a> {
    /// Reads the configuration.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub(crate) fn new(session: &'a Session) -> anyhow::Result<QueryReader<'a>> {
        Ok(QueryReader { session, configured: session.configured()?, saved: None })
    }

    /// Reads the saved queries now, so that later changes of them do not count.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn read_saved(&mut self) -> anyhow::Result<()> {
        self.saved = Some(index::saved_queries(&self.session.index)?);
        Ok(())
    }

    /// Reads a query. Dates in it count from now.
    ///
    /// # Errors
    /// It cannot be understood, and the message shows where; the saved queries cannot be read.
    pub(crate) fn read(&mut self, text: String) -> anyhow::Result<TypedQuery> {
        if self.saved.is_none() && text.to_ascii_lowercase().contains(fields::SAVED) {
            self.read_saved()?;
        }
        let queries = self.saved.clone().unwrap_or_default();
        let query = query::parse(&text, &context(self.configured.clone(), queries))?;
        Ok(TypedQuery { text, query })
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
