//! The names of the work of acting on mail, and its rows with their goals.
//!
//! Input: sizes. Output: names, and a table. Does not know how anything is measured.

use measure::series::counted;
use measure::{Goal, Quantity, Row, Table, named};

/// The heading of the only column, and the program in the names of series.
pub(super) const PNEU: &str = "pneu";

pub(super) const TAG: &str = "tag 10,000";
pub(super) const UNTAG: &str = "untag 10,000";
pub(super) const FLAG: &str = "flag 1,000";
pub(super) const CHANGES: &str = "changes after 1,000 flags";
pub(super) const UNDO_FLAG: &str = "undo of the flags";
pub(super) const MOVE: &str = "move 1,000";
pub(super) const UNDO_MOVE: &str = "undo of the move";
pub(super) const COPY: &str = "copy 1,000";
pub(super) const UNDO_COPY: &str = "undo of the copies";
pub(super) const DELIVER: &str = "deliver one message";
pub(super) const BEYOND_SYNCS: &str = "deliver one message, beyond its syncs";
pub(super) const COMPLETE: &str = "contacts, the beginning of a name";
pub(super) const CONTACTS: &str = "contacts, the first 20 of all";
pub(super) const OWN: &str = "contacts, the first 20 of somebody who wrote to them";
pub(super) const EXPORT: &str = "export of all messages to Parquet";
pub(super) const RELEVANCE: &str = "find by relevance, the first 50";
pub(super) const COUNT_TAGGED: &str = "count of the 10,000";
pub(super) const COUNT_ACTED: &str = "count of the 1,000";
/// The floor of a delivery.
pub(super) const SYNCS: &str = "as many syncs of a file beside it";

/// Returns the name of the series of some work with a Maildir of this size.
pub(super) fn series(messages: u32, work: &str) -> String {
    named(PNEU, &of_size(messages, work))
}

/// Returns the name of the series of the bare syncs.
pub(super) fn floor(messages: u32) -> String {
    named("floor", &of_size(messages, SYNCS))
}

fn of_size(messages: u32, work: &str) -> String {
    format!("{}: {work}", counted(messages.into()))
}

/// Returns the table.
pub(crate) fn table(sizes: &[u32]) -> Table {
    Table {
        name: "actions",
        title: "Acting on mail".to_owned(),
        about: "Maildirs of many small messages in 600 folders, with 36 of 137 messages in the INBOX. Each \
            line is a separate process of pneu, including its start and everything that it makes durable. \
            The messages are the oldest ones, found by their date: to tag, those of all folders; for all \
            other actions, those of the INBOX, which go to one other folder. Each round undoes what it did. \
            A count of the same messages shows what finding them costs. Somebody who wrote is a user whose \
            configuration names three addresses that wrote most. The floor of a delivery is a process \
            that waits for as many syncs of a file in the INBOX; what is beyond is the difference, round by \
            round."
            .to_owned(),
        columns: vec![PNEU],
        rows: sizes.iter().flat_map(|&messages| rows(messages)).collect(),
        growths: Vec::new(),
    }
}

fn rows(messages: u32) -> Vec<Row> {
    let row = |work: &str, quantity| Row::new(&of_size(messages, work), quantity);
    let both = |work: &str, most_seconds: Option<f64>| {
        let wall = row(work, Quantity::Wall);
        let wall = most_seconds.map_or(wall.clone(), |most| wall.want(Goal::AtMost(most)));
        [wall.plotted(), row(work, Quantity::Cpu)]
    };
    let mut rows: Vec<Row> = [
        (TAG, Some(0.150)),
        (UNTAG, Some(0.150)),
        (COUNT_TAGGED, None),
        (FLAG, Some(0.150)),
        (CHANGES, Some(0.010)),
        (UNDO_FLAG, Some(0.150)),
        (MOVE, Some(0.300)),
        (UNDO_MOVE, Some(0.300)),
        (COPY, None),
        (UNDO_COPY, None),
        (COUNT_ACTED, None),
        (COMPLETE, Some(0.010)),
        (CONTACTS, Some(0.010)),
        (OWN, Some(0.010)),
        (EXPORT, Some(3.0)),
        (RELEVANCE, None),
    ]
    .into_iter()
    .flat_map(|(work, most_seconds)| both(work, most_seconds))
    .collect();
    rows.extend(both(DELIVER, None).map(|row| row.floor(&floor(messages))));
    rows.push(row(BEYOND_SYNCS, Quantity::Wall).want(Goal::AtMost(0.010)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Report, Sample, Series};

    #[test]
    fn each_work_says_whether_its_goal_is_reached() {
        let sample = |wall_seconds| Sample { wall_seconds, ..Sample::default() };
        let mut report = Report { tables: vec![table(&[2000, 200_000])], ..Report::default() };
        for (name, seconds) in [
            (series(200_000, TAG), 0.140),
            (series(200_000, MOVE), 0.310),
            (series(200_000, DELIVER), 0.012),
            (series(200_000, BEYOND_SYNCS), 0.004),
            (floor(200_000), 0.008),
        ] {
            report.add(Series::of(&name, sample(seconds)));
        }
        let text = report.markdown();
        let line = |beginning: &str| {
            let line = text.lines().find(|line| line.starts_with(beginning));
            line.unwrap_or_else(|| panic!("no line begins with {beginning}: {text}")).to_owned()
        };
        assert!(line("| 200 k: tag 10,000 | warm | wall | <= 150.0 ms | 140.0 ms").ends_with("| yes |"));
        assert!(line("| 200 k: move 1,000 | warm | wall | <= 300.0 ms | 310.0 ms").ends_with("| **no** |"));
        assert!(line("| 200 k: deliver one message | warm | wall |").contains("| 8.0 ms | 1.5 x |"));
        assert!(line("| 200 k: deliver one message, beyond").ends_with("| yes |"));
        assert!(line("| 2 k: tag 10,000 | warm | wall | <= 150.0 ms | — |").ends_with("| — |"));
    }
}
