//! What a method call sees of its request besides its arguments.
//!
//! Input: a request and the limits of the server. Output: the capabilities in use and the records created so
//! far. Knows no method.

use crate::created::CreatedIds;
use crate::limits::Limits;

/// What all calls of a request share.
#[derive(Clone, Debug)]
pub struct Context<'l> {
    /// The limits of the server.
    pub limits: &'l Limits,
    /// The records that the request created so far. A method adds each at once (RFC 8620, section 5.3).
    pub created_ids: CreatedIds,
    /// The capabilities that the request uses.
    pub(crate) using: Vec<String>,
}

impl Context<'_> {
    /// Returns whether the request uses `capability` (RFC 8620, section 3.3).
    pub fn uses(&self, capability: &str) -> bool {
        self.using.iter().any(|used| used == capability)
    }
}
