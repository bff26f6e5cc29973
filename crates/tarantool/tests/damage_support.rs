//! A directory of Tarantool with a snapshot and three logs, ways to damage it, and plans as text.

use crate::support::tuple;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tarantool::{
    Body, Depth, FileKind, FormatVersion, Header, LogWriter, Mode, Plan, PlanOptions, Row, RowKind,
    SnapWriter, Step, VClock, plan, put_body, read_head,
};
use testkit::SimDisk;

pub(crate) const DIRECTORY: &str = "/t";
/// Rows of each log: 30 transactions of 10 rows, in blocks of 3 transactions.
pub(crate) const LOG_ROWS: i64 = 300;

pub(crate) fn header(kind: FileKind, lsn: i64, previous: Option<i64>) -> Header {
    let clock = |lsn| {
        let mut clock = VClock::default();
        clock.set(1, lsn);
        clock
    };
    Header {
        kind,
        version: FormatVersion::V013,
        program: "test".to_owned(),
        instance: [7; 16],
        vclock: clock(lsn),
        previous: previous.map(clock),
    }
}

pub(crate) fn row(lsn: i64, tsn: i64, is_commit: bool, body: &[u8]) -> Row<'_> {
    Row {
        kind: RowKind::Insert,
        replica: 1,
        lsn,
        timestamp: 1.0,
        group: 0,
        tsn,
        is_commit,
        flags: 0,
        body: Body { bytes: body, ..Body::default() },
    }
}

/// Writes a snapshot with this many rows, in blocks of over 128 KiB.
pub(crate) fn write_snapshot(disk: &Arc<dyn disk::Disk>, lsn: i64, rows: u64) {
    let mut snap =
        SnapWriter::create(disk, Path::new(DIRECTORY), &header(FileKind::Snapshot, lsn, None), 1.0).unwrap();
    for number in 0..rows {
        snap.insert(512, 0, &tuple(number, &"x".repeat(1000))).unwrap();
    }
    snap.finish().unwrap();
}

/// Writes a log that begins after `begin`.
pub(crate) fn write_log(disk: &Arc<dyn disk::Disk>, begin: i64) {
    let previous = (begin > 0).then(|| begin - LOG_ROWS);
    let mut log =
        LogWriter::create(disk, Path::new(DIRECTORY), &header(FileKind::Log, begin, previous)).unwrap();
    for place in 0..LOG_ROWS {
        let lsn = begin + 1 + place;
        let mut body = Vec::new();
        let tuple = tuple(lsn.unsigned_abs(), "y");
        put_body(&mut body, &Body { space: Some(512), tuple: Some(&tuple), ..Body::default() });
        log.row(&row(lsn, lsn - place % 10, place % 10 == 9, &body)).unwrap();
        if place % 30 == 29 {
            log.sync().unwrap();
        }
    }
    log.finish().unwrap();
}

/// A snapshot before all rows, three logs, and a snapshot after the first log.
pub(crate) fn made() -> (SimDisk, Arc<dyn disk::Disk>) {
    let sim = SimDisk::new(1);
    let disk: Arc<dyn disk::Disk> = Arc::new(sim.clone());
    disk.create_directory(Path::new(DIRECTORY)).unwrap();
    write_snapshot(&disk, 0, 500);
    for begin in [0, LOG_ROWS, 2 * LOG_ROWS] {
        write_log(&disk, begin);
    }
    (sim, disk)
}

pub(crate) fn name(lsn: i64, extension: &str) -> PathBuf {
    Path::new(DIRECTORY).join(format!("{lsn:020}.{extension}"))
}

/// Returns where each block of a file begins, and where the last one ends.
pub(crate) fn borders(bytes: &[u8]) -> Vec<usize> {
    let (_, mut at) = Header::parse(bytes).unwrap();
    let mut borders = vec![at];
    while let Ok(Step::Block(place)) = read_head(bytes, at) {
        at = place.payload.end;
        borders.push(at);
    }
    borders
}

/// Returns a plan as lines of text.
pub(crate) fn told(plan: &Plan) -> String {
    let short = |text: String| text.replace("/t/00000000000000000", "");
    let mut lines = vec![format!(
        "snapshot {}, logs {:?}, reached {{{}}}",
        plan.snapshot.as_ref().map_or(-1, |file| file.header.vclock.signature()),
        plan.logs.iter().map(|file| file.header.vclock.signature()).collect::<Vec<_>>(),
        plan.reached
    )];
    lines.extend(plan.remarks.iter().map(|remark| format!("remark: {remark}")));
    for torn in &plan.torn {
        let path = torn.path.display();
        lines
            .push(format!("torn: {path}: {} of {} bytes: {}", torn.keep_bytes, torn.length_bytes, torn.what));
    }
    lines.extend(plan.lost.iter().map(|lost| format!("lost: {lost}")));
    short(lines.join("\n"))
}

/// Returns the plans for a directory after `change`, in strict mode and in salvage mode.
pub(crate) fn outcomes(change: impl Fn(&SimDisk)) -> [String; 2] {
    let (sim, disk) = made();
    change(&sim);
    let tell = |mode, depth| {
        let options = PlanOptions { mode, depth, ..PlanOptions::default() };
        match plan(disk.as_ref(), Path::new(DIRECTORY), &options) {
            Ok(plan) => told(&plan),
            Err(error) => format!("refused: {error}").replace("/t/00000000000000000", ""),
        }
    };
    let strict = tell(Mode::Strict, Depth::Heads);
    let closely = tell(Mode::Strict, Depth::Rows);
    if !closely.contains(".snap") {
        assert_eq!(closely, strict, "of logs as much is known without reading every row");
    }
    [strict, tell(Mode::Salvage, Depth::Heads)]
}

pub(crate) fn read(sim: &SimDisk, path: &Path) -> Vec<u8> {
    use disk::Disk as _;
    sim.read(path).unwrap()
}

pub(crate) fn remove(sim: &SimDisk, path: &Path) {
    use disk::Disk as _;
    sim.remove(path).unwrap();
}

pub(crate) fn shared(sim: &SimDisk) -> Arc<dyn disk::Disk> {
    Arc::new(sim.clone())
}

/// Adds a snapshot after the first log, without an end mark.
pub(crate) fn damaged_snapshot(sim: &SimDisk) {
    write_snapshot(&shared(sim), 300, 400);
    edit(sim, &name(300, "snap"), |bytes| bytes.truncate(bytes.len() - 4));
}

pub(crate) fn edit(sim: &SimDisk, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = read(sim, path);
    change(&mut bytes);
    sim.put(path, &bytes);
}
