//! Prune: removes what no snapshot uses, and frees its space.
//!
//! Input: a repository that is locked exclusively. Output: fewer packs, with exactly one copy of each used
//! blob. Does not know which snapshots were forgotten.
//!
//! [`plan`] reads and decides, [`carry_out`] changes. One rule holds at every moment, so that a crash costs
//! space at most: a blob that a snapshot uses lies in a pack that an index file names. Hence the order:
//! first new packs, then index files that name them and the packs that stay, then old index files are
//! removed, and packs last. Before the first removal the plan is compared with what was written.

mod carry_out;
mod choose;
mod inventory;
mod plan;

pub use carry_out::{PruneReport, carry_out};
pub use choose::{MaxUnused, PruneOptions};
pub use plan::{PruneFigures, PrunePlan};

use crate::encoding::id::Id;
use crate::error::Result;
use crate::repository::Repository;
use work::Progress;

/// Decides what to remove and what to rewrite. Changes nothing. To carry the plan out, the caller must hold
/// the exclusive lock already.
///
/// # Errors
/// Something that snapshots need is missing or cannot be read, so nothing may be removed; or
/// [`Error::Interrupted`](crate::Error::Interrupted).
pub fn plan(repository: &Repository, options: &PruneOptions, progress: &dyn Progress) -> Result<PrunePlan> {
    plan_without(repository, options, &[], progress)
}

/// Plans as [`plan`] does, as if the snapshots `going` did not exist. So everything that the others need is
/// read before the first snapshot is removed. The caller must remove these snapshots before it carries the
/// plan out.
///
/// # Errors
/// Same as [`plan`].
pub fn plan_without(
    repository: &Repository,
    options: &PruneOptions,
    going: &[Id],
    progress: &dyn Progress,
) -> Result<PrunePlan> {
    let repository = repository.reread();
    let inventory = inventory::take(&repository, going, progress)?;
    let (choice, figures) = choose::choose(&repository, &inventory, options)?;
    drop(inventory);
    Ok(PrunePlan { repository, choice, going: going.to_vec(), figures })
}
