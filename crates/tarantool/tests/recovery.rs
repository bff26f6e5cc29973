//! Snapshots and logs by Tarantool, and the rows that Tarantool and this crate recover from them.
//!
//! Input: scripts for a Tarantool that is then stopped without a snapshot. Output: failures. Does not depend
//! on how the state is kept.

use crate::support::Watch;
use crate::values::show;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{IndexKind, Loaded, Options, PRIMARY, Snapshot, Value};
use tarantool::apply::{LogFile, apply_log};
use tarantool::export::{Exported, Target, export};
use tarantool::space::{Space, Spaces};
use tarantool::state::{Finished, FinishedSpace, OnRejectedRow, State};
use tarantool::table::SpaceTable;
use tarantool::{Header, OnDamage, SnapshotFile, Tuples, blocks, load_snapshot, read_spaces};
use work::Silent;

/// The beginning of every script.
const BEGIN: &str = "
box.cfg{log = 'tarantool.log', wal_mode = 'write'}
local msgpack = require('msgpack')
local function hex(tuple) return (msgpack.encode(tuple):gsub('.', function(c) return string.format('%02x', \
c:byte()) end)) end
local function list(iterator) for _, tuple in iterator do print(hex(tuple)) end end
";

/// Prints every space of users by its primary key, then by each other ordered index.
const END: &str = "
for _, space in box.space._space:pairs({512}, {iterator = 'GE'}) do
    local space = box.space[space[1]]
    if space.engine == 'memtx' and not space.temporary and space.index[0] then
        print('space ' .. space.id .. ' ' .. space.name .. ' ' .. space:count())
        local tuples = space:select()
        if space.index[0].type == 'HASH' then table.sort(tuples, function(a, b) return a[1] < b[1] end) end
        for _, tuple in ipairs(tuples) do print(hex(tuple)) end
        for number = 1, 10 do
            local index = space.index[number]
            if index and index.type == 'TREE' then
                print('index ' .. index.name)
                for _, tuple in index:pairs() do print(hex(tuple)) end
            end
        end
    end
end
os.exit(0)
";

/// Runs a script between [`BEGIN`] and [`END`], and compares the results.
fn compare(script: &str) -> Option<Finished> {
    let directory = tempfile::tempdir().unwrap();
    let printed = testkit::tarantool(directory.path(), &[BEGIN, script, END].concat())?;
    let theirs: Vec<String> = printed
        .lines()
        .map(|line| match line.split_once(' ') {
            Some(_) => line.to_owned(),
            None => show(&crate::spaces::bytes(line)),
        })
        .collect();
    let finished = recover(directory.path());
    let ours: Vec<String> =
        finished.spaces.iter().filter(|space| space.space.id >= 512).flat_map(described).collect();
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours, theirs, "line {number}");
    }
    assert_eq!(ours.len(), theirs.len());
    assert!(!theirs.is_empty());
    Some(finished)
}

fn described(space: &FinishedSpace) -> Vec<String> {
    let schema = &space.table.schema;
    let loaded = Loaded::build(schema, space.batches.clone(), &space.dead).unwrap();
    let shown = |row| match loaded.value(space.table.shape.tuple_column(), row) {
        Value::Bytes(tuple) => show(tuple),
        other => panic!("{other:?}"),
    };
    let walk = |index: &str| {
        loaded.range(index, Bound::Unbounded, Bound::Unbounded).unwrap().map(shown).collect::<Vec<_>>()
    };
    let mut lines = vec![format!("space {} {} {}", space.space.id, space.space.name, loaded.row_count())];
    lines.extend(walk(PRIMARY));
    for index in space.table.indexes.iter().filter(|index| index.iid != 0) {
        let made = &schema.indexes[schema.index(&index.store_name).unwrap()];
        if made.kind == IndexKind::Ordered {
            lines.push(format!("index {}", index.name));
            lines.extend(walk(&made.name));
        }
    }
    lines
}

/// Returns the files of one kind, the oldest first.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|own| own == extension)).collect();
    files.sort();
    files
}

/// Reads the newest snapshot and every log.
fn recover(directory: &Path) -> Finished {
    let path = files(directory, "snap").pop().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let (header, offset) = Header::parse(&bytes).unwrap();
    let blocks_of_snapshot = blocks(&path, &bytes, offset).unwrap();
    let file = SnapshotFile { path: &path, bytes: &bytes, blocks: &blocks_of_snapshot };
    let spaces = read_spaces(file, OnDamage::Refuse).unwrap();
    let known = spaces.ids().map(|id| spaces.get(id).unwrap().unwrap()).filter(Space::has_rows);
    let tables: Vec<SpaceTable> = known.map(|space| SpaceTable::new(&space)).collect();
    let mut loaded = load_snapshot(file, &tables, OnDamage::Refuse, 2, &Silent).unwrap();
    let mut state = State::new(spaces, header.vclock, OnRejectedRow::Refuse);
    for (number, table) in tables.iter().enumerate() {
        let batches = loaded.batches.remove(&number).unwrap_or_default();
        state.set_base(table.id, Loaded::new(&table.schema, batches, &[]).unwrap()).unwrap();
    }
    for path in files(directory, "xlog") {
        let bytes = std::fs::read(&path).unwrap();
        let mut offset = Header::parse(&bytes).unwrap().1;
        // The logs of a stopped Tarantool have no end mark.
        let places =
            std::iter::from_fn(move || match tarantool::read_head(&std::fs::read(&path).unwrap(), offset) {
                Ok(tarantool::Step::Block(place)) => {
                    offset = place.payload.end;
                    Some(place)
                }
                _ => None,
            });
        let places: Vec<_> = places.collect();
        let log = LogFile { path: Path::new("log"), bytes: &bytes, end: None };
        apply_log(log, places.into_iter(), &mut state, 2, &Silent).unwrap();
    }
    state.finish().unwrap()
}

#[test]
fn every_kind_of_row_over_a_snapshot() {
    let script = "
    local s = box.schema.space.create('s')
    s:create_index('pk')
    s:create_index('by_text', {unique = false, parts = {{2, 'string', is_nullable = true}}})
    local h = box.schema.space.create('h')
    h:create_index('pk', {type = 'hash', parts = {1, 'string', 2, 'unsigned'}})
    for i = 1, 3000 do s:insert{i, 'text ' .. i % 7, i} h:insert{'key ' .. i, i} end
    box.snapshot()
    for i = 1, 3000, 3 do s:replace{i, 'new ' .. i, -i} h:delete{'key ' .. i, i} end
    for i = 2, 3000, 5 do s:update(i, {{'+', 3, 1000}, {'=', 2, box.NULL}}) s:upsert({i + 2000, 'up', 0}, \
    {{'-', 3, 1}}) end
    for i = 3, 3000, 11 do s:delete(i) s:insert{i, 'again'} s:delete(i + 1) h:upsert({'key ' .. i, i}, \
    {{'=', 3, 'x'}}) end
    for i = 5001, 5500 do s:insert{i, 'late', i} s:update(i, {{'!', 3, 'between'}}) end
    for i = 5001, 5500, 2 do s:delete(i) end
    s:update(77777, {{'=', 2, 'nothing is there'}})
    for t = 1, 50 do
        box.begin()
        for i = 1, 20 do s:replace{100 * t + i, 'transaction ' .. t} h:replace{'key ' .. i, i, t} end
        if t % 7 == 0 then box.rollback() else box.commit() end
    end
    ";
    compare(script);
}

#[test]
fn requests_by_a_secondary_index_find_something_or_nothing() {
    let script = "
    local s = box.schema.space.create('s')
    s:create_index('pk')
    s:create_index('second', {parts = {{2, 'unsigned'}}})
    for i = 1, 9 do s:insert{i, i * 10, 'x'} end
    s.index.second:delete{50}
    s.index.second:delete{55}
    s.index.second:update({60}, {{'=', 3, 'y'}})
    s.index.second:update({66}, {{'=', 3, 'z'}})
    ";
    compare(script);
}

#[test]
fn synchronous_transactions_end_as_in_tarantool() {
    let script = "
    box.cfg{replication_synchro_quorum = 1, replication_synchro_timeout = 0.001}
    local s = box.schema.space.create('s', {is_sync = true})
    s:create_index('pk')
    local a = box.schema.space.create('a')
    a:create_index('pk')
    s:insert{1} a:insert{1}
    box.cfg{replication_synchro_quorum = 2}
    pcall(s.insert, s, {2})
    box.begin() s:insert{3} a:insert{3} pcall(box.commit)
    box.cfg{replication_synchro_quorum = 1}
    s:insert{4} a:insert{4}
    box.begin() s:insert{5} a:insert{5} box.commit()
    ";
    compare(script);
}

/// Runs thousands of random operations, in transactions that are committed or rolled back, with snapshots and
/// changed definitions between them.
const ANYTHING: &str = "
math.randomseed(SEED)
local function pick(list) return list[math.random(#list)] end
local a = box.schema.space.create('a')
a:create_index('pk')
a:create_index('by_text', {parts = {{2, 'string'}, {1, 'unsigned'}}})
local b = box.schema.space.create('b')
b:create_index('pk', {parts = {{2, 'integer'}, {1, 'string'}}})
b:create_index('number', {parts = {{3, 'number', is_nullable = true}, {2, 'integer'}, {1, 'string'}}})
local function text() return pick{'', 'x', 'text', string.rep('long', 30)} .. math.random(20) end
local function a_tuple() return {math.random(400), text(), math.random(100), {n = math.random(9)}} end
local function b_tuple() return {text(), math.random(-9, 9), pick{1, -1.5, 1e300, 2^53, box.NULL}, text()} end
local function change()
    local what = math.random(10)
    if math.random(2) == 1 then
        if what == 1 then a:insert(a_tuple()) elseif what < 5 then a:replace(a_tuple())
        elseif what < 7 then a:update(math.random(400), {{'+', 3, 1}, {'=', 2, text()}})
        elseif what < 9 then a:upsert(a_tuple(), {{'-', 3, 2}, {'+', '[4].n', 1}, {'=', 9, 9}})
        else a:delete(math.random(400)) end
    else
        if what == 1 then b:insert(b_tuple()) elseif what < 6 then b:replace(b_tuple())
        elseif what < 7 then b:update({math.random(-9, 9), text()}, {{'=', 4, 'updated'}})
        elseif what < 9 then b:upsert(b_tuple(), {{':', 4, 1, 0, '!'}})
        else b:delete{math.random(-9, 9), text()} end
    end
end
for step = 1, 6000 do
    local size = pick{1, 1, 1, 2, 5, 40}
    if size == 1 then pcall(change) else
        box.begin()
        for _ = 1, size do pcall(change) end
        if math.random(4) == 1 then box.rollback() else box.commit() end
    end
    if step % 1900 == 0 then box.snapshot() end
    if step % 2500 == 0 then a:truncate() end
    if step == 3000 then a.index.by_text:drop() a:create_index('third', {unique = false, parts = {{3, \
    'integer'}}}) end
    if step == 4000 then b:create_index('fourth', {unique = false, parts = {{4, 'string'}, {2, 'integer'}, \
    {1, 'string'}}}) end
end
a.index.third:drop()
";

#[test]
fn anything_in_any_order() {
    compare(&ANYTHING.replace("SEED", "26"));
}

#[test]
fn definitions_change_in_the_logs() {
    let script = "
    local a = box.schema.space.create('a')
    a:create_index('pk')
    for i = 1, 500 do a:insert{i, 'x' .. i % 10, {n = i}, i % 3} end
    local gone = box.schema.space.create('gone')
    gone:create_index('pk')
    gone:insert{1}
    local cut = box.schema.space.create('cut')
    cut:create_index('pk')
    for i = 1, 10 do cut:insert{i} end
    box.snapshot()
    for i = 100, 600 do a:replace{i, 'y' .. i, {n = -i}, i} end
    a:create_index('second', {unique = false, parts = {{2, 'string'}}})
    a:insert{1000, 'z', {n = 1}, 9}
    a:create_index('inside', {unique = false, parts = {{3, 'integer', path = 'n'}}})
    a.index.second:drop()
    a:update(1000, {{'=', 2, 'zz'}})
    a:format{{'id', 'unsigned'}, {'text', 'string'}, {'map', 'map'}, {'number', 'unsigned'}}
    a:update(1000, {{'=', 'text', 'named'}, {'+', 'map.n', 5}})
    a:rename('renamed')
    gone:drop()
    cut:truncate()
    cut:insert{5, 'after'}
    cut:truncate()
    cut:insert{6, 'after'}
    local b = box.schema.space.create('b', {engine = 'memtx'})
    b:create_index('pk', {parts = {2, 'string'}})
    b:insert{1, 'one'} b:insert{2, 'two'}
    b.index.pk:alter({parts = {1, 'unsigned'}})
    b:insert{3, 'two'}
    b:delete(1)
    local again = box.schema.space.create('again', {id = gone.id})
    again:create_index('pk', {parts = {1, 'string'}})
    again:insert{'new'}
    local t = box.schema.space.create('temporary', {temporary = true})
    t:create_index('pk') t:insert{1}
    local l = box.schema.space.create('local', {is_local = true})
    l:create_index('pk') l:insert{1} l:insert{2} l:delete(1)
    ";
    compare(script);
}

#[test]
fn unrepresentable_definitions_are_reported_and_keep_their_rows() {
    let script = "
    local v = box.schema.space.create('v', {engine = 'vinyl'})
    v:create_index('pk')
    v:insert{1} v:insert{2} v:delete(1)
    local c = box.schema.space.create('c')
    c:create_index('pk', {parts = {{1, 'string', collation = 'unicode_zh__big5han_s1'}}})
    c:insert{'b'} c:insert{'a'} c:delete('A') c:replace{'B'}
    os.exit(0)
    ";
    let directory = tempfile::tempdir().unwrap();
    if testkit::tarantool(directory.path(), &[BEGIN, script].concat()).is_none() {
        return;
    }
    let finished = recover(directory.path());
    let lines: Vec<String> =
        finished.spaces.iter().filter(|space| space.space.id >= 512).flat_map(described).collect();
    assert_eq!(lines, ["space 512 v 1", "[2]", "space 513 c 3", "[\"b\"]", "[\"a\"]", "[\"B\"]"]);
    assert_eq!(
        finished.left_out,
        ["space c (513): 2 changes in the logs left the old tuples as they were, because its primary key \
             cannot be represented"]
    );
    assert_eq!(
        finished.remarks,
        ["space c (513): index pk has the collation unicode_zh__big5han_s1 in the order big5han, which \
             ICU4X does not have: its rows are kept in the order they came in",]
    );
}

#[test]
fn tarantool_loads_exported_snapshots() {
    let script = "
    local s = box.schema.space.create('s', {format = {{'id', 'unsigned'}, {'text', 'string'}}})
    s:create_index('pk')
    s:create_index('by_text', {unique = false, parts = {'text'}})
    local h = box.schema.space.create('h', {is_local = true})
    h:create_index('pk', {type = 'hash', parts = {{2, 'string'}}})
    local c = box.schema.space.create('c')
    c:create_index('pk', {parts = {{1, 'string', collation = 'unicode_zh__big5han_s1'}}})
    c:create_index('area', {type = 'rtree', parts = {{2, 'array'}}})
    for _, letter in ipairs{'c', 'B', 'a'} do c:insert{letter, {1, 2}} end
    for i = 1, 5000 do s:insert{i * 7 % 5003, 'text ' .. i % 13, i} h:insert{i, 'key ' .. i} end
    box.schema.user.create('somebody', {password = 'x'})
    box.schema.user.grant('somebody', 'read', 'space', 's')
    box.schema.sequence.create('numbers')
    box.sequence.numbers:next()
    box.snapshot()
    for i = 1, 100 do s:update(i, {{'=', 2, 'late'}}) end
    box.sequence.numbers:next()
    ";
    let also = "
    box.schema.user.passwd('somebody', 'y')
    print(box.sequence.numbers:next())
    print(box.space.c:get('A')[1], box.space.c.index.area:count())
    ";
    let original = tempfile::tempdir().unwrap();
    let Some(theirs) = testkit::tarantool(original.path(), &[BEGIN, script, also, END].concat()) else {
        return;
    };
    let (directory, exported) = exported(original.path());
    assert_eq!(exported.remarks, Vec::<String>::new());
    let groups = [(512, 0), (513, 1), (514, 0)];
    assert!(groups_of(&exported.path).into_iter().eq(groups));
    assert_eq!(files(directory.path(), "snap"), [exported.path]);
    let ours = load(directory.path(), &[also.trim_start(), END].concat());
    // Tarantool advanced the sequence when it was read, and the log has that row.
    let (ours_first, ours) = ours.split_once('\n').unwrap();
    let (theirs_first, theirs) = theirs.split_once('\n').unwrap();
    assert_eq!((ours_first, theirs_first, ours), ("4", "3", theirs));
}

#[test]
fn a_space_of_vinyl_is_exported_as_one_of_memtx() {
    let script = "
    local v = box.schema.space.create('v', {engine = 'vinyl'})
    v:create_index('pk', {page_size = 4096, bloom_fpr = 0.1})
    v:insert{1} v:insert{2} v:upsert({2}, {{'=', 2, 'x'}})
    os.exit(0)
    ";
    let original = tempfile::tempdir().unwrap();
    if testkit::tarantool(original.path(), &[BEGIN, script].concat()).is_none() {
        return;
    }
    let (directory, exported) = exported(original.path());
    assert_eq!(exported.remarks, ["space v (512) was kept by vinyl, and is now kept by memtx"]);
    let script = "print(box.space.v.engine, box.space.v:count(), box.space.v:get(2)[2]) os.exit(0)";
    assert_eq!(load(directory.path(), script), "memtx\t2\tx\n");
}

/// Returns the users' spaces that have rows in a snapshot, with the group of those rows.
fn groups_of(path: &Path) -> std::collections::BTreeSet<(u32, u64)> {
    let bytes = std::fs::read(path).unwrap();
    let offset = Header::parse(&bytes).unwrap().1;
    let mut groups = std::collections::BTreeSet::new();
    let mut unpacker = tarantool::Unpacker::default();
    for place in blocks(path, &bytes, offset).unwrap() {
        let payload = unpacker.unpack(&bytes, &place).unwrap();
        let all =
            tarantool::rows(payload).map(|row| row.map(|row| (row.body.space.unwrap(), row.group)).unwrap());
        groups.extend(all.filter(|(space, _)| *space >= 512));
    }
    groups
}

/// Loads a directory with Tarantool, and runs a script there.
fn load(directory: &Path, script: &str) -> String {
    let head = BEGIN.replace("'write'", "'none'");
    testkit::tarantool(directory, &[&head, script].concat()).unwrap()
}

/// Makes a store from a directory of Tarantool, and a snapshot from the store.
fn exported(original: &Path) -> (tempfile::TempDir, Exported) {
    let finished = recover(original);
    let build = |space: &FinishedSpace| {
        Loaded::build(&space.table.schema, space.batches.clone(), &space.dead).unwrap()
    };
    let tables: Vec<Loaded> = finished.spaces.iter().map(build).collect();
    let schemas: Vec<store::Schema> =
        tables.iter().map(|table| store::Schema::clone(table.schema())).collect();
    let directory = tempfile::tempdir().unwrap();
    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let store_directory = directory.path().join("store");
    let mut writer = store::Writer::create(&disk, &store_directory, &schemas, Options::default()).unwrap();
    writer.seal_loaded(&tables.iter().collect::<Vec<_>>(), Vec::new()).unwrap();
    let snapshot = Snapshot::open(&disk, &store_directory).unwrap();
    let path = files(original, "snap").pop().unwrap();
    let mut header = Header::parse(&std::fs::read(path).unwrap()).unwrap().0;
    header.vclock = finished.vclock.clone();
    let target = Target { disk: &disk, directory: directory.path(), seconds: 1.5, like: None };
    let counted = AtomicU64::new(0);
    let count = Watch(|rows| {
        counted.fetch_add(rows, Ordering::Relaxed);
    });
    let exported =
        export(&Tuples::of_store(&snapshot).unwrap(), &spaces_of(&finished), &header, target, &count)
            .unwrap();
    assert_eq!(exported.row_count, counted.load(Ordering::Relaxed));
    (directory, exported)
}

/// Returns the spaces that the recovered system spaces define.
fn spaces_of(finished: &Finished) -> Spaces {
    let mut spaces = Spaces::new();
    for space in finished.spaces.iter().filter(|space| [280, 288].contains(&space.space.id)) {
        let loaded = Loaded::new(&space.table.schema, space.batches.clone(), &space.dead).unwrap();
        for row in loaded.rows() {
            let Value::Bytes(tuple) = loaded.value(space.table.shape.tuple_column(), row) else {
                panic!("no tuple")
            };
            if space.space.id == 280 {
                spaces.set_space(tuple).unwrap()
            } else {
                spaces.set_index(tuple).unwrap()
            };
        }
    }
    spaces
}
