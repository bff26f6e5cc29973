//! Blobs: the contents of messages, as they are downloaded (RFC 8620, section 6.2).
//!
//! Input: an id. Output: the message, block by block, from the first of its files that still holds it. An id
//! names a content, never a path.

use crate::account::Account;
use crate::ids;
use jmap::Id;
use pneu::{MessageContent, RecordReader};

/// Why a blob cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobError {
    /// There is no such blob, or no more.
    NotFound,
    /// It cannot be read now.
    Unreadable,
}

impl Account<'_> {
    /// Returns the message that an id names. [`MessageContent::each_block`] gives its bytes, whatever its
    /// size.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn blob(&self, id: &Id) -> Result<MessageContent, BlobError> {
        let sha256 = ids::blob_content(id).ok_or(BlobError::NotFound)?;
        let hit = self.view.content_hit(&sha256).map_err(|_| BlobError::Unreadable)?;
        let hit = hit.ok_or(BlobError::NotFound)?;
        let content = self.view.content(&hit, &mut RecordReader::new()).map_err(|_| BlobError::Unreadable)?;
        self.view.read(&content.message).map_err(|_| BlobError::Unreadable)
    }
}
