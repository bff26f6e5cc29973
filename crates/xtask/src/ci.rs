//! `cargo xtask ci`: every check there is, in order, each timed.
//!
//! Input: the workspace. Output: the first failure, or a table of times. Does not know what the checks look
//! for.

use crate::fuzz::{self, FuzzArguments};
use crate::run::{cargo, run, say};
use crate::tidy;
use anyhow::Result;
use std::env;
use std::fmt::Write;
use std::time::Instant;

/// A check: its name and what it does.
type Step = (&'static str, fn() -> Result<()>);

/// How long each fuzz target runs.
const FUZZ_SECONDS: u32 = 5;

/// Cheap ones first, so that a small mistake is seen soon.
const STEPS: [Step; 7] = [
    ("formatting", formatting),
    ("tidy", tidy::run),
    ("clippy", clippy),
    ("build", build),
    ("tests", tests),
    ("docs", docs),
    ("fuzz targets", fuzz_targets),
];

/// Runs all checks.
///
/// # Errors
/// The first check that fails.
pub fn ci() -> Result<()> {
    let mut table = String::new();
    for (name, step) in STEPS {
        say(&format!("== {name}"));
        let begin = Instant::now();
        step()?;
        let seconds = begin.elapsed().as_secs_f64();
        say(&format!("== {name}: done in {seconds:.1} s"));
        writeln!(table, "{name:<14}{seconds:>8.1} s")?;
    }
    say(&format!("All checks passed.\n{}", table.trim_end()));
    Ok(())
}

fn formatting() -> Result<()> {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))
}

fn clippy() -> Result<()> {
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    // Nobody builds the other stores but for a measurement: here they are checked, all but the one in C++.
    let stores = ["--package", "bench-peers", "--features", "stores-light", "--all-targets"];
    run(&mut cargo(&[&["clippy"], &stores[..], &["--", "-D", "warnings"]].concat()))?;
    let codecs = ["clippy", "--package", "pneu-cli", "--features", "codecs", "--", "-D", "warnings"];
    run(&mut cargo(&codecs))
}

/// The program and all tests, so that the tests' own time is seen apart.
fn build() -> Result<()> {
    run(&mut cargo(&["test", "--workspace", "--no-run"]))
}

fn tests() -> Result<()> {
    run(&mut cargo(&["test", "--workspace", "--quiet"]))
}

fn docs() -> Result<()> {
    run(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Builds the fuzz targets and runs each for some seconds. Where cargo-fuzz is missing that is said; in CI it
/// must be there.
fn fuzz_targets() -> Result<()> {
    if !fuzz::is_installed() && env::var_os("CI").is_none_or(|value| value != "true") {
        say("fuzz targets are left out: cargo-fuzz is not installed (.ci/run installs it)");
        return Ok(());
    }
    fuzz::fuzz(&FuzzArguments { targets: Vec::new(), seconds: FUZZ_SECONDS })
}
