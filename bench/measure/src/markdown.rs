//! Tables in Markdown: complete ones, and the parts for a README.
//!
//! Input: a table and its report. Output: text, with a line for each row, also for rows without figures and
//! for those in which another program is better. Does not depend on how anything was measured.

use crate::plot::svg::Plot;
use crate::quantity::Unit;
use crate::report::Report;
use crate::table::{Goal, Row, Table};
use std::fmt::Write;

/// The cell of a program that cannot do the work, or is not installed.
const DASH: &str = "—";
/// A median of fewer samples gets a mark.
const COUNT_ENOUGH: usize = 5;
/// The verdict if a goal is reached.
const REACHED: &str = "yes";
/// The verdict if a goal is missed.
const MISSED: &str = "**no**";
/// The verdict if another program needs less, and no goal was set.
const BEHIND: &str = "**behind**";

impl Row {
    fn wanted(&self) -> String {
        match self.goal {
            Goal::Times(times, who) => format!("{times} x less than {who}"),
            Goal::AtMost(value) => format!("<= {}", self.unit().text(value)),
            Goal::AtLeast(value) => format!(">= {}", self.unit().text(value)),
            Goal::AtMostOfFloor(times) => format!("<= {times} x the floor"),
            Goal::LessThanAll => "the least".to_owned(),
            Goal::Shown => String::new(),
        }
    }

    /// Returns the name of what the row shows.
    fn measure(&self) -> String {
        match self.unit() {
            Unit::Quotient => format!("quotient of {}", self.quantity.name()),
            Unit::Share => format!("share of {}", self.quantity.name()),
            _ => self.quantity.name().to_owned(),
        }
    }

    fn verdict(&self, columns: &[&str], report: &Report) -> &'static str {
        let Some((own, others)) = columns.split_first() else { return "" };
        let ours = self.value(own, report);
        let theirs: Vec<f64> = others.iter().filter_map(|column| self.value(column, report)).collect();
        let least = theirs.iter().copied().fold(f64::INFINITY, f64::min);
        let Some(ours) = ours else { return DASH };
        let is_reached = match self.goal {
            Goal::Times(times, who) => self.value(who, report).map(|theirs| theirs >= times * ours),
            Goal::AtMost(most) => Some(ours <= most),
            Goal::AtLeast(least) => Some(ours >= least),
            Goal::AtMostOfFloor(times) => self.floor_value(report).map(|floor| ours <= times * floor),
            Goal::LessThanAll if theirs.is_empty() => None,
            Goal::LessThanAll => Some(ours < least),
            Goal::Shown if ours > least => return BEHIND,
            Goal::Shown => return "",
        };
        match is_reached {
            Some(true) => REACHED,
            Some(false) => MISSED,
            None => DASH,
        }
    }

    /// Returns the value of a program, and its ratio to ours.
    fn cell(&self, column: &str, own: &str, detail: Detail, report: &Report) -> String {
        let Some(series) = self.series(column, report) else { return DASH.to_owned() };
        let Some((median, least, most)) = self.spread(column, report) else { return DASH.to_owned() };
        let unit = self.unit();
        let mut text = unit.text(median);
        if detail == Detail::All && least < most {
            write!(text, " ({} to {})", unit.text(least), unit.text(most)).expect("writing to a string");
        }
        if series.samples.len() < COUNT_ENOUGH {
            write!(text, " (n = {})", series.samples.len()).expect("writing to a string");
        }
        if let Some(ours) = self.value(own, report).filter(|&ours| column != own && ours > 0.0) {
            write!(text, ", {}", times(median / ours)).expect("writing to a string");
        }
        text
    }
}

/// How much detail a cell has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Median, minimum and maximum.
    All,
    /// The median.
    Median,
}

/// Returns a ratio as text.
fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1} x") } else { format!("{ratio:.0} x") }
}

/// Writes a table with all known values of its rows.
pub(crate) fn write(text: &mut String, table: &Table, report: &Report) {
    write!(
        text,
        "\n## {}\n\n{}\n\nMedian (minimum to maximum), and the ratio to the first program; for memory, the \
         highest peak of all rounds. A dash means that a program cannot do this, or that it was not \
         measured.\n\n| work | cache | measure | goal | {} | floor | x floor | reached |\n|---|---|---|---|{}\
         ---|---|---|\n",
        table.title,
        table.about,
        table.columns.join(" | "),
        "---|".repeat(table.columns.len())
    )
    .expect("writing to a string");
    let own = table.columns.first().copied().unwrap_or_default();
    for row in &table.rows {
        let cells = table.columns.iter().map(|column| row.cell(column, own, Detail::All, report));
        let floor = row.floor_value(report);
        let ratio = floor.zip(row.value(own, report)).map(|(floor, ours)| times(ours / floor));
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            row.work,
            if row.is_cold { "cold" } else { "warm" },
            row.measure(),
            row.wanted(),
            cells.collect::<Vec<_>>().join(" | "),
            floor.map_or_else(|| DASH.to_owned(), |floor| row.unit().text(floor)),
            ratio.unwrap_or_else(|| DASH.to_owned()),
            row.verdict(&table.columns, report)
        )
        .expect("writing to a string");
    }
}

/// Returns the part of a report for a README, with medians only: the rows with a goal; folded, the rows in
/// which another program is better; and all plots, which are in `directory`.
pub(crate) fn readme(report: &Report, directory: &str) -> String {
    let fact = |wanted: &str| report.facts.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    let mut text = String::new();
    let known = ["date", "processor", "memory", "kernel", "file system", "commit", "sizes"];
    let known: Vec<&str> = known.iter().filter_map(|name| fact(name).map(String::as_str)).collect();
    writeln!(text, "{}. [Everything about this run]({directory}/table.md).", known.join("; "))
        .expect("writing to a string");
    for table in report.tables.iter().filter(|table| table.has_figures(report)) {
        let versions: Vec<String> = table
            .columns
            .iter()
            .filter_map(|column| {
                let version = fact(column)?;
                // Some versions include the program's name, and some do not.
                let says_name = version.to_lowercase().starts_with(&column.to_lowercase());
                Some(if says_name { version.clone() } else { format!("{column} {version}") })
            })
            .collect();
        let verdict = |row: &Row| row.verdict(&table.columns, report);
        let (with_goal, others): (Vec<&Row>, Vec<&Row>) =
            table.rows.iter().partition(|row| row.goal != Goal::Shown);
        let behind: Vec<&Row> = others.into_iter().filter(|row| verdict(row) == BEHIND).collect();
        write!(text, "\n### {}\n\n{}\n\n{}.\n", table.title, table.about, versions.join("; "))
            .expect("writing to a string");
        if !with_goal.is_empty() {
            let count = |wanted: &str| with_goal.iter().filter(|row| verdict(row) == wanted).count();
            let (reached, missed) = (count(REACHED), count(MISSED));
            write!(text, "\nGoals: {reached} reached, {missed} missed.\n").expect("writing to a string");
            write_medians(&mut text, table, &with_goal, report);
        }
        if !behind.is_empty() {
            write!(
                text,
                "\n<details><summary>Rows without a goal in which another program needs less: {}</summary>\n",
                behind.len()
            )
            .expect("writing to a string");
            write_medians(&mut text, table, &behind, report);
            text.push_str("\n</details>\n");
        }
        crate::plot::plots(table, report).iter().for_each(|plot| show(&mut text, plot, directory));
    }
    report.plots.iter().for_each(|plot| show(&mut text, plot, directory));
    text
}

fn show(text: &mut String, plot: &Plot, directory: &str) {
    write!(text, "\n![{}]({directory}/{})\n", plot.title, plot.file_name).expect("writing to a string");
}

/// Writes rows with medians alone.
fn write_medians(text: &mut String, table: &Table, rows: &[&Row], report: &Report) {
    write!(
        text,
        "\n| work | measure | goal | {} | floor, x floor | reached |\n|---|---|---|{}---|---|\n",
        table.columns.join(" | "),
        "---|".repeat(table.columns.len())
    )
    .expect("writing to a string");
    let own = table.columns.first().copied().unwrap_or_default();
    for row in rows {
        let cells = table.columns.iter().map(|column| row.cell(column, own, Detail::Median, report));
        let floor = row.floor_value(report).map(|floor| {
            let value = row.unit().text(floor);
            row.value(own, report).map_or(value.clone(), |ours| format!("{value}, {}", times(ours / floor)))
        });
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            row.work,
            row.measure(),
            row.wanted(),
            cells.collect::<Vec<_>>().join(" | "),
            floor.unwrap_or_else(|| DASH.to_owned()),
            row.verdict(&table.columns, report)
        )
        .expect("writing to a string");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::Sample;
    use crate::quantity::Quantity;
    use crate::series::Series;

    fn series(name: &str, walls: &[f64], peak_bytes: u64) -> Series {
        let sample = |&wall_seconds: &f64| Sample {
            wall_seconds,
            user_seconds: 2.0 * wall_seconds,
            peak_bytes,
            minor_faults: 7,
            size_bytes: 20_000_000,
            ..Sample::default()
        };
        Series { samples: walls.iter().map(sample).collect(), ..Series::new(name, "") }
    }

    /// ours 2 s, theirs 6 s, the floor 1 s.
    fn report(rows: Vec<Row>) -> Report {
        let all = [("ours: work", 2.0, 100), ("theirs: work", 6.0, 400), ("floor", 1.0, 10)];
        let series =
            all.map(|(name, wall, peak)| series(name, &[wall, wall + 1.0, wall - 0.5, wall, wall], peak));
        let table = Table {
            name: "test",
            title: "Title".to_owned(),
            about: "About.".to_owned(),
            columns: vec!["ours", "theirs", "nobody"],
            rows,
            growths: Vec::new(),
        };
        Report { series: series.into(), tables: vec![table], ..Report::default() }
    }

    fn line(row: Row) -> String {
        let report = report(vec![row]);
        let mut text = String::new();
        write(&mut text, &report.tables[0], &report);
        text.lines().last().unwrap().to_owned()
    }

    #[test]
    fn what_is_reached_and_what_is_missed_is_said() {
        let row = |quantity| Row::new("work", quantity).floor("floor");
        assert_eq!(
            line(row(Quantity::Wall).want(Goal::Times(3.0, "theirs"))),
            "| work | warm | wall | 3 x less than theirs | 2.00 s (1.50 s to 3.00 s) | 6.00 s (5.50 s to \
             7.00 s), 3.0 x | — | 1.00 s | 2.0 x | yes |"
        );
        let missed = line(row(Quantity::Cpu).want(Goal::Times(3.1, "theirs")).cold());
        assert!(missed.starts_with("| work | cold | CPU |") && missed.ends_with("| **no** |"), "{missed}");
        let each = line(row(Quantity::WallOfEach(1e9)).want(Goal::AtMost(1.9)));
        assert!(each.contains("| <= 2 ns | 2 ns (2 ns to 3 ns) |") && each.ends_with("**no** |"), "{each}");
        assert_eq!(
            line(row(Quantity::PeakOfEach(2.0)).want(Goal::AtMost(50.0))),
            "| work | warm | peak memory, each | <= 50.0 B | 50.0 B | 200.0 B, 4.0 x | — | 5.0 B | 10 x | \
             yes |"
        );
        assert!(line(row(Quantity::Wall).want(Goal::AtMostOfFloor(2.0))).ends_with("| yes |"));
        assert!(line(row(Quantity::Wall).want(Goal::AtMostOfFloor(1.9))).ends_with("| **no** |"));
        assert!(line(row(Quantity::MinorFaults)).contains("| minor faults |  | 7 | 7, 1.0 x |"));
    }

    #[test]
    fn quotients_and_shares_are_of_two_series() {
        let row = Row::new("theirs / ours", Quantity::Wall).quotient("ours", "theirs: work", "ours: work");
        assert_eq!(
            line(row.clone().want(Goal::AtLeast(3.0))),
            "| theirs / ours | warm | quotient of wall | >= 3.00 | 3.00 (2.33 to 3.67) | — | — | — | — \
             | yes |"
        );
        let mut uneven = report(vec![row.clone()]);
        uneven.series[0].samples.pop();
        let mut text = String::new();
        write(&mut text, &uneven.tables[0], &uneven);
        assert!(text.ends_with("| 3.00 (1.83 to 4.67) | — | — | — | — |  |\n"), "{text}");
        assert!(line(row.clone().want(Goal::AtLeast(3.1))).ends_with("| **no** |"));
        let part = Row::new("part", Quantity::Wall).share("ours", "floor", "ours: work");
        let shown = line(part.clone().want(Goal::AtMost(0.04)));
        assert!(shown.contains("| share of wall | <= 4.0 % | 50.0 % (33.3 % to 66.7 %) |"), "{shown}");
        assert!(shown.ends_with("| **no** |"), "{shown}");
        let nothing = line(part.share("ours", "floor", "no such series").want(Goal::AtMost(0.04)));
        assert!(nothing.ends_with("| <= 4.0 % | — | — | — | — | — | — |"), "{nothing}");
        let table =
            report(vec![row, Row::new("theirs / ours", Quantity::Cpu).floor("floor")]).tables.remove(0);
        assert_eq!(table.with_floors_of_work().rows[0].floor, None, "a quotient has no floor");
    }

    #[test]
    fn less_than_all_and_behind_are_told_apart() {
        let row = Row::new("work", Quantity::Wall);
        assert!(line(row.clone().want(Goal::LessThanAll)).ends_with("| yes |"));
        let size = line(Row::new("work", Quantity::Size).want(Goal::LessThanAll));
        assert!(size.contains("| 20 MB | 20 MB, 1.0 x |") && size.ends_with("| **no** |"), "{size}");
        assert!(line(row.clone()).ends_with("|  |"));
        assert!(line(row.of("ours", "theirs: work").of("theirs", "ours: work")).ends_with("| **behind** |"));
    }

    #[test]
    fn a_row_without_figures_stays() {
        let row = Row::new("work", Quantity::Wall).want(Goal::Times(3.0, "nobody"));
        assert!(line(row).ends_with("| — | — | — | — |"));
        let other = Row::new("other work", Quantity::Wall).want(Goal::AtMost(2.0));
        assert_eq!(line(other.clone()), "| other work | warm | wall | <= 2.00 s | — | — | — | — | — | — |");
        assert!(!report(vec![other.clone()]).tables[0].has_figures(&report(Vec::new())));
        let both = report(vec![other, Row::new("work", Quantity::Wall)]);
        assert!(both.tables[0].has_figures(&both));
    }

    #[test]
    fn rows_of_the_same_work_share_a_floor() {
        let row = |work, quantity| Row::new(work, quantity);
        let rows = vec![
            row("work", Quantity::Cpu),
            row("work", Quantity::Wall).floor("floor"),
            row("work", Quantity::Peak),
            row("other work", Quantity::Size).floor("floor"),
            row("other work", Quantity::Cpu),
        ];
        let table = report(rows).tables.remove(0).with_floors_of_work();
        let floors: Vec<Option<&str>> = table.rows.iter().map(|row| row.floor.as_deref()).collect();
        assert_eq!(floors, [Some("floor"), Some("floor"), None, Some("floor"), None]);
    }

    #[test]
    fn a_readme_shows_what_was_wanted_what_is_lost_and_plots() {
        let wanted = Row::new("work", Quantity::Wall).want(Goal::Times(3.5, "theirs")).floor("floor");
        let plotted = Row::new("work", Quantity::Peak).plotted();
        let other = Row::new("work", Quantity::User);
        let behind =
            Row::new("lost work", Quantity::Wall).of("ours", "theirs: work").of("theirs", "ours: work");
        let mut report = report(vec![wanted, plotted, other, behind]);
        report.facts = vec![("theirs", "Theirs 1.0".to_owned()), ("nobody", "7".to_owned())];
        let text = readme(&report, "runs/here");
        assert!(text.contains(
            "### Title\n\nAbout.\n\nTheirs 1.0; nobody 7.\n\nGoals: 0 reached, 1 missed.\n\n| \
                work | measure | goal | ours | theirs | nobody | floor, x floor |"
        ));
        assert!(text.contains(
            "| work | wall | 3.5 x less than theirs | 2.00 s | 6.00 s, 3.0 x | — | 1.00 s, 2.0 x | **no** |"
        ));
        assert!(!text.contains("| user |") && !text.contains("| peak memory |"), "{text}");
        let (before, folded) = text
            .split_once(
                "<details><summary>Rows without a goal in which another program needs less: 1</summary>",
            )
            .unwrap();
        assert!(!before.contains("lost work"), "{text}");
        let lost = "| lost work | wall |  | 6.00 s | 2.00 s, 0.3 x | — | — | **behind** |\n\n</details>\n";
        assert!(folded.contains(lost), "{text}");
        assert!(text.contains("](runs/here/test-bytes.svg)"), "{text}");
    }
}
