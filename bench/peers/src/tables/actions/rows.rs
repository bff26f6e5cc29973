//! The work of acting on mail, its names, and its rows.
//!
//! Input: sizes. Output: names of work, and rows with their goals. Does not know how anything is measured.

use crate::options::{Sizes, counted};
use measure::{Goal, Quantity, Row, Table, named};

/// The programs.
pub(crate) const COLUMNS: [&str; 3] = ["pneu", "mu", "notmuch"];

/// Some work. Each kind is followed by what undoes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Tag,
    Untag,
    Flag,
    Unflag,
    FlagOne,
    UnflagOne,
    MoveOne,
    MoveBack,
    Deliver,
    People,
    Complete,
}

/// All work, in an order in which a round leaves the mail as it was, but for deliveries.
pub(super) const ALL: [Work; 11] = [
    Work::Tag,
    Work::Untag,
    Work::Flag,
    Work::Unflag,
    Work::FlagOne,
    Work::UnflagOne,
    Work::MoveOne,
    Work::MoveBack,
    Work::Deliver,
    Work::People,
    Work::Complete,
];

impl Work {
    fn what(self) -> &'static str {
        match self {
            Work::Tag => "tag 10,000",
            Work::Untag => "untag 10,000",
            Work::Flag => "flag 1,000",
            Work::Unflag => "unflag 1,000",
            Work::FlagOne => "flag one message",
            Work::UnflagOne => "unflag one message",
            Work::MoveOne => "move one message to another folder",
            Work::MoveBack => "move it back",
            Work::Deliver => "deliver one message",
            Work::People => "all addresses",
            Work::Complete => "addresses by the beginning of a name",
        }
    }

    /// Returns the most seconds that pneu may need.
    fn goal(self) -> Goal {
        match self {
            Work::Tag | Work::Untag | Work::Flag | Work::Unflag => Goal::AtMost(0.150),
            Work::Complete => Goal::AtMost(0.010),
            Work::FlagOne
            | Work::UnflagOne
            | Work::MoveOne
            | Work::MoveBack
            | Work::Deliver
            | Work::People => Goal::Shown,
        }
    }

    /// Returns its name with a mailbox of this size.
    pub(super) fn name(self, messages: u32) -> String {
        format!("{}: {}", counted(messages.into()), self.what())
    }
}

/// Returns the name of the floor: a process that does nothing.
pub(super) fn floor(messages: u32) -> String {
    named("floor", &format!("{}: a process that does nothing, beside actions", counted(messages.into())))
}

/// Returns the table.
pub(crate) fn table(sizes: &Sizes) -> Table {
    let messages = sizes.action_messages;
    let floor = floor(messages);
    let rows = ALL.into_iter().flat_map(|work| {
        let row = |quantity| Row::new(&work.name(messages), quantity).floor(&floor);
        [row(Quantity::Wall).want(work.goal()).plotted(), row(Quantity::Cpu), row(Quantity::Peak)]
    });
    Table {
        name: "actions",
        title: "Acting on mail, beside others".to_owned(),
        about: "A mailbox of many small messages in 600 folders. Each program has its own copy of it, which \
            consists of links, and its own index; they take turns. The messages are the oldest ones, found \
            by their date: 10,000 of all folders are tagged, 1,000 of the INBOX get the flag P. notmuch's \
            tag \"passed\" is that flag: it renames the files, too. mu has no tags of this kind, and \
            delivers nothing. \"mu move\" changes the folder or the flags of one message, by the path of \
            its file; to flag 1,000, a shell calls it 1,000 times, so the rows with one message compare \
            single calls. It needs mu 1.12. notmuch moves nothing. Addresses are those of senders and \
            recipients; to complete a name, notmuch looks among senders only. After each tag and each \
            flag, the tagged files and the flags in the names of the files are counted. The floor is a \
            process that does nothing."
            .to_owned(),
        columns: COLUMNS.to_vec(),
        rows: rows.collect(),
        growths: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Report, Sample, Series};

    #[test]
    fn programs_are_compared_at_the_same_work() {
        let mut report = Report { tables: vec![table(&Sizes::quick())], ..Report::default() };
        for (program, seconds) in [("pneu", 0.1), ("notmuch", 0.5)] {
            let name = named(program, &Work::Flag.name(5000));
            report.add(Series::of(&name, Sample { wall_seconds: seconds, ..Sample::default() }));
        }
        let text = report.markdown();
        let line = text.lines().find(|line| line.starts_with("| 5 k: flag 1,000 | warm | wall |")).unwrap();
        assert!(line.contains("| 100.0 ms (n = 1) | — | 500.0 ms (n = 1), 5.0 x |"), "{line}");
        assert!(line.ends_with("| yes |"), "{line}");
    }
}
