//! A view: one state of the index and the tags, for one request.
//!
//! Input: queries, hits. Output: messages as values. A view never changes, and takes no lock.

use crate::error::{Error, Result};
use crate::message_file::{self, MessageContent, Wanted};
use crate::saved_queries::SavedQueries;
use crate::settings::Settings;
use index::{
    Analysis, Changes, Counts, Dimension, Direction, Duplicates, FlagTags, Hint, Hit, Hits, Line, Mailbox,
    Message, NumberSet, Order, PeopleQuestion, Person, RecordReader, Root, SortKey, Stats, ThreadOrder,
    ThreadStarts, Threads,
};
use query::Query;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use work::{Cancel, Workers};

/// One state of the index and of what the user saved in it: tags and queries. A clone costs a few reference
/// counts.
#[derive(Clone, Debug)]
pub struct View {
    settings: Arc<Settings>,
    mailbox: Mailbox,
    queries: SavedQueries,
    threads: Arc<Workers>,
    cancel: Cancel,
}

/// Which messages are listed in addition to the matches of a query, or left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Whether all other messages of their threads are listed, too.
    pub with_related: bool,
    /// Which messages count as the same one, and are listed once.
    pub duplicates: Duplicates,
}

/// How many messages have problems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProblemCounts {
    /// Messages with any problem, copies counted once.
    pub messages: u64,
    /// Groups of problems that any message has, most frequent first. A message may be in several.
    pub groups: Vec<(&'static str, u64)>,
}

impl View {
    pub(crate) fn new(
        settings: Arc<Settings>,
        mailbox: Mailbox,
        queries: SavedQueries,
        threads: Arc<Workers>,
    ) -> View {
        View { settings, mailbox, queries, threads, cancel: Cancel::new() }
    }

    /// Does `work` on as many threads as the settings allow, unless the request was cancelled.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce(&Mailbox) -> index::Result<T> + Send) -> Result<T> {
        self.check()?;
        self.threads.run(|| {
            // It may have waited for a thread.
            self.check()?;
            Ok(work(&self.mailbox)?)
        })
    }

    /// Reads everything now that is otherwise read on first use. From then on the view shows one state of
    /// index, tags and saved queries, whatever is written or removed. The views of
    /// [`Host::view`](crate::Host::view) already do this.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn pin(&self) -> Result<()> {
        self.run(Mailbox::pin)?;
        // If they cannot be read, a query that names one reports it.
        self.queries.pin(&self.settings.environment);
        Ok(())
    }

    /// Returns the same state for a request that may be stopped: from then on everything that takes time ends
    /// with [`Error::Cancelled`], and the [`MessageContent`]s that it reads stop reading their files.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> View {
        View { mailbox: self.mailbox.with_cancel(cancel.clone()), cancel, ..self }
    }

    /// Returns the settings of the host.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the mailbox of the index, for what reads one message after the other with a
    /// [`RecordReader`] of its own: lists of many messages, on several threads.
    pub fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// Returns the same view with another scope or time.
    pub(crate) fn try_with_mailbox<T>(
        self,
        change: impl FnOnce(Mailbox) -> index::Result<(Mailbox, T)>,
    ) -> Result<(View, T)> {
        let (mailbox, other) = change(self.mailbox)?;
        Ok((View { mailbox, ..self }, other))
    }

    /// Returns the directories whose mail is indexed.
    pub fn roots(&self) -> &[Root] {
        self.mailbox.roots()
    }

    /// Reads a query. Relative dates count from now; header fields and stems are those of the configuration,
    /// saved queries those of the user.
    ///
    /// # Errors
    /// [`Error::Parse`] with the place in the text; the saved queries cannot be read.
    pub fn query(&self, text: &str) -> Result<Query> {
        // Saved queries that the query does not name may be damaged.
        let queries = if text.to_ascii_lowercase().contains(query::fields::SAVED) {
            self.queries.get(&self.settings.environment)?.clone()
        } else {
            BTreeMap::new()
        };
        Ok(query::parse(text, &self.settings.query_context(queries))?)
    }

    /// Returns the user's saved queries, by their names.
    ///
    /// # Errors
    /// [`Error::SavedQueries`] if they cannot be read or are damaged.
    pub fn saved_queries(&self) -> Result<&BTreeMap<String, String>> {
        self.queries.get(&self.settings.environment)
    }

    /// Returns the messages that a query matches, copies once, in the order asked for.
    ///
    /// # Errors
    /// [`Error::Query`] if the query cannot be answered; [`Error::Cancelled`]; damage.
    pub fn find(&self, query: &Query, order: &Order) -> Result<Hits> {
        self.run(|mailbox| mailbox.find(query, order))
    }

    /// Returns how many messages a query matches, copies counted once.
    ///
    /// # Errors
    /// As [`View::find`].
    pub fn count(&self, query: &Query) -> Result<u64> {
        self.run(|mailbox| mailbox.count(query))
    }

    /// Returns the set of messages that a query matches, including all copies.
    ///
    /// # Errors
    /// As [`View::find`].
    pub fn matching(&self, query: &Query) -> Result<NumberSet> {
        self.run(|mailbox| mailbox.evaluate(query))
    }

    /// Returns the messages that are listed for those that a query matches.
    ///
    /// # Errors
    /// As [`View::find`].
    pub fn select(&self, query: &Query, selection: Selection) -> Result<NumberSet> {
        let mut found = self.matching(query)?;
        if selection.with_related {
            found = self.run(|mailbox| mailbox.with_related(&found))?;
        }
        self.run(|mailbox| mailbox.distinct(&found, selection.duplicates, None))
    }

    /// Returns the messages of a set in the order asked for.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn sorted(&self, found: &NumberSet, order: &Order) -> Result<Hits> {
        self.run(|mailbox| mailbox.sorted(found, order))
    }

    /// Returns a range of the messages of a set, sorted by several keys: what is equal by one is sorted by
    /// the next.
    ///
    /// # Errors
    /// As [`View::sorted`].
    pub fn sorted_by_several(
        &self,
        found: &NumberSet,
        keys: &[(SortKey, Direction)],
        range: Range<usize>,
    ) -> Result<Hits> {
        self.run(|mailbox| mailbox.sorted_by_several(found, keys, range))
    }

    /// Returns messages that a query found, in the order asked for: also that of their relevance to it.
    ///
    /// # Errors
    /// As [`View::find`].
    pub fn sorted_for(&self, query: &Query, found: &NumberSet, order: &Order) -> Result<Hits> {
        match order.key {
            SortKey::Relevance => self.run(|mailbox| mailbox.by_relevance(query, found, order)),
            _ => self.sorted(found, order),
        }
    }

    /// Returns how a query is answered, and how long each step took.
    ///
    /// # Errors
    /// As [`View::find`].
    pub fn analyze(&self, query: &Query) -> Result<Analysis> {
        let context = &self.settings.environment.context;
        self.run(|mailbox| mailbox.analyze(query, &|| context.now_ns()))
    }

    /// Returns the threads of a set of messages, whole, by the date of their newest message.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn threads(&self, found: &NumberSet, order: &ThreadOrder) -> Result<Threads> {
        self.run(|mailbox| mailbox.threads(found, order))
    }

    /// Returns the first messages of the threads of some hits.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn thread_starts(&self, hits: &[Hit]) -> Result<ThreadStarts> {
        self.run(|mailbox| mailbox.thread_starts(hits))
    }

    /// Returns the threads of some hits, whole, by the date of their newest message.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn threads_of(&self, hits: &[Hit], order: &ThreadOrder) -> Result<Threads> {
        self.run(|mailbox| mailbox.threads_of(hits, order))
    }

    /// Returns the messages of the conversations that some messages are in, as one mutes them: see
    /// [`Mailbox::conversations`].
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn conversations(&self, found: &NumberSet) -> Result<NumberSet> {
        self.run(|mailbox| mailbox.conversations(found))
    }

    /// Returns which tags stand for flags.
    pub(crate) fn flag_tags(&self) -> FlagTags {
        self.settings.configuration.flag_tags
    }

    /// Returns the columns of a list for each hit: date, size, sender, subject.
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
    /// [`Error::Cancelled`]; damage.
    pub fn message(&self, hit: &Hit) -> Result<Message> {
        self.check()?;
        Ok(self.mailbox.message(hit, &mut RecordReader::new())?)
    }

    /// Returns the messages that a handle names: a path, `id:` and a Message-ID, or the beginning of a
    /// SHA-256 with at least six digits.
    ///
    /// # Errors
    /// No message or several have that name; [`Error::Cancelled`]; damage.
    pub fn resolve(&self, handle: &str) -> Result<Vec<Hit>> {
        self.check()?;
        Ok(self.mailbox.resolve(handle)?)
    }

    /// Returns whether neither a hit nor any of its copies has a file.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn is_absent(&self, hit: &Hit) -> Result<bool> {
        self.check()?;
        Ok(self.mailbox.is_absent(hit)?)
    }

    /// Reads a message from the first of its files that still holds it, where that file is now: its flags may
    /// have changed since the index saw it.
    ///
    /// # Errors
    /// [`Error::File`] if no file of it can be read or holds it; [`Error::Cancelled`].
    pub fn read(&self, message: &Message) -> Result<MessageContent> {
        self.read_wanted(message, Wanted::Content)
    }

    /// Does what [`View::read`] does. For [`Wanted::Message`] it also accepts a later version of the message,
    /// such as a draft that was saved again.
    ///
    /// # Errors
    /// As [`View::read`].
    pub fn read_wanted(&self, message: &Message, wanted: Wanted) -> Result<MessageContent> {
        let now_ns = self.settings.environment.context.now_ns();
        self.check()?;
        message_file::read(message, wanted, now_ns, &self.cancel)?.ok_or(Error::Cancelled)
    }

    /// Returns hints for folders, tags and MIME types that a query names and that no message has.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn hints(&self, query: &Query) -> Result<Vec<Hint>> {
        self.run(|mailbox| mailbox.hints(query))
    }

    /// Returns the user's tags, each with the number of its messages.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn tags(&self) -> Result<BTreeMap<String, u64>> {
        self.run(Mailbox::tags)
    }

    /// Returns how much the index holds.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn counts(&self) -> Result<Counts> {
        self.check()?;
        Ok(self.mailbox.counts()?)
    }

    /// Returns people by name or address, those first that the user is most likely to want. They are ranked
    /// as of now; the question's own time does not count.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn people(&self, question: &PeopleQuestion) -> Result<Vec<Person>> {
        let now_seconds = self.settings.environment.now_seconds();
        let question = PeopleQuestion { now_seconds, ..question.clone() };
        self.run(|mailbox| mailbox.people(&question))
    }

    /// Returns figures of the messages that a query matches, copies counted once, for all of them and for
    /// each group. Times are those of the settings' time zone.
    ///
    /// # Errors
    /// As [`View::find`].
    pub fn stats(&self, query: &Query, by: Dimension) -> Result<Stats> {
        let found = self.select(query, Selection::default())?;
        self.run(|mailbox| mailbox.stats(&found, by, &self.settings.zone))
    }

    /// Returns what happened since a token, up to the commits that this view shows; without a token, only the
    /// next token. [`Changes::each`] lists it. Those commits are durable when this returns.
    ///
    /// # Errors
    /// [`index::Error::Token`] if the token is none of this index, or too old; a disk that refuses to sync;
    /// damage.
    pub fn changes(&self, since: Option<&str>) -> Result<Changes> {
        Ok(self.mailbox.changes(since)?)
    }

    /// Returns how many messages have problems, by groups.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn problem_counts(&self) -> Result<ProblemCounts> {
        let messages = self.count(&self.query("problem:*")?)?;
        let mut counts = ProblemCounts { messages, groups: Vec::new() };
        if messages > 0 {
            for group in mail::problem_groups() {
                counts.groups.push((group, self.count(&self.query(&format!("problem:{group}"))?)?));
            }
        }
        counts.groups.retain(|(_, count)| *count > 0);
        counts.groups.sort_by_key(|(_, count)| Reverse(*count));
        Ok(counts)
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}
