//! The names of series: pneu's and restic's.
//!
//! Does not know what the series measure.

use measure::named;

/// The programs.
pub(crate) const COLUMNS: [&str; 2] = ["pneu", "restic"];

/// Returns the name of pneu's series.
pub(super) fn ours(work: &str) -> String {
    named(COLUMNS[0], work)
}

/// Returns the name of restic's series.
pub(super) fn theirs(work: &str) -> String {
    named(COLUMNS[1], work)
}
