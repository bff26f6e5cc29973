//! Talks with a child process: writes its standard input, reads its standard output, and ends it in time.
//!
//! Input: a command, bytes, when it must have ended, how much it may print. Output: what it printed, and how
//! it ended. The child has a process group of its own, which is killed at the end. Nothing waits longer than
//! the bounds say, even for a process that left the group and keeps a pipe open. Does not know which programs
//! are run.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Longest time until the next look whether to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes that are read or written at a time.
const BLOCK_BYTES: usize = 64 << 10;

/// Limits of one child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// When it is killed.
    pub end: Instant,
    /// Most bytes of output.
    pub output_bytes: usize,
}

/// How the talk with a child ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Talk {
    /// It ended by itself, and printed this.
    Ended(Vec<u8>),
    /// It printed more than this, and was killed.
    Cut(Vec<u8>),
    /// A pipe to it broke.
    Failed,
    /// It took too long, and was killed.
    Slow,
    /// It was killed because all work stops.
    Stopped,
}

/// Starts a command in a process group of its own, with pipes. What it says on standard error is lost.
///
/// # Errors
/// It cannot be started.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// Returns commands for a shell that limit the memory and the processor time of each process after them. A
/// limit that is lower already stays.
pub(crate) fn limits_script(memory_mib: u64, cpu_seconds: u64) -> String {
    let (memory_kib, seconds) = (memory_mib.saturating_mul(1024), cpu_seconds.max(1));
    format!("ulimit -v {memory_kib}; ulimit -t {seconds}; ulimit -c 0\n")
}

/// Gives a child its input and takes its output, until it ends or must end. Returns its exit status, too.
pub(crate) fn finish(
    mut child: Child,
    input: &[u8],
    bounds: &Bounds,
    is_stopped: &dyn Fn() -> bool,
) -> (Talk, io::Result<ExitStatus>) {
    let pipes = (child.stdin.take(), child.stdout.take());
    let talk = match talk(pipes, input, bounds, is_stopped) {
        Talk::Ended(output) => ended(&child, bounds, is_stopped).unwrap_or(Talk::Ended(output)),
        other => other,
    };
    // The process is not waited for yet, so no other can have its number.
    if let Some(group) = pid(&child) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    (talk, child.wait())
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Writes the input and reads the output, until that ends.
fn talk(
    (mut stdin, stdout): (Option<ChildStdin>, Option<ChildStdout>),
    mut input: &[u8],
    bounds: &Bounds,
    is_stopped: &dyn Fn() -> bool,
) -> Talk {
    let Some(mut stdout) = stdout else { return Talk::Failed };
    let is_ready = |pipe: Option<&ChildStdin>| pipe.is_none_or(|pipe| ioctl_fionbio(pipe, true).is_ok());
    if !is_ready(stdin.as_ref()) || ioctl_fionbio(&stdout, true).is_err() {
        return Talk::Failed;
    }
    let (mut output, mut block) = (Vec::new(), vec![0; BLOCK_BYTES]);
    loop {
        if input.is_empty() {
            stdin = None;
        }
        let (reads, writes) = match wait(&stdout, stdin.as_ref(), bounds, is_stopped) {
            Ok(ready) => ready,
            Err(ended) => return ended,
        };
        if reads {
            match stdout.read(&mut block) {
                Ok(0) => return Talk::Ended(output),
                Ok(count) => output.extend_from_slice(block.get(..count).unwrap_or_default()),
                Err(error) if is_for_now(&error) => {}
                Err(_) => return Talk::Failed,
            }
            if output.len() > bounds.output_bytes {
                output.truncate(bounds.output_bytes);
                return Talk::Cut(output);
            }
        }
        if writes && let Some(pipe) = &mut stdin {
            match pipe.write(input.get(..BLOCK_BYTES).unwrap_or(input)) {
                Ok(count) => input = input.get(count..).unwrap_or_default(),
                Err(error) if is_for_now(&error) => {}
                // It need not read all of it.
                Err(_) => stdin = None,
            }
        }
    }
}

fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Waits until output can be read or input written, or the run must end.
fn wait(
    stdout: &ChildStdout,
    stdin: Option<&ChildStdin>,
    bounds: &Bounds,
    is_stopped: &dyn Fn() -> bool,
) -> Result<(bool, bool), Talk> {
    let mut pipes = vec![PollFd::new(stdout, PollFlags::IN)];
    pipes.extend(stdin.map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
    loop {
        let time = left(bounds, is_stopped)?;
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
        match poll(&mut pipes, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => {
                let is_ready =
                    |pipe: Option<&PollFd<'_>>| pipe.is_some_and(|pipe| !pipe.revents().is_empty());
                return Ok((is_ready(pipes.first()), is_ready(pipes.get(1))));
            }
            Err(_) => return Err(Talk::Failed),
        }
    }
}

/// Returns how long to wait until the next look.
fn left(bounds: &Bounds, is_stopped: &dyn Fn() -> bool) -> Result<Duration, Talk> {
    if is_stopped() {
        return Err(Talk::Stopped);
    }
    let left = bounds.end.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(Talk::Slow) } else { Ok(left.min(LOOK)) }
}

/// Waits until the process has ended, and leaves it to be waited for. Returns how the run ended if that was
/// not by itself.
fn ended(child: &Child, bounds: &Bounds, is_stopped: &dyn Fn() -> bool) -> Option<Talk> {
    let pid = pid(child)?;
    let mut pause = Duration::from_micros(100);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(pid), options), Ok(None) | Err(Errno::INTR)) {
        match left(bounds, is_stopped) {
            Ok(time) => std::thread::sleep(pause.min(time)),
            Err(ended) => return Some(ended),
        }
        pause = pause.saturating_mul(2);
    }
    None
}
