//! Evaluates a query as set algebra over message numbers, and finds the messages that match.
//!
//! Input: the tree of a query, and an order. Output: the set of messages that match, or hits. Every leaf
//! yields a set from the text index or from a column scan. A set has no message outside the scope, and
//! contains either all copies of a message or none, so that copies are one message to every query, unless
//! contents are asked for one by one. The plan determines the order; steps that can no longer change the
//! result are skipped.

use crate::error::Result;
use crate::search::answer::plan::{Measured, Node, Step, plan};
use crate::search::answer::prepare::{Answer, answers};
use crate::search::answer::{files, values};
use crate::search::mailbox::{Duplicates, Hits, Mailbox};
use crate::search::order::{Order, SortKey};
use crate::set::NumberSet;
use query::Query;

impl Mailbox {
    /// Returns the messages that a query matches, one of each group of copies, in the requested order.
    ///
    /// # Errors
    /// [`crate::Error::Query`] if the query cannot be answered; damage in the store.
    pub fn find(&self, query: &Query, order: &Order) -> Result<Hits> {
        let found = self.distinct(&self.evaluate(query)?, Duplicates::Copies, None)?;
        match order.key {
            SortKey::Relevance => self.by_relevance(query, &found, order),
            _ => self.sorted(&found, order),
        }
    }

    /// Returns how many messages a query matches, copies counted once.
    ///
    /// # Errors
    /// As for [`Mailbox::find`].
    pub fn count(&self, query: &Query) -> Result<u64> {
        Ok(self.distinct(&self.evaluate(query)?, Duplicates::Copies, None)?.count())
    }

    /// Returns the set of messages that a query matches, including all copies that a search can find.
    ///
    /// # Errors
    /// As for [`Mailbox::find`].
    pub fn evaluate(&self, query: &Query) -> Result<NumberSet> {
        Ok(measured(self, query, &|| 0)?.1)
    }

    /// Returns the set of contents of the scope that a query matches, each for itself: a content that does
    /// not match is not found, although a copy of it does.
    ///
    /// # Errors
    /// As for [`Mailbox::find`].
    pub fn evaluate_contents(&self, query: &Query) -> Result<NumberSet> {
        let mut step = plan(query, &|leaf| answers(self, leaf))?;
        Run { mailbox: self, live: self.live()?, clock: &|| 0, copies: Copies::Apart }.step(&mut step)
    }
}

/// What a leaf finds of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copies {
    /// All, if it finds one of them.
    Joined,
    /// Those that match by themselves.
    Apart,
}

/// Returns the messages that match, and the plan with the cost of each step. `clock` returns nanoseconds.
pub(super) fn measured<'q>(
    mailbox: &Mailbox,
    query: &'q Query,
    clock: &dyn Fn() -> i64,
) -> Result<(Step<'q>, NumberSet)> {
    let mut step = plan(query, &|leaf| answers(mailbox, leaf))?;
    let run = Run { mailbox, live: mailbox.live()?, clock, copies: Copies::Joined };
    let found = run.step(&mut step)?;
    Ok((step, found))
}

/// Returns the messages that one answer finds, apart from all others.
///
/// # Errors
/// [`crate::Error::Interrupted`]; damage.
pub(super) fn answer_alone(mailbox: &Mailbox, answer: &Answer) -> Result<NumberSet> {
    Run { mailbox, live: mailbox.live()?, clock: &|| 0, copies: Copies::Joined }.answer(answer)
}

struct Run<'a> {
    mailbox: &'a Mailbox,
    live: &'a NumberSet,
    clock: &'a dyn Fn() -> i64,
    copies: Copies,
}

impl Run<'_> {
    fn step(&self, step: &mut Step<'_>) -> Result<NumberSet> {
        let started = (self.clock)();
        let found = match &mut step.node {
            Node::All => self.live.clone(),
            Node::And(steps) => self.and(steps)?,
            Node::Or(steps) => self.combine(steps, NumberSet::or)?,
            Node::Xor(steps) => self.combine(steps, NumberSet::xor)?,
            Node::Not(child) => {
                let mut rest = self.live.clone();
                rest.minus(&self.step(child)?);
                rest
            }
            Node::Leaf(_, answers) => {
                let mut found = self.mailbox.empty();
                for answer in answers.iter() {
                    found.or(&self.answer(answer)?);
                }
                if self.copies == Copies::Joined {
                    self.mailbox.add_copies(&mut found)?;
                }
                found.and(self.live);
                found
            }
        };
        let nanoseconds = u64::try_from((self.clock)().saturating_sub(started)).unwrap_or(0);
        step.measured = Some(Measured { found: found.count(), nanoseconds });
        Ok(found)
    }

    fn and(&self, steps: &mut [Step<'_>]) -> Result<NumberSet> {
        let mut found = self.live.clone();
        for step in steps {
            if found.is_empty() {
                break;
            }
            found.and(&self.step(step)?);
        }
        Ok(found)
    }

    fn combine(
        &self,
        steps: &mut [Step<'_>],
        operation: fn(&mut NumberSet, &NumberSet),
    ) -> Result<NumberSet> {
        let mut found = self.mailbox.empty();
        for step in steps {
            operation(&mut found, &self.step(step)?);
        }
        Ok(found)
    }

    /// Returns the messages that one answer finds. Copies outside the scope do not count, except for their
    /// tags: these were given to the message, whose headers changed on the way.
    fn answer(&self, answer: &Answer) -> Result<NumberSet> {
        self.mailbox.check_cancelled()?;
        let mut found = self.mailbox.empty();
        self.answer_of_one(answer, &mut found)?;
        // The result of a cancelled search is incomplete.
        self.mailbox.check_cancelled()?;
        if !matches!(answer, Answer::Tagged(_)) {
            found.and(self.live);
        }
        Ok(found)
    }

    fn answer_of_one(&self, answer: &Answer, found: &mut NumberSet) -> Result<()> {
        let mailbox = self.mailbox;
        match answer {
            Answer::Dates(from, to) => values::dates(mailbox, (*from, *to), found),
            Answer::Sizes(from, to) => values::sizes(mailbox, (*from, *to), found),
            Answer::Changed(from, to) => files::changed(mailbox, (*from, *to), found),
            Answer::Flag(flag) => files::flag(mailbox, *flag, found),
            Answer::Priority(priority) => values::priority(mailbox, *priority, found),
            Answer::MessageId(id) => values::message_id(mailbox, id, found),
            Answer::Tagged(wanted) => mailbox.tagged(|name| wanted.is_match(name.as_bytes()), found),
            Answer::Thread(id) => {
                found.or(&mailbox.thread_of_id(id)?);
                Ok(())
            }
            Answer::ThreadsOf(ids) => {
                let mut named = mailbox.empty();
                self.answer_of_one(ids, &mut named)?;
                found.or(&mailbox.with_related(&named)?);
                Ok(())
            }
            Answer::Keyword(wanted) => files::keyword(mailbox, wanted, found),
            Answer::Maildir(wanted) => files::maildir(mailbox, wanted, found),
            Answer::Path(path) => files::whole_path(mailbox, path, found),
            Answer::Below(path) => files::below(mailbox, path, found),
            Answer::Paths(wanted) => files::paths(mailbox, wanted, found),
            Answer::Text(field, needle) => {
                mailbox.text().find(*field, needle, &|| mailbox.is_cancelled(), found)
            }
            Answer::Terms(field, begin, wanted) => {
                mailbox.text().find_terms((*field, begin), wanted, &|| mailbox.is_cancelled(), found)
            }
            Answer::Values(field, begin, wanted) => {
                mailbox.text().find_values((*field, begin), wanted, &|| mailbox.is_cancelled(), found)
            }
        }
    }
}
