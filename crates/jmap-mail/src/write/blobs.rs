//! The bytes of blobs of which emails are made: messages, their parts, and uploads.
//!
//! Input: an id. Output: bytes. Does not know what is made of them.

use crate::account::Account;
use crate::blob::BlobError;
use jmap::Id;
use pneu::MailError;

impl Account<'_> {
    /// Returns the bytes of a blob, if there is one of at most this many bytes.
    pub(super) fn bytes_to_write(&self, id: &Id, bytes_max: usize) -> Result<Vec<u8>, BlobError> {
        let blob = self.blob(id)?;
        if usize::try_from(blob.size_bytes).map_or(true, |size| size > bytes_max) {
            return Err(BlobError::Unreadable);
        }
        blob.into_bytes().or_else(|large| {
            let mut bytes = Vec::new();
            let mut take = |block: &[u8]| -> Result<(), MailError> {
                bytes.extend_from_slice(block);
                Ok(())
            };
            large.each_block(&mut take).map_err(|_| BlobError::Unreadable)?;
            Ok(bytes)
        })
    }
}
