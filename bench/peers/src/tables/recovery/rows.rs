//! The rows of the table of recoveries, and their goals.
//!
//! Input: sizes. Output: rows. Does not know how they are measured.

use super::files::{Content, INDEXES, Kind, Order, Rows};
use crate::options::{Sizes, counted};
use measure::{Goal, Growth, Quantity, Row, named};

/// The programs.
pub(crate) const COLUMNS: [&str; 2] = ["pneu", "Tarantool"];

/// The program to compare with.
const TARANTOOL: &str = COLUMNS[1];

/// Returns the name of the work, as shown.
pub(super) fn work(content: &Content) -> String {
    let count = counted(content.count);
    let kind = match content.kind {
        Kind::Tree => "tree+tree",
        Kind::Hash => "hash+hash",
    };
    let order = match content.order {
        Order::Ascending => "in order",
        Order::Shuffled => "shuffled",
    };
    match content.rows {
        Rows::Snapshot => format!("{count} rows of a snapshot, {kind}, {order}"),
        Rows::OneByOne => format!("{count} rows of a log, 1 row per transaction, {kind}, {order}"),
        Rows::ByThousands => format!("{count} rows of a log, 1,000 rows per transaction, {kind}, {order}"),
    }
}

/// Returns the same with nothing in the page cache.
pub(super) fn work_cold(content: &Content) -> String {
    format!("{}, cold", work(content))
}

/// Returns whether it is measured with nothing in the page cache too.
pub(super) fn is_cold(content: &Content) -> bool {
    content.rows == Rows::Snapshot && content.kind == Kind::Tree && content.order == Order::Shuffled
}

/// Returns the series of unpacking alone.
pub(super) fn floor(work: &str) -> String {
    format!("unpack only, {work}")
}

/// Returns the series of what pneu does after it answered.
pub(super) fn sealing(work: &str) -> String {
    named(COLUMNS[0], &format!("sealing after {work}"))
}

/// Returns the work with all that pneu does after it answered; Tarantool has nothing more to do then.
pub(super) fn whole(work: &str) -> String {
    format!("{work}, until the store is written")
}

/// Returns the work of opening a sealed store and looking a row up.
pub(super) fn look_up(content: &Content, index: &str) -> String {
    format!("open the sealed store of {}, look up through {index}", work(content))
}

/// Returns the goals for the wall time, and for its ratio to Tarantool's.
fn wanted(content: &Content) -> (Goal, Goal) {
    let seconds = |most, times| (Goal::AtMost(most), Goal::Times(times, TARANTOOL));
    match (content.rows, content.kind, content.count) {
        (Rows::Snapshot, Kind::Tree, 16_000_000) => seconds(3.0, 4.0),
        (Rows::Snapshot, Kind::Hash, 16_000_000) => seconds(3.5, 9.0),
        (Rows::OneByOne | Rows::ByThousands, _, 4_000_000) => (Goal::AtMost(1.5), Goal::Shown),
        _ => (Goal::Shown, Goal::Shown),
    }
}

/// Returns all rows.
pub(super) fn all(contents: &[Content]) -> Vec<Row> {
    let mut rows: Vec<Row> = contents.iter().flat_map(of_one).collect();
    if let Some(largest) = contents.iter().rev().find(|content| content.rows == Rows::Snapshot) {
        for index in INDEXES {
            rows.push(Row::new(&look_up(largest, index), Quantity::Wall).want(Goal::AtMost(0.02)).plotted());
        }
    }
    rows
}

fn of_one(content: &Content) -> Vec<Row> {
    use Quantity::{Cpu, MajorFaults, MinorFaults, Peak, Wall};
    let work = work(content);
    let row = |quantity| Row::new(&work, quantity);
    let (most, times) = wanted(content);
    let mut rows = vec![row(Wall).floor(&floor(&work)).want(most).plotted()];
    if times != Goal::Shown {
        rows.push(row(Wall).floor(&floor(&work)).want(times));
    }
    // Tarantool has everything when it answers; pneu goes on until its store is written, and may need more
    // memory for it.
    let whole = |quantity| Row::new(&whole(&work), quantity).of(TARANTOOL, &named(TARANTOOL, &work));
    rows.extend([
        row(Cpu).floor(&floor(&work)),
        row(Peak),
        whole(Wall).floor(&floor(&work)),
        whole(Cpu),
        whole(Peak).want(Goal::LessThanAll).plotted(),
        row(MinorFaults),
        row(MajorFaults),
    ]);
    if is_cold(content) {
        let work = work_cold(content);
        rows.push(Row::new(&work, Wall).floor(&floor(&work)).cold().plotted());
        rows.push(Row::new(&work, MajorFaults).cold());
    }
    rows
}

/// Returns how recoveries grow with their rows.
pub(super) fn growths(sizes: &Sizes) -> Vec<Growth> {
    let kinds = [
        ("growth-tree", Kind::Tree, "Recovery with two trees, keys shuffled"),
        ("growth-hash", Kind::Hash, "Recovery with two hash tables, keys shuffled"),
    ];
    let growth = |(name, kind, title): (&'static str, Kind, &str)| {
        let line = |column: &'static str| {
            let point = |&count: &u64| {
                let content = Content { count, order: Order::Shuffled, kind, rows: Rows::Snapshot };
                (count as f64, named(column, &work(&content)))
            };
            (column, sizes.recovery_rows.iter().map(point).collect())
        };
        Growth { name, title: title.to_owned(), of: "rows", lines: COLUMNS.map(line).into() }
    };
    kinds.map(growth).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_named_by_what_it_recovers() {
        let content =
            Content { count: 16_000_000, order: Order::Shuffled, kind: Kind::Hash, rows: Rows::Snapshot };
        assert_eq!(work(&content), "16 M rows of a snapshot, hash+hash, shuffled");
        assert_eq!(wanted(&content), (Goal::AtMost(3.5), Goal::Times(9.0, "Tarantool")));
        let log = Content { count: 250_000, rows: Rows::ByThousands, ..content };
        assert_eq!(work(&log), "250 k rows of a log, 1,000 rows per transaction, hash+hash, shuffled");
        assert_eq!(wanted(&log).0, Goal::Shown);
    }

    #[test]
    fn memory_is_compared_until_nothing_is_left_to_do() {
        let content =
            Content { count: 16_000_000, order: Order::Shuffled, kind: Kind::Hash, rows: Rows::Snapshot };
        let rows = of_one(&content);
        let peaks: Vec<&str> =
            rows.iter().filter(|row| row.quantity == Quantity::Peak).map(|row| &*row.work).collect();
        assert_eq!(peaks, [work(&content), whole(&work(&content))]);
        let wanted = |row: &Row| format!("{row:?}").contains("LessThanAll");
        assert!(
            rows.iter().filter(|row| wanted(row)).all(|row| row.work.ends_with("until the store is written"))
        );
        assert_eq!(rows.iter().filter(|row| wanted(row)).count(), 1);
    }
}
