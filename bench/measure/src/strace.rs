//! Which calls of the system a process makes, as strace tells.
//!
//! Input: a command, or a process that runs, and the names of calls. Output: a line for each call. Does not
//! know what runs. A process that is traced is slow: its times do not count.

use crate::starter::wrapped;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

/// The calls that wait until something is on the disk.
pub const SYNCS: [&str; 5] = ["fsync", "fdatasync", "syncfs", "sync_file_range", "msync"];
/// How long it may take until a running process is traced.
const ATTACH: Duration = Duration::from_secs(10);
/// How often that is looked at.
const PERIOD: Duration = Duration::from_millis(4);
/// The second line of a call that another thread interrupted.
const RESUMED: &str = " resumed>";

/// Returns whether there is a strace that may trace.
pub fn is_possible() -> bool {
    let mut command = Command::new("strace");
    command.args(["-qq", "-o", "/dev/null", "true"]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs `command` to its end, and returns a line for each of these calls, of its children, too; `None` if
/// there is no strace. What the command prints is not kept.
///
/// # Errors
/// If the command fails.
pub fn calls(command: &Command, names: &[&str]) -> Result<Option<Vec<String>>> {
    if !is_possible() {
        return Ok(None);
    }
    let trace = Trace::new("command");
    let mut traced = wrapped(trace.strace(names), command);
    let status = traced.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(Some(trace.lines()?))
}

/// A running process that is traced.
pub struct Traced {
    strace: Child,
    trace: Trace,
}

/// Begins to trace a running process and all its threads; `None` if there is no strace.
///
/// # Errors
/// If it may not be traced.
pub fn attach(process: u32, names: &[&str]) -> Result<Option<Traced>> {
    if !is_possible() {
        return Ok(None);
    }
    let trace = Trace::new("process");
    let mut command = trace.strace(names);
    command.arg("-p").arg(process.to_string()).stdin(Stdio::null()).stderr(Stdio::null());
    let traced = Traced { strace: command.spawn()?, trace };
    let begin = Instant::now();
    while !is_traced(&fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default()) {
        ensure!(begin.elapsed() < ATTACH, "strace does not trace process {process}");
        thread::sleep(PERIOD);
    }
    Ok(Some(traced))
}

impl Traced {
    /// Lets the process go, and returns a line for each call since it was traced.
    ///
    /// # Errors
    /// If strace does not end, or told nothing.
    pub fn end(mut self) -> Result<Vec<String>> {
        interrupt(&self.strace)?;
        self.strace.wait()?;
        self.trace.lines()
    }
}

/// Sends a process the signal of Ctrl-C.
///
/// # Errors
/// If it is gone.
pub fn interrupt(child: &Child) -> Result<()> {
    let process = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let process = process.context("a process has a number")?;
    Ok(rustix::process::kill_process(process, rustix::process::Signal::INT)?)
}

/// Returns whether the status of a process says that it is traced.
fn is_traced(status: &str) -> bool {
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|tracer| tracer.trim() != "0")
}

/// The file of a trace, which is removed in the end.
struct Trace(PathBuf);

impl Trace {
    fn new(of: &str) -> Trace {
        Trace(env::temp_dir().join(format!("pneu-strace-{of}-{}", process::id())))
    }

    fn strace(&self, names: &[&str]) -> Command {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", "signal=none", "-e"]).arg(format!("trace={}", names.join(",")));
        command.arg("-o").arg(&self.0);
        command
    }

    fn lines(&self) -> Result<Vec<String>> {
        lines(&self.0)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        fs::remove_file(&self.0).ok();
    }
}

fn lines(trace: &Path) -> Result<Vec<String>> {
    let text = fs::read(trace).with_context(|| format!("cannot read {}", trace.display()))?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().filter(|line| !line.contains(RESUMED)).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_in_two_lines_counts_once() {
        let place = tempfile::tempdir().unwrap();
        let trace = place.path().join("trace");
        let text = "7 fsync(3 <unfinished ...>\n8 fdatasync(4) = 0\n7 <... fsync resumed>) = 0\n";
        fs::write(&trace, text).unwrap();
        assert_eq!(lines(&trace).unwrap(), ["7 fsync(3 <unfinished ...>", "8 fdatasync(4) = 0"]);
        assert!(lines(&place.path().join("none")).is_err());
    }

    #[test]
    fn a_traced_process_has_a_tracer() {
        assert!(is_traced("Name:\tpneu\nTracerPid:\t17\n"));
        assert!(!is_traced("Name:\tpneu\nTracerPid:\t0\n") && !is_traced(""));
    }

    #[test]
    fn calls_of_a_command_and_of_its_children_are_counted() {
        let place = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo a > file; sync file; sync -d file; true"]).current_dir(place.path());
        match calls(&command, &SYNCS).unwrap() {
            Some(calls) => {
                let names: Vec<bool> = calls.iter().map(|call| call.contains("fsync(")).collect();
                assert_eq!(names, [true, false], "{calls:?}");
            }
            None => assert!(!is_possible()),
        }
        assert!(calls(Command::new("sh").args(["-c", "exit 3"]), &SYNCS).is_err() || !is_possible());
    }
}
