//! The names of the work on real mail, and its rows.
//!
//! Input: nothing, or counted threads. Output: names of work, rows with their goals, and the figures that
//! threads give. Does not know how anything is measured.

use super::super::rows::{FIRST, READ, first_rows, work};
use super::super::{COLUMNS, Start};
use measure::threads::Threads;
use measure::{Goal, Quantity, Row, Table, named};

/// The name of the mailbox in results.
pub(super) const LABEL: &str = "real mail";
/// The name of the work whose threads are watched.
const WATCHED: &str = "first index, threads watched";
/// The name of the time in which one thread ran.
const ALONE: &str = "first index, exactly one thread ran";
/// The name of the time that all threads would need one after the other.
const WORK: &str = "first index, work of all threads";
/// The name of the predicted time.
const PREDICTED: &str = "first index, prediction for 16 cores";
/// How many cores the prediction is for.
const PREDICTED_CORES: usize = 16;

/// The cores that a process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cores {
    /// All cores of the machine.
    All,
    /// The first one.
    One,
}

impl Cores {
    /// Both.
    pub(super) const BOTH: [Cores; 2] = [Cores::All, Cores::One];

    fn of(self, what: &str) -> String {
        match self {
            Cores::All => what.to_owned(),
            Cores::One => format!("{what}, one core"),
        }
    }
}

/// Returns the name of the series of a program's first index.
pub(super) fn series(program: &str, start: Start, cores: Cores) -> String {
    named(program, &work(LABEL, &start.work(&cores.of(FIRST))))
}

/// Returns the name of the series of the bare reading of every file.
pub(super) fn floor(start: Start, cores: Cores) -> String {
    named("floor", &work(LABEL, &start.work(&cores.of(READ))))
}

/// Returns the series that watched threads give: their names, what they are, and their seconds.
pub(super) fn of_threads(threads: &Threads, cores: usize) -> [(String, &'static str, f64); 4] {
    let predicted = threads.predicted_seconds(cores, PREDICTED_CORES);
    let all = [
        (WATCHED, "only to watch the threads", threads.seconds()),
        (ALONE, "a part of the run that was watched", threads.seconds_with(1)),
        (WORK, "computed of the run that was watched", threads.work_seconds(cores)),
        (PREDICTED, "a prediction, not measured", predicted),
    ];
    all.map(|(what, note, seconds)| (pneus(what), note, seconds))
}

fn pneus(what: &str) -> String {
    named(COLUMNS[0], &work(LABEL, what))
}

/// Returns the table.
pub(crate) fn table() -> Table {
    Table {
        name: "real-mail",
        title: "First index of real mail".to_owned(),
        about:
            "A Maildir tree that the user of this machine named; nothing but the number and the size of its \
            messages is recorded. All programs index it where it is, with their defaults. Rows without \"one \
            core\" are on all cores of the machine. On one core, pneu starts as many threads as on a machine \
            with one. mu's wall time is a multiple of 0.1 s, because it polls for its end at that interval: \
            compare CPU, too. The floor is reading every file, on as many threads as there are cores. The \
            share of time in which exactly one thread ran comes from a first index of its own, whose threads \
            are watched every 4 ms. The last row is a prediction, not a measurement: by Amdahl's law, from \
            that same run, if the time in which at most one thread ran stays as it is and all other work is \
            divided among 16 cores."
                .to_owned(),
        columns: COLUMNS.to_vec(),
        rows: rows(),
        growths: Vec::new(),
    }
}

fn rows() -> Vec<Row> {
    let mut rows = first_rows(LABEL);
    for (start, cores) in [(Start::Warm, Cores::One), (Start::Cold, Cores::All), (Start::Cold, Cores::One)] {
        let name = work(LABEL, &start.work(&cores.of(FIRST)));
        let row = |quantity| {
            let row = Row::new(&name, quantity).floor(&floor(start, cores));
            if start == Start::Cold { row.cold() } else { row }
        };
        rows.extend([row(Quantity::Wall).plotted(), row(Quantity::Cpu)]);
    }
    let own = |start, cores| series(COLUMNS[0], start, cores);
    let row = |what: &str| Row::new(&work(LABEL, what), Quantity::Wall);
    let (all, one) = (own(Start::Warm, Cores::All), own(Start::Warm, Cores::One));
    let cold = own(Start::Cold, Cores::All);
    let cold_one = own(Start::Cold, Cores::One);
    let pneu = COLUMNS[0];
    rows.extend([
        row("one core / all cores").quotient(pneu, &one, &all).want(Goal::AtLeast(1.9)),
        row("one core / all cores, cold").quotient(pneu, &cold_one, &cold).cold(),
        row("cold / warm").quotient(pneu, &cold, &all).want(Goal::AtMost(1.1)).cold(),
        row("cold / warm, one core").quotient(pneu, &cold_one, &one).cold(),
        row("exactly one thread runs").share(pneu, &pneus(ALONE), &pneus(WATCHED)).want(Goal::AtMost(0.04)),
        row("one core / 16 cores, a prediction").quotient(pneu, &pneus(WORK), &pneus(PREDICTED)),
    ]);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Report, Sample, Series};

    /// Returns a report with this many seconds for each series.
    fn report(seconds: &[(String, f64)]) -> Report {
        let mut report = Report { tables: vec![table().with_floors_of_work()], ..Report::default() };
        for (name, seconds) in seconds {
            report.add(Series::of(name, Sample { wall_seconds: *seconds, ..Sample::default() }));
        }
        report
    }

    fn line(report: &Report, beginning: &str) -> String {
        let text = report.markdown();
        let mut lines = text.lines().filter(|line| line.starts_with(beginning));
        let line = lines.next().unwrap_or_else(|| panic!("no line begins with {beginning}: {text}"));
        assert_eq!(lines.next(), None, "two lines begin with {beginning}");
        line.to_owned()
    }

    #[test]
    fn every_work_has_a_row_with_its_floor() {
        let report = report(&[
            (series("pneu", Start::Warm, Cores::All), 10.0),
            (series("mu", Start::Warm, Cores::All), 200.0),
            (series("pneu", Start::Warm, Cores::One), 19.5),
            (series("pneu", Start::Cold, Cores::All), 11.5),
            (series("pneu", Start::Cold, Cores::One), 21.0),
            (floor(Start::Warm, Cores::All), 1.0),
            (floor(Start::Warm, Cores::One), 2.0),
            (floor(Start::Cold, Cores::All), 4.0),
            (floor(Start::Cold, Cores::One), 5.0),
        ]);
        let wall =
            |what: &str, cache: &str| line(&report, &format!("| real mail: {what} | {cache} | wall |"));
        let first = line(&report, "| real mail: first index | warm | wall | 15 x less than mu |");
        assert!(first.contains("| 200.00 s (n = 1), 20 x | — | — | 1.00 s | 10 x | yes |"), "{first}");
        assert!(wall("first index, one core", "warm").contains("| 19.50 s (n = 1) | — | — | — | 2.00 s |"));
        assert!(wall("first index, cold", "cold").contains("| 11.50 s (n = 1) | — | — | — | 4.00 s |"));
        assert!(wall("first index, one core, cold", "cold").contains("| — | — | — | 5.00 s | 4.2 x |"));
        let quotient = |what: &str| line(&report, &format!("| real mail: {what} |"));
        let cores = quotient("one core / all cores");
        assert!(cores.contains("| >= 1.90 | 1.95 (n = 1) |") && cores.ends_with("| yes |"), "{cores}");
        let cold = quotient("cold / warm");
        assert!(cold.contains("| <= 1.10 | 1.15 (n = 1) |") && cold.ends_with("| **no** |"), "{cold}");
        assert!(quotient("one core / all cores, cold").contains("| 1.83 (n = 1) |"));
        assert!(quotient("cold / warm, one core").contains("| 1.08 (n = 1) |"));
    }

    #[test]
    fn what_was_not_measured_is_a_dash() {
        let report = report(&[(series("pneu", Start::Warm, Cores::All), 10.0)]);
        for what in ["one core / all cores", "cold / warm", "exactly one thread runs"] {
            let line = line(&report, &format!("| real mail: {what} |"));
            assert!(line.ends_with("| — | — | — | — | — | — | — |"), "{line}");
        }
    }

    #[test]
    fn threads_give_a_share_and_a_prediction_that_says_what_it_is() {
        // In 10 s one thread runs alone for 1 s; then two run.
        let threads = Threads::of(&[(0.0, 1), (1.0, 2)], 10.0);
        let all = of_threads(&threads, 2);
        let seconds: Vec<(String, f64)> =
            all.iter().map(|(name, _, seconds)| (name.clone(), *seconds)).collect();
        let report = report(&seconds);
        let share = line(&report, "| real mail: exactly one thread runs |");
        assert!(share.contains("| share of wall | <= 4.0 % | 10.0 % (n = 1) |"), "{share}");
        // 19 s of work, 1 s of it alone.
        let prediction = line(&report, "| real mail: one core / 16 cores, a prediction |");
        assert!(
            prediction.contains(&format!("| {:.2} (n = 1) |", 19.0 / (1.0 + 18.0 / 16.0))),
            "{prediction}"
        );
        assert!(
            all[3].1.contains("not measured") && table().about.contains("a prediction, not a measurement")
        );
    }
}
