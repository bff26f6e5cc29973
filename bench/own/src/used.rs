//! What a running program uses between two moments.
//!
//! Input: a program that runs. Output: samples. Does not know what it does.

use crate::Options;
use crate::running::Running;
use anyhow::Result;
use measure::{Sample, Series, turns, watch};
use std::thread;
use std::time::Duration;

/// The work of the last changes ends within this time.
pub(crate) const SETTLE: Duration = Duration::from_secs(5);
/// For how long nothing happens; with `--quick` it is a fifth of it.
const IDLE: Duration = Duration::from_secs(10);

/// Measures what a program takes while nothing happens.
///
/// # Errors
/// If it has ended.
pub(crate) fn idle(options: &Options, running: &Running, name: &str) -> Result<Series> {
    thread::sleep(SETTLE);
    let time = if options.quick { IDLE / 5 } else { IDLE };
    let before = watch::so_far(running.process())?;
    thread::sleep(time);
    let used = since(watch::so_far(running.process())?, before, time);
    let series =
        Series { note: "CPU time is counted in hundredths of a second".to_owned(), ..Series::of(name, used) };
    turns::tell(&series);
    Ok(series)
}

/// Returns what a process used between two moments.
pub(crate) fn since(now: Sample, before: Sample, time: Duration) -> Sample {
    Sample {
        wall_seconds: time.as_secs_f64(),
        user_seconds: now.user_seconds - before.user_seconds,
        system_seconds: now.system_seconds - before.system_seconds,
        minor_faults: now.minor_faults.saturating_sub(before.minor_faults),
        major_faults: now.major_faults.saturating_sub(before.major_faults),
        inputs: now.inputs.saturating_sub(before.inputs),
        outputs: now.outputs.saturating_sub(before.outputs),
        load_before: measure::machine::load_of_a_minute(),
        ..Sample::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_is_a_difference() {
        let sample = |user_seconds, outputs| Sample { user_seconds, outputs, ..Sample::default() };
        let used = since(sample(3.0, 9), sample(1.0, 4), Duration::from_secs(5));
        assert_eq!((used.user_seconds, used.outputs, used.wall_seconds), (2.0, 5, 5.0));
    }
}
