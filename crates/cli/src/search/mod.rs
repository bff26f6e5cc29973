//! Turns the words of the command line into messages: those of a query in order, or a single one.
//!
//! Does not know formats or commands.

pub(crate) mod locate;
pub(crate) mod question;
pub(crate) mod sort;
