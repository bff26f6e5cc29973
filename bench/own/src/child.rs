//! Runs one process and measures it: wall time, CPU time, peak memory.
//!
//! Comes in: a command. Goes out: a [`Sample`]. Must not know what runs.
//!
//! CPU and memory are those that wait4 gives for exactly this child. The peak is never below this process's own size at the moment of
//! the start (the kernel counts the time before exec), so this process stays small: mail is made by a child too.

use crate::machine;
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// Where no more of what a process prints is kept.
const SAID_BYTES_MAX: usize = 1 << 20;

/// One measured run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sample {
    pub(crate) wall_seconds: f64,
    pub(crate) user_seconds: f64,
    pub(crate) system_seconds: f64,
    pub(crate) peak_bytes: u64,
    /// Lines on standard output.
    pub(crate) lines: u64,
    /// Bytes on standard output.
    pub(crate) output_bytes: u64,
    /// The load average of the last minute, at the start.
    pub(crate) load_before: f64,
}

/// Runs `command` to its end. Its output is read as it comes and counted.
///
/// # Errors
/// If it cannot be started, or ends with another code than 0 (done) or 1 (nothing found).
pub(crate) fn measure(command: &mut Command) -> Result<Sample> {
    Ok(measure_said(command)?.0)
}

/// Runs `command` as [`measure`] does, and returns also what it printed, cut off where it gets long.
///
/// # Errors
/// As [`measure`].
pub(crate) fn measure_said(command: &mut Command) -> Result<(Sample, String)> {
    let load_before = machine::load_of_a_minute();
    let mut said = Vec::new();
    let described = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let begin = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {described}"))?;
    let (lines, output_bytes) = match child.stdout.take() {
        Some(output) => count(output, &mut said).with_context(|| format!("cannot read from {described}"))?,
        None => (0, 0),
    };
    let ended = child.wait4().with_context(|| format!("cannot wait for {described}"))?;
    let wall_seconds = begin.elapsed().as_secs_f64();
    if !matches!(ended.status.code(), Some(0 | 1)) {
        bail!("{described} failed: {}", ended.status);
    }
    let sample = Sample {
        wall_seconds,
        user_seconds: ended.rusage.utime.as_secs_f64(),
        system_seconds: ended.rusage.stime.as_secs_f64(),
        peak_bytes: ended.rusage.maxrss,
        lines,
        output_bytes,
        load_before,
    };
    Ok((sample, String::from_utf8_lossy(&said).into_owned()))
}

fn count(mut output: impl Read, said: &mut Vec<u8>) -> Result<(u64, u64)> {
    let mut buffer = vec![0; 64 << 10];
    let (mut lines, mut bytes) = (0, 0);
    loop {
        let read = output.read(&mut buffer)?;
        if read == 0 {
            return Ok((lines, bytes));
        }
        bytes += read as u64;
        if said.len() < SAID_BYTES_MAX {
            said.extend_from_slice(&buffer[..read]);
        }
        lines += buffer[..read].iter().filter(|&&byte| byte == b'\n').count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_time_and_memory_are_of_this_child() {
        let (sample, said) =
            measure_said(Command::new("sh").args(["-c", "printf 'a\\nb\\n'; exit 1"])).unwrap();
        assert_eq!((sample.lines, sample.output_bytes, said.as_str()), (2, 4, "a\nb\n"));
        assert!(sample.wall_seconds > 0.0 && sample.peak_bytes > 100_000, "{sample:?}");
        let busy =
            measure(Command::new("sh").args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]))
                .unwrap();
        assert!(busy.user_seconds + busy.system_seconds > 0.0 && busy.lines == 0, "{busy:?}");
    }

    #[test]
    fn failure_is_an_error_that_names_the_command() {
        let error = measure(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(error.to_string().contains("exit 3") && error.to_string().contains("failed"), "{error}");
    }
}
