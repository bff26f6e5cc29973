//! The names of the work of serving mail, and its rows with their goals.
//!
//! Input: sizes. Output: names, and a table. Does not know how anything is measured.

use measure::series::counted;
use measure::{Goal, Quantity, Row, Table, named};

/// The heading of the only column, and the program in the names of series.
const PNEU: &str = "pneu";

pub(super) const NEWEST: &str = "the newest 50: query and get";
pub(super) const PAGE: &str = "50 from the middle: query and get";
pub(super) const WORD: &str = "words typed: query, get and snippets of 17 hits";
pub(super) const CHANGES: &str = "Email/changes after 1,000 flags";
pub(super) const EVENT: &str = "from a changed file to the event";
pub(super) const BUSY: &str = "the newest 50, of 200 requests a second from 8 clients, beside a first index";
pub(super) const MEMORY: &str = "the server, its memory that belongs to no file";
pub(super) const IDLE: &str = "the server while nothing happens";

/// The size from which the goals for large mailboxes count.
const LARGE: u32 = 1_000_000;

/// Returns the name of the series of some work with a Maildir of this size.
pub(super) fn series(messages: u32, work: &str) -> String {
    named(PNEU, &of_size(messages, work))
}

fn of_size(messages: u32, work: &str) -> String {
    format!("{}: {work}", counted(messages.into()))
}

/// Returns the table.
pub(crate) fn table(sizes: &[u32]) -> Table {
    Table {
        name: "serve",
        title: "Serving mail".to_owned(),
        about: "Maildirs of many small messages in 600 folders, served by one \"pneu serve\" that follows \
            them. A time is that of one request over a connection that is kept, from its first byte to the \
            last one of the answer; each request has all calls that a page of 50 messages, or of the hits, \
            needs. The middle is half of the mailbox away from both ends. Flags are changed by another \
            process, and a file by a rename; the event is that of EventSource. Beside a first index means \
            that another process indexes a copy of the same mail with all processors. Memory is read after \
            all of that."
            .to_owned(),
        columns: vec![PNEU],
        rows: sizes.iter().flat_map(|&messages| rows(messages)).collect(),
        growths: Vec::new(),
    }
}

fn rows(messages: u32) -> Vec<Row> {
    let row = |work: &str, quantity| Row::new(&of_size(messages, work), quantity);
    let newest = if messages < LARGE { 0.005 } else { 0.008 };
    let goals = [
        (NEWEST, Some(newest)),
        (PAGE, Some(0.020)),
        (WORD, None),
        (CHANGES, Some(0.010)),
        (EVENT, Some(0.100)),
        (BUSY, Some(0.010)),
    ];
    let mut rows: Vec<Row> = goals
        .into_iter()
        .map(|(work, most_seconds)| {
            let wall = row(work, Quantity::Wall).plotted();
            most_seconds.map_or(wall.clone(), |most| wall.want(Goal::AtMost(most)))
        })
        .collect();
    rows.push(row(MEMORY, Quantity::Peak).want(Goal::AtMost(150e6)));
    rows.push(row(IDLE, Quantity::Cpu).want(Goal::AtMost(0.0)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Report, Sample, Series};

    #[test]
    fn a_large_mailbox_has_goals_of_its_own() {
        let sample = Sample { wall_seconds: 0.006, ..Sample::default() };
        let mut report = Report { tables: vec![table(&[200_000, 1_370_000])], ..Report::default() };
        report.add(Series::of(&series(200_000, NEWEST), sample));
        report.add(Series::of(&series(1_370_000, NEWEST), sample));
        let text = report.markdown();
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert!(line("| 200 k: the newest 50: query").ends_with("| **no** |"), "{text}");
        assert!(line("| 1.37 M: the newest 50: query").ends_with("| yes |"), "{text}");
    }
}
