//! Messages that one request has read: each once, and no more than a limit in all.
//!
//! Input: contents of messages. Output: their bytes. What was read is kept for the later calls of the
//! request, as long as it is small. Knows neither the index nor what the bytes are for.

use crate::abridged::Abridged;
use jmap::{MethodError, MethodErrorKind};
use pneu::{MailError, MessageContent};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of mail that one request reads, and gives out as text, unless an account says otherwise. A client
/// that wants more asks again.
const REQUEST_BYTES_MAX: u64 = 256 << 20;
/// How many times its own size a message is given out: it has header fields in several forms, and texts.
const GIVEN_TIMES_MAX: u64 = 8;
/// Bytes that may be given out of any message besides, however small: for its parts.
const GIVEN_BYTES: u64 = 32 << 20;
/// Bytes of messages that are kept for later calls.
const KEPT_BYTES_MAX: u64 = 16 << 20;

/// A message that was read.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The message.
    pub(crate) content: MessageContent,
    /// What is held of it, if it is too large.
    abridged: Option<Abridged>,
}

impl Reading {
    /// Takes a message.
    ///
    /// # Errors
    /// It is too large to be held, and its file cannot be read again.
    pub(crate) fn new(content: MessageContent) -> Result<Reading, MailError> {
        let abridged = is_large(&content).then(|| Abridged::read(&content)).transpose()?;
        Ok(Reading { content, abridged })
    }

    /// Returns the bytes of the message, or what is held of it.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.abridged.as_ref().map_or(&self.content.content.bytes, |abridged| &abridged.bytes)
    }

    /// Returns what is held of the message, if it is too large.
    pub(crate) fn abridged(&self) -> Option<&Abridged> {
        self.abridged.as_ref()
    }
}

/// What a request has read.
#[derive(Debug)]
pub(crate) struct Messages {
    kept: RefCell<HashMap<[u8; 32], Arc<Reading>>>,
    kept_bytes: Cell<u64>,
    used_bytes: Cell<u64>,
    bytes_max: u64,
}

impl Default for Messages {
    fn default() -> Messages {
        Messages::new(REQUEST_BYTES_MAX)
    }
}

impl Messages {
    /// Begins a request that may read, and give out as text, this many bytes.
    pub(crate) fn new(bytes_max: u64) -> Messages {
        let (kept_bytes, used_bytes) = (Cell::new(0), Cell::new(0));
        Messages { kept: RefCell::default(), kept_bytes, used_bytes, bytes_max }
    }

    /// Counts bytes that are read or given out. The first message of a request may have any size, so that
    /// each can be read.
    ///
    /// # Errors
    /// `requestTooLarge`.
    pub(crate) fn count(&self, bytes: u64) -> Result<(), MethodError> {
        let used = self.used_bytes.get();
        let sum = used.saturating_add(bytes);
        if used > 0 && sum > self.bytes_max {
            let what = "the messages are too large to be read in one request: ask for fewer at once";
            return Err(MethodError::new(MethodErrorKind::RequestTooLarge, what));
        }
        self.used_bytes.set(sum);
        Ok(())
    }

    /// Checks how much is given out of a message with `size_bytes`.
    ///
    /// # Errors
    /// `requestTooLarge`, if the same is given out again and again: by many properties for one long field.
    pub(crate) fn check_given(bytes: u64, size_bytes: u64) -> Result<(), MethodError> {
        if bytes > size_bytes.saturating_mul(GIVEN_TIMES_MAX).saturating_add(GIVEN_BYTES) {
            let what = "too much is asked of one message: ask for fewer properties at once";
            return Err(MethodError::new(MethodErrorKind::RequestTooLarge, what));
        }
        Ok(())
    }

    /// Counts bytes that were given out of a message.
    pub(crate) fn count_given(&self, bytes: u64) {
        self.used_bytes.set(self.used_bytes.get().saturating_add(bytes));
    }

    /// Returns a message that was kept.
    pub(crate) fn kept(&self, sha256: &[u8; 32]) -> Option<Arc<Reading>> {
        self.kept.borrow().get(sha256).map(Arc::clone)
    }

    /// Keeps a message, if there is room.
    pub(crate) fn keep(&self, reading: &Arc<Reading>) {
        let sum = self.kept_bytes.get().saturating_add(reading.bytes().len() as u64);
        if sum <= KEPT_BYTES_MAX {
            self.kept_bytes.set(sum);
            self.kept.borrow_mut().insert(reading.content.sha256, Arc::clone(reading));
        }
    }
}

/// Returns whether a message is too large to be held.
pub(crate) fn is_large(content: &MessageContent) -> bool {
    content.content.bytes.is_empty() && content.size_bytes > 0
}
