//! Two programs beside each other at the same work, and whether what was to be reached is.
//!
//! Comes in: names of series. Goes out: a table in Markdown, a row for each comparison, those without figures too. Must not know how
//! anything was measured.

use crate::report::{Report, Series, seconds};
use std::fmt::Write;

/// Two series that did the same work.
#[derive(Debug, Clone)]
pub(crate) struct Comparison {
    /// The work.
    pub(crate) work: String,
    /// The series of pneu.
    pub(crate) ours: String,
    /// The series of the other program.
    pub(crate) theirs: String,
    /// The series that nothing can be faster than.
    pub(crate) floor: String,
    pub(crate) quantity: Quantity,
    pub(crate) goal: Goal,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantity {
    /// Wall time, in seconds.
    Wall,
    /// CPU time, in seconds.
    Cpu,
    /// Wall time of one of so many things, in nanoseconds.
    WallOfEach(f64),
    /// The highest peak of memory, in bytes.
    Peak,
    /// The highest peak of memory for one of so many things, in bytes.
    PeakOfEach(f64),
}

/// What is to be reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    /// So many times less than the other program.
    Times(f64),
    /// No more than so much.
    AtMost(f64),
    /// It is shown because it belongs to the picture.
    Shown,
}

/// Median, least and most.
type Spread = (f64, f64, f64);

impl Quantity {
    fn of(self, series: &Series) -> Spread {
        let peak = series.peak_bytes() as f64;
        let each = |(median, least, most): Spread, count: f64| {
            (median * 1e9 / count, least * 1e9 / count, most * 1e9 / count)
        };
        match self {
            Quantity::Wall => series.wall(),
            Quantity::Cpu => series.cpu(),
            Quantity::WallOfEach(count) => each(series.wall(), count),
            Quantity::Peak => (peak, peak, peak),
            Quantity::PeakOfEach(count) => (peak / count, peak / count, peak / count),
        }
    }

    fn text(self, value: f64) -> String {
        match self {
            Quantity::Wall | Quantity::Cpu => seconds(value),
            Quantity::WallOfEach(_) if value >= 10_000.0 => format!("{:.2} µs", value / 1000.0),
            Quantity::WallOfEach(_) => format!("{value:.0} ns"),
            Quantity::Peak => format!("{:.0} MB", value / 1e6),
            Quantity::PeakOfEach(_) => format!("{value:.1} B"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Quantity::Wall => "wall",
            Quantity::Cpu => "CPU",
            Quantity::WallOfEach(_) => "wall, each",
            Quantity::Peak => "peak memory",
            Quantity::PeakOfEach(_) => "peak memory, each",
        }
    }

    fn cell(self, series: Option<&Series>) -> String {
        let Some(series) = series else { return "—".to_owned() };
        let (median, least, most) = self.of(series);
        match self {
            Quantity::Peak | Quantity::PeakOfEach(_) => self.text(median),
            _ => format!("{} ({} to {})", self.text(median), self.text(least), self.text(most)),
        }
    }
}

/// Writes the comparisons of a report, if it has any.
pub(crate) fn write(text: &mut String, report: &Report) {
    if report.comparisons.is_empty() {
        return;
    }
    text.push_str(
        "\nSide by side: median (least to most); for memory the highest peak of all rounds. A dash is what was not measured.\n\n\
         | work | of it | to reach | pneu | restic | ratio | reached | floor |\n|---|---|---|---|---|---|---|---|\n",
    );
    for row in &report.comparisons {
        let (ours, theirs) = (report.find(&row.ours), report.find(&row.theirs));
        let value = |series: Option<&Series>| series.map(|series| row.quantity.of(series).0);
        let ratio = value(ours).zip(value(theirs)).map(|(ours, theirs)| theirs / ours);
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            row.work,
            row.quantity.name(),
            goal_text(row),
            row.quantity.cell(ours),
            row.quantity.cell(theirs),
            ratio.map_or_else(|| "—".to_owned(), |ratio| format!("{ratio:.1} x")),
            verdict(row.goal, value(ours), ratio),
            row.quantity.cell(report.find(&row.floor)),
        )
        .expect("writing to a string");
    }
}

fn goal_text(row: &Comparison) -> String {
    match row.goal {
        Goal::Times(times) => format!(">= {times} x"),
        Goal::AtMost(value) => format!("<= {}", row.quantity.text(value)),
        Goal::Shown => String::new(),
    }
}

fn verdict(goal: Goal, ours: Option<f64>, ratio: Option<f64>) -> &'static str {
    let is_reached = match goal {
        Goal::Times(times) => ratio.map(|ratio| ratio >= times),
        Goal::AtMost(most) => ours.map(|ours| ours <= most),
        Goal::Shown => return "",
    };
    match is_reached {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "—",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::Sample;

    fn series(name: &str, walls: &[f64], peak_bytes: u64) -> Series {
        let sample = |&wall_seconds: &f64| Sample {
            wall_seconds,
            user_seconds: 2.0 * wall_seconds,
            peak_bytes,
            ..Sample::default()
        };
        Series { samples: walls.iter().map(sample).collect(), ..Series::new(name, "") }
    }

    fn rows(quantity: Quantity, goal: Goal, theirs: &str) -> String {
        let comparison = Comparison {
            work: "work".to_owned(),
            ours: "ours".to_owned(),
            theirs: theirs.to_owned(),
            floor: "floor".to_owned(),
            quantity,
            goal,
        };
        let all = [("ours", 2.0, 100), ("theirs", 6.0, 400), ("floor", 1.0, 10)];
        let series = all.map(|(name, wall, peak)| series(name, &[wall, wall + 1.0, wall - 0.5], peak));
        let report = Report { series: series.into(), comparisons: vec![comparison], ..Report::default() };
        let mut text = String::new();
        write(&mut text, &report);
        text.lines().last().unwrap().to_owned()
    }

    #[test]
    fn what_is_reached_and_what_is_missed_is_said() {
        assert_eq!(
            rows(Quantity::Wall, Goal::Times(3.0), "theirs"),
            "| work | wall | >= 3 x | 2.00 s (1.50 s to 3.00 s) | 6.00 s (5.50 s to 7.00 s) | 3.0 x | yes | 1.00 s (500.0 ms to 2.00 s) |"
        );
        assert!(rows(Quantity::Cpu, Goal::Times(3.1), "theirs").contains("| 4.00 s (3.00 s to 6.00 s) |"));
        assert!(rows(Quantity::Cpu, Goal::Times(3.1), "theirs").contains("| 3.0 x | **no** |"));
        assert!(rows(Quantity::WallOfEach(1e9), Goal::AtMost(1.9), "theirs").starts_with(
            "| work | wall, each | <= 2 ns | 2 ns (2 ns to 3 ns) | 6 ns (6 ns to 7 ns) | 3.0 x | **no** |"
        ));
        assert_eq!(
            rows(Quantity::PeakOfEach(2.0), Goal::AtMost(50.0), "theirs"),
            "| work | peak memory, each | <= 50.0 B | 50.0 B | 200.0 B | 4.0 x | yes | 5.0 B |"
        );
    }

    #[test]
    fn a_row_without_figures_stays() {
        assert_eq!(
            rows(Quantity::Wall, Goal::Times(3.0), "nobody"),
            "| work | wall | >= 3 x | 2.00 s (1.50 s to 3.00 s) | — | — | — | 1.00 s (500.0 ms to 2.00 s) |"
        );
        assert!(rows(Quantity::Wall, Goal::AtMost(2.0), "nobody").contains("| — | — | yes |"));
    }
}
