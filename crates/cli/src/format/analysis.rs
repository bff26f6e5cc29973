//! How a query was answered, for `--analyze`: the plan as a tree, with the hits and the time of each term.
//!
//! Turns an analysis into lines. Does not know how a query is answered.

use crate::sanitise::one_line;
use pneu::{Analysis, AnalysisStep};
use terminal::screen::width;

/// Widest term for which the columns after it move.
const TERM_COLUMNS_MAX: usize = 60;

/// Returns the lines: the query, a line for each step, the total.
pub(crate) fn lines(analysis: &Analysis) -> Vec<String> {
    let mut rows = Vec::new();
    collect(&analysis.root, 0, &mut rows);
    rows.push(Row {
        what: "total".into(),
        found: String::new(),
        took: microseconds(analysis.nanoseconds),
        source: String::new(),
    });
    let columns = |cell: fn(&Row) -> &str| rows.iter().map(|row| width(cell(row))).max().unwrap_or(0);
    let term = columns(|row| &row.what).min(TERM_COLUMNS_MAX);
    let found = columns(|row| &row.found);
    let took = columns(|row| &row.took);
    let pad = |count: usize, text: &str| " ".repeat(count.saturating_sub(width(text)));
    let line = |row: &Row| {
        let Row { what, found: count, took: time, source } = row;
        let line = format!(
            "{what}{}  {}{count}  {}{time}  {source}",
            pad(term, what),
            pad(found, count),
            pad(took, time)
        );
        line.trim_end().to_owned()
    };
    let mut lines = vec![format!("query: {}", one_line(&analysis.query))];
    lines.extend(rows.iter().map(line));
    lines
}

/// The cells of one line.
struct Row {
    what: String,
    found: String,
    took: String,
    source: String,
}

fn collect(step: &AnalysisStep, depth: usize, rows: &mut Vec<Row>) {
    let (found, took) = match step.measured {
        Some((1, nanoseconds)) => ("1 message ".to_owned(), microseconds(nanoseconds)),
        Some((count, nanoseconds)) => (format!("{count} messages"), microseconds(nanoseconds)),
        None => ("not needed".to_owned(), String::new()),
    };
    let what = format!("{}{}", "  ".repeat(depth), one_line(&step.what));
    rows.push(Row { what, found, took, source: step.sources.join(", ") });
    for child in &step.children {
        collect(child, depth.saturating_add(1), rows);
    }
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{} us", nanoseconds / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_a_tree() {
        let leaf = |what: &str, source, measured| AnalysisStep {
            what: what.into(),
            sources: vec![source],
            measured,
            children: vec![],
        };
        let not = AnalysisStep {
            what: "not".into(),
            sources: vec![],
            measured: None,
            children: vec![leaf("body:/\u{1b}a/", "every word in the text index", None)],
        };
        let root = AnalysisStep {
            what: "and".into(),
            sources: vec![],
            measured: Some((1, 1_234_567)),
            children: vec![leaf("subject:日本", "text index", Some((12, 23_999))), not],
        };
        let analysis =
            Analysis { query: "subject:日本 and not body:/a/".into(), root, nanoseconds: 2_000_000 };
        let expected = "\
query: subject:日本 and not body:/a/
and              1 message   1234 us
  subject:日本  12 messages    23 us  text index
  not            not needed
    body:/\u{fffd}a/    not needed           every word in the text index
total                        2000 us";
        assert_eq!(lines(&analysis).join("\n"), expected);
    }
}
