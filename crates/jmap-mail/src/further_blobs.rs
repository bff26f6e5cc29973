//! Blobs that the caller has besides the messages of the account, such as uploads.
//!
//! Input: an id. Output: bytes. Does not know the account.

use jmap::Id;
use std::fmt;

/// What the caller has.
#[derive(Clone, Copy, Default)]
pub(crate) struct Blobs<'c>(Option<&'c Find<'c>>);

/// Returns the bytes of a blob that the caller has.
type Find<'c> = dyn Fn(&Id) -> Option<Vec<u8>> + 'c;

impl<'c> Blobs<'c> {
    pub(crate) fn new(find: &'c Find<'c>) -> Blobs<'c> {
        Blobs(Some(find))
    }

    pub(crate) fn find(&self, id: &Id) -> Option<Vec<u8>> {
        self.0.and_then(|find| find(id))
    }
}

impl fmt::Debug for Blobs<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Blobs").field(&self.0.is_some()).finish()
    }
}
