//! `cargo xtask bench`: installs the other programs, builds the release programs, measures, and writes a run.
//!
//! Input: which tables. Output: a directory below `bench/runs`. Does not know what is measured or compared:
//! the measuring programs know.

use crate::run::{cargo, run, say, target_directory, workspace_root};
use anyhow::{Context, Result};
use clap::Args;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{self, PathBuf};
use std::process::Command;

/// The measurements of pneu alone, which are a separate program. A part of them follows after a hyphen.
const OWN: &str = "own";

/// The directories of the system's libraries.
const LIBRARIES: [&str; 4] =
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];

/// What to measure.
#[derive(Args)]
pub struct BenchArguments {
    /// Tables: index, actions, headers, merge, recovery compare programs and are the default; own measures
    /// pneu alone, own-actions, own-watch and own-serve a part of that.
    names: Vec<String>,
    /// Small sizes and few rounds: all tables in less than ten minutes. Of pneu alone, the parts actions,
    /// watch and serve are small.
    #[arg(long)]
    quick: bool,
    /// Directory for generated mail and repositories, which are kept between runs [default: BENCH_CORPORA, or
    /// ~/.cache/pneu-bench].
    #[arg(long)]
    corpora: Option<PathBuf>,
    /// A Maildir tree of yours: the table index measures the first index of this mail, and no generated mail
    /// [default: BENCH_MAIL, if it is set].
    #[arg(long, value_name = "DIR")]
    mail: Option<PathBuf>,
    /// Install nothing.
    #[arg(long)]
    no_install: bool,
    /// More options for the measuring program, after `--`.
    #[arg(last = true)]
    more: Vec<String>,
}

/// Measures.
///
/// # Errors
/// If something cannot be built, or a measurement fails. A program that cannot be installed is left out.
pub fn bench(arguments: &BenchArguments) -> Result<()> {
    say("Building the release programs ...");
    // A single invocation would give each of them the features that any of them needs.
    run(&mut cargo(&["build", "--release", "--package", "pneu-cli", "--features", "codecs"]))?;
    let release = target_directory().join("release");
    let codecs = release.join("pneu-codecs");
    fs::copy(release.join("pneu"), &codecs).with_context(|| format!("cannot write {}", codecs.display()))?;
    run(&mut cargo(&["build", "--release", "--package", "pneu-cli", "--package", "pneu-tarantool"]))?;
    run(&mut cargo(&["build", "--release", "--package", "bench-own"]))?;
    run(&mut build_side_by_side())?;
    let (own, tables): (Vec<_>, Vec<_>) = arguments.names.iter().partition(|name| own_part(name).is_some());
    let only = (!tables.is_empty()).then(|| {
        let names: Vec<&str> = tables.iter().map(|name| name.as_str()).collect();
        format!("--only={}", names.join(","))
    });
    if own.is_empty() || !tables.is_empty() {
        if !arguments.no_install {
            run(program("bench-peers").arg("install").args(&only))?;
            // More libraries may be installed now.
            run(&mut build_side_by_side())?;
        }
        let mut measure = measuring("bench-peers", arguments);
        measure.args(&only).args(arguments.quick.then_some("--quick"));
        measure.args(mail_option(arguments.mail.clone(), env::var_os("BENCH_MAIL"))?);
        run(measure.args(&arguments.more))?;
    }
    if !own.is_empty() {
        let mut measure = measuring("bench-own", arguments);
        measure.args(own_parts(&own)).args(arguments.quick.then_some("--quick"));
        run(measure.args(&arguments.more))?;
    }
    Ok(())
}

/// Returns the part of the measurements of pneu alone that a name means, empty for all of them; `None` if it
/// is the name of a table.
fn own_part(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(OWN)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('-') }
}

/// Returns the option for the parts that some names mean, if they do not mean all.
fn own_parts(names: &[&String]) -> Option<String> {
    let parts: Vec<&str> = names.iter().filter_map(|name| own_part(name)).collect();
    (!parts.contains(&"")).then(|| format!("--only={}", parts.join(",")))
}

/// Returns the build of the comparing program, with the stores that can be built: RocksDB only if its library
/// is installed.
fn build_side_by_side() -> Command {
    let named = env::var_os("ROCKSDB_LIB_DIR").map(PathBuf::from);
    let usual = LIBRARIES.iter().map(PathBuf::from).find(|place| place.join("librocksdb.so").is_file());
    let library = named.or(usual);
    let features = if library.is_some() { "stores,rocksdb" } else { "stores" };
    let mut command = cargo(&["build", "--release", "--package", "bench-peers", "--features", features]);
    command.envs(library.map(|library| ("ROCKSDB_LIB_DIR", library)));
    command
}

fn program(name: &str) -> Command {
    let mut command = Command::new(target_directory().join("release").join(name));
    command.current_dir(workspace_root());
    command
}

/// Returns a measuring program, with the paths of everything that it needs.
fn measuring(name: &str, arguments: &BenchArguments) -> Command {
    let corpora = arguments.corpora.clone().unwrap_or_else(kept);
    let mut command = program(name);
    command.arg("--program").arg(target_directory().join("release/pneu"));
    command.arg("--corpora").arg(corpora).arg("--runs").arg(workspace_root().join("bench/runs"));
    command
}

/// Returns the option that names the user's mail, if an argument or the variable names it. The measuring
/// program runs in another directory.
fn mail_option(argument: Option<PathBuf>, variable: Option<OsString>) -> Result<Option<OsString>> {
    let variable = variable.filter(|variable| !variable.is_empty()).map(PathBuf::from);
    let Some(mail) = argument.or(variable) else { return Ok(None) };
    let mail = path::absolute(&mail).with_context(|| format!("cannot find {}", mail.display()))?;
    let mut option = OsString::from("--mail=");
    option.push(mail);
    Ok(Some(option))
}

/// Returns the default directory of generated files.
fn kept() -> PathBuf {
    let home = || PathBuf::from(env::var_os("HOME").unwrap_or_else(|| "/tmp".into()));
    env::var_os("BENCH_CORPORA").map_or_else(|| home().join(".cache/pneu-bench"), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_pneu_alone_have_names() {
        assert_eq!(
            ["own", "own-watch", "index", "owner"].map(own_part),
            [Some(""), Some("watch"), None, None]
        );
        let parts = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            own_parts(&names.iter().collect::<Vec<_>>())
        };
        assert_eq!(parts(&["own-actions", "own-watch"]), Some("--only=actions,watch".to_owned()));
        assert_eq!(parts(&["own-actions", "own"]), None);
    }

    #[test]
    fn mail_is_named_by_an_argument_or_else_by_the_variable() {
        let option = |argument: Option<&str>, variable: Option<&str>| {
            mail_option(argument.map(PathBuf::from), variable.map(OsString::from)).unwrap()
        };
        assert_eq!((option(None, None), option(None, Some(""))), (None, None));
        assert_eq!(option(None, Some("/my mail")), Some("--mail=/my mail".into()));
        assert_eq!(option(Some("/a"), Some("/b")), Some("--mail=/a".into()));
        let here = env::current_dir().unwrap().join("mail");
        assert_eq!(option(Some("mail"), None), Some(format!("--mail={}", here.display()).into()));
    }
}
