//! Exports of an earlier point, compared with Tarantool on the same files, cut at that point.
//!
//! Input: files that Tarantool wrote. Output: failures. Does not know how the point is found.

use crate::support::Home;
use std::fs;
use std::path::{Path, PathBuf};
use tarantool::{FileKind, Header, Position, Row, Step, Unpacker, VClock, read_head, rows};
use testkit::tarantool;

/// Several snapshots, transactions, changes of definitions, rows that are not replicated.
const WRITE: &str = "
box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log', checkpoint_count=9}
local orders = box.schema.space.create('orders')
orders:create_index('pk')
local own = box.schema.space.create('own', {is_local=true})
own:create_index('pk')
for number = 1, 20 do orders:insert{number, 'first'} end
own:insert{1}
box.snapshot()
box.begin()
for number = 1, 6 do orders:update(number, {{'=', 2, 'changed'}}) end
own:insert{2}
box.commit()
orders:delete(7)
orders:create_index('by_text', {parts={{2, 'string'}}, unique=false})
orders:upsert({8, 'no'}, {{'=', 2, 'upserted'}})
local gone = box.schema.space.create('gone')
gone:create_index('pk')
gone:insert{1}
own:insert{3}
box.snapshot()
gone:drop()
orders:truncate()
box.begin()
for number = 100, 104 do orders:insert{number, 'last'} end
box.commit()
own:delete(1)
orders:insert{200, 'end'}
print(box.info.lsn)
os.exit(0)
";

/// Prints every tuple of every space in memory, Tarantool's own included.
const TELL: &str = "
box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log'}
local json = require('json')
for _, space in box.space._space:pairs() do
    if space[4] == 'memtx' then
        print('== ' .. space[3])
        if box.space[space[1]].index[0] then
            for _, tuple in box.space[space[1]]:pairs() do print(json.encode(tuple)) end
        end
    end
end
os.exit(0)
";

/// Files of a directory with this extension, the oldest first.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}

/// Copies the snapshots that are not after a point, and the logs up to the first block with a row after it.
/// Each transaction is in a block of its own.
fn cut(from: &Path, to: &Path, is_after: impl Fn(u32, i64, f64) -> bool) {
    fs::create_dir(to).unwrap();
    let is_late = |row: &Row| is_after(row.replica, row.lsn, row.timestamp);
    let mut reached = VClock::default();
    let mut is_cut = false;
    for path in files(from, "xlog") {
        let bytes = fs::read(&path).unwrap();
        let (_, mut at) = Header::parse(&bytes).unwrap();
        let mut unpacker = Unpacker::default();
        while let (false, Ok(Step::Block(place))) = (is_cut, read_head(&bytes, at)) {
            let payload = unpacker.unpack(&bytes, &place).unwrap();
            let block: Vec<Row> = rows(payload).map(Result::unwrap).collect();
            assert_eq!(block.iter().filter(|row| row.is_commit).count(), 1, "a transaction for each block");
            is_cut = block.iter().any(is_late);
            if !is_cut {
                block.iter().for_each(|row| assert!(reached.follow(row.replica, row.lsn)));
                at = place.payload.end;
            }
        }
        let kept = if is_cut { &bytes[..at] } else { &bytes[..] };
        fs::write(to.join(path.file_name().unwrap()), kept).unwrap();
        if is_cut {
            break;
        }
    }
    for path in files(from, "snap") {
        let (header, _) = Header::parse(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(header.kind, FileKind::Snapshot);
        if reached.covers(&header.vclock) {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// Compares what Tarantool finds in an export with what it finds in files that were cut. Returns that.
fn compare(home: &Home, from: &str, until: &str, is_after: impl Fn(u32, i64, f64) -> bool) -> String {
    for directory in ["cut", "new"].map(|name| home.path().join(name)) {
        let _ = fs::remove_dir_all(directory);
    }
    let run = home.run(&["export", from, "--until", until, "--to", "new", "--quiet"]);
    assert_eq!(run.code, Some(0), "{until}: {run:?}");
    cut(&home.path().join(from), &home.path().join("cut"), is_after);
    let wanted = tarantool(&home.path().join("cut"), TELL).unwrap();
    let found = tarantool(&home.path().join("new"), TELL).unwrap();
    assert!(wanted.contains("== _index\n") && found == wanted, "{until}:\n{found}\n{wanted}");
    assert_eq!(files(&home.path().join("new"), "snap").len(), 1);
    found
}

#[test]
fn an_export_of_a_point_is_what_tarantool_finds_in_logs_that_end_there() {
    let home = Home::new();
    let from = home.path().join("from");
    fs::create_dir(&from).unwrap();
    let Some(printed) = tarantool(&from, WRITE) else { return };
    let last: i64 = printed.trim().parse().unwrap();
    let mut told = Vec::new();
    // The transactions of six and of five rows are among these.
    for lsn in [2, 12, 27, 29, 30, 33, 37, last - 5, last - 2, last, last + 1] {
        let is_after = |replica, row: i64, _| replica != 0 && row >= lsn;
        told.push(compare(&home, "from", &lsn.to_string(), is_after));
    }
    told.dedup();
    assert!(told.len() >= 7, "{} states", told.len());
    let clock = format!("{{1: {}}}", last - 3);
    compare(&home, "from", &clock, |replica, row, _| replica != 0 && row > last - 3);
    // The times of the first and the last row of the second log.
    let second = fs::read(&files(&from, "xlog")[1]).unwrap();
    let times: Vec<f64> = times(&second);
    for until in [times[0], times[times.len() - 1]] {
        compare(&home, "from", &format!("@{until}"), |_, _, time| time >= until);
    }
}

/// Returns the times of the rows of a log.
fn times(bytes: &[u8]) -> Vec<f64> {
    let (_, mut at) = Header::parse(bytes).unwrap();
    let mut unpacker = Unpacker::default();
    let mut times = Vec::new();
    while let Ok(Step::Block(place)) = read_head(bytes, at) {
        times.extend(rows(unpacker.unpack(bytes, &place).unwrap()).map(|row| row.unwrap().timestamp));
        at = place.payload.end;
    }
    times
}

/// Two instances that write in turn. Each waits for the other's rows.
const FIRST: &str = "
local fio, fiber = require('fio'), require('fiber')
local here = 'unix/:' .. fio.cwd()
box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log', checkpoint_count=9, listen=here .. '/first'}
box.schema.user.grant('guest', 'super')
local rows = box.schema.space.create('rows')
rows:create_index('pk')
rows:insert{1, 'first'}
local wait = function(key) while not rows:get(key) do fiber.sleep(0.001) end end
os.execute('cd ../second && tarantool script.lua > said 2>&1 &')
while not fio.path.exists('../second/ready') do fiber.sleep(0.001) end
box.cfg{replication={'unix/:' .. fio.abspath('../second/second')}}
wait(21)
box.begin() for number = 2, 4 do rows:insert{number, 'first'} end box.commit()
rows:update(21, {{'=', 2, 'changed by the first'}})
wait(24)
rows:delete(22)
box.snapshot()
rows:insert{5, 'first'}
wait(25)
rows:insert{6, 'first'}
os.exit(0)
";

const SECOND: &str = "
local fio, fiber = require('fio'), require('fiber')
local first = 'unix/:' .. fio.abspath('../first/first')
box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log', replication={first},
    listen='unix/:' .. fio.cwd() .. '/second'}
io.open('ready', 'w'):close()
local rows = box.space.rows
local wait = function(key) while not rows:get(key) do fiber.sleep(0.001) end end
rows:insert{21, 'second'}
wait(4)
box.begin() for number = 22, 24 do rows:insert{number, 'second'} end box.commit()
wait(5)
rows:insert{25, 'second'}
wait(6)
os.exit(0)
";

#[test]
fn two_replicas_wrote() {
    let home = Home::new();
    let (first, second) = (home.path().join("first"), home.path().join("second"));
    for directory in [&first, &second] {
        fs::create_dir(directory).unwrap();
    }
    fs::write(second.join("script.lua"), SECOND).unwrap();
    if tarantool(&first, FIRST).is_none() {
        return;
    }
    // Every point that the first instance was at, and points within transactions.
    let mut clock = VClock::default();
    let mut clocks = Vec::new();
    for path in files(&first, "xlog") {
        let bytes = fs::read(path).unwrap();
        let (_, mut at) = Header::parse(&bytes).unwrap();
        let mut unpacker = Unpacker::default();
        while let Ok(Step::Block(place)) = read_head(&bytes, at) {
            for row in rows(unpacker.unpack(&bytes, &place).unwrap()).map(Result::unwrap) {
                clock.follow(row.replica, row.lsn);
                clocks.push(clock.clone());
            }
            at = place.payload.end;
        }
    }
    assert!(clock.get(1) > 10 && clock.get(2) == 5, "{clock}");
    let mut told = Vec::new();
    for clock in &clocks[5..] {
        let until = format!("{{{clock}}}");
        assert!(matches!(Position::parse(&until), Some(Position::Clock(_))));
        told.push(compare(&home, "first", &until, |replica, lsn, _| lsn > clock.get(replica)));
    }
    told.dedup();
    assert!(told.len() >= 9, "{} states", told.len());
    let run = home.run(&["export", "first", "--until", "8", "--to", "other"]);
    assert!(
        run.code == Some(2) && run.err.contains("LSN 8 is not one point: replicas 1, 2 wrote"),
        "{run:?}"
    );
}
