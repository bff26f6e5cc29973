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
local function random(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return math.floor(seed / 65536) % n
end
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

#[test]
fn ranges_that_were_split_and_compacted_are_merged() {
    let script = "
    local v = box.schema.space.create('v', {engine = 'vinyl'})
    v:create_index('pk', {page_size = 512, range_size = 16384, run_count_per_level = 1, run_size_ratio = 2})
    v:create_index('by_text', {parts = {{2, 'string'}, {1, 'unsigned'}}})
    for round = 1, 12 do
        for _ = 1, 600 do
            local id, what = random(3000), random(6)
            if what == 0 then v:delete{id}
            elseif what == 1 then v:update({id}, {{'=', 2, 'updated ' .. round}})
            else v:replace{id, text(random(1000)), round} end
        end
        dump()
        if round % 3 == 0 then settle(v) end
    end
    for _ = 1, 300 do v:replace{random(4000), text(random(1000)), 'last'} end
    ";
    let Some(directory) = written(script) else { return };
    compare(directory.path());
    let disk = disk::RealDisk;
    let plan = plan(&disk, directory.path(), &PlanOptions::default()).unwrap();
    let reports = plan.vinyl.unwrap().reports(&disk, tarantool::ReadPages::Yes);
    let of = |index: u32| reports.iter().find(|report| report.index == index).unwrap();
    assert!(of(0).range_count > 3, "{:?}", of(0));
    assert!(of(1).run_count > 0 && reports.iter().all(|report| report.damage.is_empty()), "{reports:?}");
}

/// All ways in which upserts come together: on nothing, on each other, on a tuple and on a deleted one, in
/// one run and in several.
#[test]
fn upserts_are_applied_as_tarantool_applies_them() {
    let script = "
    local v = box.schema.space.create('v', {engine = 'vinyl', format = {{'id', 'unsigned'}, {'n', 'unsigned'},
        {'text', 'string', is_nullable = true}, {'more', 'any', is_nullable = true}}})
    v:create_index('pk', {page_size = 512, range_size = 16384, run_count_per_level = 3})
    -- 2.6.0 finds out that operations do not fit when it happens to read the tuple.
    local function upsert(tuple, operations) pcall(v.upsert, v, tuple, operations) end
    for round = 1, 9 do
        for _ = 1, 900 do
            local id, what = random(400), random(12)
            if what == 0 then v:delete{id}
            elseif what == 1 then v:replace{id, round, 'replaced'}
            elseif what == 2 then upsert({id, 1, 'made'}, {{'=', 3, 'text ' .. round}, {'+', 2, 2}})
            elseif what == 3 then upsert({id, 1, 'long'}, {{'!', 4, {deep = round}}})
            elseif what == 4 then upsert({id, 5, 'spliced'}, {{':', 3, 2, 1, 'XY'}})
            elseif what == 5 then upsert({id, 5, 'x', 1}, {{'=', -1, 'end'}, {'-', 2, 1}})
            elseif what == 6 then upsert({id, 7, 'bits'}, {{'|', 2, 64}})
            else upsert({id, 3, 'sum'}, {{'+', 2, random(9)}}) end
        end
        if round < 9 then dump() end
        if round == 5 then settle(v) end
    end
    ";
    let Some(directory) = written(script) else { return };
    compare(directory.path());
}

#[test]
fn keys_of_several_parts_and_types_are_in_tarantools_order() {
    let script = "
    local uuid, decimal = require('uuid'), require('decimal')
    local function make(name, parts)
        local space = box.schema.space.create(name, {engine = 'vinyl'})
        space:create_index('pk', {parts = parts, page_size = 256, range_size = 16384})
        return space
    end
    local spaces = {
        make('text', {{1, 'string'}}),
        make('two', {{2, 'string'}, {1, 'unsigned'}}),
        make('three', {{3, 'integer'}, {2, 'string'}, {1, 'number'}}),
        make('scalar', {{1, 'scalar'}, {3, 'integer'}}),
        make('path', {{4, 'string', path = 'deep.name'}, {1, 'scalar'}}),
    }
    local strings = {'', 'a', 'a\\0', 'a\\0b', 'ab', 'b', '\\0', '\\255', 'a\\1'}
    for round = 1, 6 do
        for i = 1, 300 do
            local ending = ({'', '0', '1'})[1 + random(3)]
            local text = strings[1 + random(#strings)] .. strings[1 + random(#strings)] .. ending
            local number = random(50)
            local deep = {deep = {name = text}}
            local integer = random(40) - 20
            local what = random(4)
            local function change(space, tuple, key)
                if what == 0 then space:delete(key) else space:replace(tuple) end
            end
            change(spaces[1], {text, round}, {text})
            change(spaces[2], {number, text, round}, {text, number})
            local any = ({number, integer + 0.5, -number})[1 + random(3)]
            change(spaces[3], {any, text, integer, round}, {integer, text, any})
            local scalar = ({number, text, true, integer + 0.25, decimal.new('1.5')})[1 + random(5)]
            change(spaces[4], {scalar, text, integer, round}, {scalar, integer})
            change(spaces[5], {scalar, text, integer, deep, round}, {text, scalar})
        end
        if round < 6 then dump() end
    end
    ";
    let Some(directory) = written(script) else { return };
    compare(directory.path());
}

#[test]
fn spaces_and_indexes_that_change_have_the_rows_of_their_newest_tree() {
    let script = "
    local function make(name, options)
        local space = box.schema.space.create(name, {engine = 'vinyl'})
        space:create_index('pk', options)
        return space
    end
    local function fill(space, from, to, what) for i = from, to do space:replace{i, what .. i, i % 7} end end
    local dropped, truncated, again, late = make('dropped'), make('truncated'), make('again'), make('late')
    local indexed, altered, emptied = make('indexed'), make('altered'), make('emptied')
    local twice = make('twice')
    for _, space in ipairs{dropped, truncated, again, late, indexed, altered, emptied, twice} do
        fill(space, 1, 200, 'old ')
    end
    indexed:create_index('gone', {parts = {{3, 'unsigned'}}, unique = false})
    dump()
    for _, space in ipairs{dropped, truncated, again, late, indexed, altered, emptied, twice} do
        fill(space, 150, 250, 'newer ')
    end
    dropped:drop()
    truncated:truncate()
    fill(truncated, 100, 120, 'after ')
    twice:truncate()
    fill(twice, 1, 9, 'between ')
    twice:truncate()
    fill(twice, 300, 310, 'last ')
    local id = again.id
    again:drop()
    again = box.schema.space.create('again', {engine = 'vinyl', id = id})
    again:create_index('pk', {parts = {{1, 'string'}}})
    for i = 1, 50 do again:replace{'key ' .. i} end
    indexed.index.gone:drop()
    indexed:replace{7, 'no number', 'text'}
    indexed:create_index('by_text', {parts = {{2, 'string'}}, unique = false})
    altered.index.pk:alter({parts = {{1, 'scalar'}}})
    altered:replace{'a string', 'x'}
    emptied:delete{1}
    -- Rows of all these are dumped before the log is complete, but no snapshot is made.
    local fiber = require('fiber')
    local big = make('big')
    box.cfg{vinyl_memory = 17 * 1024 * 1024}
    for i = 1, 3000 do big:replace{i, string.rep('x', 6000)} end
    fill(truncated, 110, 130, 'logged ')
    fill(twice, 305, 320, 'logged ')
    again:replace{'key 7', 'logged'}
    altered:replace{'another', 'y'}
    altered:delete{5}
    emptied:delete{2}
    local new = make('new')
    fill(new, 1, 20, 'new ')
    ";
    let Some(directory) = written(script) else { return };
    compare(directory.path());
}

#[test]
fn an_earlier_point_has_the_rows_that_were_there() {
    let script = "
    local v = box.schema.space.create('v', {engine = 'vinyl'})
    v:create_index('pk', {page_size = 512, run_count_per_level = 1})
    for i = 1, 500 do v:replace{i, 'first'} end
    dump()
    for i = 1, 500, 2 do v:upsert({i, 'never'}, {{'=', 2, 'second'}}) end
    local lsn = box.info.lsn
    for i = 1, 500, 3 do v:delete{i} end
    dump()
    settle(v)
    for i = 1, 500, 5 do v:replace{i, 'third'} end
    dump()
    settle(v)
    for i = 1, 100 do v:replace{1000 + i, 'fourth'} end
    print('lsn ' .. lsn + 1)
    ";
    let directory = tempfile::tempdir().unwrap();
    let Some(printed) = testkit::tarantool(directory.path(), &[BEGIN, script, "os.exit(0)"].concat()) else {
        return;
    };
    compare(directory.path());
    let point = printed.trim().strip_prefix("lsn ").unwrap();
    let then = recovered(directory.path(), Mode::Strict, Some(point)).unwrap();
    assert_eq!(then.left_out, Vec::<String>::new());
    let expected = (1..=500).map(|i| format!("[{i}, \"{}\"]", if i % 2 == 1 { "second" } else { "first" }));
    let expected: Vec<String> = ["space v index pk".to_owned()].into_iter().chain(expected).collect();
    let spaced: Vec<String> = ours(&then).iter().map(|line| line.replace(",\"", ", \"")).collect();
    assert_eq!(spaced, expected);
}
