//! Index and cleanup.
//!
//! Comes in: what is installed, sizes. Goes out: series, and a table of them.

use crate::bench::Bench;
use crate::options::Sizes;
use anyhow::Result;
use measure::Table;

/// The programs.
pub(crate) const COLUMNS: [&str; 4] = ["pneu", "mu", "notmuch", "mairix"];

/// Returns the rows.
pub(crate) fn table(_sizes: &Sizes) -> Table {
    Table {
        name: "index",
        title: "Index and cleanup".to_owned(),
        about: String::new(),
        columns: COLUMNS.to_vec(),
        rows: Vec::new(),
        growths: Vec::new(),
    }
}

/// Measures everything.
pub(crate) fn measure(_bench: &mut Bench<'_>) -> Result<()> {
    Ok(())
}
