//! One thing that was measured several times.
//!
//! Input: samples. Output: medians and spreads. Does not depend on what was measured, or of tables.

use crate::child::Sample;

/// One thing that was measured several times.
#[derive(Debug, Clone)]
pub struct Series {
    /// Unique in a report; [`named`] for what is compared.
    pub name: String,
    /// What is to be reached, as text; empty for what is only there to compare with.
    pub goal: String,
    /// The series this one is a multiple of.
    pub against: Option<String>,
    /// What was measured, round by round.
    pub samples: Vec<Sample>,
    /// What else is known.
    pub note: String,
    /// The commit that was measured; empty for that of the report.
    pub commit: String,
}

/// Returns how the series is named in which a program does some work.
pub fn named(who: &str, work: &str) -> String {
    format!("{who}: {work}")
}

/// Median, least and most.
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

    /// Returns median, minimum and maximum of the CPU times, of the program and of the system for it.
    pub fn cpu(&self) -> Spread {
        self.spread(|sample| sample.user_seconds + sample.system_seconds)
    }

    /// Returns median, minimum and maximum of a value of all samples, or no numbers if there are none.
    pub fn spread(&self, value: impl Fn(&Sample) -> f64) -> Spread {
        let mut values: Vec<f64> = self.samples.iter().map(value).collect();
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

    /// Returns the highest peak.
    pub fn peak_bytes(&self) -> u64 {
        self.samples.iter().map(|sample| sample.peak_bytes).max().unwrap_or(0)
    }
}

/// Returns a time as people read it.
pub fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1000.0) } else { format!("{seconds:.2} s") }
}
