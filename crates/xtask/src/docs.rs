//! `cargo xtask docs`: writes all generated documents that are kept in the repository.
//!
//! Input: the workspace. Output: changed files. Does not depend on their content: the tests that compare
//! generated documents write them when UPDATE is set, and runs of measurements contain the figures.

use crate::figures;
use crate::run::{cargo, run, say, workspace_root};
use anyhow::Result;

/// The packages of the programs, each of which has tests named `generated`.
const PROGRAMS: [&str; 2] = ["pneu-cli", "pneu-tarantool"];

/// Runs the tests of all programs named `generated` with UPDATE=1, and puts the figures of a run into the
/// documents.
///
/// # Errors
/// If a test fails for another reason than an outdated file, or the run is missing.
pub fn docs() -> Result<()> {
    for package in PROGRAMS {
        run(cargo(&["test", "--package", package, "--test", "main", "generated"]).env("UPDATE", "1"))?;
    }
    figures::update(workspace_root())?;
    say("Generated docs, sessions, the picture and figures are up to date; git diff shows what changed.");
    Ok(())
}
