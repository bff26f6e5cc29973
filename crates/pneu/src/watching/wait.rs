//! Waits until a query matches a message that it did not match before.
//!
//! Input: a query, and a token of the change log if the wait goes on from there. Output: the messages. The
//! index is brought in step by others: the directory of the index tells when they have committed. Writes
//! nothing.

use crate::error::{Error, Result};
use crate::host::Host;
use crate::view::View;
use crate::watching::commits::CommitWatch;
use index::NumberSet;
use query::Query;
use std::time::{Duration, Instant};
use work::Progress;

/// A wait for messages that a query matches, which goes on from one call to the next.
pub struct Wait<'h> {
    host: &'h Host,
    query: Query,
    watch: CommitWatch,
    /// The state that was looked at last.
    view: View,
    /// What matched then.
    known: NumberSet,
    /// What came since the token, and was not returned yet.
    came: Option<NumberSet>,
}

impl Host {
    /// Begins to wait for messages that a query matches and does not match now. With a token of the change
    /// log, those that match and came since that token count, too: [`index::Mailbox::came_since`] says which.
    ///
    /// # Errors
    /// There is no index; the query cannot be answered; [`index::Error::Token`] if the token cannot be used.
    pub fn wait(&self, query: &Query, since: Option<&str>) -> Result<Wait<'_>> {
        let watch = CommitWatch::new(self);
        let view = self.newest_view()?;
        let known = view.matching(query)?;
        let came = match since {
            Some(token) => {
                let came = view.mailbox().came_since(token, query)?;
                let mut wanted = NumberSet::new(known.bound());
                known.iter().filter(|number| came.contains(*number)).for_each(|number| wanted.insert(number));
                Some(wanted).filter(|wanted| !wanted.is_empty())
            }
            None => None,
        };
        Ok(Wait { host: self, query: query.clone(), watch, view, known, came })
    }
}

impl Wait<'_> {
    /// Waits until the query matches messages that it did not match before, and returns these. A message that
    /// stops matching, and matches again, is returned again. Returns none after `timeout`. `waits` is called
    /// when nothing is half done, so that a signal may end the process.
    ///
    /// # Errors
    /// There is no index; the query cannot be answered; [`Error::Cancelled`].
    pub fn next(
        &mut self,
        timeout: Option<Duration>,
        progress: &dyn Progress,
        waits: &dyn Fn(),
    ) -> Result<Option<NumberSet>> {
        if let Some(came) = self.came.take() {
            return Ok(Some(came));
        }
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            self.watch.cover();
            let found = self.look()?;
            if !found.is_empty() {
                return Ok(Some(found));
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            waits();
            self.watch.wait(left);
        }
    }

    /// Returns the state of the index that was looked at last. Everything that matched in it was returned.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Looks at the newest state. Returns what matches and did not match in the one before.
    fn look(&mut self) -> Result<NumberSet> {
        let view = self.host.newest_view()?;
        let found = view.matching(&self.query)?;
        if !view.mailbox().continues(self.view.mailbox())? {
            // The index was made anew, and gives other numbers.
            self.known = view.mailbox().same_contents(self.view.mailbox(), &self.known)?;
        }
        let mut new = found.clone();
        self.known.grow(found.bound());
        new.minus(&self.known);
        (self.view, self.known) = (view, found);
        Ok(new)
    }
}
