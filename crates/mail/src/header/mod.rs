//! Parses header blocks and the values of single fields: addresses, dates, message IDs.
//!
//! Used by `mime` and `message`. Does not depend on parts and bodies.

pub(crate) mod addresses;
pub(crate) mod block;
pub(crate) mod dates;
pub(crate) mod mailbox;
pub(crate) mod message_ids;
pub(crate) mod quoted;
