//! How a plan is made: what happens with damage, and how closely files are checked.

use crate::check::blocks::{CheckedBlocks, CheckedFiles};
use crate::check::scan::Depth;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to do about damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Refuse: nothing may be missing.
    Strict,
    /// Take what is whole, and list what is lost.
    Salvage,
}

/// How a plan is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// Where the logs are, if not beside the snapshots.
    pub log_directory: Option<PathBuf>,
    /// What to do about damage.
    pub mode: Mode,
    /// How closely to look. Salvage looks at every row in any case.
    pub depth: Depth,
    /// Blocks that were read already. All others are read one after the other, if they have to be.
    pub checked: Option<Arc<CheckedFiles>>,
}

impl PlanOptions {
    /// Returns what was read of a file already.
    pub(crate) fn checked_file(&self, path: &Path) -> Option<&CheckedBlocks> {
        self.checked.as_ref().and_then(|checked| checked.file(path))
    }
}

impl Default for PlanOptions {
    /// Refuses damage, and looks at no more than has to be known before the rows are read anyway.
    fn default() -> PlanOptions {
        PlanOptions { log_directory: None, mode: Mode::Strict, depth: Depth::Heads, checked: None }
    }
}
