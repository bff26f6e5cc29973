//! Runs a process that says when it is ready, and measures it up to then and to its end.
//!
//! Comes in: a command. Goes out: [`Watched`]. Must not know what runs.

use crate::machine;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};
use wait4::Wait4;

/// How often memory is looked at.
const PERIOD: Duration = Duration::from_millis(4);
/// What a line begins with, whatever the case, by which a process says that it answers.
const READY: &str = "ready";
/// Ticks of CPU time in a second, as /proc counts them everywhere.
const TICKS: f64 = 100.0;

/// One process, measured twice.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    pub(crate) ready_seconds: f64,
    pub(crate) ready_user_seconds: f64,
    pub(crate) ready_system_seconds: f64,
    /// Anonymous memory.
    pub(crate) ready_peak_bytes: u64,
    /// Page faults, those that read from a disk and those that did not.
    pub(crate) ready_faults: u64,
    pub(crate) wall_seconds: f64,
    pub(crate) user_seconds: f64,
    pub(crate) system_seconds: f64,
    pub(crate) peak_bytes: u64,
    /// The load average of the last minute, at the start.
    pub(crate) load_before: f64,
    /// The lines of its output, and of its errors.
    pub(crate) said: Vec<String>,
}

/// What is seen at the moment when the line comes.
struct Ready {
    seconds: f64,
    user_seconds: f64,
    system_seconds: f64,
    peak_bytes: u64,
    faults: u64,
}

/// Runs `command` to its end.
///
/// # Errors
/// If it cannot be started, fails, or never says that it is ready.
pub(crate) fn run(command: &mut Command) -> Result<Watched> {
    let described = format!("{command:?}");
    let load_before = machine::load_of_a_minute();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {described}"))?;
    let (is_over, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    let process = child.id();
    let (sender, lines) = channel();
    thread::scope(|scope| {
        scope.spawn(|| watch_memory(process, &is_over, &peak));
        scope.spawn(reader(child.stdout.take(), sender.clone()));
        scope.spawn(reader(child.stderr.take(), sender));
        let mut ready = None;
        let mut said = Vec::new();
        for (line, when) in lines {
            if ready.is_none() && line.to_lowercase().starts_with(READY) {
                ready = Some(seen(process, when.duration_since(begin).as_secs_f64(), &peak));
            }
            said.push(line);
        }
        let watched = end(child, begin, ready, &peak);
        is_over.store(true, Ordering::Relaxed);
        match watched {
            Ok(watched) => Ok(Watched { said, load_before, ..watched }),
            Err(error) => Err(error.context(format!("{described} said: {}", said.join("; ")))),
        }
    })
}

fn end(child: Child, begin: Instant, ready: Option<Result<Ready>>, peak: &AtomicU64) -> Result<Watched> {
    let ended = child.wait4()?;
    let wall_seconds = begin.elapsed().as_secs_f64();
    let (Some(ready), Some(0)) = (ready.transpose()?, ended.status.code()) else {
        bail!("it ended with {} and should have said that it is ready", ended.status);
    };
    Ok(Watched {
        ready_seconds: ready.seconds,
        ready_user_seconds: ready.user_seconds,
        ready_system_seconds: ready.system_seconds,
        ready_peak_bytes: ready.peak_bytes,
        ready_faults: ready.faults,
        wall_seconds,
        user_seconds: ended.rusage.utime.as_secs_f64(),
        system_seconds: ended.rusage.stime.as_secs_f64(),
        peak_bytes: peak.load(Ordering::Relaxed),
        load_before: f64::NAN,
        said: Vec::new(),
    })
}

/// Sends each line with the time at which it came. Lines on a terminal may end with a return.
fn reader<R: Read + Send + 'static>(
    output: Option<R>,
    sender: Sender<(String, Instant)>,
) -> impl FnOnce() + Send {
    move || {
        let Some(output) = output else { return };
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            // Nobody listens any more.
            if sender.send((text, Instant::now())).is_err() {
                return;
            }
        }
    }
}

fn seen(process: u32, seconds: f64, peak: &AtomicU64) -> Result<Ready> {
    let path = format!("/proc/{process}/stat");
    let stat = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    // The name, in brackets, may hold anything.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let number = |place: usize| -> Result<u64> {
        let field = fields.get(place).with_context(|| format!("{path} has no field {place}"))?;
        field.parse().with_context(|| format!("{path}, field {place}: {field:?} is no number"))
    };
    Ok(Ready {
        seconds,
        user_seconds: number(11)? as f64 / TICKS,
        system_seconds: number(12)? as f64 / TICKS,
        peak_bytes: peak.load(Ordering::Relaxed),
        faults: number(7)? + number(9)?,
    })
}

fn watch_memory(process: u32, is_over: &AtomicBool, peak: &AtomicU64) {
    while !is_over.load(Ordering::Relaxed) {
        peak.fetch_max(anonymous_bytes(process).unwrap_or(0), Ordering::Relaxed);
        thread::sleep(PERIOD);
    }
}

/// Returns how much memory a process has that belongs to no file.
pub(crate) fn anonymous_bytes(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
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
            "echo reading >&2; echo Ready after all; exec 1>&- 2>&-; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done",
        );
        let watched = watched.unwrap();
        assert!(watched.ready_seconds > 0.0 && watched.ready_seconds < watched.wall_seconds, "{watched:?}");
        assert!(watched.peak_bytes >= watched.ready_peak_bytes && watched.peak_bytes > 10_000, "{watched:?}");
        // A shell touches at least its own pages and its library's.
        assert!((20..100_000).contains(&watched.ready_faults), "{watched:?}");
    }

    #[test]
    fn silence_and_failure_are_errors() {
        let error = format!("{:#}", shell("echo almost").unwrap_err());
        assert!(error.contains("almost") && error.contains("should have said that it is ready"), "{error}");
        let error = format!("{:#}", shell("echo ready; exit 3").unwrap_err());
        assert!(error.contains("3"), "{error}");
    }
}
