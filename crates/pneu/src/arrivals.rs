//! Tags new messages: by the rules of the configuration, and those of muted threads.
//!
//! Input: a pass that adds messages. Output: its summary, with what is wrong with a rule. Each message is
//! seen once, whoever adds it and whatever stops in between, and once more by the rules that did not match it
//! when text of its attachments comes. Costs a look at the tags if there is nothing to do.

use crate::error::{Error, Result};
use crate::host::Host;
use crate::view::View;
use index::{Arrivals, Looked, MUTED, NumberSet, Problem, Seen, Summary, TagChange};

/// Begins the name of a rule in place of a path, which would begin with a slash.
const RULE: &str = "rule ";

/// Messages, and what happens to their tags.
type Changes = Vec<(NumberSet, TagChange)>;

impl Host {
    /// Runs a pass that adds messages, and tags those that are new. What goes wrong with that is a problem of
    /// the pass: its messages are there.
    ///
    /// # Errors
    /// As the pass.
    pub(crate) fn tagging_arrivals(
        &self,
        looked: Looked,
        pass: impl FnOnce() -> Result<Summary>,
    ) -> Result<Summary> {
        let begun = self.expect_arrivals();
        let mut summary = pass()?;
        let added = summary.new_messages > 0;
        let done = match begun {
            Err(error) => Err(error),
            Ok(None) if added => self.note_arrivals(&Seen::Unknown).map(|_| Vec::new()),
            Ok(Some(is_due)) if is_due || added => self.tag_arrivals(looked),
            Ok(_) => Ok(Vec::new()),
        };
        match done {
            Ok(problems) => summary.problems.extend(problems),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => summary.problems.push(Problem {
                path: self.settings().environment.user_directory(),
                what: format!("new messages are not tagged yet: {error}"),
                remedy: None,
            }),
        }
        Ok(summary)
    }

    /// Returns whether a problem of a pass is about the tags of new messages.
    pub(crate) fn is_about_arrivals(&self, problem: &Problem) -> bool {
        problem.path == self.settings().environment.user_directory() || self.is_about_rule(problem)
    }

    /// Returns whether a problem of a pass is that a rule is wrong.
    pub(crate) fn is_about_rule(&self, problem: &Problem) -> bool {
        problem.path.to_str().is_some_and(|path| path.starts_with(RULE))
    }

    /// Makes an index anew. What it has is not new then.
    ///
    /// # Errors
    /// As the rebuild.
    pub(crate) fn rebuilding<T>(&self, rebuild: impl FnOnce() -> Result<T>) -> Result<T> {
        let is_active = self.tags_arrivals().unwrap_or(false);
        let wanted = if is_active { Seen::First } else { Seen::Unknown };
        let before = self.note_arrivals(&wanted).unwrap_or_default();
        let rebuilt = rebuild();
        // If this fails, the next pass over everything does it.
        let _ = match &rebuilt {
            Ok(_) if is_active => self.tag_arrivals(Looked::Everywhere).map(|_| ()),
            Ok(_) => Ok(()),
            Err(_) => self.note_arrivals(&before).map(|_| ()),
        };
        rebuilt
    }

    /// Returns whether new messages are tagged.
    fn tags_arrivals(&self) -> Result<bool> {
        let settings = self.settings();
        Ok(!settings.configuration.rules.is_empty() || index::is_tag(&settings.environment, MUTED)?)
    }

    /// Prepares for new messages, if any are tagged: then returns whether some may be left from before.
    fn expect_arrivals(&self) -> Result<Option<bool>> {
        if !self.tags_arrivals()? {
            return Ok(None);
        }
        self.write_user(index::expect_arrivals).map(Some)
    }

    fn note_arrivals(&self, seen: &Seen) -> Result<Seen> {
        self.write_user(|environment| index::replace_arrivals(environment, seen))
    }

    fn tag_arrivals(&self, looked: Looked) -> Result<Vec<Problem>> {
        self.write_user(|environment| {
            let view = self.newest_view()?;
            let Some(mut arrivals) = Arrivals::take(environment, view.mailbox(), looked)? else {
                return Ok(Vec::new());
            };
            let (mut changes, problems) = self.changes(&view, &mut arrivals)?;
            let muted = view.mailbox().with_user_tag(MUTED)?;
            if !muted.is_empty() {
                let found = view.mailbox().answering(arrivals.new_messages(), &muted)?;
                changes.push((found, TagChange { add: [MUTED.to_owned()].into(), ..TagChange::default() }));
            }
            arrivals.commit(environment, view.mailbox(), &changes)?;
            Ok::<_, Error>(problems)
        })
    }

    /// Tags new messages of whose attachments text came since the rules saw them.
    ///
    /// # Errors
    /// Damage; a data directory that cannot be written. They are tagged the next time then.
    pub(crate) fn tag_text(&self) -> Result<()> {
        if index::awaited_text(&self.settings().environment)?.is_empty() {
            return Ok(());
        }
        self.write_user(|environment| {
            let view = self.newest_view()?;
            let Some(mut arrivals) = Arrivals::take_text(environment, view.mailbox())? else { return Ok(()) };
            // What is wrong with a rule was told when they were new.
            let (changes, _) = self.changes(&view, &mut arrivals)?;
            arrivals.commit(environment, view.mailbox(), &changes)?;
            Ok::<_, Error>(())
        })
    }

    /// Returns what the rules do to new messages, and notes which of these they do not match if text may come
    /// later. All queries see the state before.
    fn changes(&self, view: &View, arrivals: &mut Arrivals) -> Result<(Changes, Vec<Problem>)> {
        let (mut changes, mut problems) = (Vec::new(), Vec::new());
        if arrivals.new_messages().is_empty() {
            return Ok((changes, problems));
        }
        for (number, rule) in (1..).zip(&self.settings().configuration.rules) {
            let id = rule.id();
            let mut new = arrivals.for_rule(id);
            match view.query(&rule.query).and_then(|query| view.matching(&query)) {
                Ok(mut found) => {
                    found.and(&new);
                    if self.filters.is_some() && !arrivals.are_seen_again() {
                        new.minus(&found);
                        arrivals.await_text(view.mailbox(), id, &new);
                    }
                    changes.push((found, rule.change.clone()));
                }
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) => problems.push(Problem {
                    path: format!("{RULE}{number}").into(),
                    what: sentence(error),
                    remedy: None,
                }),
            }
        }
        Ok((changes, problems))
    }
}

/// Returns what is wrong with a query, without the lines that show the place.
pub(crate) fn sentence(error: Error) -> String {
    match error {
        Error::Parse(error) => error.problem.to_string(),
        other => other.to_string(),
    }
}
