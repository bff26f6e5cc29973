//! Pruning: what no snapshot uses goes, and its space with it.
//!
//! Comes in: a repository, exclusively locked. Goes out: fewer packs, with exactly one copy of each blob that is used. Must not know which
//! snapshots were forgotten.
//!
//! [`plan`] looks and decides, [`carry_out`] does. What must hold at every moment, so that a crash costs no more than space: a blob that
//! a snapshot uses lies in a pack that an index file names. Hence the order: packs that are written anew, then index files that name them
//! and what stays beside them, then old index files go, and only then packs. Before the first of them goes, the plan is compared with what
//! was really written.

mod carry_out;
mod choose;
mod look;

pub use carry_out::{PruneReport, carry_out};
pub use choose::{MaxUnused, PruneOptions};

use crate::error::Result;
use crate::id::Id;
use crate::progress::Progress;
use crate::repository::Repository;
use crate::used::Marks;

/// What is to be done, and what it comes to.
#[derive(Debug)]
pub struct PrunePlan {
    /// With the index by which blobs and packs have their numbers. It was read for this plan, so that all is in it that an earlier one
    /// did not know.
    repository: Repository,
    choice: Choice,
    /// Snapshots that are to be removed before it is carried out.
    going: Vec<Id>,
    /// The sums.
    pub figures: PruneFigures,
}

/// What goes and what stays.
#[derive(Debug)]
struct Choice {
    /// Packs to be removed: nothing in them is used, or what is lies elsewhere, too; those that no index file names included.
    remove: Vec<Id>,
    /// Packs whose used blobs are written anew, and that are removed then; by number.
    repack: Vec<u32>,
    /// Packs that index files name and that are not there; by number. Nothing in them is used.
    gone: Vec<u32>,
    /// The copies that stay, one of each used blob; by number.
    keep: Marks,
}

/// What a plan comes to. Bytes are those of packs.
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
    /// Packs to be removed, the unindexed ones and those that are written anew included.
    pub removed_pack_count: u64,
    /// Bytes of those.
    pub removed_bytes: u64,
    /// Packs to be written anew.
    pub repacked_pack_count: u64,
    /// Bytes that are written anew.
    pub repacked_bytes: u64,
    /// Packs in all.
    pub pack_count: u64,
    /// Bytes of unused blobs that stay, because to write their packs anew would cost more.
    pub left_bytes: u64,
}

impl PrunePlan {
    /// Says whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        let Choice { remove, repack, gone, .. } = &self.choice;
        remove.is_empty() && repack.is_empty() && gone.is_empty()
    }
}

/// Decides what to remove and what to write anew. Changes nothing; whoever is going to carry it out holds the exclusive lock already.
///
/// # Errors
/// Anything that snapshots need is missing or cannot be read: nothing may be removed then. Or [`Error::Interrupted`](crate::Error::Interrupted).
pub fn plan(repository: &Repository, options: &PruneOptions, progress: &dyn Progress) -> Result<PrunePlan> {
    plan_without(repository, options, &[], progress)
}

/// Decides as [`plan`], as if the snapshots `going` were not there: so all that the others need is read
/// before the first snapshot goes. They have to be removed before the plan is carried out.
///
/// # Errors
/// As [`plan`].
pub fn plan_without(
    repository: &Repository,
    options: &PruneOptions,
    going: &[Id],
    progress: &dyn Progress,
) -> Result<PrunePlan> {
    let repository = repository.reread();
    let look = look::look(&repository, going, progress)?;
    let (choice, figures) = choose::choose(&repository, &look, options)?;
    drop(look);
    Ok(PrunePlan { repository, choice, going: going.to_vec(), figures })
}
