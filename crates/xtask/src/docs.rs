//! `cargo xtask docs`: writes everything anew that is generated and kept in the repository.
//!
//! Comes in: the workspace. Goes out: changed files. Must not know what is in them: the tests that compare them write them, when
//! UPDATE is set.

use crate::run::{cargo, run, say};
use anyhow::Result;

/// Runs the tests of `cli` named `generated` with UPDATE=1.
///
/// # Errors
/// If a test fails for another reason than an old file.
pub fn docs() -> Result<()> {
    run(cargo(&["test", "--package", "cli", "--test", "main", "generated"]).env("UPDATE", "1"))?;
    say("Generated docs and the tour in README.md are up to date; git diff shows what changed.");
    Ok(())
}
