//! What the fuzz targets of the store share: a small store in memory, its files with changes, and a look at
//! everything in it.
//!
//! Input: changes. Output: a disk that holds the store with one file changed. Does not know what the store
//! makes of it: any error will do, a panic will not.

mod edit;
mod look;
mod made;
pub mod repair;

pub use edit::edited;
pub use look::look_at_everything;
pub use made::{DIRECTORY, Made, made};
