//! Shared by all jobs: printing a measured line, signalling the end of a measurement, removing files.
//!
//! Does not depend on what the jobs do.

use anyhow::{Context, Result};
use measure::told;
use std::io::Write;
use std::path::Path;

/// Prints the line of one measurement.
pub(super) fn tell_line(name: &str, goal: &str, seconds: f64, count: u64, note: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{}", told::line(format!("store: {name}"), goal, note, seconds, count))?)
}

/// Signals that the measurement is done. For a merge, this is after its file was written, and before the file
/// is removed. Only the first signal counts.
pub(super) fn ready() -> Result<()> {
    writeln!(std::io::stdout(), "ready")?;
    Ok(())
}

/// Removes what an earlier run left.
pub(super) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
