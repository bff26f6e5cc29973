//! The archive as commands see it: which repository is meant, and the messages that it holds.
//!
//! Takes what options, environment and configuration say. Gives an open and locked repository, messages whose
//! files are gone, and the mailbox as of an earlier time. Does not know any command.

pub(crate) mod import;
pub(crate) mod messages;
mod password;
pub(crate) mod point_in_time;
pub(crate) mod repository;
