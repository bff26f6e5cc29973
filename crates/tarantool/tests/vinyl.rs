//! Spaces of vinyl, written by Tarantool: the rows that this crate and Tarantool find in the same files.
//!
//! Input: scripts for a Tarantool that is then stopped. Output: failures. Does not depend on how files are
//! read.

use crate::values::show;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use store::{IndexKind, PRIMARY, Value};
use tarantool::{Mode, PlanOptions, Position, Recovered, RecoveredTable, plan, recover};
use work::Silent;

/// The beginning of every script.
const BEGIN: &str = "
box.cfg{log = 'tarantool.log', checkpoint_count = 9, vinyl_page_size = 1024, vinyl_memory = 16 * 1024 * 1024}
local function dump() box.snapshot() end
local function settle(space)
    local function is_busy()
        local stat = space.index[0]:stat()
        return stat.disk.compaction.queue.bytes > 0 or box.stat.vinyl().scheduler.tasks_inprogress > 0
    end
    space.index[0]:compact()
    while is_busy() do require('fiber').sleep(0.005) end
end
local function text(number) return string.rep(string.format('%06d ', number), 1 + number % 5) end
local seed = 7
local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648 return math.floor(seed / 65536) % n end
";

/// Prints the tuples of every space of users by each ordered index.
const LIST: &str = "
box.cfg{log = 'tarantool.log', checkpoint_count = 9, force_recovery = FORCE}
local msgpack = require('msgpack')
local function hex(tuple) return (msgpack.encode(tuple):gsub('.', function(c) return string.format('%02x', \
c:byte()) end)) end
for _, space in box.space._space:pairs({512}, {iterator = 'GE'}) do
    local space = box.space[space[1]]
    for number = 0, 10 do
        local index = space.index[number]
        if index and index.type == 'TREE' then
            print('space ' .. space.name .. ' index ' .. index.name)
            for _, tuple in index:pairs() do print(hex(tuple)) end
        end
    end
end
os.exit(0)
";

/// Runs a script after [`BEGIN`]. Returns the directory, unless there is no Tarantool.
pub(crate) fn written(script: &str) -> Option<tempfile::TempDir> {
    let directory = tempfile::tempdir().unwrap();
    testkit::tarantool(directory.path(), &[BEGIN, script, "os.exit(0)"].concat())?;
    Some(directory)
}

/// Returns what Tarantool lists of a copy of these files.
pub(crate) fn theirs(directory: &Path) -> Vec<String> {
    let copy = tempfile::tempdir().unwrap();
    copy_all(directory, copy.path());
    let printed = testkit::tarantool(copy.path(), &LIST.replace("FORCE", "false")).unwrap();
    let shown = |line: &str| match line.contains(' ') {
        true => line.to_owned(),
        false => show(&crate::spaces::bytes(line)),
    };
    printed.lines().map(shown).collect()
}

pub(crate) fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy_all(&path, &copy);
        } else {
            std::fs::copy(&path, &copy).unwrap();
        }
    }
}

/// Recovers these files.
pub(crate) fn recovered(directory: &Path, mode: Mode, until: Option<&str>) -> tarantool::Result<Recovered> {
    let until = until.map(|text| Position::parse(text).unwrap());
    let options = PlanOptions { mode, until, ..PlanOptions::default() };
    let plan = plan(&disk::RealDisk, directory, &options)?;
    recover(&plan, mode, 2, &Silent)
}

/// Returns what this crate finds, in the form of [`theirs`].
pub(crate) fn ours(recovered: &Recovered) -> Vec<String> {
    let spaces = recovered.tables.iter().filter(|table| table.table.id >= 512);
    spaces.flat_map(|table| described(recovered, table)).collect()
}

fn described(recovered: &Recovered, table: &RecoveredTable) -> Vec<String> {
    let name = name_of(recovered, table.table.id);
    let schema = &table.table.schema;
    let tuple = |row| match table.rows.value(table.table.shape.tuple_column(), row) {
        Value::Bytes(tuple) => show(tuple),
        other => panic!("{other:?}"),
    };
    let mut lines = Vec::new();
    for index in &table.table.indexes {
        let made = schema.index(&index.store_name).map(|number| &schema.indexes[number]);
        if made.is_some_and(|made| made.kind != IndexKind::Ordered) {
            continue;
        }
        lines.push(format!("space {name} index {}", index.name));
        let index = if index.iid == 0 { PRIMARY } else { &index.store_name };
        lines.extend(table.rows.range(index, Bound::Unbounded, Bound::Unbounded).unwrap().map(tuple));
    }
    lines
}

fn name_of(recovered: &Recovered, id: u32) -> String {
    let tuples = tarantool::Tuples::in_memory(recovered, Path::new("")).unwrap();
    tuples.definitions().unwrap().get(id).unwrap().unwrap().name
}

#[track_caller]
fn compare(directory: &Path) -> Recovered {
    let theirs = theirs(directory);
    let recovered = recovered(directory, Mode::Strict, None).unwrap();
    assert_same(&ours(&recovered), &theirs);
    assert_eq!((&recovered.left_out, &recovered.remarks), (&Vec::new(), &Vec::new()));
    recovered
}

#[track_caller]
fn assert_same(ours: &[String], theirs: &[String]) {
    for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(ours, theirs, "line {number}");
    }
    assert_eq!(ours.len(), theirs.len());
    assert!(theirs.len() > 1);
}

/// Returns the files below a directory with this extension, in order.
pub(crate) fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|own| own == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn rows_of_runs_and_logs_are_merged() {
    let script = "
    local v = box.schema.space.create('v', {engine = 'vinyl'})
    v:create_index('pk', {run_count_per_level = 100})
    for i = 1, 2000 do v:replace{i, text(i)} end
    dump()
    for i = 1, 2000, 3 do v:replace{i, 'second'} end
    for i = 2, 2000, 5 do v:delete{i} end
    for i = 3, 2500, 7 do v:upsert({i, 'inserted', 1}, {{'=', 2, 'upserted'}, {'!', 3, 10}}) end
    dump()
    for i = 4, 2500, 11 do v:upsert({i, 'inserted again', 5}, {{'+', 3, 1}}) end
    for i = 5, 2000, 13 do v:update({i}, {{'=', 2, 'updated'}}) end
    for i = 6, 3000, 17 do v:insert{10000 + i, 'late'} end
    for i = 7, 2000, 19 do v:delete{i} end
    ";
    let Some(directory) = written(script) else { return };
    assert!(files(directory.path(), "run").len() >= 2);
    compare(directory.path());
}
