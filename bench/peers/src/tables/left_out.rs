//! Handles programs that fail during a measurement: their samples are discarded, the run gives the reason,
//! and the other programs continue.
//!
//! Input: the failures. Output: the series without these samples. Does not know what was measured.

use measure::{Report, Series, say};
use std::fmt::Display;

/// Discards all samples of a series, and records the reason.
pub(super) fn leave_out(report: &mut Report, name: &str, error: &dyn Display) {
    say(&format!("  {name} is left out: {error:#}"));
    report.series.retain(|series| series.name != name);
    let note = format!("left out: {error:#}");
    report.add(Series { note, ..Series::new(name, "") });
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::Sample;

    #[test]
    fn what_failed_has_no_samples_and_says_why() {
        let mut report = Report::default();
        report.add(Series::of("restic: work", Sample::default()));
        report.add(Series::of("pneu: work", Sample::default()));
        leave_out(&mut report, "restic: work", &anyhow::anyhow!("it fell over"));
        leave_out(&mut report, "restic: other work", &anyhow::anyhow!("there is none"));
        let all = report.series.iter().map(|series| (&*series.name, series.samples.len(), &*series.note));
        let expected = [
            ("pneu: work", 1, ""),
            ("restic: work", 0, "left out: it fell over"),
            ("restic: other work", 0, "left out: there is none"),
        ];
        assert_eq!(all.collect::<Vec<_>>(), expected);
    }
}
