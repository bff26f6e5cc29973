//! Repeated measurements of one thing.
//!
//! Input: samples. Output: medians and spreads. Does not depend on what was measured, or on tables.

use crate::child::Sample;

/// Repeated measurements of one thing.
#[derive(Debug, Clone)]
pub struct Series {
    /// Unique in a report. [`named`] returns it for compared programs.
    pub name: String,
    /// The goal, as text; empty if the series is only for comparison.
    pub goal: String,
    /// The series that this one is shown as a multiple of.
    pub against: Option<String>,
    /// The samples, round by round.
    pub samples: Vec<Sample>,
    /// A note.
    pub note: String,
    /// The measured commit; empty for that of the report.
    pub commit: String,
}

/// Returns the name of the series of a program and its work.
pub fn named(program: &str, work: &str) -> String {
    format!("{program}: {work}")
}

/// Median, minimum and maximum.
pub type Spread = (f64, f64, f64);

impl Series {
    /// Returns a series without samples.
    pub fn new(name: &str, goal: &str) -> Series {
        let (name, goal) = (name.to_owned(), goal.to_owned());
        Series { name, goal, against: None, samples: Vec::new(), note: String::new(), commit: String::new() }
    }

    /// Returns a series of one sample.
    pub fn of(name: &str, sample: Sample) -> Series {
        Series { samples: vec![sample], ..Series::new(name, "") }
    }

    /// Returns the series to be shown as a multiple of the one named `name`.
    pub fn against(self, name: &str) -> Series {
        Series { against: Some(name.to_owned()), ..self }
    }

    /// Returns median, minimum and maximum of the wall times.
    pub fn wall(&self) -> Spread {
        self.spread(|sample| sample.wall_seconds)
    }

    /// Returns median, minimum and maximum of the CPU times: user and system time together.
    pub fn cpu(&self) -> Spread {
        self.spread(|sample| sample.user_seconds + sample.system_seconds)
    }

    /// Returns median, minimum and maximum of a value of all samples, or NaN if there are no samples.
    pub fn spread(&self, value: impl Fn(&Sample) -> f64) -> Spread {
        spread(self.samples.iter().map(value).collect())
    }

    /// Returns the highest peak.
    pub fn peak_bytes(&self) -> u64 {
        self.samples.iter().map(|sample| sample.peak_bytes).max().unwrap_or(0)
    }
}

/// Returns median, minimum and maximum of some values, or NaN if there are none.
pub(crate) fn spread(mut values: Vec<f64>) -> Spread {
    values.sort_by(f64::total_cmp);
    match (values.first(), values.last()) {
        (Some(&first), Some(&last)) => {
            let upper = values.len() / 2;
            let lower = (values.len() - 1) / 2;
            (f64::midpoint(values[lower], values[upper]), first, last)
        }
        _ => (f64::NAN, f64::NAN, f64::NAN),
    }
}

/// Returns a time as text.
pub fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1000.0) } else { format!("{seconds:.2} s") }
}

/// Returns a count as in names of work: `4 M`, `200 k`, `17`.
pub fn counted(count: u64) -> String {
    match count {
        1_000_000.. if count.is_multiple_of(10_000) => format!("{} M", count as f64 / 1e6),
        1000.. if count.is_multiple_of(1000) => format!("{} k", count / 1000),
        _ => count.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short() {
        assert_eq!(
            [64_000_000, 1_370_000, 1_371_861, 250_000, 17].map(counted),
            ["64 M", "1.37 M", "1371861", "250 k", "17"]
        );
    }
}
