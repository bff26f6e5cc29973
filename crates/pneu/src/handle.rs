//! Finds the message or the thread that a handle names.
//!
//! Input: a handle: `id:` and a Message-ID, the beginning of a SHA-256, a path, or a query. Output: hits of a
//! view. Does not read messages.

use crate::error::{Error, Result};
use crate::message_file::MessageContent;
use crate::view::View;
use index::{Hit, Message, Order, Origin, ThreadOrder};
use mail::PreferredAlternative;
use printable::hex;
use std::collections::HashSet;

/// The message that a handle names.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The message: the newest, if several have the Message-ID.
    pub hit: Hit,
    /// How many other messages have the Message-ID.
    pub other_count: usize,
}

impl View {
    /// Returns the message that a handle names: as [`View::resolve`] says, or as the only match of a query.
    ///
    /// # Errors
    /// [`Error::NoMatch`], [`Error::SeveralMessages`]; a handle that is not a query and names no message or
    /// several; the query cannot be understood or answered; damage.
    pub fn named(&self, handle: &str) -> Result<Named> {
        match self.resolve(handle) {
            Ok(hits) => {
                let hits = self.mailbox().distinct_hits(hits)?;
                let newest = hits.iter().max_by_key(|hit| hit.date).copied();
                let hit = newest.ok_or_else(|| no_match(handle))?;
                Ok(Named { hit, other_count: hits.len() - 1 })
            }
            Err(error) if may_be_query(handle, &error) => {
                let order = Order { limit: Some(1), ..Order::default() };
                let hits = self.find(&self.query(handle)?, &order)?;
                match (hits.list.first(), hits.total) {
                    (None, _) => Err(no_match(handle)),
                    (Some(hit), 1) => Ok(Named { hit: *hit, other_count: 0 }),
                    (_, count) => Err(Error::SeveralMessages { handle: handle.to_owned(), count }),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the messages that a handle names: as [`View::resolve`] says, or as the matches of a query that
    /// are all of one thread.
    ///
    /// # Errors
    /// As [`View::named`], with [`Error::SeveralThreads`].
    pub fn named_in_one_thread(&self, handle: &str) -> Result<Vec<Hit>> {
        match self.resolve(handle) {
            Err(error) if may_be_query(handle, &error) => {}
            resolved => return resolved,
        }
        let order = ThreadOrder { limit: Some(1), ..ThreadOrder::default() };
        let threads = self.threads(&self.matching(&self.query(handle)?)?, &order)?;
        match (threads.list.first(), threads.total) {
            (None, _) => Err(no_match(handle)),
            (Some(thread), 1) => {
                let found = thread.entries.iter().filter(|entry| entry.origin == Origin::Found);
                Ok(found.map(|entry| entry.hit).collect())
            }
            (_, count) => Err(Error::SeveralThreads { handle: handle.to_owned(), count }),
        }
    }

    /// Returns the message with this content, if the index knows it.
    ///
    /// # Errors
    /// Damage.
    pub fn by_sha256(&self, sha256: &[u8; 32]) -> Result<Option<Hit>> {
        match self.resolve(&hex(sha256)) {
            Err(Error::Index(index::Error::NoSuchMessage { .. })) => Ok(None),
            hits => Ok(hits?.first().copied()),
        }
    }

    /// Returns the messages that content which was read is: the one with its SHA-256, or else all with its
    /// Message-ID.
    ///
    /// # Errors
    /// Damage.
    pub fn by_content(&self, content: &MessageContent) -> Result<Vec<Hit>> {
        if let Some(hit) = self.by_sha256(&content.sha256)? {
            return Ok(vec![hit]);
        }
        let message = content.parsed(PreferredAlternative::Better);
        Ok(self.mailbox().by_message_id(&message.message_id)?)
    }

    /// Returns what the index knows of content that was read, as [`MessageContent::known_as`] does.
    ///
    /// # Errors
    /// Damage.
    pub fn known(&self, content: &MessageContent) -> Result<Option<Message>> {
        match self.by_sha256(&content.sha256)? {
            Some(hit) => Ok(content.known_as(self.message(&hit)?)),
            None => Ok(None),
        }
    }

    /// Returns whether none of these messages, nor any of their copies, has a file.
    ///
    /// # Errors
    /// Damage.
    pub fn are_all_absent(&self, hits: &[Hit]) -> Result<bool> {
        for hit in hits {
            if !self.is_absent(hit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether any of these messages or of their copies is in a list, of which `listed` has the
    /// numbers.
    ///
    /// # Errors
    /// Damage.
    pub fn is_any_listed(&self, hits: &[Hit], listed: &HashSet<u32>) -> Result<bool> {
        for hit in hits {
            if self.mailbox().copies_of_hit(hit)?.iter().any(|copy| listed.contains(&copy.number)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn no_match(handle: &str) -> Error {
    Error::NoMatch { handle: handle.to_owned() }
}

/// Returns whether a handle is never a query: an absolute path, or a Message-ID.
pub fn is_exact(handle: &str) -> bool {
    handle.starts_with("id:") || handle.starts_with("msgid:") || handle.starts_with('/')
}

/// Returns whether a handle that cannot be resolved may be a query.
fn may_be_query(handle: &str, error: &Error) -> bool {
    !is_exact(handle) && matches!(error, Error::Index(index::Error::NoSuchMessage { .. }))
}
