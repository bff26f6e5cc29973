//! The blobs that are being saved right now, so that no two threads save the same one.
//!
//! A blob is *claimed* from the moment one thread begins to save it until the index knows its pack. Other
//! callers are told that it exists, and rely on that. So a claim that fails leaves a *debt*: the saver
//! cannot finish until another thread has saved the blob.

use crate::encoding::id::Id;
use crate::error::Result;
use crate::format::blob::BlobKind;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A blob's kind and name.
pub(super) type Blob = (BlobKind, Id);

/// Claims and debts.
#[derive(Debug, Default)]
pub(super) struct Pending {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    claims: HashMap<Blob, Reliance>,
    debts: HashSet<Blob>,
}

/// Whether another caller was told that a claimed blob exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reliance {
    None,
    Some,
}

impl Pending {
    /// Returns whether the caller must save the blob. `is_stored` returns whether the index has it.
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
            // Asked again now that no claim can end meanwhile: a blob whose claim has just ended is in the
            // index.
            Entry::Vacant(_) if is_stored()? => Ok(false),
            Entry::Vacant(place) => {
                place.insert(Reliance::None);
                Ok(true)
            }
        }
    }

    /// Withdraws a claim that failed.
    pub(super) fn withdraw(&self, blob: Blob) {
        let mut inner = self.inner();
        if inner.claims.remove(&blob) == Some(Reliance::Some) {
            inner.debts.insert(blob);
        }
    }

    /// Ends the claims of blobs that the index has now.
    pub(super) fn stored(&self, blobs: impl Iterator<Item = Blob>) {
        let mut inner = self.inner();
        for blob in blobs {
            inner.claims.remove(&blob);
            if !inner.debts.is_empty() {
                inner.debts.remove(&blob);
            }
        }
    }

    /// Returns a blob that a caller relies on but nobody saved.
    pub(super) fn debt(&self) -> Option<Blob> {
        let inner = self.inner();
        inner.debts.iter().chain(inner.claims.keys()).min().copied()
    }

    /// A panic leaves only complete entries, and it is reported to the caller of that thread.
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
