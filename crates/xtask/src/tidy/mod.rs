//! `cargo xtask tidy`: what clippy cannot check.
//!
//! Input: the files of the project. Output: findings, each with its place. Knows only the names of the
//! crates. Each rule is a pure function over a [`Tree`], with a test that sees it fail.

mod circles;
mod columns;
mod dependencies;
mod figures;
mod files;
mod finding;
mod format;
mod paths;
mod reasons;
mod source;
mod test_features;
mod tree;
mod unsafe_code;
mod waivers;
mod words;

pub use finding::Finding;
pub use tree::Tree;

use crate::run::{say, workspace_root};
use anyhow::{Result, bail};
use std::path::Path;

/// All rules.
const RULES: [fn(&Tree) -> Vec<Finding>; 14] = [
    files::openings,
    files::lengths,
    files::test_lists,
    circles::circles,
    columns::columns,
    dependencies::table,
    test_features::test_features,
    paths::paths,
    reasons::reasons,
    unsafe_code::places,
    waivers::ceiling,
    format::constants,
    words::words,
    figures::figures,
];

/// Returns the findings of all rules in `tree`, by file and line.
pub fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    findings.sort_by(|left, right| (&left.path, left.line).cmp(&(&right.path, right.line)));
    findings
}

/// Checks the files below `root` and returns the number of waivers in them.
///
/// # Errors
/// All findings, one line each; or that the files cannot be read.
pub fn check(root: &Path) -> Result<usize> {
    let tree = Tree::read(root)?;
    let findings = findings(&tree);
    if !findings.is_empty() {
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        bail!("tidy found {}:\n{}", findings.len(), lines.join("\n"));
    }
    Ok(waivers::count(&tree))
}

/// Checks the workspace and prints how many waivers it has.
///
/// # Errors
/// Same as [`check`].
pub fn run() -> Result<()> {
    let waivers = check(workspace_root())?;
    say(&format!("tidy: all files are in order; {waivers} lint waivers, each with its reason"));
    Ok(())
}
