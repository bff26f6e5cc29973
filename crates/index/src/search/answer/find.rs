//! Finds the messages that a query matches.
//!
//! Input: a query and an order. Output: hits, or their number. Of copies one is found.

use crate::error::Result;
use crate::search::answer::eval;
use crate::search::mailbox::{Duplicates, Hits, Mailbox};
use crate::search::order::{self, Order};
use crate::set::NumberSet;
use query::Query;

impl Mailbox {
    /// Returns the messages that a query matches, of copies one, in the order asked for.
    ///
    /// # Errors
    /// [`crate::Error::Query`] where the query asks for what cannot be answered; damage in the store.
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

    /// Returns the messages of a set in the order asked for.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn sorted(&self, found: &NumberSet, order: &Order) -> Result<Hits> {
        order::sort(self, found, order)
    }

    /// Returns the set of messages that a query matches, all copies among them that a search may find.
    ///
    /// # Errors
    /// As for [`Mailbox::find`].
    pub fn evaluate(&self, query: &Query) -> Result<NumberSet> {
        eval::evaluate(self, query)
    }
}
