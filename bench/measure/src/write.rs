//! Writes a report: Markdown and plots for people, tab-separated values for programs.
//!
//! Input: a [`Report`]. Output: the files of a run. Does not depend on how anything was measured.

use crate::child::Sample;
use crate::report::Report;
use crate::series::{Series, seconds};
use crate::{markdown, plot, resume};
use anyhow::{Context, Result};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The text of a run for documents; `cargo xtask docs` copies it there.
const README_PIECE: &str = "readme.md";

impl Report {
    /// Writes all results into a directory of this run below `runs`, and returns it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, runs: &Path, name: &str) -> Result<PathBuf> {
        let directory = runs.join(name);
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
        // The old files stay complete until the new ones are.
        let put = |name: &str, text: &str| {
            let (path, new) = (directory.join(name), directory.join(format!("{name}.new")));
            let written = fs::write(&new, text).and_then(|()| fs::rename(&new, &path));
            written.with_context(|| format!("cannot write {}", path.display()))
        };
        put("table.md", &self.markdown())?;
        put("samples.tsv", &resume::samples(self))?;
        put("series.tsv", &resume::series(self))?;
        for table in self.tables.iter().filter(|table| table.has_figures(self)) {
            for plot in plot::plots(table, self) {
                put(&plot.file_name, &plot.svg)?;
            }
        }
        for plot in &self.plots {
            put(&plot.file_name, &plot.svg)?;
        }
        if !self.plots.is_empty() || self.tables.iter().any(|table| table.has_figures(self)) {
            put(README_PIECE, &markdown::readme(self, &format!("bench/runs/{name}")))?;
        }
        Ok(directory)
    }

    /// Returns everything that people read.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.title);
        for (name, value) in &self.facts {
            writeln!(text, "- {name}: {value}").expect("writing to a string");
        }
        for table in self.tables.iter().filter(|table| table.has_figures(self)) {
            markdown::write(&mut text, table, self);
        }
        text.push_str(
            "\n## All series\n\nEach is a process of its own, start included; median (minimum to maximum) of \
             the wall time, medians of the other times and counts, highest peak memory. Outputs are blocks \
             of 512 bytes.\n\n\
             | what | to reach | wall | user | system | peak memory | faults, minor; major | outputs | runs \
             | |\n\
             |---|---|---|---|---|---|---|---|---|---|\n",
        );
        for series in &self.series {
            self.write_series(&mut text, series);
        }
        text
    }

    fn write_series(&self, text: &mut String, series: &Series) {
        let (median, least, most) = series.wall();
        let mut notes = vec![series.note.clone()];
        if !series.commit.is_empty() {
            notes.push(format!("commit {}", series.commit));
        }
        if let Some(other) = series.against.as_ref().and_then(|name| self.find(name)) {
            notes.push(format!("{:.2} x {}", median / other.wall().0, other.name));
        }
        notes.retain(|note| !note.is_empty());
        let middle = |value: fn(&Sample) -> u64| series.spread(|sample| value(sample) as f64).0;
        writeln!(
            text,
            "| {} | {} | {} ({} to {}) | {} | {} | {:.1} MiB | {}; {} | {} | {} | {} |",
            series.name,
            series.goal,
            seconds(median),
            seconds(least),
            seconds(most),
            seconds(series.spread(|sample| sample.user_seconds).0),
            seconds(series.spread(|sample| sample.system_seconds).0),
            series.peak_bytes() as f64 / f64::from(1 << 20),
            middle(|sample| sample.minor_faults),
            middle(|sample| sample.major_faults),
            middle(|sample| sample.outputs),
            series.samples.len(),
            notes.join("; ")
        )
        .expect("writing to a string");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Plot;
    use crate::quantity::Quantity;
    use crate::table::{Row, Table};

    fn sample(wall_seconds: f64) -> Sample {
        Sample {
            wall_seconds,
            user_seconds: 0.5,
            system_seconds: 0.25,
            peak_bytes: 3 << 20,
            minor_faults: 12,
            outputs: 8,
            ..Sample::default()
        }
    }

    fn table() -> Table {
        Table {
            name: "test",
            title: "Title".to_owned(),
            about: String::new(),
            columns: vec!["ours"],
            rows: Vec::new(),
            growths: Vec::new(),
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
        let text = report.markdown();
        assert!(text.contains("- date: today\n"), "{text}");
        assert!(
            text.contains(
                "| walk |  | 500.0 ms (400.0 ms to 600.0 ms) | 500.0 ms | 250.0 ms | 3.0 MiB | 12; 0 | 8 | 3 \
                 |  |"
            ),
            "{text}"
        );
        assert!(text.contains("| pass | <= 1.3 x | 2.00 s (1.00 s to 3.00 s) |"), "{text}");
        assert!(text.contains("| 3 | 4.00 x walk |"), "{text}");
    }

    #[test]
    fn a_run_has_a_directory_of_its_own() {
        let runs = tempfile::tempdir().unwrap();
        let directory = Report::default().write(runs.path(), "2026-01-01-here").unwrap();
        assert!(directory.join("table.md").is_file() && directory.join("samples.tsv").is_file());
        assert!(!directory.join(README_PIECE).exists());
        let row = Row::new("work", Quantity::Wall);
        let mut report = Report { tables: vec![Table { rows: vec![row], ..table() }], ..Report::default() };
        let directory = report.write(runs.path(), "2026-01-02-here").unwrap();
        assert!(!directory.join(README_PIECE).exists(), "nothing of the table was measured");
        report.add(Series::of("ours: work", sample(1.0)));
        report.write(runs.path(), "2026-01-02-here").unwrap();
        assert!(fs::read_to_string(directory.join(README_PIECE)).unwrap().contains("### Title"));
    }

    #[test]
    fn a_plot_of_its_own_is_written_once_and_shown() {
        let runs = tempfile::tempdir().unwrap();
        let plot =
            |svg: &str| Plot { title: "Over time".into(), file_name: "time.svg".into(), svg: svg.into() };
        let mut report = Report { tables: vec![table()], ..Report::default() };
        report.set_plot(plot("old"));
        report.set_plot(plot("new"));
        let directory = report.write(runs.path(), "run").unwrap();
        assert_eq!(fs::read_to_string(directory.join("time.svg")).unwrap(), "new");
        let readme = fs::read_to_string(directory.join(README_PIECE)).unwrap();
        assert_eq!(readme.matches("![Over time](bench/runs/run/time.svg)").count(), 1, "{readme}");
    }

    #[test]
    fn a_fact_is_set_once() {
        let mut report = Report::default();
        report.set_fact("load after", "1".to_owned());
        report.set_fact("load after", "2".to_owned());
        assert_eq!(report.facts, [("load after", "2".to_owned())]);
    }
}
