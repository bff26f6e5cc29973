//! Finds the pieces of a message, and the message of pieces, for messages that are cut or compressed.
//!
//! Any other message is one blob of its own SHA-256. Asks the cache first, and reads the lists in snapshots
//! only for messages that the cache does not have.

use crate::blobs::entry::PIECE_BYTES_MIN;
use crate::cache::Cache;
use crate::error::Result;
use crate::pieces::lists::PieceLists;
use restic::Id;
use std::sync::{Arc, OnceLock};

/// Reads the lists of an archive.
pub(crate) type Reader<'a> = Box<dyn Fn() -> Result<PieceLists> + Send + Sync + 'a>;

/// Known relations between blobs and messages.
pub(crate) struct PieceLookup<'a> {
    tables: Option<Arc<Cache>>,
    read: Reader<'a>,
    lists: OnceLock<PieceLists>,
}

impl<'a> PieceLookup<'a> {
    /// Returns a lookup in the tables. `read` adds the lists in the repository when they are first needed.
    pub(crate) fn new(tables: Option<Arc<Cache>>, read: Reader<'a>) -> PieceLookup<'a> {
        PieceLookup { tables, read, lists: OnceLock::new() }
    }

    /// Returns the lists of the repository.
    ///
    /// # Errors
    /// The repository cannot be reached; [`Error::Interrupted`].
    pub(crate) fn lists(&self) -> Result<&PieceLists> {
        if let Some(lists) = self.lists.get() {
            return Ok(lists);
        }
        let read = (self.read)()?;
        Ok(self.lists.get_or_init(|| read))
    }

    /// Returns the problems of reading lists so far, a sentence each.
    pub(crate) fn problems(&self) -> &[String] {
        self.lists.get().map_or(&[], |lists| &lists.problems)
    }

    /// Returns the pieces of the file of a message that is cut or compressed, as far as the tables know it.
    ///
    /// # Errors
    /// Damage in the tables.
    pub(crate) fn pieces_of(&self, message: &[u8; 32]) -> Result<Vec<Vec<Id>>> {
        let mut ways = Vec::new();
        if let Some(known) = &self.tables {
            ways.extend(known.pieces(*message, PIECE_BYTES_MIN)?);
            if let Some(content) = known.compressed_content(message)? {
                ways.push(known.pieces_or_itself(content)?);
            }
        }
        Ok(ways)
    }

    /// Returns the message in a file of these pieces, if it is known. For an uncompressed file in one piece,
    /// it is the id of the piece.
    ///
    /// # Errors
    /// Damage in the tables; as [`PieceLookup::lists`].
    pub(crate) fn message_of(&self, pieces: &[Id]) -> Result<Option<[u8; 32]>> {
        let known = match (&self.tables, pieces) {
            (Some(known), pieces) => known.message_of(pieces)?,
            (None, [piece]) => Some(piece.0),
            (None, _) => None,
        };
        match (known, pieces) {
            // The tables know nothing of it that its name does not say.
            (Some(message), [piece]) if message == piece.0 => {
                Ok(Some(self.lists()?.message_of(pieces).unwrap_or(message)))
            }
            (Some(message), _) => Ok(Some(message)),
            (None, _) => Ok(self.lists()?.message_of(pieces)),
        }
    }
}
