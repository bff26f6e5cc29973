//! Reads messages from a repository: by SHA-256, or a mailbox as a snapshot has it.
//!
//! Uses the cache and the lists of pieces to tell which blobs are which message. Writes nothing.

pub(crate) mod lookup;
pub(crate) mod messages;
pub(crate) mod moment;

#[cfg(test)]
mod tests;
