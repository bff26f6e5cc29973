//! A plan to prune, and its effect in numbers.

use crate::encoding::id::Id;
use crate::repository::Repository;
use crate::trees::used::Marks;

/// What a prune will do, and its effect in numbers.
#[derive(Debug)]
pub struct PrunePlan {
    /// Holds the index that numbers blobs and packs. It was read for this plan, so it contains everything
    /// that an earlier index did not know.
    pub(super) repository: Repository,
    pub(super) choice: PackChoice,
    /// Snapshots that must be removed before the plan is carried out.
    pub(super) going: Vec<Id>,
    /// The sums.
    pub figures: PruneFigures,
}

/// Which packs go, and which blobs stay.
#[derive(Debug)]
pub(super) struct PackChoice {
    /// Packs to remove: nothing in them is used, or other packs have copies of it. Includes packs that no
    /// index file names.
    pub(super) remove: Vec<Id>,
    /// Packs whose used blobs are rewritten before the pack is removed; by number.
    pub(super) repack: Vec<u32>,
    /// Packs that index files name but that do not exist; by number. Nothing in them is used.
    pub(super) gone: Vec<u32>,
    /// The copies that stay, one of each used blob; by number.
    pub(super) keep: Marks,
}

/// The effect of a plan. Bytes are counted as stored in packs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneFigures {
    /// Blobs that snapshots use, each counted once.
    pub used_blob_count: u64,
    /// Bytes that those take.
    pub used_bytes: u64,
    /// Copies that are not needed.
    pub duplicate_count: u64,
    /// Bytes that those take.
    pub duplicate_bytes: u64,
    /// Blobs that nothing uses.
    pub unused_blob_count: u64,
    /// Bytes that those take.
    pub unused_bytes: u64,
    /// Packs that no index file names.
    pub unindexed_pack_count: u64,
    /// Bytes of those.
    pub unindexed_bytes: u64,
    /// Packs to remove, including unindexed and rewritten ones.
    pub removed_pack_count: u64,
    /// Bytes of those.
    pub removed_bytes: u64,
    /// Packs to rewrite.
    pub repacked_pack_count: u64,
    /// Bytes that are rewritten.
    pub repacked_bytes: u64,
    /// Packs in all.
    pub pack_count: u64,
    /// Bytes of unused blobs that stay because rewriting their packs would cost more.
    pub left_bytes: u64,
}

impl PrunePlan {
    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        let PackChoice { remove, repack, gone, .. } = &self.choice;
        remove.is_empty() && repack.is_empty() && gone.is_empty()
    }
}
