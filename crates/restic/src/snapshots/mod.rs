//! Snapshots: their files, which one a user means, and which ones a policy keeps.
//!
//! Knows nothing of the trees that snapshots name.

pub mod forget;
pub mod select;
pub mod snapshot;
