//! Header cache.
//!
//! Comes in: what is installed, sizes. Goes out: series, and a table of them.

use crate::bench::Bench;
use crate::options::Sizes;
use anyhow::Result;
use measure::Table;

/// The programs.
pub(crate) const PROGRAMS: [&str; 4] = ["pneu", "neomutt", "mutt", "Dovecot"];

/// Returns the rows.
pub(crate) fn table(_sizes: &Sizes) -> Table {
    Table {
        name: "headers",
        title: "Header cache".to_owned(),
        about: String::new(),
        columns: PROGRAMS.to_vec(),
        rows: Vec::new(),
        growths: Vec::new(),
    }
}

/// Measures everything.
pub(crate) fn measure(_bench: &mut Bench<'_>) -> Result<()> {
    Ok(())
}
