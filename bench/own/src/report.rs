//! All samples of a run, and the table made of them.
//!
//! Comes in: series of samples. Goes out: Markdown for people, tab-separated values for programs. Must not know how they were
//! measured.

use crate::child::Sample;
use crate::comparison::{self, Comparison};
use crate::resume;
use anyhow::{Context, Result};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// One thing that was measured several times.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// What is to be reached, as text; empty for what is only there to compare with.
    pub(crate) goal: String,
    /// The series this one is a multiple of.
    pub(crate) against: Option<String>,
    pub(crate) samples: Vec<Sample>,
    /// What else is known.
    pub(crate) note: String,
    /// The commit that was measured; empty for that of the report.
    pub(crate) commit: String,
}

impl Series {
    /// Returns a series without samples.
    pub(crate) fn new(name: &str, goal: &str) -> Series {
        let (name, goal) = (name.to_owned(), goal.to_owned());
        Series { name, goal, against: None, samples: Vec::new(), note: String::new(), commit: String::new() }
    }

    /// Returns the series to be shown as a multiple of the one named `name`.
    pub(crate) fn against(self, name: &str) -> Series {
        Series { against: Some(name.to_owned()), ..self }
    }

    /// Returns median, minimum and maximum of the wall times.
    pub(crate) fn wall(&self) -> (f64, f64, f64) {
        self.spread(|sample| sample.wall_seconds)
    }

    /// Returns median, minimum and maximum of the CPU times, of the program and of the system for it.
    pub(crate) fn cpu(&self) -> (f64, f64, f64) {
        self.spread(|sample| sample.user_seconds + sample.system_seconds)
    }

    fn spread(&self, value: impl Fn(&Sample) -> f64) -> (f64, f64, f64) {
        let mut values: Vec<f64> = self.samples.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        match (values.first(), values.last()) {
            (Some(&first), Some(&last)) => (values[values.len() / 2], first, last),
            _ => (f64::NAN, f64::NAN, f64::NAN),
        }
    }

    /// Returns the highest peak.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.samples.iter().map(|sample| sample.peak_bytes).max().unwrap_or(0)
    }
}

/// Everything that one run measured.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) series: Vec<Series>,
    /// What is shown first, side by side.
    pub(crate) comparisons: Vec<Comparison>,
}

impl Report {
    /// Adds samples to a series that is there already, or the series. Samples of another commit are given up for it.
    pub(crate) fn add(&mut self, mut series: Series) {
        match self.series.iter_mut().find(|other| other.name == series.name) {
            Some(other) if other.commit != series.commit => *other = series,
            Some(other) => {
                other.samples.append(&mut series.samples);
                other.note = series.note;
            }
            None => self.series.push(series),
        }
    }

    /// Writes `table.md`, `samples.tsv` and `series.tsv` into a directory of this run below `runs`, and returns it.
    pub(crate) fn write(&self, runs: &Path, name: &str) -> Result<PathBuf> {
        let directory = runs.join(name);
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
        fs::write(directory.join("table.md"), self.table())?;
        fs::write(directory.join("samples.tsv"), self.samples())?;
        fs::write(directory.join("series.tsv"), resume::series(self))?;
        Ok(directory)
    }

    /// Returns the table for people.
    pub(crate) fn table(&self) -> String {
        let mut text = String::from("# A run of bench/own\n\n");
        for (name, value) in &self.facts {
            writeln!(text, "- {name}: {value}").expect("writing to a string");
        }
        comparison::write(&mut text, self);
        text.push_str(
            "\nWarm page cache; each line is a process of its own, start included; median (minimum to maximum) of the wall time, \
             median of the CPU time, highest peak memory.\n\n\
             | what | to reach | wall | CPU | peak memory | runs | |\n|---|---|---|---|---|---|---|\n",
        );
        for series in &self.series {
            let (median, least, most) = series.wall();
            let mut note = series.note.clone();
            if !series.commit.is_empty() {
                let separator = if note.is_empty() { "" } else { "; " };
                write!(note, "{separator}commit {}", series.commit).expect("writing to a string");
            }
            if let Some(other) = series.against.as_ref().and_then(|name| self.find(name)) {
                let separator = if note.is_empty() { "" } else { "; " };
                write!(note, "{separator}{:.2} x {}", median / other.wall().0, other.name)
                    .expect("writing to a string");
            }
            writeln!(
                text,
                "| {} | {} | {} ({} to {}) | {} | {:.1} MiB | {} | {note} |",
                series.name,
                series.goal,
                seconds(median),
                seconds(least),
                seconds(most),
                seconds(series.cpu().0),
                series.peak_bytes() as f64 / f64::from(1 << 20),
                series.samples.len()
            )
            .expect("writing to a string");
        }
        text
    }

    /// Returns the series of this name.
    pub(crate) fn find(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }

    fn samples(&self) -> String {
        let mut text = String::from(
            "what\tround\twall_s\tuser_s\tsystem_s\tpeak_bytes\tlines\toutput_bytes\tload_before\n",
        );
        for series in &self.series {
            for (round, sample) in series.samples.iter().enumerate() {
                writeln!(
                    text,
                    "{}\t{round}\t{:.6}\t{:.6}\t{:.6}\t{}\t{}\t{}\t{:.2}",
                    series.name,
                    sample.wall_seconds,
                    sample.user_seconds,
                    sample.system_seconds,
                    sample.peak_bytes,
                    sample.lines,
                    sample.output_bytes,
                    sample.load_before
                )
                .expect("writing to a string");
            }
        }
        text
    }
}

/// Returns a time as people read it.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1000.0) } else { format!("{seconds:.2} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(wall_seconds: f64) -> Sample {
        Sample {
            wall_seconds,
            user_seconds: 0.5,
            system_seconds: 0.25,
            peak_bytes: 3 << 20,
            lines: 7,
            output_bytes: 70,
            load_before: 0.25,
        }
    }

    #[test]
    fn the_table_shows_medians_and_multiples() {
        let mut walk = Series::new("walk", "");
        walk.samples = vec![sample(0.5), sample(0.4), sample(0.6)];
        let mut pass = Series::new("pass", "<= 1.3 x").against("walk");
        pass.samples = vec![sample(3.0), sample(1.0), sample(2.0)];
        let report = Report {
            facts: vec![("date", "today".to_owned())],
            series: vec![walk, pass],
            ..Report::default()
        };
        let table = report.table();
        assert!(table.contains("- date: today\n"), "{table}");
        assert!(
            table.contains("| walk |  | 500.0 ms (400.0 ms to 600.0 ms) | 750.0 ms | 3.0 MiB | 3 |  |"),
            "{table}"
        );
        assert!(
            table.contains(
                "| pass | <= 1.3 x | 2.00 s (1.00 s to 3.00 s) | 750.0 ms | 3.0 MiB | 3 | 4.00 x walk |"
            ),
            "{table}"
        );
        assert!(report.samples().contains("pass\t2\t2.000000\t0.500000\t0.250000\t3145728\t7\t70\t0.25\n"));
    }

    #[test]
    fn a_run_has_a_directory_of_its_own() {
        let runs = tempfile::tempdir().unwrap();
        let directory = Report::default().write(runs.path(), "2026-01-01-here").unwrap();
        assert!(directory.join("table.md").is_file() && directory.join("samples.tsv").is_file());
    }
}
