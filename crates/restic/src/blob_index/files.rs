//! The source of index files: lists their names and reads their JSON.
//!
//! Does not depend on how the JSON is used.

use crate::crypto::key::Key;
use crate::encoding::id::Id;
use crate::error::Result;
use crate::file_name::FileKind;
use crate::format::unpacked;
use crate::storage::Storage;
use std::fmt::Debug;
use std::sync::Arc;

/// A repository's index files, decrypted. Many threads may read at once.
pub trait IndexFiles: Send + Sync + Debug {
    /// Returns the names and sizes in bytes of all index files, in no order.
    ///
    /// # Errors
    /// Storage errors.
    fn list(&self) -> Result<Vec<(Id, u64)>>;

    /// Returns the JSON in an index file.
    ///
    /// # Errors
    /// [`Error::Damage`](crate::Error::Damage) or [`Error::Missing`](crate::Error::Missing) that names it, or
    /// storage errors.
    fn read(&self, id: Id) -> Result<Vec<u8>>;
}

/// Index files in a repository's storage.
#[derive(Clone, Debug)]
pub struct SealedIndexFiles {
    /// The storage.
    pub storage: Arc<dyn Storage>,
    /// The key.
    pub key: Arc<Key>,
}

impl IndexFiles for SealedIndexFiles {
    fn list(&self) -> Result<Vec<(Id, u64)>> {
        self.storage.list(FileKind::Index)
    }

    fn read(&self, id: Id) -> Result<Vec<u8>> {
        unpacked::load(&*self.storage, &self.key, FileKind::Index, id)
    }
}
