//! `cargo xtask deny`: checks the libraries that are shipped against deny.toml.
//!
//! Input: the workspace and deny.toml. Output: what is not allowed. cargo-deny judges the licences.

use crate::dist;
use crate::run::{output, run, say, workspace_root};
use anyhow::Result;
use std::process::Command;

/// Checks licences, sources and bans, then known vulnerabilities if their database can be fetched.
///
/// # Errors
/// What cargo-deny finds, or that it cannot be installed.
pub fn deny() -> Result<()> {
    let program = dist::cargo_deny()?;
    let deny = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        // If cargo calls it, its first argument is the subcommand's name.
        command.args(["--locked", "--log-level", "error"]).args(arguments).current_dir(workspace_root());
        command
    };
    run(&mut deny(&["check", "licenses", "sources", "bans"]))?;
    match output(&mut deny(&["fetch", "db"])) {
        Ok(_) => run(&mut deny(&["check", "--disable-fetch", "advisories"])),
        Err(error) => {
            let why = error.to_string();
            let why = why.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            say(&format!("Known flaws were not looked up: their database cannot be fetched ({why})"));
            Ok(())
        }
    }
}
