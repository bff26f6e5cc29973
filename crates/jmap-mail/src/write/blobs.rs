//! The bytes of blobs of which emails are made: messages of the account, and what the caller has, such as
//! uploads.
//!
//! Input: an id. Output: bytes. Does not know what is made of them.

use crate::account::Account;
use crate::blob::BlobError;
use jmap::Id;
use pneu::MailError;

impl Account<'_> {
    /// Returns the bytes of a blob, if there is one of at most this many bytes.
    pub(super) fn blob_bytes(&self, id: &Id, bytes_max: usize) -> Result<Vec<u8>, BlobError> {
        let mut is_cut = false;
        let bytes = match self.blobs.find(id) {
            Some(bytes) => bytes,
            None => {
                let mut bytes = Vec::new();
                let mut take = |block: &[u8]| -> Result<(), MailError> {
                    let has_room = bytes.len().saturating_add(block.len()) <= bytes_max;
                    bytes.extend_from_slice(if has_room { block } else { &[] });
                    is_cut |= !has_room;
                    Ok(())
                };
                self.blob(id)?.each_block(&mut take).map_err(|_| BlobError::Unreadable)?;
                bytes
            }
        };
        if is_cut || bytes.len() > bytes_max { Err(BlobError::Unreadable) } else { Ok(bytes) }
    }
}
