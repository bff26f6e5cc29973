//! Saves blobs that exist already, so that the pack that holds them can be removed.

use super::sealing::Name;
use super::{Saved, Saver};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::BlobKind;

impl Saver<'_> {
    /// Saves a blob although the index has it. Saving the same blob twice is an error.
    ///
    /// # Errors
    /// Any error ends the saver.
    pub(crate) fn save_again(&self, kind: BlobKind, id: Id, plain: &[u8]) -> Result<Saved> {
        self.check()?;
        if !self.pending.claim((kind, id), || Ok(false))? {
            let twice = Error::damage(kind.named(&id), "it was to be rewritten twice");
            return self.guard(Err(twice));
        }
        let saved = self.pack((kind, id, Name::Given), plain);
        self.guard(saved)
    }
}
