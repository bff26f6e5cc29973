//! Finds the messages that a query matches.
//!
//! Input: a query and an order. Output: hits, or their number. One of several copies is found.

use crate::error::Result;
use crate::search::answer::eval;
use crate::search::mailbox::{Duplicates, Hits, Mailbox};
use crate::search::order::{self, Order};
use crate::set::NumberSet;
use query::Query;

impl Mailbox {
    /// Returns the messages that a query matches, one of each group of copies, in the requested order.
    ///
    /// # Errors
    /// [`crate::Error::Query`] if the query cannot be answered; damage in the store.
    pub fn find(&self, query: &Query, order: &Order) -> Result<Hits> {
        self.sorted(&self.distinct(&self.evaluate(query)?, Duplicates::Copies, None)?, order)
    }

    /// Returns how many messages a query matches, copies counted once.
    ///
    /// # Errors
    /// As for [`Mailbox::find`].
    pub fn count(&self, query: &Query) -> Result<u64> {
        Ok(self.distinct(&self.evaluate(query)?, Duplicates::Copies, None)?.count())
    }

    /// Returns the messages of a set in the requested order.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn sorted(&self, found: &NumberSet, order: &Order) -> Result<Hits> {
        order::sort(self, found, order)
    }

    /// Returns the set of messages that a query matches, including all copies that a search can find.
    ///
    /// # Errors
    /// As for [`Mailbox::find`].
    pub fn evaluate(&self, query: &Query) -> Result<NumberSet> {
        eval::evaluate(self, query)
    }
}
