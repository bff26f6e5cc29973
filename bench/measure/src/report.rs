//! The results of a run: facts, series, and tables that compare them.
//!
//! Plain values. Does not depend on how anything was measured or is written.

use crate::plot::svg::Plot;
use crate::series::Series;
use crate::table::Table;

/// Everything that one run measured.
#[derive(Debug, Default)]
pub struct Report {
    /// The measuring program.
    pub title: String,
    /// Facts about the machine and the programs.
    pub facts: Vec<(&'static str, String)>,
    /// The measured series.
    pub series: Vec<Series>,
    /// The comparing tables, which come first.
    pub tables: Vec<Table>,
    /// Plots beside those of the tables. They are of this run alone, also in a run that was continued.
    pub plots: Vec<Plot>,
}

impl Report {
    /// Adds a series, or its samples to the existing series of that name. Samples of another commit replace
    /// those of the existing series.
    pub fn add(&mut self, mut series: Series) {
        match self.series.iter_mut().find(|other| other.name == series.name) {
            Some(other) if other.commit != series.commit => *other = series,
            Some(other) => {
                other.samples.append(&mut series.samples);
                other.note = series.note;
            }
            None => self.series.push(series),
        }
    }

    /// Adds several series.
    pub fn add_all(&mut self, series: impl IntoIterator<Item = Series>) {
        series.into_iter().for_each(|series| self.add(series));
    }

    /// Adds a plot. Replaces a plot of the same file.
    pub fn set_plot(&mut self, plot: Plot) {
        self.plots.retain(|other| other.file_name != plot.file_name);
        self.plots.push(plot);
    }

    /// Sets a fact. Replaces a fact of the same name.
    pub fn set_fact(&mut self, name: &'static str, value: String) {
        self.facts.retain(|(other, _)| *other != name);
        self.facts.push((name, value));
    }

    /// Returns the series of this name.
    pub fn find(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }
}
