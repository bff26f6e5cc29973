//! From the words of the command line to messages: the query, its order and scope, or the one message that is
//! named.
//!
//! Does not know formats or commands.

pub(crate) mod locate;
pub(crate) mod question;
pub(crate) mod sort;
