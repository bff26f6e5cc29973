//! Runs a command on one core.
//!
//! Input: a command. Output: a command that does the same on the first core that this process may use. Does
//! not know what runs.
//!
//! A program that asks the system how many cores it may use starts as many threads as on a machine with one
//! core.

use crate::starter;
use anyhow::{Context, Result};
use clap::Args;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The name of the job.
const NAME: &str = "on-one-core";

/// What to run.
#[derive(Args)]
pub struct OneCoreArguments {
    /// The program.
    program: OsString,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Returns a command that runs `command` on one core. This program starts first, which takes about a
/// millisecond.
///
/// # Errors
/// If the path of this program is unknown.
pub fn command(command: &Command) -> Result<Command> {
    let mut errand = Command::new(env::current_exe()?);
    errand.arg(NAME);
    Ok(starter::wrapped(errand, command))
}

/// Becomes the program, on one core.
///
/// # Errors
/// If the core cannot be chosen, or the program cannot be started.
pub fn run(arguments: &OneCoreArguments) -> Result<()> {
    keep_one_core()?;
    let error = Command::new(&arguments.program).args(&arguments.arguments).exec();
    Err(error).with_context(|| format!("cannot start {}", arguments.program.display()))
}

/// Keeps this thread on the first core that it may use.
fn keep_one_core() -> Result<()> {
    let allowed = sched_getaffinity(None).context("cannot ask which cores are allowed")?;
    let first = (0..CpuSet::MAX_CPU).find(|&core| allowed.is_set(core)).context("a thread has a core")?;
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).context("cannot choose a core")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::thread;

    #[test]
    fn one_core_is_left() {
        // The choice holds for one thread, and this one ends.
        let count = thread::spawn(|| {
            keep_one_core().unwrap();
            thread::available_parallelism().unwrap().get()
        });
        assert_eq!(count.join().unwrap(), 1);
    }

    #[test]
    fn the_command_keeps_its_arguments_variables_and_directory() {
        let mut inner = Command::new("/usr/bin/program");
        inner.args(["--quiet", "two words"]).env("NAME", "value").env_remove("GONE").current_dir("/tmp");
        let outer = command(&inner).unwrap();
        let arguments: Vec<_> = outer.get_args().collect();
        assert_eq!(arguments, ["on-one-core", "--", "/usr/bin/program", "--quiet", "two words"]);
        let variables: Vec<_> = outer.get_envs().collect();
        assert_eq!(variables, inner.get_envs().collect::<Vec<_>>());
        assert_eq!(outer.get_current_dir().map(PathBuf::from), Some(PathBuf::from("/tmp")));
    }
}
