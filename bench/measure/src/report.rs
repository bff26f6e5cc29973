//! All that is known of a run: facts, series, and tables that compare them.
//!
//! Plain values. Knows neither how anything was measured nor how it is written.

use crate::series::Series;
use crate::table::Table;

/// Everything that one run measured.
#[derive(Debug, Default)]
pub struct Report {
    /// What measured.
    pub title: String,
    /// What is said of the machine and of the programs.
    pub facts: Vec<(&'static str, String)>,
    /// What was measured.
    pub series: Vec<Series>,
    /// What is shown first, side by side.
    pub tables: Vec<Table>,
}

impl Report {
    /// Adds samples to a series that is there already, or the series. Samples of another commit are given up
    /// for it.
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

    /// Sets a fact; one of the same name is replaced.
    pub fn set_fact(&mut self, name: &'static str, value: String) {
        self.facts.retain(|(other, _)| *other != name);
        self.facts.push((name, value));
    }

    /// Returns the series of this name.
    pub fn find(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }
}
