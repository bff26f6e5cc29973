//! What a method call sees of its request besides its arguments.
//!
//! Input: a request and the limits of the server. Output: the capabilities in use, the records created so
//! far, and the room that is left for responses. Knows no method.

use crate::created::CreatedIds;
use crate::error::MethodError;
use crate::limits::Limits;
use crate::memory::Room;
use serde_json::Value;

/// What all calls of a request share.
#[derive(Clone, Debug)]
pub struct Context<'l> {
    /// The limits of the server.
    pub limits: &'l Limits,
    /// The records that the request created so far. A method adds each at once (RFC 8620, section 5.3).
    pub created_ids: CreatedIds,
    /// The capabilities that the request uses.
    pub(crate) using: Vec<String>,
    /// What the responses may still take.
    pub(crate) room: Room,
}

impl Context<'_> {
    /// Counts a record that a response will have. A method whose records may be large counts each as soon as
    /// it is made, so that no more of them are made than fit.
    ///
    /// # Errors
    /// `requestTooLarge`, if the response would be too large. The first record of a request never is.
    pub fn count(&self, record: &Value) -> Result<(), MethodError> {
        self.room.take(record)
    }

    /// Returns whether the request uses `capability` (RFC 8620, section 3.3).
    pub fn uses(&self, capability: &str) -> bool {
        self.using.iter().any(|used| used == capability)
    }
}
