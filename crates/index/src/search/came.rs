//! Which messages came since a token, or since an earlier state of the index.
//!
//! Input: a mailbox, a token or an earlier mailbox, a query. Output: numbers of messages. Must not know how
//! changes are printed.

use crate::changes::{Event, Group, Log, Token};
use crate::error::{Error, Result, TokenFault};
use crate::search::mailbox::Mailbox;
use crate::set::NumberSet;
use query::{Field, Query, Target};

/// What may make a query match a message that is not new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Depends {
    /// Another folder, or another name of a file.
    on_places: bool,
    /// Other flags or tags, which may stand for each other.
    on_marks: bool,
    /// The text of attachments.
    on_text: bool,
}

impl Mailbox {
    /// Returns the messages that were added since a token. If the query asks for folders, those that were
    /// moved or copied since count, too; if it asks for flags or tags, those that were flagged or tagged; if
    /// it asks for text, those whose attachments were read. Whether they match is not looked at.
    ///
    /// # Errors
    /// As [`Mailbox::changes`].
    pub fn came_since(&self, token: &str, query: &Query) -> Result<NumberSet> {
        let (index, user) = (self.snapshot(), self.user_snapshot()?);
        let since = Token::read(token, index, user)?;
        let mut depends = Depends::default();
        note(query, &mut depends);
        let mut came = Vec::new();
        for group in Log::since(index, since.index)?.iter().flat_map(|commit| &commit.groups) {
            if let Group::Messages(event, numbers) = group
                && counts(*event, depends)
            {
                came.extend_from_slice(numbers);
            }
        }
        if let Some(user) = user.filter(|_| depends.on_marks) {
            for group in Log::since(user, since.user)?.iter().flat_map(|commit| &commit.groups) {
                if let Group::Tags { contents, .. } = group {
                    self.add_numbers(contents, &mut came)?;
                }
            }
        }
        Ok(set_of(&came))
    }

    /// Returns whether this mailbox is a later state of the index and the tags of an earlier one, or the same
    /// state. If so, a message has the same number in both.
    ///
    /// # Errors
    /// Damage.
    pub fn continues(&self, earlier: &Mailbox) -> Result<bool> {
        let token = Token::newest(earlier.snapshot(), earlier.user_snapshot()?)?.to_text();
        match Token::read(&token, self.snapshot(), self.user_snapshot()?) {
            // The log is the same one, and was shortened.
            Ok(_) | Err(Error::Token { fault: TokenFault::TooOld }) => Ok(true),
            Err(Error::Token { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the numbers that messages of another mailbox have in this one, by their contents.
    ///
    /// # Errors
    /// Damage.
    pub fn same_contents(&self, other: &Mailbox, found: &NumberSet) -> Result<NumberSet> {
        let mut numbers = Vec::new();
        self.add_numbers(&other.contents_of(found)?, &mut numbers)?;
        Ok(set_of(&numbers))
    }

    fn add_numbers(&self, contents: &[[u8; 32]], numbers: &mut Vec<u32>) -> Result<()> {
        for sha256 in contents {
            numbers.extend(self.number_of(sha256)?);
        }
        Ok(())
    }
}

fn set_of(numbers: &[u32]) -> NumberSet {
    let mut set = NumberSet::new(numbers.iter().max().map_or(0, |last| last.saturating_add(1)));
    numbers.iter().for_each(|number| set.insert(*number));
    set
}

/// Notes what the terms of a query depend on.
fn note(query: &Query, depends: &mut Depends) {
    match query {
        Query::All => {}
        Query::And(children) | Query::Or(children) | Query::Xor(children) => {
            children.iter().for_each(|child| note(child, depends));
        }
        Query::Not(child) => note(child, depends),
        Query::Leaf(leaf) => {
            if let Target::Fields(fields) = &leaf.target {
                let has = |wanted: &[Field]| wanted.iter().any(|field| fields.contains(*field));
                depends.on_places |= has(&[Field::Maildir, Field::Path, Field::Changed]);
                depends.on_text |= has(&[Field::Body, Field::Embed]);
                depends.on_marks |= has(&[Field::Flag, Field::Tag, Field::Keyword, Field::Changed]);
            }
        }
    }
}

fn counts(event: Event, depends: Depends) -> bool {
    match event {
        Event::Added | Event::Archived | Event::Back => true,
        Event::Moved { .. } | Event::Copied { .. } | Event::Removed { .. } => depends.on_places,
        Event::Renamed { .. } => depends.on_places || depends.on_marks,
        Event::Flags { .. } => depends.on_marks,
        Event::Text => depends.on_text,
        Event::Gone => false,
    }
}
