//! How a plan is made: how damage is handled, and how closely files are checked.

use crate::check::blocks::{CheckedBlocks, CheckedFiles};
use crate::check::scan::Depth;
use crate::position::Position;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to do about damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Refuse: nothing may be missing.
    Strict,
    /// Use the sound parts, and list the losses.
    Salvage,
}

/// How a plan is made.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanOptions {
    /// The directory of the logs, if it is not that of the snapshots.
    pub log_directory: Option<PathBuf>,
    /// The directory of vinyl, if it is not that of the snapshots.
    pub vinyl_directory: Option<PathBuf>,
    /// What to do about damage.
    pub mode: Mode,
    /// How closely to check. Salvage always reads every row.
    pub depth: Depth,
    /// Where to end: only whole transactions before this position count.
    pub until: Option<Position>,
    /// Blocks that were read already. Other blocks are read sequentially if needed.
    pub checked: Option<Arc<CheckedFiles>>,
}

impl PlanOptions {
    /// Returns the blocks of a file that were read already.
    pub(crate) fn checked_file(&self, path: &Path) -> Option<&CheckedBlocks> {
        self.checked.as_ref().and_then(|checked| checked.file(path))
    }
}

impl Default for PlanOptions {
    /// Refuses damage, and checks only what must be known before the rows are read.
    fn default() -> PlanOptions {
        PlanOptions {
            log_directory: None,
            vinyl_directory: None,
            mode: Mode::Strict,
            depth: Depth::Heads,
            until: None,
            checked: None,
        }
    }
}
