//! Which blobs somebody is saving right now, so that nobody saves them twice.
//!
//! Comes in: claims. Goes out: whether to save. Must not know how blobs are packed.
//!
//! A blob is *claimed* from the moment that one thread begins to save it until the index knows its pack. Whoever asks for it
//! meanwhile is told that it is there, and relies on that. So a claim that comes to nothing leaves a *debt*: nothing is finished until
//! somebody else has saved the blob.

use crate::blob::BlobKind;
use crate::error::Result;
use crate::id::Id;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A blob's kind and name.
pub(super) type Blob = (BlobKind, Id);

/// What is claimed, and what is owed.
#[derive(Debug, Default)]
pub(super) struct Pending {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    claims: HashMap<Blob, Reliance>,
    debts: HashSet<Blob>,
}

/// Whether somebody was told that a claimed blob is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reliance {
    None,
    Some,
}

impl Pending {
    /// Says whether the caller is to save the blob; `is_stored` says whether the index has it.
    ///
    /// # Errors
    /// Those of `is_stored`.
    pub(super) fn claim(&self, blob: Blob, is_stored: impl FnOnce() -> Result<bool>) -> Result<bool> {
        let mut inner = self.inner();
        match inner.claims.entry(blob) {
            Entry::Occupied(mut claim) => {
                claim.insert(Reliance::Some);
                Ok(false)
            }
            // Asked once more, now that no claim can end meanwhile: one that just did is in the index.
            Entry::Vacant(_) if is_stored()? => Ok(false),
            Entry::Vacant(place) => {
                place.insert(Reliance::None);
                Ok(true)
            }
        }
    }

    /// Gives a claim back that came to nothing.
    pub(super) fn withdraw(&self, blob: Blob) {
        let mut inner = self.inner();
        if inner.claims.remove(&blob) == Some(Reliance::Some) {
            inner.debts.insert(blob);
        }
    }

    /// Ends the claims to blobs that the index has now.
    pub(super) fn stored(&self, blobs: impl Iterator<Item = Blob>) {
        let mut inner = self.inner();
        for blob in blobs {
            inner.claims.remove(&blob);
            if !inner.debts.is_empty() {
                inner.debts.remove(&blob);
            }
        }
    }

    /// Returns a blob that somebody relies on and nobody saved.
    pub(super) fn debt(&self) -> Option<Blob> {
        let inner = self.inner();
        inner.debts.iter().chain(inner.claims.keys()).min().copied()
    }

    /// A thread that panicked left whole entries behind, and whoever it worked for hears of the panic.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOB: Blob = (BlobKind::Data, Id([7; 32]));

    fn claim(pending: &Pending, blob: Blob, is_stored: bool) -> bool {
        pending.claim(blob, || Ok(is_stored)).unwrap()
    }

    #[test]
    fn one_of_two_saves_and_later_ones_find_it_stored() {
        let pending = Pending::default();
        let claims = [claim(&pending, BLOB, false), claim(&pending, BLOB, false)];
        assert_eq!((claims, pending.debt()), ([true, false], Some(BLOB)), "claimed is not yet stored");
        assert!(claim(&pending, (BlobKind::Tree, BLOB.1), false), "a tree is another blob");
        pending.stored([BLOB, (BlobKind::Tree, BLOB.1)].into_iter());
        assert_eq!((claim(&pending, BLOB, true), pending.debt()), (false, None));
    }

    #[test]
    fn a_claim_that_came_to_nothing_is_owed_to_who_relied_on_it() {
        let pending = Pending::default();
        assert!(claim(&pending, BLOB, false));
        pending.withdraw(BLOB);
        assert_eq!(pending.debt(), None, "nobody relied on it");
        assert_eq!([claim(&pending, BLOB, false), claim(&pending, BLOB, false)], [true, false]);
        pending.withdraw(BLOB);
        assert_eq!(pending.debt(), Some(BLOB));
        assert!(claim(&pending, BLOB, false), "the next one saves it");
        pending.stored([BLOB].into_iter());
        assert_eq!(pending.debt(), None);
    }
}
