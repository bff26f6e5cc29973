//! `cargo xtask docs`: writes everything anew that is generated and kept in the repository.
//!
//! Comes in: the workspace. Goes out: changed files. Must not know what is in them: the tests that compare them write them, when
//! UPDATE is set, and runs of measurements have what README.md shows of them.

use crate::figures;
use crate::run::{cargo, run, say, workspace_root};
use anyhow::Result;

/// Runs the tests of `cli` named `generated` with UPDATE=1, and puts the figures of a run into README.md.
///
/// # Errors
/// If a test fails for another reason than an old file, or the run is not there.
pub fn docs() -> Result<()> {
    run(cargo(&["test", "--package", "cli", "--test", "main", "generated"]).env("UPDATE", "1"))?;
    figures::update(workspace_root())?;
    say("Generated docs, and tour and figures in README.md, are up to date; git diff shows what changed.");
    Ok(())
}
