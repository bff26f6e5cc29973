//! The programs that make packages, in fixed versions.
//!
//! Input: nothing. Output: commands. They are installed below `target/tools` when they are missing, and touch
//! nothing outside of it.

use crate::run::{cargo, output, run, say, target_directory};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

const CARGO_DEB: &str = "3.8.0";
const CARGO_DENY: &str = "0.20.2";
const MATURIN: &str = "1.16.0";

fn place() -> PathBuf {
    target_directory().join("tools")
}

/// Returns whether `command` answers `--version` with this version.
fn has_version(program: &PathBuf, version: &str) -> bool {
    let answer = output(Command::new(program).arg("--version")).unwrap_or_default();
    String::from_utf8_lossy(&answer).split_whitespace().any(|word| word == version)
}

/// Builds a program of crates.io unless it is installed.
fn cargo_tool(name: &str, version: &str) -> Result<PathBuf> {
    let program = place().join("bin").join(name);
    if !has_version(&program, version) {
        say(&format!("Installing {name} {version} below {} ...", place().display()));
        let wanted = format!("{name}@{version}");
        // Without optimisation it is built sooner, and it has little work.
        let mut install = cargo(&["install", "--quiet", "--locked", "--debug", "--root"]);
        run(install.arg(place()).arg(wanted)).with_context(|| format!("{name} is missing"))?;
    }
    Ok(program)
}

/// Returns cargo-deb, which makes .deb packages.
///
/// # Errors
/// If it cannot be installed.
pub(super) fn cargo_deb() -> Result<PathBuf> {
    cargo_tool("cargo-deb", CARGO_DEB)
}

/// Returns cargo-deny, which checks licences and sources.
///
/// # Errors
/// If it cannot be installed.
pub fn cargo_deny() -> Result<PathBuf> {
    cargo_tool("cargo-deny", CARGO_DENY)
}

/// Returns maturin, which makes wheels, from a separate Python environment.
///
/// # Errors
/// If it cannot be installed.
pub(super) fn maturin() -> Result<PathBuf> {
    let environment = place().join("python");
    let program = environment.join("bin/maturin");
    if !has_version(&program, MATURIN) {
        say(&format!("Installing maturin {MATURIN} below {} ...", place().display()));
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
        let mut install = Command::new(environment.join("bin/pip"));
        run(install.args(["install", "--quiet", "--no-deps", &format!("maturin=={MATURIN}")]))?;
    }
    Ok(program)
}
