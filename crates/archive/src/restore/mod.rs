//! Restoring: a tree of a snapshot becomes directories and files again.
//!
//! Comes in: a tree, a directory, and what of it is wanted. Goes out: files, and a list of what could not be restored, which never stops
//! the rest. Must not know what the files are for.
//!
//! First all trees are read and a plan is made; then directories are created, readable by their owner alone; then each pack is read once,
//! and its blobs written to all files that have them; then links; and last the modes and times of the directories, the deepest first.
//! A small file has its name at once, and a mode that no other file has until it is whole; anything else has another name until then. What a
//! killed restore leaves so the next one into the same directories replaces or removes. Only verified content is written.

mod decide;
mod metadata;
mod plan;
mod target;
mod unfinished;
mod work;

use crate::error::Result;
use crate::id::Id;
use crate::progress::Progress;
use crate::repository::Repository;
use crate::walk::{Sharing, walk};
use plan::{Plan, Planner};
use std::path::Path;
use target::Target;
use work::Work;

/// Whether something at a path is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It is.
    Take,
    /// It is not, but what lies below it may be.
    Pass,
    /// Neither it nor what lies below it.
    Skip,
}

/// What to do where something has the name of a file already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// It stays.
    #[default]
    Never,
    /// It is replaced if the snapshot's file was changed later.
    IfNewer,
    /// It is replaced.
    Always,
}

/// What is wanted of a restore.
pub struct RestoreOptions<'a> {
    /// Says what to restore, by the path below the tree: "/cur/1:2,S".
    pub choose: &'a (dyn Fn(&[u8]) -> Choice + Sync),
    /// What happens to files that are there.
    pub overwrite: Overwrite,
}

/// Something that was not restored, or not wholly.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RestoreProblem {
    /// The path below the tree.
    pub path: Vec<u8>,
    /// A sentence.
    pub what: String,
}

/// What a restore did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Files, links, pipes and devices that were restored.
    pub file_count: u64,
    /// Those that were there and stayed.
    pub kept_count: u64,
    /// Directories that were made, or were there.
    pub directory_count: u64,
    /// Bytes written.
    pub bytes: u64,
    /// What is missing, by path.
    pub problems: Vec<RestoreProblem>,
}

/// Restores what lies below `tree` into `target`, which is created if it is not there.
///
/// # Errors
/// The index or the target cannot be opened, or [`Error::Interrupted`](crate::Error::Interrupted). Anything else is a problem in the report.
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
