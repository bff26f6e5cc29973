//! Snapshots: their files, which one a user means, and which ones a policy keeps.
//!
//! Does not depend on the trees that snapshots name.

pub mod forget;
pub(crate) mod remove;
pub mod select;
pub mod snapshot;
