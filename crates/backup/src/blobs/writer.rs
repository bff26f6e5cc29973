//! What this crate needs from a repository to write to it.

use crate::blobs::entry::EntryView;
use crate::error::Result;
use restic::Id;
use std::io::Read;

/// A repository that is written to.
pub(crate) trait BlobWriter: Sync {
    /// Returns, for each piece, whether the repository has it.
    fn has_pieces(&self, ids: &[Id]) -> Result<Vec<bool>>;

    /// Returns whether the repository has a tree.
    fn has_tree(&self, id: &Id) -> Result<bool>;

    /// Saves a file that is one piece.
    fn save_piece(&self, id: Id, content: &[u8]) -> Result<()>;

    /// Saves a file of any length, cut into pieces. Returns their ids.
    fn save_stream(&self, content: &mut dyn Read) -> Result<Vec<Id>>;

    /// Saves a directory as a tree. `entries` are sorted by name, without duplicates. Returns the tree's id.
    fn save_tree(&self, entries: &[EntryView<'_>]) -> Result<Id>;
}
