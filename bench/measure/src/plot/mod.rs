//! Plots of a table: for each unit one line of dots for each row, and the growth of work with its size. Both
//! have logarithmic axes, because the values differ by orders of magnitude. Beside them, shares over time.
//!
//! Input: a table and its report. Output: SVG. Does not know how anything was measured.
//!
//! The SVG is written by hand: it consists of circles, lines and texts. A library for plots would add its own
//! font metrics, bitmaps or a dozen crates for that.

mod axis;
mod shares;
pub(crate) mod svg;

use crate::quantity::{Quantity, Unit};
use crate::report::Report;
use crate::table::{Growth, Row, Table};
use axis::Axis;
pub use axis::thousands;
pub use shares::{Shares, shares};
pub use svg::Plot;
use svg::{MARGIN, WIDTH, begin, put, text};

/// Ours first. The colours are dark enough on white. Shapes differ, too, for readers who cannot distinguish
/// colours.
const COLOURS: [&str; 8] =
    ["#c2410c", "#1d4ed8", "#047857", "#7e22ce", "#a16207", "#0e7490", "#be185d", "#374151"];
/// Where names of rows end and the axis begins.
const NAMES: f64 = 430.0;
const ROW_HEIGHT: f64 = 24.0;
/// Title, legend, and the axis' numbers.
const HEAD: f64 = 80.0;
/// The most characters of a row's name.
const NAME_LETTERS_MAX: usize = 58;
const GROWTH_HEIGHT: f64 = 420.0;
/// How to read a plot of figures.
const LOGARITHMIC: &str = "Logarithmic; dots are medians, lines reach from the least to the most.";

/// Returns all plots of a table that have figures.
pub fn plots(table: &Table, report: &Report) -> Vec<Plot> {
    let units = [
        (Unit::Seconds, "seconds", "time"),
        (Unit::NanosecondsEach, "each", "time of each"),
        (Unit::Bytes, "bytes", "bytes"),
        (Unit::BytesEach, "bytes-each", "bytes of each"),
        (Unit::Count, "counts", "counts"),
    ];
    let of_units = units.into_iter().filter_map(|(unit, name, what)| {
        let title = format!("{}: {what}", table.title);
        let svg = dots(table, unit, &title, report)?;
        Some(Plot { title, file_name: format!("{}-{name}.svg", table.name), svg })
    });
    let growths = table.growths.iter().filter_map(|growth| {
        let svg = lines(table, growth, report)?;
        let file_name = format!("{}-{}.svg", table.name, growth.name);
        Some(Plot { title: growth.title.clone(), file_name, svg })
    });
    of_units.chain(growths).collect()
}

/// Draws a line of dots for each plotted row of a unit: a dot for each program, from minimum to maximum, and
/// a mark for the floor.
fn dots(table: &Table, unit: Unit, title: &str, report: &Report) -> Option<String> {
    let is_shown = |row: &&Row| {
        row.is_plotted
            && row.unit() == unit
            && table.columns.iter().any(|column| row.spread(column, report).is_some())
    };
    let rows: Vec<&Row> = table.rows.iter().filter(is_shown).collect();
    let spreads = |row: &Row| {
        let spread = |(place, column): (usize, &&'static str)| Some((place, row.spread(column, report)?));
        table.columns.iter().enumerate().filter_map(spread).collect::<Vec<_>>()
    };
    let shown = rows.iter().flat_map(|row| spreads(row)).flat_map(|(_, (_, least, most))| [least, most]);
    let axis = Axis::over(
        shown.chain(rows.iter().filter_map(|row| row.floor_value(report))),
        NAMES,
        WIDTH - MARGIN - 24.0,
    )?;
    let bottom = HEAD + rows.len() as f64 * ROW_HEIGHT;
    let mut svg = begin(bottom + 30.0, title, LOGARITHMIC);
    let x = legend(&mut svg, &table.columns);
    if rows.iter().any(|row| row.floor_value(report).is_some()) {
        put(&mut svg, &format!("<line class=\"floor\" x1=\"{x:.1}\" y1=\"41\" x2=\"{x:.1}\" y2=\"59\"/>"));
        text(&mut svg, x + 10.0, 54.0, "start", "floor");
    }
    for (at, value) in axis.marks() {
        let label = mark(unit, value);
        put(
            &mut svg,
            &format!("<line class=\"grid\" x1=\"{at:.1}\" y1=\"{HEAD}\" x2=\"{at:.1}\" y2=\"{bottom:.1}\"/>"),
        );
        text(&mut svg, at, bottom + 16.0, "middle", &label);
    }
    for (place, row) in rows.iter().enumerate() {
        let y = HEAD + (place as f64 + 0.5) * ROW_HEIGHT;
        text(&mut svg, NAMES - 14.0, y + 4.0, "end", &shortened(&named(row)));
        if let Some(floor) = row.floor_value(report) {
            let (x, top, end) = (axis.place(floor), y - 9.0, y + 9.0);
            put(
                &mut svg,
                &format!(
                    "<line class=\"floor\" x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{end:.1}\"/>"
                ),
            );
        }
        for (column, (median, least, most)) in spreads(row).into_iter().rev() {
            let (from, to, colour) = (axis.place(least), axis.place(most), colour(column));
            put(
                &mut svg,
                &format!(
                    "<line stroke=\"{colour}\" x1=\"{from:.1}\" y1=\"{y:.1}\" x2=\"{to:.1}\" y2=\"{y:.1}\"/>"
                ),
            );
            shape(&mut svg, column, axis.place(median), y);
        }
    }
    svg.push_str("</svg>\n");
    Some(svg)
}

/// Draws wall time over size for each program.
fn lines(table: &Table, growth: &Growth, report: &Report) -> Option<String> {
    let measured = |points: &[(f64, String)]| -> Vec<(f64, f64)> {
        let point = |(size, name): &(f64, String)| {
            Some((*size, report.find(name).filter(|series| !series.samples.is_empty())?.wall().0))
        };
        points.iter().filter_map(point).collect()
    };
    let all: Vec<(&str, Vec<(f64, f64)>)> =
        growth.lines.iter().map(|(who, points)| (*who, measured(points))).collect();
    let points = || all.iter().flat_map(|(_, points)| points);
    let across = Axis::over(points().map(|point| point.0), 90.0, WIDTH - 60.0)?;
    let up = Axis::over(points().map(|point| point.1), GROWTH_HEIGHT - 40.0, HEAD)?;
    let mut svg = begin(GROWTH_HEIGHT + 20.0, &growth.title, LOGARITHMIC);
    legend(&mut svg, &table.columns);
    let (left, right) = (across.from, across.to);
    for (at, value) in up.marks() {
        put(
            &mut svg,
            &format!(
                "<line class=\"grid\" x1=\"{left:.1}\" y1=\"{at:.1}\" x2=\"{right:.1}\" y2=\"{at:.1}\"/>"
            ),
        );
        text(&mut svg, left - 10.0, at + 4.0, "end", &mark(Unit::Seconds, value));
    }
    let mut sizes: Vec<f64> = points().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    for size in sizes {
        let label = format!("{} {}", thousands(size), growth.of);
        text(&mut svg, across.place(size), GROWTH_HEIGHT - 16.0, "middle", &label);
    }
    for (who, points) in &all {
        let column = table.columns.iter().position(|column| column == who).unwrap_or(COLOURS.len() - 1);
        let places: Vec<(f64, f64)> =
            points.iter().map(|&(size, value)| (across.place(size), up.place(value))).collect();
        let path = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ");
        put(&mut svg, &format!("<polyline fill=\"none\" stroke=\"{}\" points=\"{path}\"/>", colour(column)));
        places.iter().for_each(|&(x, y)| shape(&mut svg, column, x, y));
    }
    svg.push_str("</svg>\n");
    Some(svg)
}

/// Draws the legend, and returns where there is room after it.
fn legend(svg: &mut String, columns: &[&str]) -> f64 {
    let mut x = MARGIN + 8.0;
    for (place, column) in columns.iter().enumerate() {
        shape(svg, place, x, 50.0);
        text(svg, x + 12.0, 54.0, "start", column);
        x += 40.0 + 7.0 * column.chars().count() as f64;
    }
    x
}

/// Draws the mark of a program: its colour and its shape.
fn shape(svg: &mut String, column: usize, x: f64, y: f64) {
    let fill = colour(column);
    let drawn = match column % 4 {
        0 => format!("<circle fill=\"{fill}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>"),
        1 => format!(
            "<rect fill=\"{fill}\" x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>",
            x - 5.0,
            y - 5.0
        ),
        2 => {
            let (left, right, top, bottom) = (x - 6.0, x + 6.0, y - 6.0, y + 5.0);
            format!(
                "<path fill=\"{fill}\" d=\"M{left:.1} {bottom:.1}L{right:.1} {bottom:.1}L{x:.1} {top:.1}Z\"/>"
            )
        }
        _ => {
            let (left, right, top, bottom) = (x - 7.0, x + 7.0, y - 7.0, y + 7.0);
            format!(
                "<path fill=\"{fill}\" d=\"M{left:.1} {y:.1}L{x:.1} {top:.1}L{right:.1} {y:.1}L{x:.1} \
                 {bottom:.1}Z\"/>"
            )
        }
    };
    put(svg, &drawn);
}

fn colour(column: usize) -> &'static str {
    COLOURS[column % COLOURS.len()]
}

/// Returns the label of a row: its work, and its quantity, unless most rows of the plot show that quantity.
fn named(row: &Row) -> String {
    match row.quantity {
        Quantity::Wall | Quantity::WallOfEach(_) | Quantity::PeakOfEach(_) => row.work.clone(),
        other => format!("{}: {}", other.name(), row.work),
    }
}

/// Returns a round value as text.
fn mark(unit: Unit, value: f64) -> String {
    let text = unit.text(value);
    let [number, name] = text.split(' ').collect::<Vec<_>>()[..] else { return text };
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {name}")
}

fn shortened(name: &str) -> String {
    match name.chars().count() > NAME_LETTERS_MAX {
        true => name.chars().take(NAME_LETTERS_MAX - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::Sample;
    use crate::series::Series;

    fn report() -> (Table, Report) {
        let sample = |wall_seconds| Sample { wall_seconds, peak_bytes: 1 << 20, ..Sample::default() };
        let series = |name: &str, wall| Series {
            samples: vec![sample(wall), sample(wall * 1.1), sample(wall * 0.9)],
            ..Series::new(name, "")
        };
        let report = Report {
            series: vec![
                series("pneu: a <& b", 0.1),
                series("mu: a <& b", 10.0),
                series("floor", 0.05),
                series("pneu: large", 1.0),
            ],
            ..Report::default()
        };
        let row = Row::new("a <& b", Quantity::Wall);
        let table = Table {
            name: "test",
            title: "Test".to_owned(),
            about: String::new(),
            columns: vec!["pneu", "mu", "mairix"],
            rows: vec![row.clone().floor("floor").plotted(), row, Row::new("c", Quantity::Peak).plotted()],
            growths: vec![Growth {
                name: "growth",
                title: "Growth".to_owned(),
                of: "messages",
                lines: vec![
                    ("pneu", vec![(1000.0, "pneu: a <& b".to_owned()), (50_000.0, "pneu: large".to_owned())]),
                    ("mu", vec![(1000.0, "mu: a <& b".to_owned()), (50_000.0, "mu: large".to_owned())]),
                ],
            }],
        };
        (table, report)
    }

    #[test]
    fn what_is_plotted_has_dots_and_what_has_no_figures_has_no_file() {
        let (table, report) = report();
        let plots = plots(&table, &report);
        let names: Vec<&str> = plots.iter().map(|plot| plot.file_name.as_str()).collect();
        assert_eq!(names, ["test-seconds.svg", "test-growth.svg"]);
        let svg = &plots[0].svg;
        assert!(svg.contains(">a &lt;&amp; b</text>") && svg.ends_with("</svg>\n"), "{svg}");
        // In the legend and in the row; the third program has no figures; floor in both.
        let count = |what: &str| svg.matches(what).count();
        assert_eq!((count("<circle"), count("width=\"10\""), count("<path")), (2, 2, 1), "{svg}");
        assert_eq!(count("<line class=\"floor\""), 2);
        assert_eq!(plots[1].svg.matches("<polyline").count(), 2);
        assert!(plots[1].svg.contains(">50,000 messages</text>"), "{}", plots[1].svg);
    }

    #[test]
    fn what_takes_longer_lies_further_right() {
        let (table, report) = report();
        let svg = &plots(&table, &report)[0].svg;
        let centre: f64 = svg.rsplit("cx=\"").next().unwrap().split('"').next().unwrap().parse().unwrap();
        let left: f64 = svg.rsplit("y=\"87.0\"").next().map_or(0.0, |_| {
            let square = svg.rsplit("<rect").next().unwrap();
            square.split("x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        });
        assert!(centre + 100.0 < left && left < WIDTH, "{centre} {left}");
    }

    #[test]
    fn rows_say_what_of_their_work_is_shown_and_marks_are_short() {
        assert_eq!(named(&Row::new("work", Quantity::Wall)), "work");
        assert_eq!(named(&Row::new("work", Quantity::Cpu)), "CPU: work");
        assert_eq!([0.05, 1.0, 0.0005].map(|value| mark(Unit::Seconds, value)), ["50 ms", "1 s", "0.5 ms"]);
        assert_eq!(mark(Unit::Bytes, 1e8), "100 MB");
        assert_eq!(mark(Unit::Count, 20.0), "20");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"x".repeat(80)).chars().count(), NAME_LETTERS_MAX);
    }
}
