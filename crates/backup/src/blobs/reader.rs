//! What this crate needs from a repository to read it. Implementations verify what they return.

use crate::blobs::entry::Entry;
use crate::blobs::unindexed::UnindexedBlobs;
use crate::error::Result;
use restic::Id;
use work::Progress;

/// Most bytes of a message that is read. A damaged snapshot could name the same piece a million times in a
/// file.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 4 << 30;

/// A repository that is read.
pub(crate) trait BlobReader: Sync {
    /// Returns the entries of a tree.
    fn tree(&self, id: &Id) -> Result<Vec<Entry>>;

    /// Returns a piece of a file.
    fn piece(&self, id: &Id) -> Result<Vec<u8>>;

    /// Returns, for each piece, whether the repository's index names it.
    fn holds_pieces(&self, ids: &[Id]) -> Result<Vec<bool>>;

    /// Returns the pieces that are in the repository but that no index file names. Reads every pack without
    /// an entry.
    fn unindexed_blobs(&self, progress: &dyn Progress) -> Result<UnindexedBlobs>;
}

impl<V: BlobReader + ?Sized> BlobReader for &V {
    fn tree(&self, id: &Id) -> Result<Vec<Entry>> {
        (**self).tree(id)
    }

    fn piece(&self, id: &Id) -> Result<Vec<u8>> {
        (**self).piece(id)
    }

    fn holds_pieces(&self, ids: &[Id]) -> Result<Vec<bool>> {
        (**self).holds_pieces(ids)
    }

    fn unindexed_blobs(&self, progress: &dyn Progress) -> Result<UnindexedBlobs> {
        (**self).unindexed_blobs(progress)
    }
}

/// Returns the content of a file of at most `bytes_max` bytes.
///
/// # Errors
/// A piece cannot be read; there are more bytes.
pub(crate) fn content(reader: &dyn BlobReader, pieces: &[Id], bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for piece in pieces {
        let more = reader.piece(piece)?;
        if (bytes.len() + more.len()) as u64 > bytes_max {
            let what = format!("its pieces have more than {bytes_max} bytes together");
            return Err(restic::Error::damage("a file of a snapshot", what).into());
        }
        // Most files are one piece, which is not copied.
        if bytes.is_empty() {
            bytes = more;
        } else {
            bytes.extend(more);
        }
    }
    Ok(bytes)
}
