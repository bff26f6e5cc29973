//! The names of the work of following mail, and its rows with their goals.
//!
//! Input: sizes. Output: names, and a table. Does not know how anything is measured.

use crate::options::WatchSizes;
use crate::used::SETTLE;
use measure::series::counted;
use measure::{Goal, Quantity, Row, Table, named};

/// The heading of the only column, and the program in the names of series.
const PNEU: &str = "pneu";

/// Most text segments that an index should have.
pub(super) const SEGMENTS_MAX: u64 = 64;
/// Bytes of memory that a watch over many folders may take.
const MEMORY_MAX: f64 = 60e6;

/// Queries, by number of the known fact about the mail, or none for the newest 50.
pub(super) const QUERIES: [(&str, Option<usize>); 3] =
    [("a query for 17 hits", Some(0)), ("a query for many hits", Some(1)), ("the newest 50", None)];

/// The names of the series of one run.
#[derive(Debug, Clone)]
pub(super) struct Names {
    sizes: WatchSizes,
}

impl Names {
    pub(super) fn new(sizes: WatchSizes) -> Names {
        Names { sizes }
    }

    /// How long messages take.
    pub(super) fn latency(&self) -> String {
        self.of_mail("from a message's arrival until it is found")
    }

    /// How long the slowest message took.
    pub(super) fn longest(&self) -> String {
        self.of_mail("the longest time until a message is found")
    }

    /// What the watch takes while messages arrive.
    pub(super) fn following(&self) -> String {
        let WatchSizes { seconds, rate, .. } = self.sizes;
        self.of_mail(&format!("the watch, {rate} messages a second for {seconds} s"))
    }

    /// What it takes while nothing happens.
    pub(super) fn idle(&self) -> String {
        self.of_mail(IDLE)
    }

    /// What it takes over many folders while nothing happens.
    pub(super) fn idle_over_folders(&self) -> String {
        self.of_folders(IDLE)
    }

    /// The memory of a watch over many folders.
    pub(super) fn memory(&self) -> String {
        self.of_folders("the watch, its memory that belongs to no file")
    }

    /// A query before messages arrived.
    pub(super) fn before(&self, query: &str) -> String {
        self.of_mail(&format!("{query}, before they arrive"))
    }

    /// The query right after that.
    pub(super) fn after(&self, query: &str) -> String {
        self.of_mail(&format!("{query}, after they arrived"))
    }

    /// The query when nothing has happened for a while.
    pub(super) fn settled(&self, query: &str) -> String {
        self.of_mail(&format!("{query}, {} s later", SETTLE.as_secs()))
    }

    /// The query with an index that was made anew then.
    pub(super) fn anew(&self, query: &str) -> String {
        self.of_mail(&format!("{query}, with an index made anew"))
    }

    fn of_mail(&self, work: &str) -> String {
        named(PNEU, &format!("{}: {work}", counted(self.sizes.messages.into())))
    }

    fn of_folders(&self, work: &str) -> String {
        named(PNEU, &format!("{} folders: {work}", counted(self.sizes.folders as u64)))
    }
}

const IDLE: &str = "the watch while nothing happens";

/// Returns the table.
pub(crate) fn table(sizes: WatchSizes) -> Table {
    let names = Names::new(sizes);
    let row = |series: &str, quantity| {
        let work = series.split_once(": ").map_or(series, |(_, work)| work);
        Row::new(work, quantity)
    };
    let of = |series: String, quantity| row(&series, quantity);
    let mut rows = vec![
        of(names.latency(), Quantity::Wall).want(Goal::AtMost(0.100)).plotted(),
        of(names.longest(), Quantity::Wall).want(Goal::AtMost(0.250)).plotted(),
        of(names.following(), Quantity::Cpu),
        of(names.following(), Quantity::Outputs),
        of(names.following(), Quantity::Peak),
        of(names.idle(), Quantity::Cpu).want(Goal::AtMost(0.0)),
        of(names.idle_over_folders(), Quantity::Cpu).want(Goal::AtMost(0.0)),
        of(names.memory(), Quantity::Peak).want(Goal::AtMost(MEMORY_MAX)),
    ];
    for (query, _) in QUERIES {
        let before = names.before(query);
        let settled = names.settled(query);
        let each = [before.clone(), names.after(query), settled.clone(), names.anew(query)];
        rows.extend(each.iter().map(|name| row(name, Quantity::Wall)));
        let quotient = row(&names.of_mail(&format!("{query}, later / before")), Quantity::Wall);
        rows.push(quotient.quotient(PNEU, &settled, &before).want(Goal::AtMost(1.1)));
    }
    Table {
        name: "watch",
        title: "Following mail".to_owned(),
        about:
            "\"pneu index --watch\" follows a Maildir of many small messages in 600 folders while another \
            program delivers messages into its INBOX. Time begins before the rename into \"new\" and ends \
            when the watch says that the message is in the index, which it says after the commit; once a \
            second a query checks that. Memory is memory that belongs to no file. The watch over many \
            folders is measured after some messages arrived. Queries are separate processes: on the index \
            before the messages arrived, right after them, when the watch had some time to merge, and on an \
            index made anew of the same mail."
                .to_owned(),
        columns: vec![PNEU],
        rows,
        growths: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Report, Sample, Series};

    #[test]
    fn each_series_has_a_row_with_its_goal() {
        let sizes = WatchSizes { messages: 200_000, seconds: 600, rate: 100, folders: 10_000 };
        let names = Names::new(sizes);
        let mut report = Report { tables: vec![table(sizes)], ..Report::default() };
        let wall = |wall_seconds| Sample { wall_seconds, ..Sample::default() };
        for (name, sample) in [
            (names.latency(), wall(0.05)),
            (names.longest(), wall(0.3)),
            (names.following(), Sample { user_seconds: 4.0, outputs: 8, ..wall(600.0) }),
            (names.idle(), wall(10.0)),
            (names.idle_over_folders(), Sample { user_seconds: 0.01, ..wall(10.0) }),
            (names.memory(), Sample { peak_bytes: 50_000_000, ..wall(1.0) }),
            (names.before(QUERIES[0].0), wall(0.010)),
            (names.settled(QUERIES[0].0), wall(0.012)),
        ] {
            report.add(Series::of(&name, sample));
        }
        let text = report.markdown();
        let line = |beginning: &str| {
            let line = text.lines().find(|line| line.starts_with(beginning));
            line.unwrap_or_else(|| panic!("no line begins with {beginning}: {text}")).to_owned()
        };
        assert!(
            line("| 200 k: from a message's arrival until it is found | warm | wall |").ends_with("| yes |")
        );
        assert!(line("| 200 k: the longest time until a message is found |").ends_with("| **no** |"));
        let following = "| 200 k: the watch, 100 messages a second for 600 s | warm |";
        assert!(line(&format!("{following} CPU |")).contains("| 4.00 s (n = 1) |"));
        assert!(
            line("| 200 k: the watch while nothing happens | warm | CPU | <= 0.0 ms |").ends_with("| yes |")
        );
        assert!(line("| 10 k folders: the watch while nothing happens |").ends_with("| **no** |"));
        assert!(line("| 10 k folders: the watch, its memory").contains("| <= 60 MB | 50 MB (n = 1) |"));
        let quotient = line("| 200 k: a query for 17 hits, later / before |");
        assert!(quotient.contains("| <= 1.10 | 1.20 (n = 1) |"), "{quotient}");
    }
}
