//! The figures of a table: which series of a report its rows name, and their values.
//!
//! Input: a row and a [`Report`]. Output: series and numbers. Does not depend on how they are shown.

use crate::child::Sample;
use crate::report::Report;
use crate::series::{Series, Spread, named, spread};
use crate::table::{Row, Table};

impl Row {
    /// Returns the series of a program, if it has samples.
    pub(crate) fn series<'a>(&self, column: &str, report: &'a Report) -> Option<&'a Series> {
        let other = self.others.iter().find(|(name, _)| *name == column);
        let name = other.map_or_else(|| named(column, &self.work), |(_, series)| series.clone());
        report.find(&name).filter(|series| !series.samples.is_empty())
    }

    /// Returns median, minimum and maximum of a program, if there are any.
    pub(crate) fn spread(&self, column: &str, report: &Report) -> Option<Spread> {
        let ours = self.series(column, report)?;
        let (median, least, most) = self.quantity.of(ours);
        let Some(ratio) = &self.ratio else { return Some((median, least, most)) };
        let over = report.find(&ratio.over).filter(|series| !series.samples.is_empty())?;
        let (over_median, over_least, over_most) = self.quantity.of(over);
        // CPU time is counted in ticks, and may be none.
        if over_least <= 0.0 {
            return None;
        }
        if ours.samples.len() != over.samples.len() {
            return Some((median / over_median, least / over_most, most / over_least));
        }
        let of_round = |sample: &Sample| self.quantity.of(&Series::of("", *sample)).0;
        let rounds = ours.samples.iter().zip(&over.samples);
        Some(spread(rounds.map(|(ours, over)| of_round(ours) / of_round(over)).collect()))
    }

    pub(crate) fn floor_value(&self, report: &Report) -> Option<f64> {
        let series = report.find(self.floor.as_ref()?).filter(|series| !series.samples.is_empty())?;
        // CPU time is counted in ticks, and may be none.
        Some(self.quantity.of(series).0).filter(|&floor| floor > 0.0)
    }

    pub(crate) fn value(&self, column: &str, report: &Report) -> Option<f64> {
        Some(self.spread(column, report)?.0)
    }
}

impl Table {
    /// Returns whether anything of it was measured.
    pub fn has_figures(&self, report: &Report) -> bool {
        self.rows.iter().any(|row| self.columns.iter().any(|column| row.spread(column, report).is_some()))
    }
}
