//! The blobs of the repository. Each is derived from its number.
//!
//! Input: a blob's number. Output: its name, kind and length. Does not depend on what is measured with them.

use disk::RealDisk;
use restic::{BlobKind, Id, LocalStorage, Storage};
use std::path::Path;
use std::sync::Arc;
use testkit::Random;

/// The password of the repository.
pub const PASSWORD: &str = "bench";
/// Blobs of a pack. With their lengths that is about 16 MiB, as in packs of restic.
pub(super) const PACK_BLOBS: u64 = 2500;
/// One in this many packs has trees.
const TREE_PACKS_EVERY: u64 = 20;

/// Returns the name of a blob.
pub(super) fn blob_id(number: u64) -> Id {
    let mut id = Id::default();
    Random::of(1, 1, number).fill(&mut id.0);
    id
}

/// Returns the name of a blob that a repository of this size does not have.
pub fn unknown_id(blob_count: u64) -> String {
    blob_id(blob_count).to_string()
}

/// Returns which kind a blob is.
pub(super) fn blob_kind(number: u64) -> BlobKind {
    match (number / PACK_BLOBS) % TREE_PACKS_EVERY {
        0 => BlobKind::Tree,
        _ => BlobKind::Data,
    }
}

/// Opens the storage of the repository in a directory.
pub(super) fn storage(directory: &Path) -> Arc<dyn Storage> {
    Arc::new(LocalStorage::new(Arc::new(RealDisk), directory.join("repository")))
}

/// Returns how many bytes a blob has in its pack. Its content is twice as long.
pub(super) fn packed_length(number: u64) -> u32 {
    u32::try_from(Random::of(1, 3, number).between(600, 12_600)).unwrap_or(600)
}

/// Returns how many bytes the content of a blob has.
pub(super) fn plain_length(number: u64) -> u32 {
    2 * packed_length(number)
}
