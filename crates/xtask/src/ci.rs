//! `cargo xtask ci`: runs all checks in order, each timed.
//!
//! Input: the workspace. Output: the first failure, or a table of times. Does not know what the checks look
//! for.

use crate::fuzz::{self, FuzzArguments};
use crate::page;
use crate::run::{cargo, run, say};
use crate::tidy;
use anyhow::{Context, Result, ensure};
use std::env;
use std::fmt::Write;
use std::fs;
use std::time::Instant;

/// A check: its name and what it does.
type Step = (&'static str, fn() -> Result<()>);

/// How long each fuzz target runs.
const FUZZ_SECONDS: u32 = 5;

/// Where the random inputs of tests and fuzz targets begin. Each run tries the same ones, as far as it gets,
/// so that what it finds is found again, and a change is not refused for what it did not touch. `cargo test`
/// and `make fuzz` try others.
const SEED: u32 = 1;

/// Cheap checks first, so that a small mistake shows soon.
const STEPS: [Step; 8] = [
    ("formatting", formatting),
    ("tidy", tidy::run),
    ("clippy", clippy),
    ("build", build),
    ("tests", tests),
    ("page", page::step),
    ("docs", docs),
    ("fuzz targets", fuzz_targets),
];

/// Runs all checks.
///
/// # Errors
/// The first check that fails.
pub fn ci() -> Result<()> {
    let mut table = format!("{:<14}{:>10}{:>10}\n", "", "wall", "CPU");
    for (name, step) in STEPS {
        say(&format!("== {name}"));
        let (begin, cpu_before) = (Instant::now(), cpu_seconds()?);
        step()?;
        let (wall, cpu) = (begin.elapsed().as_secs_f64(), cpu_seconds()? - cpu_before);
        say(&format!("== {name}: done in {wall:.1} s, {cpu:.1} s of CPU"));
        writeln!(table, "{name:<14}{wall:>8.1} s{cpu:>8.1} s")?;
    }
    say(&format!("All checks passed.\n{}", table.trim_end()));
    Ok(())
}

/// Returns the CPU time of all child processes that have ended, in user and kernel mode: fields 16 and 17 of
/// proc(5), in ticks of 10 ms.
fn cpu_seconds() -> Result<f64> {
    let text = fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    // Field 2, the program's name, is in brackets and may hold spaces.
    let (_, fields) = text.rsplit_once(')').context("/proc/self/stat has no name")?;
    let ticks: u64 =
        fields.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / 100.0)
}

fn formatting() -> Result<()> {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))
}

/// Checks everything once, with the features for measurements: the other stores, except the C++ one, and the
/// codecs. Warnings of the code without them show when the tests are built.
fn clippy() -> Result<()> {
    let features = ["--features", "bench-peers/stores-light,pneu-cli/codecs"];
    let arguments = [&["clippy", "--workspace", "--all-targets"], &features[..], &["--", "-D", "warnings"]];
    run(&mut cargo(&arguments.concat()))
}

/// Builds the program and all tests, so that the tests have a time of their own.
///
/// # Errors
/// A build that fails or has warnings.
fn build() -> Result<()> {
    let build = ["test", "--workspace", "--no-run"];
    run(&mut cargo(&build))?;
    // Nothing is left to build, so that cargo prints only the warnings that it keeps.
    let again = cargo(&[&build[..], &["--quiet"]].concat()).output().context("cannot start cargo")?;
    let printed = String::from_utf8_lossy(&again.stderr);
    ensure!(!printed.contains("warning:"), "the build has warnings");
    Ok(())
}

/// Runs all tests, also those after a failure.
fn tests() -> Result<()> {
    let mut tests = cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"]);
    run(tests.env("PROPTEST_RNG_SEED", SEED.to_string()))
}

fn docs() -> Result<()> {
    run(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Builds the fuzz targets and runs each for some seconds. If cargo-fuzz is missing, prints a line. In CI it
/// must be there.
fn fuzz_targets() -> Result<()> {
    if !fuzz::is_installed() && env::var_os("CI").is_none_or(|value| value != "true") {
        say("fuzz targets are left out: cargo-fuzz is not installed (.ci/run installs it)");
        return Ok(());
    }
    fuzz::fuzz(&FuzzArguments { targets: Vec::new(), seconds: FUZZ_SECONDS, seed: Some(SEED) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_cpu_time_of_a_child_counts_when_it_has_ended() {
        let before = cpu_seconds().unwrap();
        // Some ticks pass on any machine.
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        run(Command::new("sh").args(["-c", busy])).unwrap();
        assert!(cpu_seconds().unwrap() > before);
    }
}
