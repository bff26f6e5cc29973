//! Between the tables and the lists of pieces that lie in snapshots.
//!
//! In: one of them. Out: the other. Must not know where lists lie.

use super::tables::{self, chunks, compressed};
use super::{Known, ids, live};
use crate::entry::PIECE_BYTES_MIN;
use crate::error::Result;
use crate::learned::Lists;
use crate::piece_list::PieceList;
use archive::Id;
use store::{Rows, Value};

impl Known {
    /// Returns the pieces of all messages of which tables know that they are cut or compressed.
    ///
    /// # Errors
    /// Damage in the tables.
    pub(crate) fn list(&self) -> Result<PieceList> {
        let mut list = PieceList::default();
        for part in self.compressed.parts() {
            for row in live(part) {
                let content = part.id_at(compressed::CONTENT, row)?;
                list.0.insert(part.id_at(compressed::MESSAGE, row)?, vec![Id(content)]);
            }
        }
        // Of a compressed file that is cut the pieces count.
        for part in self.chunks.parts() {
            for row in live(part) {
                let message = self.message_in(part.id_at(chunks::CONTENT, row)?)?;
                list.0.insert(message, ids(part.bytes(chunks::PIECES, row)?));
            }
        }
        Ok(list)
    }

    /// Returns what is to be noted in new tables: what only lists say. Nothing if there are tables.
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

/// Returns rows of `chunks` and `compressed` that say what lists say.
///
/// # Errors
/// A row does not fit.
pub(super) fn rows(lists: &Lists) -> Result<[Rows; 2]> {
    let [_, _, mut chunks, mut compressed] = tables::empty();
    for (message, pieces) in &lists.list.0 {
        push((&mut chunks, &mut compressed), *message, pieces)?;
    }
    Ok([chunks, compressed])
}

/// Appends the row of a message. Of one in several pieces nobody can tell whether it is compressed: the name of the message stands for its content.
pub(super) fn push(
    (chunks, compressed): (&mut Rows, &mut Rows),
    message: [u8; 32],
    pieces: &[Id],
) -> Result<()> {
    match pieces {
        [piece] => compressed.push(&[Value::Id(&message), Value::Id(&piece.0)])?,
        many => {
            let bytes: Vec<u8> = many.iter().flat_map(|piece| piece.0).collect();
            chunks.push(&[Value::Id(&message), Value::Bytes(&bytes)])?;
        }
    }
    Ok(())
}
