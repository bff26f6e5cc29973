//! What the user asks for: a query as typed, and the options of `find` that choose related messages,
//! duplicates and the order of conversations.
//!
//! Takes words and options of the command line, and a view. Returns messages in order, with the place of each
//! in its conversation. Errors point at the place in the query. Does not know formats.

use crate::remedy;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use pneu::{
    Duplicates, Error, Hint, Hits, NumberSet, Order, Query, Selection, SortKey, ThreadEntry, ThreadOrder,
    Threads, View,
};
use render::Position;

/// A query with its text.
#[derive(Clone, Debug)]
pub(crate) struct TypedQuery {
    text: String,
    /// What it asks.
    pub query: Query,
}

impl TypedQuery {
    /// Parses a query from words, which the shell split. Without words, every message matches. The view has
    /// the fields of the configuration, and the saved queries.
    ///
    /// # Errors
    /// It cannot be understood, and the message shows where; the saved queries cannot be read.
    pub(crate) fn new(words: &[String], view: &View) -> Result<TypedQuery> {
        TypedQuery::read(words.join(" "), view)
    }

    /// Reads a query from a text.
    ///
    /// # Errors
    /// As [`TypedQuery::new`].
    pub(crate) fn read(text: String, view: &View) -> Result<TypedQuery> {
        let query = view.query(&text)?;
        Ok(TypedQuery { text, query })
    }

    /// Makes an error of the library point at its place in the query, if it has one.
    pub(crate) fn explain(&self, error: Error) -> anyhow::Error {
        explain(&self.text, error)
    }

    /// Returns why nothing was found, if that is known: the query names folders, tags or types that no
    /// message has.
    ///
    /// # Errors
    /// Damage in the index.
    pub(crate) fn why_nothing(&self, view: &View) -> Result<Option<String>> {
        let hints = view.hints(&self.query)?;
        Ok((!hints.is_empty()).then(|| sentences(&hints)))
    }
}

/// Returns hints in words.
pub(crate) fn sentences(hints: &[Hint]) -> String {
    hints.iter().map(sentence).collect::<Vec<_>>().join("; ")
}

/// Makes an error of the library point at its place in the text of a query, if it has one.
pub(crate) fn explain(text: &str, error: Error) -> anyhow::Error {
    match error {
        Error::Query { span, what, remedy } => {
            anyhow!("{}\n{}", remedy::sentence(what, remedy), query::pointed(text, span))
        }
        other => other.into(),
    }
}

fn sentence(hint: &Hint) -> String {
    match hint {
        Hint::FolderBelow { folder, term } => {
            format!("{folder} holds no message itself, but folders below it do: {term}")
        }
        Hint::UnknownFolder { folder, term: Some(term) } => {
            format!("there is no folder {folder}; did you mean {term}?")
        }
        Hint::UnknownFolder { folder, term: None } => format!("there is no folder {folder}"),
        Hint::UnknownTag { tag, term: Some(term) } => {
            format!("no message has the tag {tag}; did you mean {term}?")
        }
        Hint::UnknownTag { tag, term: None } => format!("no message has the tag {tag}"),
        Hint::PartOfType { part, terms } => {
            format!("{part} is no whole MIME type; did you mean {}?", terms.join(" or "))
        }
    }
}

/// Options that choose which messages are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct ListOptions {
    /// Show whole conversations, the newest first: all their messages, with replies below the message they
    /// reply to, or with --threads=summary one line for each conversation. --max and --offset count
    /// conversations
    #[arg(
        long,
        short = 't',
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "full"
    )]
    pub threads: Option<ThreadForm>,
    /// Also list all other messages of the conversations found
    #[arg(long, short = 'r')]
    include_related: bool,
    /// List only one message for each Message-ID, even if others with that Message-ID differ. Identical
    /// copies are always listed once
    #[arg(long, short = 'u')]
    skip_dups: bool,
}

/// How conversations are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThreadForm {
    /// All messages
    Full,
    /// One line: date of the newest message, number of messages found, number of all messages, number of
    /// unread messages, authors, subject, tags
    Summary,
}

/// Messages in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// The messages.
    pub hits: Hits,
    /// Where each stands in its conversation, if that was asked for; else empty. A conversation is known by
    /// the place of its first message in the list.
    pub positions: Vec<Position<usize>>,
    /// What `hits.total` counts.
    pub unit: &'static str,
}

impl ListOptions {
    /// Returns the messages that are listed.
    ///
    /// # Errors
    /// The query cannot be answered; threads are to be sorted by something else than dates.
    pub(crate) fn find(self, view: &View, question: &TypedQuery, order: &Order) -> Result<Found> {
        if self.threads.is_none() {
            let hits = view.sorted_for(&question.query, &self.set(view, question)?, order)?;
            return Ok(Found { hits, positions: Vec::new(), unit: "messages" });
        }
        let threads = self.find_threads(view, question, order)?;
        let mut all = Found { hits: Hits { total: threads.total, list: Vec::new() }, ..Found::default() };
        all.unit = "threads";
        for thread in threads.list {
            let first = all.hits.list.len();
            for entry in thread.entries {
                let ThreadEntry { hit, depth, origin } = entry;
                all.hits.list.push(hit);
                all.positions.push(Position { thread: first, depth, origin });
            }
        }
        Ok(all)
    }

    /// Returns the conversations that are listed.
    ///
    /// # Errors
    /// The query cannot be answered; threads are to be sorted by something else than dates.
    pub(crate) fn find_threads(self, view: &View, question: &TypedQuery, order: &Order) -> Result<Threads> {
        if order.key != SortKey::Date {
            bail!("threads are sorted by the date of their newest message; leave out --sort or --threads");
        }
        let found = view.matching(&question.query).map_err(|error| question.explain(error))?;
        let Order { direction, offset, limit, .. } = *order;
        let duplicates = self.duplicates();
        Ok(view.threads(&found, &ThreadOrder { direction, duplicates, offset, limit })?)
    }

    /// Returns how many messages are listed; conversations, if each has one line.
    ///
    /// # Errors
    /// The query cannot be answered.
    pub(crate) fn count(self, view: &View, question: &TypedQuery) -> Result<u64> {
        if self.threads == Some(ThreadForm::Summary) {
            let none = Order { limit: Some(0), ..Order::default() };
            return Ok(self.find_threads(view, question, &none)?.total);
        }
        Ok(self.set(view, question)?.count())
    }

    fn set(self, view: &View, question: &TypedQuery) -> Result<NumberSet> {
        let with_related = self.include_related || self.threads.is_some();
        let selection = Selection { with_related, duplicates: self.duplicates() };
        view.select(&question.query, selection).map_err(|error| question.explain(error))
    }

    fn duplicates(self) -> Duplicates {
        if self.skip_dups { Duplicates::MessageId } else { Duplicates::Copies }
    }
}
