//! Messages that would be lost if snapshots were removed: finds them, and keeps them in a snapshot of their
//! own.

pub(crate) mod find;
pub(crate) mod keep;
