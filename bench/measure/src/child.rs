//! Runs one process and measures it: wall time, CPU time, peak memory, page faults, reads and writes.
//!
//! Input: a command. Output: a [`Sample`], and the process's output. Does not know what runs.
//!
//! The counts are those that wait4 returns for exactly this child and the children that it waited for. Page
//! faults and blocks, which the crate of that name leaves out, are the increase of the counts of all
//! children, so no other child may be waited for meanwhile. [`starter`] starts the child.

use crate::counted::Counted;
use crate::machine;
use crate::starter::{self, Ended};
use anyhow::{Context, Result, bail, ensure};
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Output beyond this is not kept.
pub const SAID_BYTES_MAX: usize = 1 << 20;

/// One measured run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    /// From the start to the end.
    pub wall_seconds: f64,
    /// CPU time in the program.
    pub user_seconds: f64,
    /// CPU time in the system for the program.
    pub system_seconds: f64,
    /// The peak of its memory.
    pub peak_bytes: u64,
    /// Page faults without disk reads.
    pub minor_faults: u64,
    /// Page faults with disk reads.
    pub major_faults: u64,
    /// Blocks of 512 bytes that were read from a disk.
    pub inputs: u64,
    /// Blocks of 512 bytes that were made dirty, to be written to a disk.
    pub outputs: u64,
    /// The disk space of its files; 0 if not asked for.
    pub size_bytes: u64,
    /// Lines on standard output.
    pub lines: u64,
    /// Bytes on standard output.
    pub output_bytes: u64,
    /// The load average of the last minute, at the start.
    pub load_before: f64,
}

impl Sample {
    /// Returns the sample with these counts.
    pub(crate) fn with(self, counted: Counted) -> Sample {
        let Counted { minor_faults, major_faults, inputs, outputs } = counted;
        Sample { minor_faults, major_faults, inputs, outputs, ..self }
    }
}

/// One measured run, and what the process printed.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The measured values.
    pub sample: Sample,
    /// Standard output, cut off at [`SAID_BYTES_MAX`] or soon after.
    pub said: String,
    /// The sum of the hashes of all lines: equal for the same lines in any order.
    pub line_sum: u64,
}

/// Runs `command` to its end. Its output is read as it comes and counted.
///
/// # Errors
/// If it cannot be started, or ends with another code than 0.
pub fn measure(command: &mut Command) -> Result<Sample> {
    Ok(run(command)?.sample)
}

/// Runs `command` as [`measure`] does, and returns also what it printed.
///
/// # Errors
/// Same as [`measure`].
pub fn run(command: &mut Command) -> Result<Outcome> {
    run_with(command, &[0])
}

/// Runs `command` as [`run`] does. Exit code 1 is accepted, too: it means that nothing was found.
///
/// # Errors
/// As [`run`], with another code than 0 and 1.
pub fn ask(command: &mut Command) -> Result<Outcome> {
    run_with(command, &[0, 1])
}

fn run_with(command: &mut Command, codes: &[i32]) -> Result<Outcome> {
    let load_before = machine::load_of_a_minute();
    let described = format!("{command:?}");
    let (ended, printed) = match starter::through(command) {
        Some((mut errand, told)) => {
            let (by_errand, printed) = start(&mut errand, &described)?;
            let is_done = by_errand.status == 0;
            let ended = Ended::take(&told).with_context(|| format!("nothing is known of {described}"))?;
            ensure!(is_done, "{described} could not be measured");
            (ended, printed)
        }
        None => start(command, &described)?,
    };
    let status = ExitStatus::from_raw(ended.status);
    if !status.code().is_some_and(|code| codes.contains(&code)) {
        bail!("{described} failed: {status}");
    }
    let sample = Sample {
        wall_seconds: ended.wall_seconds,
        user_seconds: ended.user_seconds,
        system_seconds: ended.system_seconds,
        peak_bytes: ended.peak_bytes,
        lines: printed.lines,
        output_bytes: printed.bytes,
        load_before,
        ..Sample::default()
    };
    let said = String::from_utf8_lossy(&printed.kept).into_owned();
    Ok(Outcome { sample: sample.with(ended.counted), said, line_sum: printed.line_sum })
}

/// Returns the command with a file as its standard input, which measured commands do not have. The shell that
/// opens the file becomes the command.
pub fn fed(command: &Command, input: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "input=$1; shift; exec \"$@\" <\"$input\"", "sh"]).arg(input);
    shell.arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

/// Returns the sum of the hashes of some lines, in the same way as [`Outcome::line_sum`].
pub fn sum_of_lines(lines: impl IntoIterator<Item = impl AsRef<[u8]>>) -> u64 {
    let mut printed = Printed::default();
    for line in lines {
        printed.count(line.as_ref());
        printed.count(b"\n");
    }
    printed.line_sum
}

/// Runs a process to its end, and reads its output.
fn start(command: &mut Command, described: &str) -> Result<(Ended, Printed)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut printed = Printed::default();
    let ended = starter::run(command, |child| match child.stdout.take() {
        Some(output) => printed.read(output).with_context(|| format!("cannot read from {described}")),
        None => Ok(()),
    })?;
    Ok((ended, printed))
}

/// The output of a process.
#[derive(Default)]
struct Printed {
    kept: Vec<u8>,
    lines: u64,
    bytes: u64,
    line_sum: u64,
    line: DefaultHasher,
}

impl Printed {
    fn read(&mut self, mut output: impl Read) -> Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = output.read(&mut buffer)?;
            if read == 0 {
                return Ok(());
            }
            self.take(&buffer[..read]);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.kept.len() < SAID_BYTES_MAX {
            self.kept.extend_from_slice(bytes);
        }
        self.count(bytes);
    }

    fn count(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            // Bytes are hashed one by one, because a line may be split among reads.
            piece.iter().for_each(|&byte| self.line.write_u8(byte));
            if piece.ends_with(b"\n") {
                self.lines += 1;
                self.line_sum = self.line_sum.wrapping_add(self.line.finish());
                self.line = DefaultHasher::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Result<Outcome> {
        run(Command::new("sh").args(["-c", line]))
    }

    #[test]
    fn output_time_and_memory_are_of_this_child() {
        let line = "printf 'a\\nb\\n'; exit 1";
        let Outcome { sample, said, .. } = ask(Command::new("sh").args(["-c", line])).unwrap();
        assert!(shell(line).is_err(), "whoever does not ask has failed");
        assert_eq!((sample.lines, sample.output_bytes, said.as_str()), (2, 4, "a\nb\n"));
        assert!(sample.wall_seconds > 0.0 && sample.peak_bytes > 100_000, "{sample:?}");
        assert!((20..100_000).contains(&sample.minor_faults) && sample.size_bytes == 0, "{sample:?}");
        let busy = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").unwrap().sample;
        assert!(busy.user_seconds + busy.system_seconds > 0.0 && busy.lines == 0, "{busy:?}");
    }

    #[test]
    fn the_same_lines_in_any_order_have_one_sum() {
        let sum = |lines: &str| shell(&format!("printf '{lines}'")).unwrap().line_sum;
        assert_eq!(sum("one\\ntwo\\nthree\\n"), sum("three\\none\\ntwo\\n"));
        assert_ne!(sum("one\\ntwo\\n"), sum("one\\ntw0\\n"));
        assert_ne!(sum("one\\n"), sum("one\\none\\n"));
        let mut cut = Printed::default();
        cut.take(b"on");
        cut.take(b"e\n");
        assert_eq!(cut.line_sum, sum("one\\n"));
        assert_eq!(sum_of_lines(["one", "two"]), sum("two\\none\\n"));
    }

    #[test]
    fn a_command_gets_a_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a letter's file");
        std::fs::write(&path, "Good\nmorning\n").unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "cat; echo $0 $NAME", "one two"]).env("NAME", "x  y");
        let said = run(&mut fed(&command, &path)).unwrap().said;
        assert_eq!(said, "Good\nmorning\none two x y\n");
    }

    #[test]
    fn failure_is_an_error_that_names_the_command() {
        let error = shell("exit 3").unwrap_err();
        assert!(error.to_string().contains("exit 3") && error.to_string().contains("failed"), "{error}");
    }
}
