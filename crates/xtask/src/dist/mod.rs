//! `cargo xtask dist`: builds the packages that users install.
//!
//! Input: the workspace and a target. Output: a tarball, a .deb, a wheel and their checksums in
//! `target/dist`. Does not know what the programs do: they write their manual pages and completions
//! themselves.

mod licences;
mod packages;
mod programs;
mod share;
pub mod size;
mod tools;

pub use tools::cargo_deny;

use crate::directory::renew;
use crate::run::{output, run, say, target_directory};
use anyhow::Result;
use clap::Args;
use programs::Programs;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The file of SHA-256 checksums, in the form that `sha256sum --check` reads.
pub const CHECKSUMS: &str = "SHA256SUMS";

/// What to build.
#[derive(Args)]
pub struct DistArguments {
    /// The target. Only static targets (musl) get a .deb and a wheel [default: this machine's with musl].
    #[arg(long)]
    target: Option<String>,
}

/// Packages of one target.
pub struct Packages {
    /// The directory of the packages and their checksums.
    pub place: PathBuf,
    /// Their names.
    pub names: Vec<String>,
}

/// Builds the packages.
///
/// # Errors
/// A missing tool that cannot be installed, a failed build, or a program that is too large.
pub fn dist(arguments: &DistArguments) -> Result<()> {
    let target = arguments.target.clone().unwrap_or_else(static_target);
    let packages = build(&target)?;
    say(&format!("\nPackages in {}:", packages.place.display()));
    for name in &packages.names {
        let bytes = fs::metadata(packages.place.join(name))?.len();
        say(&format!("  {name}  {:.1} MB", bytes as f64 / 1e6));
    }
    Ok(())
}

/// Builds all packages of `target`, and returns their names and directory.
///
/// # Errors
/// Same as [`dist`].
pub fn build(target: &str) -> Result<Packages> {
    let programs = Programs::build(target)?;
    programs.paths().iter().try_for_each(|program| size::check(program))?;
    let place = target_directory().join("dist");
    renew(&place)?;
    share::write(&programs)?;
    let mut names = vec![packages::tarball(&programs, &place)?];
    if programs.are_static() {
        names.push(packages::deb(&programs, &place)?);
        names.push(packages::wheel(&programs, &place)?);
    } else {
        say(&format!(
            "{target} is not static, so there is no .deb and no wheel: those carry static programs"
        ));
    }
    let sums = output(Command::new("sha256sum").args(&names).current_dir(&place))?;
    fs::write(place.join(CHECKSUMS), sums)?;
    run(Command::new("sha256sum").args(["--check", "--quiet", CHECKSUMS]).current_dir(&place))?;
    Ok(Packages { place, names })
}

/// Returns the target of this machine whose programs need no library of the system.
pub fn static_target() -> String {
    format!("{}-unknown-linux-musl", std::env::consts::ARCH)
}
