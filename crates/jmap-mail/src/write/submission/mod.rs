//! Identities, and emails that are sent (RFC 8621, sections 6 and 7).
//!
//! Input: calls. Output: responses, and messages that the configured command sends. `identity` has who mail
//! is from; `set` sends; `others` answers what is asked about submissions, of which none is kept.

mod identity;
mod others;
mod set;

pub(crate) use identity::identity_state;

/// The capability of these methods.
pub const SUBMISSION: &str = "urn:ietf:params:jmap:submission";

/// The state of all submissions, as none is kept.
const STATE: &str = "0";
