//! `cargo xtask page`: checks the page of `pneu serve`: the types of its scripts, and what it does in
//! Chromium and Firefox.
//!
//! Input: the page, and the built program. Output: the first failure. Needs Node with npm, and both browsers.
//! Does not know what the page shows.

use crate::run::{cargo, run, say, target_directory, workspace_root};
use anyhow::{Result, bail};
use std::env;
use std::process::{Command, Stdio};

/// What must be there.
const PROGRAMS: [&str; 4] = ["node", "npm", "chromium", "firefox-esr"];

/// Builds the program and checks its page.
///
/// # Errors
/// Something that is needed is missing, or a check fails.
pub fn page() -> Result<()> {
    expect_programs()?;
    run(&mut cargo(&["build", "--package", "pneu-cli"]))?;
    checks()
}

/// Checks the page as a step of all checks, with the program that was built with the tests: alone it would be
/// built anew, with other features of its libraries. If something that is needed is missing, prints a line.
/// In CI it must be there.
///
/// # Errors
/// Same as [`page`].
pub fn step() -> Result<()> {
    let is_ci = env::var_os("CI").is_some_and(|value| value == "true");
    match missing() {
        Some(missing) if !is_ci => {
            say(&format!("the page is left out: {missing} is not installed (.ci/run installs it)"));
            Ok(())
        }
        _ => {
            expect_programs()?;
            checks()
        }
    }
}

fn expect_programs() -> Result<()> {
    match missing() {
        Some(missing) => {
            bail!("{missing} is not installed; the checks of the page need {}", PROGRAMS.join(", "))
        }
        None => Ok(()),
    }
}

fn checks() -> Result<()> {
    run(&mut npm(&["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    run(&mut npm(&["run", "--silent", "check"]))?;
    run(npm(&["test", "--silent"]).env("PNEU", target_directory().join("debug/pneu")))
}

fn missing() -> Option<&'static str> {
    let is_there = |program: &&str| {
        let asked =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    PROGRAMS.into_iter().find(|program| !is_there(program))
}

/// Returns a call of npm for the page.
fn npm(arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(workspace_root().join("crates/serve/page"));
    command
}
