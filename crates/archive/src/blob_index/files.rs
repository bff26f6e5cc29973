//! Where index files come from.
//!
//! Comes in: names. Goes out: names and JSON. Must not know what is made of them.

use crate::error::Result;
use crate::id::Id;
use std::fmt::Debug;

/// A repository's index files, opened. Many threads may read at once.
pub trait IndexFiles: Send + Sync + Debug {
    /// Returns the names and sizes in bytes of all index files, in no order.
    ///
    /// # Errors
    /// What the storage says.
    fn list(&self) -> Result<Vec<(Id, u64)>>;

    /// Returns the JSON in an index file.
    ///
    /// # Errors
    /// [`Error::Damage`](crate::Error::Damage) or [`Error::Missing`](crate::Error::Missing) that names it, or what the storage says.
    fn read(&self, id: Id) -> Result<Vec<u8>>;
}
