//! Cuts off a log's end that was torn by a crash.
//!
//! Input: a [`Plan`]. Afterwards, the torn files durably end after their last sound block. Does not know how
//! the plan was made.

use super::planned::{Plan, Torn};
use crate::error::Result;
use disk::Disk;

/// What was done to a torn file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutReport {
    /// The file was cut.
    Cut(Torn),
    /// The file was empty, without even a header. It was removed.
    Removed(Torn),
    /// The file ends with the mark of a closed file. The damage before it was written completely once, so the
    /// file was left as it is.
    Kept(Torn),
}

/// Durably cuts off the torn end of the last log. A closed file is not changed. Tarantool must not run at the
/// same time.
///
/// # Errors
/// Disk errors. A log that is a link, or is not the file any more that was read, is not changed.
pub fn cut_torn_tail(disk: &dyn Disk, plan: &Plan) -> Result<Vec<CutReport>> {
    let mut reports = Vec::new();
    for torn in &plan.torn {
        if torn.was_closed {
            reports.push(CutReport::Kept(torn.clone()));
            continue;
        }
        if torn.keep_bytes > 0 {
            disk.cut_seen(&torn.path, torn.keep_bytes, torn.seen)?;
            reports.push(CutReport::Cut(torn.clone()));
            continue;
        }
        disk.remove_seen(&torn.path, torn.seen)?;
        if let Some(directory) = torn.path.parent() {
            disk.sync_directory(directory)?;
        }
        reports.push(CutReport::Removed(torn.clone()));
    }
    Ok(reports)
}
