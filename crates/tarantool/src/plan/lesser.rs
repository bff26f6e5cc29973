//! Decides which of two snapshots a salvage starts from: the newest one, which is damaged, or an older sound
//! one with all logs since.
//!
//! Input: the plans with each. Output: whether the older one loses fewer rows. Does not make plans.

use super::planned::Plan;
use crate::file::header::FileKind;

/// Returns whether the plan with an older, sound snapshot loses fewer rows than the one with the newest, and
/// reaches as far. A loss of which the rows are not known counts against the older one.
pub(super) fn loses_less(older: &Plan, newest: &Plan, reach: i64) -> bool {
    let is_known = older.lost.iter().all(|lost| !lost.numbers.is_empty() || newest.lost.contains(lost));
    let usual = older.snapshot.as_ref().map_or(0, |file| file.row_count);
    is_known && older.reached.signature() >= reach && lost_rows(older, usual) < lost_rows(newest, usual)
}

/// Returns about how many rows a plan loses, if a snapshot has `usual` rows.
fn lost_rows(plan: &Plan, usual: u64) -> u64 {
    let mut count: u64 = 0;
    let mut is_end_lost = false;
    for lost in &plan.lost {
        for numbers in &lost.numbers {
            let last = numbers.last.unwrap_or(numbers.first);
            let rows = last.saturating_sub(numbers.first).saturating_add(1);
            // If the end of a snapshot is lost, its length is not known.
            if numbers.last.is_none() && lost.kind == FileKind::Snapshot {
                is_end_lost = true;
            } else {
                count = count.saturating_add(rows.unsigned_abs());
            }
        }
    }
    if is_end_lost {
        let read = plan.snapshot.as_ref().map_or(0, |file| file.row_count);
        count = count.saturating_add(usual.saturating_sub(read.saturating_add(count)).max(1));
    }
    count
}
