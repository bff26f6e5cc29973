//! Spaces of vinyl: their rows are in files of their own.
//!
//! Input: the directory of vinyl, and a snapshot's place. Output: the rows of each space up to the last dump,
//! and how far they reach; logs have the rest. Does not know how rows of logs are applied.
//!
//! From the outside in: `log` chooses and reads vinyl's log, which is made of records (`record`) that
//! describe `trees`; a tree has runs (`run`), whose rows come in order (`source`, by `key`) and are merged
//! (`merge`, `upsert`, `format`) into columns (`load`). `check` reads everything for its damage. Only primary
//! indexes have tuples; the runs of other indexes are only checked.
//!
//! The rows of a space are loaded when the first row of a log is to be applied to them: then the space has
//! the definition that its runs were written with.

mod check;
pub(crate) mod format;
mod key;
mod load;
mod log;
#[cfg(any(test, feature = "testing"))]
pub mod made;
mod merge;
mod record;
mod run;
mod source;
mod trees;
mod upsert;

use crate::error::{Error, Result};
use crate::plan::Mode;
use disk::Disk;
use load::{TreeJob, load_tree};
use log::{Extent, LogContent};
use run::RunFiles;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trees::{Tree, Trees};

pub use check::{ReadPages, VinylReport};
pub(crate) use load::{TreeRows, TreeTarget};
pub(crate) use trees::Tree as VinylTree;

/// The files of vinyl that a recovery reads.
#[derive(Clone, Debug)]
pub struct VinylPlan {
    directory: PathBuf,
    /// The log that describes the trees, and its length in bytes.
    log: Option<(PathBuf, u64)>,
    trees: Trees,
    /// The runs of primary indexes, by number.
    files: BTreeMap<i64, RunFiles>,
    /// What is worth a remark.
    pub(crate) remarks: Vec<String>,
    /// What is lost whatever is loaded.
    pub(crate) lost: Vec<String>,
    /// Whether upserts whose result does not fit the format of the space are ignored: Tarantool does so since
    /// 2.6.1.
    checks_format: bool,
}

/// Finds the files for a recovery from the snapshot with this signature. `ends_at_point` states whether it
/// ends before the last row.
///
/// # Errors
/// Disk errors; damage of vinyl's log, or a run that is missing, unless that is to be listed.
pub(crate) fn plan(
    disk: &dyn Disk,
    directory: &Path,
    signature: i64,
    ends_at_point: bool,
    mode: Mode,
) -> Result<VinylPlan> {
    let extent = if ends_at_point { Extent::Snapshot } else { Extent::Whole };
    let mut plan = VinylPlan {
        directory: directory.to_owned(),
        log: None,
        trees: Trees::new(),
        files: BTreeMap::new(),
        remarks: Vec::new(),
        lost: Vec::new(),
        checks_format: true,
    };
    let content = match log::read(disk, directory, signature, extent, mode) {
        Ok(Some(content)) => content,
        Ok(None) => return Ok(plan),
        Err(Error::Disk(error)) => return Err(error.into()),
        Err(error) if mode == Mode::Strict => return Err(error),
        Err(error) => {
            plan.lost.push(format!("{error}; all rows of vinyl from before the snapshot"));
            return Ok(plan);
        }
    };
    let LogContent { path, length_bytes, program, trees, remarks, lost } = content;
    plan.checks_format = is_since_2_6_1(&program);
    (plan.log, plan.trees, plan.remarks, plan.lost) = (Some((path, length_bytes)), trees, remarks, lost);
    plan.open_runs(disk, mode)?;
    Ok(plan)
}

/// Returns whether a program is Tarantool 2.6.1 or a later one, or says nothing of itself.
fn is_since_2_6_1(program: &str) -> bool {
    let mut numbers = program.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let Some(first) = numbers.next() else { return true };
    (first, numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (2, 6, 1)
}

impl VinylPlan {
    /// Opens the runs of primary indexes.
    fn open_runs(&mut self, disk: &dyn Disk, mode: Mode) -> Result<()> {
        for tree in self.trees.values().filter(|tree| tree.index == 0 && tree.drop_lsn.is_none()) {
            for tree in [Some(tree), tree.prepared.as_deref()].into_iter().flatten() {
                for slice in tree.ranges.iter().flat_map(|range| &range.slices) {
                    if self.files.contains_key(&slice.run) {
                        continue;
                    }
                    let files = RunFiles::open(disk, &self.directory, tree.space, 0, slice.run);
                    if let (Some(what), Mode::Strict) = (files.missing(), mode) {
                        let what = format!("a run of vinyl cannot be read: {what}");
                        return Err(Error::Refused { path: files.path, what });
                    }
                    self.files.insert(slice.run, files);
                }
            }
        }
        Ok(())
    }

    /// Returns the directory of vinyl.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the newest tree of a space's primary index.
    pub(crate) fn tree(&self, space: u32) -> Option<&Tree> {
        self.trees.get(&(space, 0))
    }

    /// Returns the newest trees of all primary indexes.
    pub(crate) fn primary_trees(&self) -> impl Iterator<Item = &Tree> {
        self.trees.values().filter(|tree| tree.index == 0)
    }

    /// Returns whether upserts whose result does not fit the format of the space are ignored.
    pub(crate) fn checks_format(&self) -> bool {
        self.checks_format
    }

    /// Returns how many bytes the runs of primary indexes have.
    pub fn length_bytes(&self) -> u64 {
        self.files.values().map(RunFiles::length_bytes).fold(0, u64::saturating_add)
    }

    /// Loads the rows of a tree into the table of its space.
    ///
    /// # Errors
    /// Damage, unless it is to be left out; limits of the store; [`Error::Cancelled`].
    pub(crate) fn load(&self, tree: &Tree, target: TreeTarget) -> Result<TreeRows> {
        let log = self.log.as_ref().map_or(self.directory.as_path(), |(log, _)| log.as_path());
        let files = &self.files;
        load_tree(TreeJob { tree, files, log, target })
    }
}
