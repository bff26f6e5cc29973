//! Cuts off what a crash tore.
//!
//! Input: a [`Plan`]. Afterwards the torn files end after their last sound block, durably. Does not know how
//! the plan was made.

use super::planned::{Plan, Torn};
use crate::error::Result;
use disk::Disk;

/// What was done about a torn end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutReport {
    /// The file was cut.
    Cut(Torn),
    /// Nothing was in the file, not even a header: it was removed.
    Removed(Torn),
    /// The mark of a closed file is its end: what is damaged before it may yet be told, and it was left as it
    /// is.
    Kept(Torn),
}

/// Cuts off the torn end of the last log, durably. A file that was closed is not changed. Tarantool must
/// not run meanwhile.
///
/// # Errors
/// Disk errors.
pub fn cut_torn_tail(disk: &dyn Disk, plan: &Plan) -> Result<Vec<CutReport>> {
    let mut reports = Vec::new();
    for torn in &plan.torn {
        if torn.was_closed {
            reports.push(CutReport::Kept(torn.clone()));
            continue;
        }
        if torn.keep_bytes > 0 {
            disk.append(&torn.path, torn.keep_bytes)?;
            reports.push(CutReport::Cut(torn.clone()));
            continue;
        }
        disk.remove(&torn.path)?;
        if let Some(directory) = torn.path.parent() {
            disk.sync_directory(directory)?;
        }
        reports.push(CutReport::Removed(torn.clone()));
    }
    Ok(reports)
}
