//! Logs with a broken header or a wrong name: where salvage places them, and what it lists.

use crate::damage_support::*;
use crate::support::{raw_block, tuple};
use std::path::Path;
use std::sync::Arc;
use tarantool::{
    COMPRESSED, Depth, FileKind, Header, LogWriter, Mode, PLAIN, PlanOptions, Row, SnapWriter, Unpacker,
    plan, rows,
};
use testkit::SimDisk;

/// A header of a file that begins after so many rows of two replicas.
fn header_of(kind: FileKind, first: i64, second: i64) -> Header {
    let mut header = header(kind, first, None);
    header.vclock.set(2, second);
    header
}

/// A log after these numbers of rows of two replicas, with a block for each of `blocks`: a replica and its
/// rows.
fn write_log_of(disk: &Arc<dyn disk::Disk>, first: i64, second: i64, blocks: &[(u32, i64, i64)]) {
    let mut log =
        LogWriter::create(disk, Path::new(DIRECTORY), &header_of(FileKind::Log, first, second)).unwrap();
    for &(replica, begin, end) in blocks {
        for lsn in begin..=end {
            let body = tuple(lsn.unsigned_abs(), "y");
            let body = [&[0x82, 0x10, 0xcd, 2, 0, 0x21][..], &body].concat();
            log.row(&Row { replica, ..row(lsn, lsn, true, &body) }).unwrap();
        }
        log.sync().unwrap();
    }
    log.finish().unwrap();
}

/// A snapshot after 300 rows of one replica and 5 of another, and two logs. The second log has only rows of
/// the other replica.
fn two_replicas() -> (SimDisk, Arc<dyn disk::Disk>) {
    let sim = SimDisk::new(1);
    let disk: Arc<dyn disk::Disk> = Arc::new(sim.clone());
    disk.create_directory(Path::new(DIRECTORY)).unwrap();
    let header = header_of(FileKind::Snapshot, 300, 5);
    let mut snap = SnapWriter::create(&disk, Path::new(DIRECTORY), &header, 1.0).unwrap();
    snap.insert(512, 0, &tuple(1, "x")).unwrap();
    snap.finish().unwrap();
    write_log_of(&disk, 300, 5, &[(1, 301, 400), (1, 401, 500), (1, 501, 600)]);
    write_log_of(&disk, 600, 5, &[(2, 6, 6), (2, 7, 9)]);
    (sim, disk)
}

/// Breaks the header of a log. Returns the offset of the header's last byte.
fn break_header(sim: &SimDisk, lsn: i64) -> usize {
    let mut last = 0;
    edit(sim, &name(lsn, "xlog"), |bytes| {
        last = borders(bytes)[0] - 1;
        bytes[6] = b'9';
    });
    last
}

fn salvaged(disk: &Arc<dyn disk::Disk>) -> tarantool::Plan {
    let options = PlanOptions { mode: Mode::Salvage, depth: Depth::Rows, ..PlanOptions::default() };
    plan(disk.as_ref(), Path::new(DIRECTORY), &options).unwrap()
}

/// Returns every row of a plan's logs, in order.
fn numbers(plan: &tarantool::Plan) -> Vec<(u32, i64)> {
    let mut unpacker = Unpacker::default();
    let mut numbers = Vec::new();
    for file in &plan.logs {
        for place in file.blocks() {
            let payload = unpacker.unpack(&file.bytes, &place).unwrap();
            numbers.extend(rows(payload).map(|row| row.unwrap()).map(|row| (row.replica, row.lsn)));
        }
    }
    numbers
}

fn all_numbers() -> Vec<(u32, i64)> {
    (301..=600).map(|lsn| (1, lsn)).chain((6..=9).map(|lsn| (2, lsn))).collect()
}

/// By its rows alone it would begin after 5 rows, and would seem to be older than the snapshot.
#[test]
fn a_log_of_another_replica_stays_after_the_snapshot() {
    let (sim, disk) = two_replicas();
    let last = break_header(&sim, 605);
    let plan = salvaged(&disk);
    assert_eq!(
        told(&plan),
        format!(
            "snapshot 305, logs [305, 605], reached {{1: 600, 2: 9}}\n\
             lost: 605.xlog: bytes 0 to {last}: the version is not 0.12 or 0.13; lost: no row that is known"
        )
    );
    assert_eq!(numbers(&plan), all_numbers());
}

/// By its rows alone it would also come before the other log.
#[test]
fn a_log_of_another_replica_keeps_its_place_without_a_snapshot() {
    let (sim, disk) = two_replicas();
    remove(&sim, &name(305, "snap"));
    let last = break_header(&sim, 605);
    let plan = salvaged(&disk);
    assert_eq!(
        told(&plan),
        format!(
            "snapshot -1, logs [305, 605], reached {{1: 600, 2: 9}}\n\
             lost: /t: there is no snapshot: all that was in it; lost: no row that is known\n\
             lost: 605.xlog: bytes 0 to {last}: the version is not 0.12 or 0.13; lost: no row that is known\n\
             lost: 305.xlog: rows before this file are missing; lost: LSN 1 to 300 of replica 1, LSN 1 to 5 \
             of replica 2"
        )
    );
    assert_eq!(numbers(&plan), all_numbers());
}

/// Its name states how many rows came before it, but not of which replicas.
#[test]
fn rows_before_a_log_without_a_header_are_counted() {
    let (sim, disk) = two_replicas();
    edit(&sim, &name(305, "xlog"), |bytes| bytes.truncate(borders(bytes)[2]));
    let last = break_header(&sim, 605);
    assert_eq!(
        told(&salvaged(&disk)),
        format!(
            "snapshot 305, logs [305, 505], reached {{1: 500, 2: 9}}\n\
             lost: 605.xlog: bytes 0 to {last}: the version is not 0.12 or 0.13; lost: no row that is known\n\
             lost: 605.xlog: rows before this file are missing: 100 in all; lost: no row that is known"
        )
    );
}

/// Before a log without a header, it is unknown where the rows of a damaged end stop.
#[test]
fn a_damaged_end_before_a_log_without_a_header_is_listed() {
    let (sim, disk) = two_replicas();
    edit(&sim, &name(305, "xlog"), |bytes| {
        let at = borders(bytes)[2] + 50;
        bytes[at] ^= 1;
    });
    break_header(&sim, 605);
    let told = told(&salvaged(&disk));
    let hole = "a block's checksum does not fit; lost: LSN 501 and all after it of replica 1, LSN 6 and all \
        after it of replica 2";
    assert!(told.contains(hole), "{told}");
}

/// A log of another instance under a wrong name is not read.
#[test]
fn a_log_that_is_not_read_is_listed_completely() {
    let [_, salvage] = outcomes(|sim| {
        let mut bytes = read(sim, &name(300, "xlog"));
        remove(sim, &name(300, "xlog"));
        let at = bytes.windows(4).position(|four| four == b"0707").unwrap();
        bytes[at] = b'1';
        sim.put(&name(301, "xlog"), &bytes);
    });
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 600], reached {1: 900}\n\
         lost: 301.xlog: bytes 0 to 10257: its name should be 00000000000000000300.xlog, by the VClock in \
         it; lost: no row that is known\n\
         lost: 600.xlog: rows before this file are missing; lost: LSN 301 to 600 of replica 1"
    );
}

/// Its first block has a right checksum but cannot be decompressed, so its beginning is unknown.
#[test]
fn a_log_with_an_unreadable_first_block_is_listed_completely() {
    let [_, salvage] = outcomes(|sim| {
        let mut block = raw_block(PLAIN, &[7; 31]);
        block[..4].copy_from_slice(&COMPRESSED);
        sim.put(&name(950, "xlog"), &block);
    });
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 950.xlog: bytes 0 to 49: the header does not end with an empty line; lost: no row that is \
         known\n\
         lost: 950.xlog: rows before this file are missing: 50 in all; lost: no row that is known"
    );
}

/// A truncated copy under a wrong name does not replace the log itself.
#[test]
fn a_copy_under_a_wrong_name_takes_nothing_away() {
    let [_, salvage] = outcomes(|sim| {
        write_snapshot(&shared(sim), 600, 10);
        let mut bytes = read(sim, &name(600, "xlog"));
        bytes.truncate(borders(&bytes)[3]);
        sim.put(&name(601, "xlog"), &bytes);
    });
    assert!(salvage.starts_with("snapshot 600, logs [600, 600], reached {1: 900}\n"), "{salvage}");
}

/// Breaks the header of a snapshot. Returns the offset of the header's last byte.
fn break_snapshot(sim: &SimDisk, lsn: i64) -> usize {
    let mut last = 0;
    edit(sim, &name(lsn, "snap"), |bytes| {
        last = borders(bytes)[0] - 1;
        bytes[6] = b'9';
    });
    last
}

/// The log that begins where the snapshot ends shows how far the snapshot reaches.
#[test]
fn a_snapshot_without_a_header_is_read() {
    let (sim, disk) = two_replicas();
    let last = break_snapshot(&sim, 305);
    let plan = salvaged(&disk);
    assert_eq!(
        told(&plan),
        format!(
            "snapshot 305, logs [305, 605], reached {{1: 600, 2: 9}}\n\
             lost: 305.snap: bytes 0 to {last}: the version is not 0.12 or 0.13; its VClock is taken to be \
             {{1: 300, 2: 5}}, by the logs and its name; lost: no row that is known"
        )
    );
    assert_eq!(numbers(&plan), all_numbers());
    let snapshot = plan.snapshot.unwrap();
    assert_eq!((snapshot.row_count, snapshot.header.instance), (1, [7; 16]));
    let error = tarantool::plan(disk.as_ref(), Path::new(DIRECTORY), &PlanOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("the version is not 0.12 or 0.13"), "{error}");
}

/// No log begins where the snapshot ends, but one that begins earlier shows how far it reaches.
#[test]
fn a_log_shows_how_far_a_snapshot_without_a_header_reaches() {
    let (sim, disk) = two_replicas();
    let header = header_of(FileKind::Snapshot, 600, 7);
    let mut snap = SnapWriter::create(&disk, Path::new(DIRECTORY), &header, 1.0).unwrap();
    snap.insert(512, 0, &tuple(1, "x")).unwrap();
    snap.finish().unwrap();
    remove(&sim, &name(305, "snap"));
    break_snapshot(&sim, 607);
    let told = told(&salvaged(&disk));
    assert!(told.starts_with("snapshot 607, logs [605], reached {1: 600, 2: 9}\nlost: 607.snap: "), "{told}");
    assert!(told.contains("its VClock is taken to be {1: 600, 2: 7}, by the logs and its name"), "{told}");
}

/// Without a log, the replica of the rows is a guess. Rows of the block that was lost with the header are
/// listed.
#[test]
fn a_snapshot_without_a_header_is_read_without_logs() {
    let (sim, disk) = made();
    [0, 300, 600].into_iter().for_each(|lsn| remove(&sim, &name(lsn, "xlog")));
    write_snapshot(&disk, 300, 400);
    remove(&sim, &name(0, "snap"));
    let mut second = 0;
    edit(&sim, &name(300, "snap"), |bytes| {
        second = borders(bytes)[1];
        bytes[30..second - 10].fill(0);
    });
    assert_eq!(
        told(&salvaged(&disk)),
        format!(
            "snapshot 300, logs [], reached {{1: 300}}\n\
             lost: 300.snap: bytes 0 to {}: a line of the header is not text; its VClock is taken to be {{1: \
             300}}, by its name alone; lost: row 0 to 127",
            second - 1
        )
    );
}

/// The header contradicts the name.
#[test]
fn a_snapshot_under_a_wrong_name_is_read() {
    let (sim, disk) = two_replicas();
    let bytes = read(&sim, &name(305, "snap"));
    remove(&sim, &name(305, "snap"));
    sim.put(&name(999, "snap"), &bytes);
    let told = told(&salvaged(&disk));
    assert!(
        told.starts_with(
            "snapshot 305, logs [305, 605], reached {1: 600, 2: 9}\nlost: 999.snap: bytes 0 to "
        ),
        "{told}"
    );
    assert!(told.contains("its name should be 00000000000000000305.snap"), "{told}");
}

/// Salvaged rows are recovered: spaces, rows, and the changes of logs.
#[test]
fn the_rows_of_a_snapshot_without_a_header_are_recovered() {
    use crate::load::{DIRECTORY, recovered, written};
    let disk = written(3000, 8);
    let whole = recovered(&disk, Mode::Strict).unwrap();
    let path = Path::new(DIRECTORY).join("00000000000000000000.snap");
    let mut bytes = disk.read(&path).unwrap();
    bytes[1] = b'x';
    disk.remove(&path).unwrap();
    disk::write_new(disk.as_ref(), &path, &bytes).unwrap();
    let salvaged = recovered(&disk, Mode::Salvage).unwrap();
    assert_eq!(salvaged.row_count(), whole.row_count());
    assert_eq!(salvaged.tables.len(), whole.tables.len());
}
