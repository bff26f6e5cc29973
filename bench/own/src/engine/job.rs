//! What all jobs share: the line about what was measured, the sign that it is done, the files it leaves.
//!
//! Does not depend on what the jobs do.

use anyhow::{Context, Result};
use measure::told;
use std::io::Write;
use std::path::Path;

/// Prints what was measured once.
pub(super) fn tell_line(name: &str, goal: &str, seconds: f64, count: u64, note: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{}", told::line(format!("store: {name}"), goal, note, seconds, count))?)
}

/// Says that what is measured is done: a merge is, when its file is written, and before that file is removed.
/// The first time counts.
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
