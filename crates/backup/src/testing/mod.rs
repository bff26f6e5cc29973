//! What tests of this crate share: a mailbox with its index, and a repository in memory.

pub(crate) mod fixture;
pub(crate) mod mailbox;
pub(crate) mod memory;
pub(crate) mod snapshots;
