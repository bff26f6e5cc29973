//! Trees that a walk or a listing could not read.

use crate::encoding::id::Id;
use crate::error::Error;

/// A tree that could not be read, or not completely.
#[derive(Debug)]
pub struct WalkProblem {
    /// The tree.
    pub tree: Id,
    /// A path at which it lies.
    pub path: Vec<u8>,
    /// Why.
    pub error: Error,
}

/// Returns a snapshot's path for display: the top is a slash.
pub fn shown_path(path: &[u8]) -> String {
    if path.is_empty() { "/".to_owned() } else { String::from_utf8_lossy(path).into_owned() }
}
