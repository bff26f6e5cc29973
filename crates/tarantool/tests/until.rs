//! Recoveries that end at an earlier point: by number, by vector clock, by time.
//!
//! Input: snapshots and logs made by hand. Output: failures. Uses only the public interface.

use crate::load::{index, space};
use crate::state::block;
use crate::values::{pack, show};
use disk::Disk;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tarantool::{
    FileKind, FormatVersion, Header, LogWriter, Mode, PlanOptions, Position, Row, SnapWriter, Tuples, VClock,
    plan, recover, rows,
};
use testkit::SimDisk;
use work::Silent;

pub(crate) const DIRECTORY: &str = "/t";

fn header(kind: FileKind, clock: &str) -> Header {
    Header {
        kind,
        version: FormatVersion::V013,
        program: "test".to_owned(),
        instance: [7; 16],
        vclock: VClock::parse(clock).unwrap(),
        previous: None,
    }
}

pub(crate) fn empty() -> SimDisk {
    let sim = SimDisk::new(1);
    sim.create_directory(Path::new(DIRECTORY)).unwrap();
    sim
}

pub(crate) fn shared(sim: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(sim.clone())
}

/// Writes a snapshot with what Tarantool does not start without, and with space 512 and these numbers in it.
/// Its rows have the time `seconds`.
pub(crate) fn snapshot(sim: &SimDisk, clock: &str, seconds: f64, numbers: &[u64]) {
    let disk = shared(sim);
    let header = header(FileKind::Snapshot, clock);
    let mut snap = SnapWriter::create(&disk, Path::new(DIRECTORY), &header, seconds).unwrap();
    snap.insert(272, 0, &pack("[\"version\", 2, 6]")).unwrap();
    snap.insert(280, 0, &space(320)).unwrap();
    snap.insert(280, 0, &space(512)).unwrap();
    snap.insert(288, 0, &index(320, 0, "tree", &[(0, "unsigned")])).unwrap();
    snap.insert(288, 0, &index(512, 0, "tree", &[(0, "unsigned")])).unwrap();
    snap.insert(320, 0, &pack("[1, \"07070707-0707-0707-0707-070707070707\"]")).unwrap();
    for number in numbers {
        snap.insert(512, 0, &pack(&format!("[{number}]"))).unwrap();
    }
    snap.finish().unwrap();
}

/// Writes a log. Rows are written as in `state.rs`; `@` and a time at the end of a line is the row's time,
/// and `--` begins another block.
pub(crate) fn log(sim: &SimDisk, clock: &str, text: &str) -> PathBuf {
    let mut log =
        LogWriter::create(&shared(sim), Path::new(DIRECTORY), &header(FileKind::Log, clock)).unwrap();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line == "--" {
            log.sync().unwrap();
            continue;
        }
        let (row, seconds) = line.split_once(" @").unwrap_or((line, "0"));
        let payload = block(row);
        let row = rows(&payload).next().unwrap().unwrap();
        log.row(&Row { timestamp: seconds.parse().unwrap(), ..row }).unwrap();
    }
    let path = log.path().to_owned();
    log.finish().unwrap();
    path
}

/// Returns what a recovery up to a point gives: the files, how far they reach, the numbers in space 512, and
/// all that is said.
fn outcome_of(sim: &SimDisk, until: &str, mode: Mode) -> String {
    let until = Some(Position::parse(until).unwrap());
    let options = PlanOptions { until, mode, ..PlanOptions::default() };
    let told = plan(sim, Path::new(DIRECTORY), &options).and_then(|plan| {
        let recovered = recover(&plan, mode, 2, &Silent)?;
        let signature = |file: &tarantool::PlannedFile| file.header.vclock.signature();
        let logs: Vec<i64> = plan.logs.iter().map(signature).collect();
        let mut told = format!(
            "{} and {logs:?}, {{{}}}:",
            plan.snapshot.as_ref().map_or(-1, signature),
            recovered.vclock
        );
        assert_eq!(plan.reached.to_string(), recovered.vclock.to_string());
        for space in Tuples::in_memory(&recovered, Path::new(DIRECTORY))?.spaces() {
            if space.id == 512 {
                space.each(|tuple| {
                    write!(told, " {}", show(tuple).trim_matches(['[', ']'])).unwrap();
                    Ok(())
                })?;
            }
        }
        let remarks = plan.remarks.iter().chain(&recovered.remarks).map(|line| format!("\nremark: {line}"));
        told.extend(remarks);
        told.extend(plan.lost.iter().map(|lost| format!("\nlost: {lost}")));
        told.extend(recovered.rejected.iter().map(|row| format!("\nrejected: {}: {}", row.lsn, row.what)));
        Ok(told)
    });
    told.unwrap_or_else(|error| format!("refused: {error}")).replace("/t/00000000000000000", "")
}

fn outcome(sim: &SimDisk, until: &str) -> String {
    outcome_of(sim, until, Mode::Strict)
}

/// Two snapshots, of which the times say nothing, and three logs. Rows have their number as time, with a
/// factor of 10.
pub(crate) fn made() -> SimDisk {
    let sim = empty();
    snapshot(&sim, "{}", 5.0, &[]);
    log(&sim, "{}", "1/1 insert 512 [1] @10\n1/2 insert 512 [2] @20\n--\n1/3 insert 512 [3] @30");
    snapshot(&sim, "{1: 3}", 5.0, &[1, 2, 3]);
    log(
        &sim,
        "{1: 3}",
        "1/4(4 insert 512 [4] @40\n1/5(4 insert 512 [5] @40\n\
         1/6(4) delete 512 [1] @60\n1/7 insert 512 [7] @70",
    );
    log(&sim, "{1: 7}", "1/8 insert 512 [8] @80");
    sim
}

#[test]
fn a_number_is_not_included() {
    let sim = made();
    for (until, expected) in [
        ("1", "0 and [0], {}:"),
        ("2", "0 and [0], {1: 1}: 1"),
        ("3", "0 and [0], {1: 2}: 1 2"),
        ("7", "3 and [3], {1: 6}: 2 3 4 5"),
        ("8", "3 and [3, 7], {1: 7}: 2 3 4 5 7"),
        ("9", "3 and [3, 7], {1: 8}: 2 3 4 5 7 8"),
    ] {
        assert_eq!(outcome(&sim, until), expected, "{until}");
    }
    assert_eq!(outcome(&sim, "4"), "3 and [0], {1: 3}: 1 2 3", "the newest snapshot that is not after it");
}

#[test]
fn a_transaction_counts_whole_or_not_at_all() {
    let sim = made();
    let left_out =
        "\nremark: AT is within the transaction from LSN 4 to 6 of replica 1, which is left out as a whole";
    for (until, at) in [("5", "LSN 5"), ("6", "LSN 6"), ("{1: 4}", "{1: 4}"), ("{1: 5}", "{1: 5}")] {
        let expected = format!("3 and [3], {{1: 3}}: 1 2 3{}", left_out.replace("AT", at));
        assert_eq!(outcome(&sim, until), expected);
    }
    // Of its times, the last one counts.
    for until in ["@40", "@50", "@60"] {
        assert_eq!(outcome(&sim, until), "3 and [3], {1: 3}: 1 2 3", "{until}");
    }
    assert_eq!(outcome(&sim, "@61"), "3 and [3], {1: 6}: 2 3 4 5");
}

#[test]
fn the_rows_of_a_clock_are_included() {
    let sim = made();
    for (until, expected) in [
        ("{}", "0 and [], {}:"),
        ("{1: 2}", "0 and [0], {1: 2}: 1 2"),
        ("{1: 3}", "3 and [0], {1: 3}: 1 2 3"),
        ("{1: 6}", "3 and [3], {1: 6}: 2 3 4 5"),
        ("{1: 8}", "3 and [3, 7], {1: 8}: 2 3 4 5 7 8"),
    ] {
        assert_eq!(outcome(&sim, until), expected, "{until}");
    }
}

/// All snapshots of a process have the time of its first one, so their own times must not be believed.
#[test]
fn a_time_is_compared_with_the_rows_of_logs() {
    let sim = made();
    assert_eq!(outcome(&sim, "@10"), "0 and [0], {}:");
    assert_eq!(outcome(&sim, "@20"), "0 and [0], {1: 1}: 1");
    assert_eq!(outcome(&sim, "@31"), "3 and [3], {1: 3}: 1 2 3");
    let all = "remark: the last row of the logs is of 1970-01-01T00:01:20Z: all rows are before \
        1970-01-01T00:01:30Z";
    assert_eq!(outcome(&sim, "@90"), format!("3 and [3, 7], {{1: 8}}: 2 3 4 5 7 8\n{all}"));
    assert_eq!(
        outcome(&sim, "@5"),
        "refused: /t: 1970-01-01T00:00:05Z is before the oldest snapshot, 000.snap"
    );
    // Without the first log nothing says when the rows of the second snapshot were written.
    sim.remove(Path::new("/t/00000000000000000000.snap")).unwrap();
    sim.remove(Path::new("/t/00000000000000000000.xlog")).unwrap();
    assert_eq!(outcome(&sim, "@61"), "3 and [3], {1: 6}: 2 3 4 5");
    assert_eq!(
        outcome(&sim, "@35"),
        "refused: /t: no log has rows from before 1970-01-01T00:00:35Z, and the times of a snapshot's rows \
         do not say when it was made; for the state of 003.snap give its VClock, {1: 3}"
    );
    assert_eq!(outcome(&sim, "{1: 3}"), "3 and [], {1: 3}: 1 2 3", "it needs no log");
}

#[test]
fn a_clock_that_was_set_back_brings_no_later_row_in() {
    let sim = empty();
    snapshot(&sim, "{}", 1.0, &[]);
    log(
        &sim,
        "{}",
        "1/1 insert 512 [1] @10\n1/2 insert 512 [2] @50\n--\n1/3 delete 512 [2] @20\n1/4 insert 512 [4] @21\n\
         1/5 insert 512 [5] @51",
    );
    assert_eq!(
        outcome(&sim, "@30"),
        "0 and [0], {1: 1}: 1\n\
         remark: 000.xlog: 2 transactions after the first row of 1970-01-01T00:00:30Z or later have earlier \
         times, because clocks differ or were set back; they are left out, too"
    );
}

#[test]
fn a_point_that_is_not_known_is_refused() {
    let sim = made();
    sim.remove(Path::new("/t/00000000000000000000.snap")).unwrap();
    assert_eq!(outcome(&sim, "3"), "refused: /t: LSN 3 is before the oldest snapshot, 003.snap of {1: 3}");
    assert_eq!(
        outcome(&sim, "{1: 2}"),
        "refused: /t: {1: 2} is before the oldest snapshot, 003.snap of {1: 3}"
    );
    assert_eq!(
        outcome(&sim, "@30"),
        "refused: /t: 1970-01-01T00:00:30Z is before the oldest snapshot, 003.snap of {1: 3}"
    );
    for (until, at) in [("10", "LSN 10"), ("{1: 9}", "{1: 9}"), ("{1: 8, 2: 1}", "{1: 8, 2: 1}")] {
        let expected = format!("refused: /t: {at} is beyond the last row: the rows end at {{1: 8}}");
        assert_eq!(outcome(&sim, until), expected);
    }
}

/// Rows 4 to 7 are missing.
#[test]
fn a_point_in_a_gap_is_refused_unless_all_before_it_is_there() {
    let sim = made();
    sim.remove(Path::new("/t/00000000000000000003.xlog")).unwrap();
    let gap = "refused: rows are missing between 000.xlog and 007.xlog: the first ends at {1: 3}, the second \
        begins at {1: 7}; find the missing log or the missing part";
    for until in ["5", "{1: 4}", "8", "9", "{1: 8}", "@40"] {
        assert_eq!(outcome(&sim, until), gap, "{until}");
    }
    for until in ["4", "{1: 3}"] {
        assert_eq!(outcome(&sim, until), "3 and [0], {1: 3}: 1 2 3", "{until}");
    }
    assert_eq!(outcome(&sim, "2"), "0 and [0], {1: 1}: 1");
    assert_eq!(
        outcome_of(&sim, "9", Mode::Salvage),
        "3 and [0, 7], {1: 8}: 1 2 3 8\n\
         lost: 007.xlog: rows before this file are missing; lost: LSN 4 to 7 of replica 1"
    );
}

#[test]
fn damage_after_the_point_does_not_matter() {
    let sim = made();
    let path = Path::new("/t/00000000000000000007.xlog");
    let mut bytes = sim.read(path).unwrap();
    let length = bytes.len();
    bytes[length - 10] ^= 1;
    sim.put(path, &bytes);
    sim.put(Path::new("/t/00000000000000000009.xlog"), b"nothing of a log");
    assert_eq!(outcome(&sim, "7"), "3 and [3], {1: 6}: 2 3 4 5");
    assert_eq!(outcome(&sim, "@65"), "3 and [3], {1: 6}: 2 3 4 5");
    assert!(outcome(&sim, "9").starts_with("refused: "), "{}", outcome(&sim, "9"));
    // The first block of the first log.
    let path = Path::new("/t/00000000000000000000.xlog");
    let mut bytes = sim.read(path).unwrap();
    let begin = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
    bytes[begin + 25] ^= 1;
    sim.put(path, &bytes);
    assert!(
        outcome(&sim, "3").starts_with("refused: 000.xlog is damaged at byte "),
        "{}",
        outcome(&sim, "3")
    );
    assert_eq!(outcome(&sim, "7"), "3 and [3], {1: 6}: 2 3 4 5");
}

#[test]
fn rows_of_several_replicas_need_a_clock() {
    let sim = empty();
    snapshot(&sim, "{}", 1.0, &[]);
    log(
        &sim,
        "{}",
        "1/1 insert 512 [1] @10\n2/1 insert 512 [21] @9\n--\n\
         1/2 insert 512 [2] @20\n0/1 insert 512 [90] @21\n\
         2/2 insert 512 [22] @22\n1/3 insert 512 [3] @30",
    );
    assert_eq!(outcome(&sim, "{1: 1, 2: 1}"), "0 and [0], {1: 1, 2: 1}: 1 21");
    // Rows that are not replicated have numbers of their own.
    assert_eq!(outcome(&sim, "{1: 2, 2: 1}"), "0 and [0], {0: 1, 1: 2, 2: 1}: 1 2 21 90");
    assert_eq!(outcome(&sim, "{1: 2, 2: 2}"), "0 and [0], {0: 1, 1: 2, 2: 2}: 1 2 21 22 90");
    assert_eq!(outcome(&sim, "@22"), "0 and [0], {0: 1, 1: 2, 2: 1}: 1 2 21 90");
    assert_eq!(
        outcome(&sim, "{1: 1, 2: 2}"),
        "refused: /t: the instance never was at {1: 1, 2: 2}: LSN 2 of replica 1 comes before LSN 2 of \
         replica 2; the state before that row is {1: 1, 2: 1}"
    );
    assert_eq!(
        outcome(&sim, "2"),
        "refused: /t: LSN 2 is not one point: replicas 1, 2 wrote rows, each with LSNs of its own; give a \
         VClock"
    );
    assert!(outcome(&sim, "{1: 3, 2: 3}").contains("is beyond the last row"));
}

#[test]
fn synchronous_transactions_count_if_they_were_confirmed_by_then() {
    let sim = empty();
    snapshot(&sim, "{}", 1.0, &[]);
    log(
        &sim,
        "{}",
        "1/1 insert 512 [1]\n1/2! insert 512 [2]\n1/3? insert 512 [3]\n1/4 confirm {2: 1, 3: 2}\n\
         1/5! insert 512 [5]\n1/6 rollback {2: 1, 3: 5}\n1/7! insert 512 [7]",
    );
    let waits = |count: &str| {
        format!("\nremark: {count} not confirmed at that point, or waited for one that was not: left out")
    };
    for (until, expected) in [
        ("2", "0 and [0], {1: 1}: 1".to_owned()),
        ("3", format!("0 and [0], {{1: 2}}: 1{}", waits("1 transaction was"))),
        ("4", format!("0 and [0], {{1: 3}}: 1{}", waits("2 transactions were"))),
        ("5", "0 and [0], {1: 4}: 1 2 3".to_owned()),
        ("6", format!("0 and [0], {{1: 5}}: 1 2 3{}", waits("1 transaction was"))),
        ("7", "0 and [0], {1: 6}: 1 2 3".to_owned()),
        ("8", format!("0 and [0], {{1: 7}}: 1 2 3{}", waits("1 transaction was"))),
    ] {
        assert_eq!(outcome(&sim, until), expected, "{until}");
    }
}

/// Some versions of Tarantool interleave transactions.
#[test]
fn a_transaction_that_ends_after_the_point_takes_no_other_with_it() {
    let sim = empty();
    snapshot(&sim, "{}", 1.0, &[]);
    log(
        &sim,
        "{}",
        "1/1(1 insert 512 [1] @1\n2/1(1 insert 512 [21] @1\n--\n1/2(1) insert 512 [2] @2\n\
         2/2(1) insert 512 [22] @3\n1/3 insert 512 [3] @4",
    );
    let told = outcome_of(&sim, "@3", Mode::Salvage);
    assert_eq!(told, "0 and [0], {1: 2}: 1 2");
}
