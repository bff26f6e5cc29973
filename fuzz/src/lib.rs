//! Shared by the fuzz targets of the store: a small store in memory, changes to its files, and a read of
//! everything in it.
//!
//! Input: changes. Output: a disk with the store, of which one file was changed. Any error is right, a panic
//! is not.

mod edit;
mod look;
mod made;
pub mod repair;

pub use edit::edited;
pub use look::look_at_everything;
pub use made::{DIRECTORY, Made, made};
