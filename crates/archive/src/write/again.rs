//! Saving once more what is there already, for whoever is going to remove the pack that has it.
//!
//! Comes in: blobs with their names. Goes out: the same blobs in new packs. Must not know why the old packs go.

use super::sealing::Name;
use super::{Saved, Saver};
use crate::blob::BlobKind;
use crate::error::{Error, Result};
use crate::id::Id;

impl Saver<'_> {
    /// Saves a blob though the index has it. Each blob once: one that is being saved already is an error.
    ///
    /// # Errors
    /// What fails ends the saver.
    pub(crate) fn save_again(&self, kind: BlobKind, id: Id, plain: &[u8]) -> Result<Saved> {
        self.check()?;
        if !self.pending.claim((kind, id), || Ok(false))? {
            let twice = Error::damage(kind.named(&id), "it was to be written anew twice");
            return self.guard(Err(twice));
        }
        let saved = self.pack((kind, id, Name::Given), plain);
        self.guard(saved)
    }
}
