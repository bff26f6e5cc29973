//! Restore: turns a tree of a snapshot into directories and files again.
//!
//! Input: a tree, a target directory, and which paths are wanted. Output: files, and a list of what could
//! not be restored; a failure never stops the rest.
//!
//! First all trees are read and a plan is made. Then directories are created, readable by their owner alone.
//! Then each pack is read once and its blobs are written to all files that contain them. Then links follow,
//! and last the modes and times of the directories, the deepest first. A small file gets its name at once,
//! with a mode that no other file has until it is complete; anything else has a temporary name until then.
//! The next restore into the same directories replaces or removes what a killed restore left. Only verified
//! content is written.

mod decide;
mod metadata;
mod options;
mod plan;
mod report;
mod target;
mod unfinished;
mod work;

pub use options::{Choice, Overwrite, RestoreOptions};
pub use report::{RestoreProblem, RestoreReport};

use crate::encoding::id::Id;
use crate::error::Result;
use crate::repository::Repository;
use crate::trees::walk::{Sharing, walk};
use ::work::Progress;
use plan::{Plan, Planner};
use std::path::Path;
use target::Target;
use work::Work;

/// Restores everything below `tree` into `target`, which is created if it does not exist.
///
/// # Errors
/// The index or the target cannot be opened, or [`Error::Interrupted`](crate::Error::Interrupted). Anything
/// else is a problem in the report.
pub fn restore(
    repository: &Repository,
    tree: &Id,
    target: &Path,
    options: &RestoreOptions<'_>,
    progress: &dyn Progress,
) -> Result<RestoreReport> {
    let mut plan = plan(repository, tree, options, progress)?;
    let problems = std::mem::take(&mut plan.problems);
    let target = Target::open(target).map_err(|source| disk::Error::io("open", target, source))?;
    let work = Work::begin(repository, (&plan, &target), options.overwrite, progress);
    work.run()?;
    let mut report = work.finish();
    report.problems.extend(problems);
    report.problems.sort();
    Ok(report)
}

/// Reads all trees.
fn plan(
    repository: &Repository,
    tree: &Id,
    options: &RestoreOptions<'_>,
    progress: &dyn Progress,
) -> Result<Plan> {
    let planner = Planner::new(repository, options.choose);
    let unread = walk(repository, &[*tree], Sharing::ByPath, &planner, progress)?;
    let mut plan = planner.finish();
    let told = unread.into_iter().map(|problem| RestoreProblem {
        what: format!("not all that is in it was restored: {}", problem.error),
        path: problem.path,
    });
    plan.problems.extend(told);
    Ok(plan)
}
