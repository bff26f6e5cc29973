//! Reads the bytes of messages, for calls.
//!
//! Input: a message as the index has it. Output: its bytes, from the first of its files that still holds it.
//! Does not know what they are for.

use crate::account::Account;
use crate::error::failed;
use crate::messages::Reading;
use jmap::MethodError;
use pneu::{Error, Message};
use std::sync::Arc;

impl Account<'_> {
    /// Returns the bytes of a message; `None` if no file of it can be read.
    ///
    /// # Errors
    /// `requestTooLarge`; the request is cancelled.
    pub(crate) fn read_message(&self, message: &Message) -> Result<Option<Arc<Reading>>, MethodError> {
        if let Some(reading) = self.messages.kept(&message.sha256) {
            return Ok(Some(reading));
        }
        self.messages.count(message.line.size_bytes)?;
        let content = match self.view.read(message) {
            Ok(content) => content,
            Err(Error::File(_)) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let Ok(reading) = Reading::new(content) else { return Ok(None) };
        let reading = Arc::new(reading);
        self.messages.keep(&reading);
        Ok(Some(reading))
    }
}
