//! Tarantool itself: its files can be read completely, and it loads our files.

use crate::support::tuple;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tarantool::{
    Body, FileKind, FormatVersion, Header, Row, RowKind, SnapWriter, Step, Unpacker, put_row, read_head, rows,
};
use testkit::tarantool;

/// Every file of a directory with this extension, in order.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}

/// Reads a whole file and passes each block's payload to `each`. Returns the header and whether the file was
/// closed.
fn read(path: &Path, mut each: impl FnMut(&[u8])) -> (Header, bool) {
    let bytes = std::fs::read(path).unwrap();
    let (header, mut at) = Header::parse(&bytes).unwrap();
    assert_eq!(header.file_name(), path.file_name().unwrap().to_str().unwrap());
    let mut unpacker = Unpacker::default();
    loop {
        match read_head(&bytes, at).unwrap() {
            Step::Block(place) => {
                each(unpacker.unpack(&bytes, &place).unwrap());
                at = place.payload.end;
            }
            step => return (header, step == Step::Eof),
        }
    }
}

const WRITE: &str = "
box.cfg{memtx_dir='.', wal_dir='.', log='log', checkpoint_count=9}
local space = box.schema.space.create('letters')
space:create_index('pk')
space:create_index('by_town', {parts={{2, 'string'}, {3, 'number', is_nullable=true}}, unique=false})
for number = 1, 20000 do space:insert{number, 'town ' .. number % 100, number / 4, {deep={number, true}}} end
box.snapshot()
local own = box.schema.space.create('own', {is_local=true})
own:create_index('pk')
box.begin()
for number = 1, 100 do space:replace{number, 'moved'} own:insert{number} end
box.commit()
space:update(5, {{'=', 2, 'updated'}})
space:upsert({30000, 'new'}, {{'=', 2, 'old'}})
space:upsert({6, 'new'}, {{'=', 2, 'old'}})
space:delete(7)
box.snapshot()
space:insert{50000, 'last'}
os.exit(0)
";

/// Snapshots and logs by Tarantool, row by row: numbers are consecutive, transactions end, and rewriting each
/// row gives the same bytes.
#[test]
fn all_files_of_tarantool_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    if tarantool(directory.path(), WRITE).is_none() {
        return;
    }
    let mut tuples = Vec::new();
    for path in files(directory.path(), "snap") {
        let mut lsn = 0;
        let mut user_rows = 0;
        let (header, is_closed) = read(&path, |payload| {
            let mut again = Vec::new();
            for row in rows(payload).map(Result::unwrap) {
                assert_eq!((row.kind, row.lsn, row.is_commit), (RowKind::Insert, lsn, true));
                lsn += 1;
                user_rows += u32::from(row.body.space >= Some(512));
                put_row(&mut again, &row);
            }
            assert_eq!(again, payload);
        });
        assert!(is_closed && header.kind == FileKind::Snapshot && header.previous.is_none());
        tuples.push(user_rows);
    }
    assert_eq!(tuples, [0, 20_000, 20_000 + 100]);
    let mut clock = None;
    let mut kinds = Vec::new();
    for path in files(directory.path(), "xlog") {
        let mut is_open = false;
        let mut now = tarantool::VClock::default();
        let (header, is_closed) = read(&path, |payload| {
            let mut again = Vec::new();
            for row in rows(payload).map(Result::unwrap) {
                assert!(now.follow(row.replica, row.lsn) || row.lsn == 1, "{row:?}");
                is_open = !row.is_commit;
                kinds.push(row.kind);
                put_row(&mut again, &row);
            }
            assert_eq!(again, payload);
            assert!(!is_open, "a transaction goes on in the next block");
        });
        assert!(is_closed && header.kind == FileKind::Log);
        if let Some(clock) = clock.replace(header.vclock.union(&now)) {
            assert_eq!(clock, header.vclock, "the next file begins where this ends");
        }
    }
    for kind in [RowKind::Insert, RowKind::Replace, RowKind::Update, RowKind::Upsert, RowKind::Delete] {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
}

const COUNT: &str = "
box.cfg{memtx_dir='.', wal_dir='.', log='log'}
local space = box.space.letters
print(space:len(), space.index.by_town:count('moved'), space:get(5)[2], space:get(50000)[2], space:get(7))
print(space:get(20000)[4].deep[1], space.index.by_town:min()[1], box.space.own:len(), box.info.signature)
os.exit(0)
";

/// Our writer copies the rows of a Tarantool snapshot. Tarantool loads the copy, and the rows are the same.
#[test]
fn tarantool_loads_our_snapshots() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    for directory in [&from, &to] {
        std::fs::create_dir(directory).unwrap();
    }
    let Some(_) = tarantool(&from, &WRITE.replace("os.exit", "box.snapshot() os.exit")) else { return };
    let wanted = tarantool(&from, COUNT).unwrap();
    let newest = files(&from, "snap").pop().unwrap();
    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let (header, _) = read(&newest, |_| ());
    let ours = Header { program: tarantool::PROGRAM.to_owned(), ..header };
    let mut snap = SnapWriter::create(&disk, &to, &ours, 1.5e9).unwrap();
    read(&newest, |payload| {
        for row in rows(payload).map(Result::unwrap) {
            snap.insert(row.body.space.unwrap(), row.group, row.body.tuple.unwrap()).unwrap();
        }
    });
    snap.finish().unwrap();
    assert_eq!(tarantool(&to, COUNT).unwrap(), wanted);
    assert!(wanted.starts_with("20001\t97\tupdated\tlast\n20000\t50000\t100\t20213\n"), "{wanted}");
}

/// Tarantool replays a log of our writer after that snapshot.
#[test]
fn tarantool_replays_our_logs() {
    let directory = tempfile::tempdir().unwrap();
    let Some(_) = tarantool(directory.path(), &WRITE.replace("os.exit", "box.snapshot() os.exit")) else {
        return;
    };
    let newest = files(directory.path(), "snap").pop().unwrap();
    let (header, _) = read(&newest, |_| ());
    let logs = files(directory.path(), "xlog");
    std::fs::remove_file(logs.last().unwrap()).unwrap();
    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let header = Header { kind: FileKind::Log, version: FormatVersion::V013, previous: None, ..header };
    let mut log = tarantool::LogWriter::create(&disk, directory.path(), &header).unwrap();
    let first = header.vclock.get(1) + 1;
    for place in 0..3_000 {
        let tuple = tuple(100_000 + place, "ours");
        let mut body = Vec::new();
        tarantool::put_body(&mut body, &Body { space: Some(512), tuple: Some(&tuple), ..Body::default() });
        let lsn = first + i64::try_from(place).unwrap();
        // Transactions of 1,000 rows.
        let tsn = lsn - i64::try_from(place % 1000).unwrap();
        let row = Row {
            kind: RowKind::Insert,
            replica: 1,
            lsn,
            timestamp: 1.5e9,
            group: 0,
            tsn,
            is_commit: place % 1000 == 999,
            flags: 0,
            body: Body { bytes: &body, ..Body::default() },
        };
        log.row(&row).unwrap();
    }
    log.finish().unwrap();
    let count = "print(space:count{100000}, space.index.by_town:count('ours'), space:len())";
    let printed = tarantool(
        directory.path(),
        &COUNT.replace("print(space:len()", &format!("{count} print(space:len()")),
    );
    let printed = printed.unwrap();
    assert!(printed.starts_with("1\t3000\t23001\n"), "{printed}");
}
