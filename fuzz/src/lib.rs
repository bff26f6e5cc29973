//! Shared by the fuzz targets: a small store in memory, changes to its files, and a read of everything in it;
//! and a look at a page, as a browser would see it.
//!
//! Input: changes. Output: a disk with the store, of which one file was changed. Any error is right, a panic
//! is not. Input: a page. Output: what of it runs or loads something.

mod edit;
mod look;
mod made;
pub mod page;
pub mod repair;

pub use edit::edited;
pub use look::look_at_everything;
pub use made::{DIRECTORY, Made, made, made_packed};
