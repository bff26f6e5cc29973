//! Options of `find` that choose related messages and duplicates, and the order of conversations.
//!
//! Takes the options, a mailbox and a query. Returns messages in order, and the place of each in its
//! conversation. Does not know formats.

use crate::search::typed_query::TypedQuery;
use anyhow::{Result, bail};
use clap::Args;
use index::{Duplicates, Hits, Mailbox, NumberSet, Order, Origin, SortKey, ThreadOrder};

/// Options that say which messages belong to an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Scope {
    /// Show whole conversations, the newest first, with replies below the message they answer. --max and
    /// --offset count conversations
    #[arg(long, short = 't')]
    threads: bool,
    /// Also list all other messages of the conversations found
    #[arg(long, short = 'r')]
    include_related: bool,
    /// List only one message for each Message-ID, even if others with that Message-ID differ. Identical
    /// copies are always listed once
    #[arg(long, short = 'u')]
    skip_dups: bool,
}

/// Where a message stands in its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The place of the conversation's first message in the list.
    pub first: usize,
    /// How many messages stand above it.
    pub depth: u32,
    /// Whether it was found, or only belongs to what was.
    pub origin: Origin,
}

/// Messages in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// The messages.
    pub hits: Hits,
    /// Where each stands in its conversation, if that was asked for; else empty.
    pub spots: Vec<Spot>,
    /// What `hits.total` counts.
    pub unit: &'static str,
}

impl Scope {
    /// Returns the messages that are listed.
    ///
    /// # Errors
    /// The query cannot be answered; threads are to be sorted by something else than dates.
    pub(crate) fn find(self, mailbox: &Mailbox, question: &TypedQuery, order: &Order) -> Result<Found> {
        if !self.threads {
            let hits = mailbox.sorted(&self.set(mailbox, question)?, order)?;
            return Ok(Found { hits, spots: Vec::new(), unit: "messages" });
        }
        if order.key != SortKey::Date {
            bail!("threads are sorted by the date of their newest message; leave out --sort or --threads");
        }
        let found = mailbox.evaluate(&question.query).map_err(|error| question.explain(error))?;
        let Order { direction, offset, limit, .. } = *order;
        let duplicates = self.duplicates();
        let threads = mailbox.threads(&found, &ThreadOrder { direction, duplicates, offset, limit })?;
        let mut all = Found { hits: Hits { total: threads.total, list: Vec::new() }, ..Found::default() };
        all.unit = "threads";
        for thread in threads.list {
            let first = all.hits.list.len();
            for entry in thread.entries {
                all.hits.list.push(entry.hit);
                all.spots.push(Spot { first, depth: entry.depth, origin: entry.origin });
            }
        }
        Ok(all)
    }

    /// Returns how many messages are listed.
    ///
    /// # Errors
    /// The query cannot be answered.
    pub(crate) fn count(self, mailbox: &Mailbox, question: &TypedQuery) -> Result<u64> {
        Ok(self.set(mailbox, question)?.count())
    }

    fn set(self, mailbox: &Mailbox, question: &TypedQuery) -> Result<NumberSet> {
        let mut found = mailbox.evaluate(&question.query).map_err(|error| question.explain(error))?;
        if self.include_related || self.threads {
            found = mailbox.with_related(&found)?;
        }
        Ok(mailbox.distinct(&found, self.duplicates(), None)?)
    }

    fn duplicates(self) -> Duplicates {
        if self.skip_dups { Duplicates::MessageId } else { Duplicates::Copies }
    }
}
