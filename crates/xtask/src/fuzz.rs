//! `cargo xtask fuzz`: builds the fuzz targets and runs each for some time.
//!
//! Input: how long, and which targets. Output: what each found. Does not know what a target looks at.

use crate::run::{cargo, run, say, target_directory, workspace_root};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version that was tried with these targets; `.ci/run` installs it.
const CARGO_FUZZ: &str = "cargo install --locked cargo-fuzz@0.13.2";

/// What one input may take: more is a fault.
const INPUT_SECONDS_MAX: u32 = 60;

/// How long to run, and what.
#[derive(Args)]
pub struct FuzzArguments {
    /// Targets; all of them if none is named.
    pub targets: Vec<String>,
    /// How long each target runs.
    #[arg(long, default_value_t = 600)]
    pub seconds: u32,
    /// Where random numbers begin: the same program and inputs give the same run. By default they differ.
    #[arg(long)]
    pub seed: Option<u32>,
}

/// Builds all targets and runs those that are asked for, one after another. A target that finds something
/// does not keep the others from running.
///
/// # Errors
/// cargo-fuzz is missing, something cannot be built, a target is not there, or one found something.
pub fn fuzz(arguments: &FuzzArguments) -> Result<()> {
    if !is_installed() {
        bail!("cargo-fuzz is not installed; install it with \"{CARGO_FUZZ}\"");
    }
    let all = targets()?;
    if let Some(unknown) = arguments.targets.iter().find(|name| !all.contains(name)) {
        bail!("there is no fuzz target \"{unknown}\"; there are {}", all.join(", "));
    }
    let chosen = if arguments.targets.is_empty() { &all } else { &arguments.targets };
    run(&mut in_fuzz("build", &[]))?;
    let mut failed = Vec::new();
    for target in chosen {
        let mut command = one(target, arguments)?;
        if run(&mut command).is_err() {
            failed.push(target.as_str());
        }
    }
    if !failed.is_empty() {
        bail!("these targets found something, in fuzz/artifacts: {}", failed.join(", "));
    }
    say(&format!("{} fuzz targets ran for {} s each and found nothing", chosen.len(), arguments.seconds));
    Ok(())
}

/// Returns whether cargo-fuzz is there.
pub fn is_installed() -> bool {
    let asked = cargo(&["fuzz", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// Returns the names of all targets, sorted.
fn targets() -> Result<Vec<String>> {
    let place = workspace_root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&place).with_context(|| format!("cannot list {}", place.display()))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Returns the run of one target: what it learns is kept in `fuzz/corpus`, and what it begins with is read
/// beside that.
fn one(target: &str, arguments: &FuzzArguments) -> Result<Command> {
    let learned = workspace_root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&learned).with_context(|| format!("cannot make {}", learned.display()))?;
    let mut command = in_fuzz("run", &[target]);
    command.arg(learned).args(seeds(target));
    command.args([
        "--".to_owned(),
        format!("-max_total_time={}", arguments.seconds),
        format!("-timeout={INPUT_SECONDS_MAX}"),
    ]);
    command.args(arguments.seed.map(|seed| format!("-seed={seed}")));
    command.args(["-verbosity=0", "-print_final_stats=1"]);
    Ok(command)
}

/// Returns where inputs of a target lie in the project, if there are any.
fn seeds(target: &str) -> Option<PathBuf> {
    let place = match target {
        "message" => Path::new("testdata/mail"),
        _ => return None,
    };
    Some(workspace_root().join(place))
}

/// Returns a command of cargo-fuzz without a sanitizer, which works on a stable toolchain.
fn in_fuzz(verb: &str, words: &[&str]) -> Command {
    let mut command = cargo(&["fuzz", verb, "-s", "none"]);
    command.arg("--target-dir").arg(target_directory().join("fuzz")).args(words);
    command
}
