//! Runs a process that reports when it is ready, and measures it up to then and up to its end.
//!
//! Input: a command. Output: [`Watched`]. Does not know what runs.

use crate::child::Sample;
use crate::counted::Counted;
use crate::machine;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};
use wait4::Wait4;

/// How often memory is read.
const PERIOD: Duration = Duration::from_millis(4);
/// The beginning of the line by which a process reports that it answers. Case does not matter.
const READY: &str = "ready";
/// The line by which a process resets the peak of its memory.
pub const FROM_HERE: &str = "memory from here";
/// Ticks of CPU time in a second, the same on all systems.
const TICKS: f64 = 100.0;
/// A block, as wait4 counts them.
const BLOCK_BYTES: u64 = 512;

/// One process, measured twice. Memory is anonymous memory: mapped files belong to the page cache.
#[derive(Debug, Clone)]
pub struct Watched {
    /// From its start to its report.
    pub until_ready: Sample,
    /// From its start to its end.
    pub whole: Sample,
    /// The lines of standard output and of standard error.
    pub said: Vec<String>,
}

impl Watched {
    /// Returns the values between its report and its end.
    pub fn after_ready(&self) -> Sample {
        let (first, all) = (&self.until_ready, &self.whole);
        Sample {
            wall_seconds: all.wall_seconds - first.wall_seconds,
            user_seconds: all.user_seconds - first.user_seconds,
            system_seconds: all.system_seconds - first.system_seconds,
            minor_faults: all.minor_faults.saturating_sub(first.minor_faults),
            major_faults: all.major_faults.saturating_sub(first.major_faults),
            inputs: all.inputs.saturating_sub(first.inputs),
            outputs: all.outputs.saturating_sub(first.outputs),
            lines: 0,
            ..*all
        }
    }
}

/// Runs `command` to its end.
///
/// # Errors
/// If it cannot be started, fails, or never reports that it is ready.
pub fn run(command: &mut Command) -> Result<Watched> {
    run_with_files(command, &[])
}

/// Runs `command` as [`run`] does. The files in `files` count as memory while they exist, because they are in
/// a file system in memory.
///
/// # Errors
/// Same as [`run`].
pub fn run_with_files(command: &mut Command, files: &[PathBuf]) -> Result<Watched> {
    let described = format!("{command:?}");
    let (load_before, before) = (machine::load_of_a_minute(), Counted::of_children()?);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {described}"))?;
    let (is_over, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    let process = child.id();
    let (sender, lines) = channel();
    thread::scope(|scope| {
        scope.spawn(|| watch_memory(process, files, &is_over, &peak));
        scope.spawn(reader(child.stdout.take(), sender.clone()));
        scope.spawn(reader(child.stderr.take(), sender));
        let mut ready = None;
        let mut said = Vec::new();
        for (line, when) in lines {
            if line == FROM_HERE {
                peak.store(0, Ordering::Relaxed);
            }
            if ready.is_none() && line.to_lowercase().starts_with(READY) {
                ready = Some(seen(process, when.duration_since(begin).as_secs_f64(), &peak));
            }
            said.push(line);
        }
        let watched = end(child, begin, ready, &peak);
        is_over.store(true, Ordering::Relaxed);
        match watched {
            Ok((until_ready, whole)) => {
                let whole = whole.with(Counted::of_children()?.since(&before));
                let with_load = |sample| Sample { load_before, ..sample };
                Ok(Watched { until_ready: with_load(until_ready), whole: with_load(whole), said })
            }
            Err(error) => Err(error.context(format!("{described} said: {}", said.join("; ")))),
        }
    })
}

/// Waits for the end, and returns the values up to the report and up to the end.
fn end(
    child: Child,
    begin: Instant,
    ready: Option<Result<Sample>>,
    peak: &AtomicU64,
) -> Result<(Sample, Sample)> {
    let ended = child.wait4()?;
    let wall_seconds = begin.elapsed().as_secs_f64();
    let (Some(ready), Some(0)) = (ready.transpose()?, ended.status.code()) else {
        bail!("it ended with {} and should have said that it is ready", ended.status);
    };
    let whole = Sample {
        wall_seconds,
        user_seconds: ended.rusage.utime.as_secs_f64(),
        system_seconds: ended.rusage.stime.as_secs_f64(),
        peak_bytes: peak.load(Ordering::Relaxed),
        lines: 1,
        ..Sample::default()
    };
    Ok((ready, whole))
}

/// Sends each line with the time of its arrival. Lines on a terminal may end with a carriage return.
fn reader<R: Read + Send + 'static>(
    output: Option<R>,
    sender: Sender<(String, Instant)>,
) -> impl FnOnce() + Send {
    move || {
        let Some(output) = output else { return };
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            // The receiver has ended.
            if sender.send((text, Instant::now())).is_err() {
                return;
            }
        }
    }
}

/// Reads the state of a process at the moment of its report.
fn seen(process: u32, wall_seconds: f64, peak: &AtomicU64) -> Result<Sample> {
    let path = format!("/proc/{process}/stat");
    let stat = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    // The name, in brackets, may contain any characters.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let number = |place: usize| -> Result<u64> {
        let field = fields.get(place).with_context(|| format!("{path} has no field {place}"))?;
        field.parse().with_context(|| format!("{path}, field {place}: {field:?} is no number"))
    };
    // Kernels that do not count blocks lack this file.
    let blocks = fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    let blocks_of = |name: &str| {
        let bytes = blocks.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        bytes.unwrap_or(0) / BLOCK_BYTES
    };
    Ok(Sample {
        wall_seconds,
        user_seconds: number(11)? as f64 / TICKS,
        system_seconds: number(12)? as f64 / TICKS,
        peak_bytes: peak.load(Ordering::Relaxed),
        minor_faults: number(7)?,
        major_faults: number(9)?,
        inputs: blocks_of("read_bytes:"),
        outputs: blocks_of("write_bytes:"),
        lines: 1,
        ..Sample::default()
    })
}

/// Returns the CPU time of a process, its own and the system's for it, in hundredths of a second.
///
/// # Errors
/// If the system does not provide it.
pub fn cpu_seconds(process: u32) -> Result<f64> {
    let sample = so_far(process)?;
    Ok(sample.user_seconds + sample.system_seconds)
}

/// Returns the times, the page faults and the blocks of a running process so far.
///
/// # Errors
/// If the system does not provide them.
pub fn so_far(process: u32) -> Result<Sample> {
    seen(process, 0.0, &AtomicU64::new(0))
}

fn watch_memory(process: u32, files: &[PathBuf], is_over: &AtomicBool, peak: &AtomicU64) {
    // It does not exist yet, or no longer.
    let bytes_of = |file: &PathBuf| fs::metadata(file).map_or(0, |metadata| metadata.blocks() * BLOCK_BYTES);
    while !is_over.load(Ordering::Relaxed) {
        let bytes = anonymous_bytes(process).unwrap_or(0) + files.iter().map(bytes_of).sum::<u64>();
        peak.fetch_max(bytes, Ordering::Relaxed);
        thread::sleep(PERIOD);
    }
}

/// Returns how much memory of a process belongs to no file.
pub fn anonymous_bytes(process: u32) -> Option<u64> {
    memory(process, "RssAnon:")
}

/// Returns the peak of a process's memory, files that it mapped included.
pub fn peak_bytes(process: u32) -> Option<u64> {
    memory(process, "VmHWM:")
}

fn memory(process: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Result<Watched> {
        run(Command::new("sh").args(["-c", line]))
    }

    #[test]
    fn a_process_is_measured_up_to_its_word_and_to_its_end() {
        let watched = shell(
            "echo reading >&2; echo Ready after all; exec 1>&- 2>&-; i=0; while [ $i -lt 30000 ]; do \
             i=$((i+1)); done",
        );
        let watched = watched.unwrap();
        let (first, all, after) = (&watched.until_ready, &watched.whole, watched.after_ready());
        assert!(first.wall_seconds > 0.0 && first.wall_seconds < all.wall_seconds, "{watched:?}");
        assert!((after.wall_seconds - (all.wall_seconds - first.wall_seconds)).abs() < 1e-9, "{after:?}");
        assert!(all.peak_bytes >= first.peak_bytes && all.peak_bytes > 10_000, "{watched:?}");
        // A shell touches at least its own pages and its library's.
        assert!((20..100_000).contains(&first.minor_faults), "{watched:?}");
        assert!(all.minor_faults >= first.minor_faults, "{watched:?}");
    }

    #[test]
    fn memory_counts_from_the_line_that_says_so() {
        // A shell keeps a value of 30 MB, releases it, and reports that.
        let line = "value=$(head -c 30000000 /dev/zero | tr '\\0' a); i=0; while [ $i -lt 9000 ]; do \
            i=$((i+1)); done; unset value;";
        let peak = |word: &str| {
            let watched = shell(&format!(
                "{line} echo {word}; i=0; while [ $i -lt 90000 ]; do i=$((i+1)); done; echo ready"
            ));
            watched.unwrap().until_ready.peak_bytes
        };
        let (all, from_there) = (peak("something"), peak(&format!("'{FROM_HERE}'")));
        assert!(all > 30_000_000 && (10_000..20_000_000).contains(&from_there), "{all} {from_there}");
    }

    #[test]
    fn files_in_memory_are_memory_while_they_are_there() {
        let file = std::env::temp_dir().join(format!("pneu-watched-{}", std::process::id()));
        let wait = "i=0; while [ $i -lt 90000 ]; do i=$((i+1)); done";
        let line = format!("head -c 20000000 /dev/zero > {file:?}; {wait}; rm {file:?}; echo ready; {wait}");
        let run = |files: &[PathBuf]| run_with_files(Command::new("sh").args(["-c", &line]), files);
        let with = run(std::slice::from_ref(&file)).unwrap().until_ready.peak_bytes;
        let without = run(&[]).unwrap().until_ready.peak_bytes;
        assert!((20_000_000..40_000_000).contains(&with) && without < 10_000_000, "{with} {without}");
    }

    #[test]
    fn a_running_process_says_what_it_used() {
        let this = std::process::id();
        let value = vec![7_u8; 20_000_000];
        let (anonymous, peak) = (anonymous_bytes(this).unwrap(), peak_bytes(this).unwrap());
        assert!(anonymous > value.len() as u64 && peak >= anonymous, "{anonymous} {peak}");
        let before = so_far(this).unwrap();
        std::hint::black_box(vec![7_u8; 20_000_000]);
        assert!(so_far(this).unwrap().minor_faults > before.minor_faults);
        assert!(peak_bytes(u32::MAX).is_none() && so_far(u32::MAX).is_err());
    }

    #[test]
    fn silence_and_failure_are_errors() {
        let error = format!("{:#}", shell("echo almost").unwrap_err());
        assert!(error.contains("almost") && error.contains("should have said that it is ready"), "{error}");
        let error = format!("{:#}", shell("echo ready; exit 3").unwrap_err());
        assert!(error.contains("3"), "{error}");
    }
}
