//! The names of the work of the table on indexes, and its rows.
//!
//! Input: sizes. Output: names of work, and rows with their goals. Does not know how anything is measured.

use super::mailboxes::{COLUMNS, Kind, Mailbox, mailboxes};
use super::programs::{Mode, Question};
use crate::options::Sizes;
use measure::{Goal, Growth, Quantity, Row, Table, named};

pub(super) const FIRST: &str = "first index";
pub(super) const ADDED: &str = "1,000 added";
pub(super) const FLAGGED: &str = "1,000 flagged";
pub(super) const MOVED: &str = "1,000 moved";
pub(super) const REMOVED: &str = "1,000 removed";
/// Changes, in the order in which they are made.
pub(super) const CHANGED: [&str; 4] = [ADDED, FLAGGED, MOVED, REMOVED];

pub(super) const WALK_ALONE: &str = "getdents64 alone, one thread";
pub(super) const WALK: &str = "getdents64 alone";
pub(super) const WALK_STATX: &str = "getdents64 and statx";
pub(super) const READ: &str = "reading every file";
pub(super) const DIRECTORIES: &str = "statx of each directory";
pub(super) const INBOX: &str = "getdents64 of the INBOX";
pub(super) const NOTHING: &str = "a process that does nothing";

/// A pass in some mode.
pub(super) struct Pass {
    pub(super) mode: Mode,
    pub(super) work: &'static str,
}

const fn pass(mode: Mode, work: &'static str) -> Pass {
    Pass { mode, work }
}

const FULL: &str = "nothing changed, full";
const THOROUGH: &str = "nothing changed, size and times of every file";
const LAZY: &str = "nothing changed, lazy";
const TOUCHED_LAZY: &str = "INBOX touched, lazy";
const TOUCHED_LAZY_KEPT: &str = "INBOX touched, lazy, without cleanup";

/// Passes that find nothing to do.
pub(super) const PASSES: [Pass; 5] = [
    pass(Mode::Full, FULL),
    pass(Mode::Lazy, LAZY),
    pass(Mode::Kept, "nothing changed, full, without cleanup"),
    pass(Mode::Legacy, "nothing changed, full, with the legacy cleanup"),
    pass(Mode::Thorough, THOROUGH),
];

/// Passes after the largest folder's directory was touched.
pub(super) const TOUCHED: [Pass; 4] = [
    pass(Mode::Full, "INBOX touched, full"),
    pass(Mode::Lazy, TOUCHED_LAZY),
    pass(Mode::LazyKept, TOUCHED_LAZY_KEPT),
    pass(Mode::LazyLegacy, "INBOX touched, lazy, with the legacy cleanup"),
];

const FEW: &str = "a query for 17 hits";
const MANY: &str = "a query for many hits";

/// Queries, their names, and the number of the known fact about generated mail that each one asks for.
pub(super) const QUESTIONS: [(Question, &str, usize); 2] =
    [(Question::Few, FEW, 0), (Question::Many, MANY, 1)];

/// Bytes of a gibibyte.
const GIBIBYTE: f64 = 1_073_741_824.0;

/// Returns the name of work with a mailbox.
pub(super) fn work(mailbox: &str, work: &str) -> String {
    format!("{mailbox}: {work}")
}

/// Returns the name of work that began with an empty page cache.
pub(super) fn cold(work: &str) -> String {
    format!("{work}, cold")
}

/// Returns all work that counts only if this query has the right answer after some work: each pass, if files
/// are missing.
pub(super) fn many_works(question: Question, after: &str) -> Vec<String> {
    let both = |work: &str| [work.to_owned(), cold(work)];
    if question != Question::All {
        return both(after).into();
    }
    let passes = PASSES.iter().chain(&TOUCHED).flat_map(|pass| both(pass.work));
    if after == FIRST {
        passes.chain(CHANGED.map(str::to_owned)).chain([FIRST.to_owned()]).collect()
    } else {
        passes.collect()
    }
}

/// Returns the rows.
pub(crate) fn table(sizes: &Sizes) -> Table {
    let mailboxes = mailboxes(sizes);
    let growth = |name, what: &str| Growth {
        name,
        title: format!("Wall time over messages: {what}"),
        of: "messages",
        lines: COLUMNS.map(|column| (column, points(sizes, column, what))).to_vec(),
    };
    Table {
        name: "index",
        title: "Index and cleanup".to_owned(),
        about: "Mailboxes of many small messages in 600 folders, with 36 of 137 messages in the INBOX, and \
            a mailbox of messages with text, attachments and threads in 8 folders. mu and notmuch run with \
            their defaults, with --lazy-check, --nocleanup and MU_NO_INCREMENTAL_CLEANUP, and with \
            --full-scan; mairix runs with -F -p (names only), -p (size and times) and -F (nothing dropped). \
            mu reads the times of each file unless it is lazy, so its one full pass is in both rows. mu's \
            wall time is a multiple of 0.1 s, because it polls for its end at that interval: compare CPU, \
            too. mairix has no phrases; its query has all words of the phrase. Query: a new process that \
            prints the paths. The floor of a pass is getdents64 on two threads, with statx if files' times \
            are read; of a lazy pass, statx of each directory and getdents64 of the touched ones; of a \
            first index, reading every file on two threads; of a query, a process that does nothing. \
            Cleanup is compared with the same pass without it."
            .to_owned(),
        columns: COLUMNS.to_vec(),
        rows: mailboxes.iter().flat_map(rows).collect(),
        growths: vec![
            growth("index-first", FIRST),
            growth("index-unchanged", FULL),
            growth("index-lazy", LAZY),
            growth("index-query", FEW),
        ],
    }
}

fn points(sizes: &Sizes, column: &str, what: &str) -> Vec<(f64, String)> {
    let small = mailboxes(sizes).into_iter().filter(|mailbox| mailbox.kind == Kind::Small);
    small
        .map(|mailbox| (f64::from(mailbox.options.messages), named(column, &work(&mailbox.label, what))))
        .collect()
}

fn rows(mailbox: &Mailbox) -> Vec<Row> {
    let label = mailbox.label.as_str();
    let mut rows = first_rows(label);
    if mailbox.kind == Kind::Small {
        rows.extend(pass_rows(label));
        rows.extend(change_rows(label));
    }
    for (query, at_most) in [(FEW, 0.015), (MANY, 0.050)] {
        let nothing = floor(label, NOTHING);
        rows.push(row(label, query, Quantity::Wall).want(Goal::AtMost(at_most)).floor(&nothing).plotted());
        rows.push(row(label, query, Quantity::Cpu).floor(&nothing));
        rows.push(row(label, query, Quantity::Peak));
    }
    if mailbox.kind == Kind::Small {
        let started_cold = |what: &str| row(label, &cold(what), Quantity::Wall).cold();
        for (what, beneath) in [(FULL, WALK), (LAZY, DIRECTORIES), (FEW, NOTHING), (MANY, NOTHING)] {
            rows.push(started_cold(what).floor(&floor(label, &cold(beneath))));
        }
    }
    rows
}

fn row(label: &str, what: &str, quantity: Quantity) -> Row {
    Row::new(&work(label, what), quantity)
}

fn floor(label: &str, what: &str) -> String {
    named("floor", &work(label, what))
}

pub(super) fn first_rows(label: &str) -> Vec<Row> {
    let row = |quantity| row(label, FIRST, quantity);
    let floor = floor(label, READ);
    vec![
        row(Quantity::Wall).want(Goal::Times(15.0, "mu")).floor(&floor).plotted(),
        row(Quantity::Wall).want(Goal::Times(25.0, "notmuch")).floor(&floor),
        row(Quantity::Cpu).floor(&floor),
        row(Quantity::Peak).want(Goal::AtMost(GIBIBYTE)),
        row(Quantity::Size),
        row(Quantity::Outputs),
        row(Quantity::MinorFaults),
    ]
}

fn pass_rows(label: &str) -> Vec<Row> {
    let row = |what: &str, quantity| row(label, what, quantity);
    let floor = |what: &str| floor(label, what);
    // mu has one full pass, which looks at times.
    let as_full = |row: Row| row.of("mu", &named("mu", &work(label, FULL)));
    let mut rows = vec![
        row(FULL, Quantity::Wall).want(Goal::Times(12.0, "mu")).floor(&floor(WALK)).plotted(),
        row(FULL, Quantity::Wall).want(Goal::AtMostOfFloor(1.3)).floor(&floor(WALK)),
    ];
    for pass in &PASSES {
        let beneath = if pass.mode == Mode::Thorough { WALK_STATX } else { WALK };
        let wall = row(pass.work, Quantity::Wall).floor(&floor(beneath));
        match pass.mode {
            Mode::Full => {}
            Mode::Lazy => {
                let lazy = row(pass.work, Quantity::Wall).floor(&floor(DIRECTORIES));
                rows.push(lazy.want(Goal::AtMost(0.020)).plotted());
            }
            Mode::Thorough => rows.push(as_full(wall).want(Goal::AtMostOfFloor(1.2))),
            _ => rows.push(wall),
        }
        let cpu = row(pass.work, Quantity::Cpu);
        rows.push(match pass.mode {
            Mode::Full => cpu.want(Goal::Times(12.0, "mu")).floor(&floor(WALK)),
            Mode::Thorough => as_full(cpu).floor(&floor(WALK_STATX)),
            _ => cpu,
        });
        if pass.mode == Mode::Full {
            rows.push(row(pass.work, Quantity::Peak));
        }
    }
    for pass in &TOUCHED {
        let beneath = if pass.mode == Mode::Full { WALK } else { INBOX };
        let wall = row(pass.work, Quantity::Wall).floor(&floor(beneath));
        rows.push(if pass.work == TOUCHED_LAZY { wall.want(Goal::AtMost(0.35)).plotted() } else { wall });
        let cpu = row(pass.work, Quantity::Cpu);
        let without = named("pneu", &work(label, TOUCHED_LAZY_KEPT));
        let cleanup = pass.work == TOUCHED_LAZY;
        rows.push(if cleanup { cpu.want(Goal::AtMostOfFloor(1.02)).floor(&without) } else { cpu });
    }
    rows
}

fn change_rows(label: &str) -> Vec<Row> {
    let rows = CHANGED.map(|change| {
        let cpu = row(label, change, Quantity::Cpu);
        let cpu = match change {
            ADDED => cpu.want(Goal::Times(10.0, "mu")),
            FLAGGED => cpu.want(Goal::Times(50.0, "mu")),
            _ => cpu,
        };
        [row(label, change, Quantity::Wall).floor(&floor(label, WALK)).plotted(), cpu]
    });
    rows.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mailbox_has_every_work() {
        let sizes = Sizes { index_messages: vec![5000, 20_000], text_messages: 300, ..Sizes::quick() };
        let table = table(&sizes);
        let has = |label, what| table.rows.iter().any(|row| row.work == work(label, what));
        for label in ["5 k", "20 k"] {
            let passes = PASSES.iter().chain(&TOUCHED).map(|pass| pass.work);
            for what in passes.chain(CHANGED).chain([FIRST, FEW, MANY]) {
                assert!(has(label, what), "{label} {what}");
            }
        }
        let text = "300 with text";
        assert!(has(text, FIRST) && has(text, MANY) && !has(text, ADDED) && !has(text, FULL));
        let lines = &table.growths[0].lines[1];
        assert_eq!(
            lines.1,
            [(5000.0, "mu: 5 k: first index".to_owned()), (20_000.0, "mu: 20 k: first index".to_owned())]
        );
    }
}
