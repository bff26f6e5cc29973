//! The small process between the measuring program and the measured one.
//!
//! Input: a program with its arguments. Output: a line with the measured values. Does not know what runs.
//!
//! The system counts the memory of a process that starts another one as the new process's own until it
//! executes its program. The measuring program has lists of files, and grows. This process has nothing.

use crate::counted::Counted;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::time::Instant;
use std::{env, fs, process};
use wait4::Wait4;

/// The program that has the job [`NAME`].
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
/// The name of the job.
const NAME: &str = "start";

/// What to start.
#[derive(Args)]
pub struct StartArguments {
    /// The file for the line.
    told: PathBuf,
    /// The program.
    program: OsString,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// The values of one process.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Ended {
    pub(crate) wall_seconds: f64,
    pub(crate) user_seconds: f64,
    pub(crate) system_seconds: f64,
    pub(crate) peak_bytes: u64,
    pub(crate) counted: Counted,
    /// The status from the system.
    pub(crate) status: i32,
}

/// From now on starts every measured process through this program, which has the jobs of this crate.
///
/// # Errors
/// If the path of this program is unknown.
pub fn start_through_own_program() -> Result<()> {
    PROGRAM.set(env::current_exe()?).ok();
    Ok(())
}

/// Returns a command for the job that runs `command`, and the file for its line; `None` if no program was
/// set.
pub(crate) fn through(command: &Command) -> Option<(Command, PathBuf)> {
    let program = PROGRAM.get()?;
    let told = env::temp_dir().join(format!("pneu-measured-{}", process::id()));
    // A file that a killed run left must not be read.
    fs::remove_file(&told).ok();
    let mut errand = Command::new(program);
    errand.arg(NAME).arg(&told);
    Some((wrapped(errand, command), told))
}

/// Returns a job that starts `command`: with its program and arguments after its own, its variables, and its
/// directory.
pub(crate) fn wrapped(mut errand: Command, command: &Command) -> Command {
    errand.arg("--").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => errand.env(name, value),
            None => errand.env_remove(name),
        };
    }
    errand.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
    errand
}

/// Runs a process to its end, and writes its values.
///
/// # Errors
/// If it cannot be started. Its exit status is written.
pub fn start(arguments: &StartArguments) -> Result<()> {
    let ended = run(Command::new(&arguments.program).args(&arguments.arguments), |_| Ok(()))?;
    fs::write(&arguments.told, ended.line())
        .with_context(|| format!("cannot write {}", arguments.told.display()))
}

/// Runs a process to its end, and runs `meanwhile` at the same time.
pub(crate) fn run(command: &mut Command, meanwhile: impl FnOnce(&mut Child) -> Result<()>) -> Result<Ended> {
    let before = Counted::of_children()?;
    let begin = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    meanwhile(&mut child)?;
    let ended = child.wait4().with_context(|| format!("cannot wait for {command:?}"))?;
    Ok(Ended {
        wall_seconds: begin.elapsed().as_secs_f64(),
        user_seconds: ended.rusage.utime.as_secs_f64(),
        system_seconds: ended.rusage.stime.as_secs_f64(),
        peak_bytes: ended.rusage.maxrss,
        counted: Counted::of_children()?.since(&before),
        status: ended.status.into_raw(),
    })
}

impl Ended {
    fn line(&self) -> String {
        let Ended { wall_seconds, user_seconds, system_seconds, peak_bytes, counted, status } = self;
        let Counted { minor_faults, major_faults, inputs, outputs } = counted;
        format!(
            "{wall_seconds}\t{user_seconds}\t{system_seconds}\t{peak_bytes}\t{minor_faults}\t{major_faults}\t{inputs}\t{outputs}\t{status}\n"
        )
    }

    /// Reads and removes the line of a process.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn take(told: &Path) -> Result<Ended> {
        let line = fs::read_to_string(told).with_context(|| format!("cannot read {}", told.display()))?;
        fs::remove_file(told).with_context(|| format!("cannot remove {}", told.display()))?;
        Ended::parse(&line)
    }

    fn parse(line: &str) -> Result<Ended> {
        let fields: Vec<&str> = line.trim_end().split('\t').collect();
        let [wall, user, system, peak, minor, major, inputs, outputs, status] = fields[..] else {
            bail!("a line of another kind: {line:?}");
        };
        Ok(Ended {
            wall_seconds: wall.parse()?,
            user_seconds: user.parse()?,
            system_seconds: system.parse()?,
            peak_bytes: peak.parse()?,
            counted: Counted {
                minor_faults: minor.parse()?,
                major_faults: major.parse()?,
                inputs: inputs.parse()?,
                outputs: outputs.parse()?,
            },
            status: status.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_comes_through_a_line() {
        let place = tempfile::tempdir().unwrap();
        let told = place.path().join("told");
        let arguments = StartArguments {
            told: told.clone(),
            program: "sh".into(),
            arguments: ["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 7"]
                .map(Into::into)
                .into(),
        };
        start(&arguments).unwrap();
        let ended = Ended::take(&told).unwrap();
        assert_eq!(process::ExitStatus::from_raw(ended.status).code(), Some(7));
        assert!(ended.wall_seconds > 0.0 && ended.peak_bytes > 100_000, "{ended:?}");
        assert!(ended.user_seconds + ended.system_seconds > 0.0, "{ended:?}");
        assert!((20..100_000).contains(&ended.counted.minor_faults), "{ended:?}");
        assert_eq!(Ended::parse(&ended.line()).unwrap(), ended);
        assert!(Ended::parse("1\t2\n").is_err() && Ended::take(&told).is_err());
    }
}
