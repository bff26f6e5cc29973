//! The cache as a list of pieces, to be stored in a snapshot.

use crate::blobs::entry::PIECE_BYTES_MIN;
use crate::cache::columns::{chunks, compressed};
use crate::cache::read::Cache;
use crate::cache::tables::ids;
use crate::error::Result;
use crate::pieces::list::PieceList;
use restic::Id;

impl Cache {
    /// Returns the pieces of all messages that the cache knows to be cut or compressed.
    ///
    /// # Errors
    /// Damage in the tables.
    pub(crate) fn list(&self) -> Result<PieceList> {
        let mut list = PieceList::default();
        for part in self.compressed.parts() {
            for row in part.live_rows() {
                let content = part.id_at(compressed::CONTENT, row)?;
                list.0.insert(part.id_at(compressed::MESSAGE, row)?, vec![Id(content)]);
            }
        }
        // For a compressed file that is cut, the pieces replace the content.
        for part in self.chunks.parts() {
            for row in part.live_rows() {
                let message = self.message_in(part.id_at(chunks::CONTENT, row)?)?;
                list.0.insert(message, ids(part.bytes(chunks::PIECES, row)?));
            }
        }
        Ok(list)
    }

    /// Returns what new tables must take over from the lists in snapshots: nothing if the tables exist.
    ///
    /// # Errors
    /// Damage in the tables.
    pub(super) fn only_listed(&self) -> Result<PieceList> {
        if self.snapshot.is_some() { Ok(PieceList::default()) } else { self.list() }
    }

    /// Returns the pieces of a content that may be one piece.
    ///
    /// # Errors
    /// Damage in the tables.
    pub(crate) fn pieces_or_itself(&self, content: [u8; 32]) -> Result<Vec<Id>> {
        Ok(self.pieces(content, PIECE_BYTES_MIN)?.unwrap_or_else(|| vec![Id(content)]))
    }
}
