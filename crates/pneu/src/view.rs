//! A view: one state of the index and the tags, for one request.
//!
//! Input: queries, hits. Output: messages as values. A view never changes, and takes no lock.

use crate::error::{Error, Result};
use crate::message_file::{self, MessageContent};
use crate::settings::Settings;
use index::{
    Counts, FolderHint, Hit, Hits, Line, Mailbox, Message, NumberSet, Order, RecordReader, ThreadOrder,
    Threads,
};
use query::{Context, Query};
use std::collections::BTreeMap;
use std::sync::Arc;
use work::Cancel;

/// One state of the index and the tags. A clone costs a few reference counts.
#[derive(Clone, Debug)]
pub struct View {
    settings: Arc<Settings>,
    mailbox: Mailbox,
    cancel: Cancel,
}

impl View {
    pub(crate) fn new(settings: Arc<Settings>, mailbox: Mailbox) -> View {
        View { settings, mailbox, cancel: Cancel::new() }
    }

    /// Returns the same state for a request that may be stopped: from then on its queries end with
    /// [`Error::Cancelled`].
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> View {
        View { mailbox: self.mailbox.with_cancel(cancel.clone()), cancel, ..self }
    }

    /// Returns the mailbox of the index.
    pub(crate) fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// Reads a query. Relative dates count from now; header fields and stems are those of the configuration,
    /// saved queries those of the user.
    ///
    /// # Errors
    /// [`Error::Query`] with the place in the text; the saved queries cannot be read.
    pub fn query(&self, text: &str) -> Result<Query> {
        let configuration = &self.settings.configuration;
        let queries = if text.to_ascii_lowercase().contains(query::fields::SAVED) {
            index::saved_queries(&self.settings.environment)?
        } else {
            BTreeMap::new()
        };
        let context = Context {
            now: self.settings.now(),
            headers: configuration.headers.clone(),
            queries,
            stemming: configuration.stemming,
        };
        Ok(query::parse(text, &context)?)
    }

    /// Returns the messages that a query matches, copies once, in the order asked for.
    ///
    /// # Errors
    /// [`Error::Query`] if the query asks for what cannot be answered; [`Error::Cancelled`]; damage.
    pub fn find(&self, query: &Query, order: &Order) -> Result<Hits> {
        Ok(self.mailbox.find(query, order)?)
    }

    /// Returns how many messages a query matches, copies counted once.
    ///
    /// # Errors
    /// As [`View::find`].
    pub fn count(&self, query: &Query) -> Result<u64> {
        Ok(self.mailbox.count(query)?)
    }

    /// Returns the set of messages that a query matches, all copies among them.
    ///
    /// # Errors
    /// As [`View::find`].
    pub fn matching(&self, query: &Query) -> Result<NumberSet> {
        Ok(self.mailbox.evaluate(query)?)
    }

    /// Returns the threads of a set of messages, whole, by the date of their newest message.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn threads(&self, found: &NumberSet, order: &ThreadOrder) -> Result<Threads> {
        Ok(self.mailbox.threads(found, order)?)
    }

    /// Returns the threads of some hits, whole, by the date of their newest message.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn threads_of(&self, hits: &[Hit], order: &ThreadOrder) -> Result<Threads> {
        Ok(self.mailbox.threads_of(hits, order)?)
    }

    /// Returns what a list shows of each hit: date, size, sender, subject.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn lines(&self, hits: &[Hit]) -> Result<Vec<Line>> {
        let mut reader = RecordReader::new();
        let line = |hit: &Hit| {
            self.check()?;
            Ok(self.mailbox.line(hit, &mut reader)?)
        };
        hits.iter().map(line).collect()
    }

    /// Returns everything that the index knows of a hit.
    ///
    /// # Errors
    /// Damage.
    pub fn message(&self, hit: &Hit) -> Result<Message> {
        Ok(self.mailbox.message(hit, &mut RecordReader::new())?)
    }

    /// Returns the messages that a handle names: a path, `id:` and a Message-ID, or the beginning of a
    /// SHA-256 with at least six digits.
    ///
    /// # Errors
    /// No message or several have that name; damage.
    pub fn resolve(&self, handle: &str) -> Result<Vec<Hit>> {
        Ok(self.mailbox.resolve(handle)?)
    }

    /// Reads a message from the first of its files that still holds it, where that file is now: its flags may
    /// have changed since the index saw it.
    ///
    /// # Errors
    /// [`Error::File`] if no file of it can be read or holds it.
    pub fn read(&self, message: &Message) -> Result<MessageContent> {
        Ok(message_file::read(message, self.settings.environment.context.now_ns())?)
    }

    /// Returns hints for folders that a query names and that hold no message.
    ///
    /// # Errors
    /// Damage.
    pub fn folder_hints(&self, query: &Query) -> Result<Vec<FolderHint>> {
        Ok(self.mailbox.folder_hints(query)?)
    }

    /// Returns the user's tags, each with the number of its messages.
    ///
    /// # Errors
    /// Damage.
    pub fn tags(&self) -> Result<BTreeMap<String, u64>> {
        Ok(self.mailbox.tags()?)
    }

    /// Returns how much the index holds.
    ///
    /// # Errors
    /// Damage.
    pub fn counts(&self) -> Result<Counts> {
        Ok(self.mailbox.counts()?)
    }

    fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}
