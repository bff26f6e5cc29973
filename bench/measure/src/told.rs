//! Values that a process measured itself: one line for each thing and round, because only the process knows
//! where each thing ends.
//!
//! Input: lines `measured`, name, goal, note, seconds, how many things were done, and CPU time, if known,
//! separated by tabs. Output: series. Does not know what was measured.

use crate::child::Sample;
use crate::series::Series;
use crate::turns::say;
use crate::watch::Watched;
use anyhow::{Context, Result, bail};
use std::fmt::Display;

/// The beginning of a line with a measured value.
pub const MARK: &str = "measured\t";

/// Returns the line for `count` things that together took this long.
pub fn line(name: impl Display, goal: &str, note: &str, seconds: f64, count: u64) -> String {
    format!("{MARK}{name}\t{goal}\t{note}\t{seconds:.9}\t{count}")
}

/// Makes series of the lines that a process printed.
///
/// # Errors
/// If a line has another form.
pub fn series(watched: &Watched) -> Result<Vec<Series>> {
    let mut all: Vec<Series> = Vec::new();
    for line in watched.said.iter().filter_map(|line| line.strip_prefix(MARK)) {
        let fields: Vec<&str> = line.split('\t').collect();
        let ([name, goal, note, seconds, count] | [name, goal, note, seconds, count, _]) = fields[..] else {
            bail!("a job printed {line:?}");
        };
        let user_seconds = fields.get(5).map_or(Ok(0.0), |cpu| cpu.parse())?;
        let wall_seconds: f64 = seconds.parse()?;
        let count: f64 = count.parse()?;
        let sample = Sample {
            wall_seconds,
            user_seconds,
            peak_bytes: watched.until_ready.peak_bytes.max(watched.whole.peak_bytes),
            load_before: watched.whole.load_before,
            ..Sample::default()
        };
        let series = match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series,
            None => {
                all.push(Series::new(name, goal));
                all.last_mut().context("it was just put there")?
            }
        };
        series.samples.push(sample);
        series.note = format!("{:.1} ns each{note}", series.wall().0 * 1e9 / count);
    }
    for series in &all {
        say(&format!("  {}: {}", series.name, series.note));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_name_are_one_series() {
        let said = vec![
            line("look-ups", "<= 3 ns", "; one by one", 2e-6, 1000),
            "ready".to_owned(),
            line("look-ups", "<= 3 ns", "; one by one", 4e-6, 1000) + "\t0.5",
        ];
        let whole = Sample { peak_bytes: 7, load_before: 0.5, ..Sample::default() };
        let watched = Watched { until_ready: Sample::default(), whole, said };
        let [ref series] = series(&watched).unwrap()[..] else { panic!("one series") };
        assert_eq!((series.name.as_str(), series.goal.as_str()), ("look-ups", "<= 3 ns"));
        assert_eq!(series.samples.iter().map(|sample| sample.user_seconds).collect::<Vec<_>>(), [0.0, 0.5]);
        assert_eq!(series.note, "3.0 ns each; one by one");
        let watched = Watched { said: vec![format!("{MARK}half")], ..watched };
        assert!(super::series(&watched).is_err());
    }
}
