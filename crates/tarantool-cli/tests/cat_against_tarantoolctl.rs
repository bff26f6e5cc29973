//! `pneu-tarantool cat` beside `tarantoolctl cat`, on files that Tarantool itself wrote.

use crate::support::Home;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::tarantool;

/// Values of every kind, in rows of every kind.
const WRITE: &str = r#"
box.cfg{memtx_dir='.', wal_dir='.', vinyl_dir='.', log='log', checkpoint_count=9}
local decimal, uuid, ffi = require('decimal'), require('uuid'), require('ffi')
local types = box.schema.space.create('types', {format={
    {'id', 'unsigned'}, {'text', 'string', is_nullable=true}, {'any', 'any', is_nullable=true}}})
types:create_index('pk')
local values = {
    'plain', '', ' lead', 'trail ', ' ', 'true', 'yes', 'null', '~', '12', '0x1f', '1e3', 'inf', 'nan', "it's",
    'a: b', 'a #b', '- x', '-', '--- x', 'x\ny', 'x\n\ny', 'x\n', '\n', '\n x', 'x \ny', '\tx', 'x\ty', 'ä€😀',
    '\27[1m', '\255\254', '\0', 'a\0b', string.rep('word ', 40), string.rep('x', 200), string.rep('\tword ', 40),
    string.rep('two  ', 60), 'a  b', '{a}', '[a]', 'a,b', '? a', '!x', '&x', '*x', '|x', '>x', '%x', '@x', '`x',
    '"q"', 'a"b', 'a\\b', '\r', 'a\r\nb', '\194\133', '\194\160', '\226\128\168', '\239\187\191x', '\238\128\128',
    '\240\159\152\128', '\240\159\191\191', '\243\160\128\129', '\237\160\128', '=', '<<', '.', '...', '---',
    string.rep('\255', 100), string.rep('ä', 100),
    0, 1, 127, 128, 255, 256, 65535, 65536, 4294967296, 99999999999999, 100000000000000, 100000000000001,
    9007199254740993ULL, 18446744073709551615ULL, -1, -128, -2147483649, -9223372036854775807LL,
    -100000000000000LL, -100000000000001LL, 0.5, 1.5e300, -1.5, 1/3, 0.1, 1e-7, 123456789.123456789, 1e15, 1e100,
    1/0, -1/0, 0/0, -(0/0), ffi.new('float', 0.1), ffi.new('double', 5), ffi.new('double', -0.0),
    ffi.new('double', 1e18), ffi.new('double', -1e19), 1e14 + 0.5, 1e-5, 0.0001,
    true, false, box.NULL, decimal.new('1.50'), decimal.new('-123456789012345678901234567890.12345678'),
    decimal.new('1e30'), decimal.new('1e-20'), decimal.new(0), decimal.new('-0.10'), decimal.new('1e-38'),
    uuid.fromstr('11111111-2222-3333-4444-555555555555'), uuid.fromstr('00000000-0000-0000-0000-000000000000'),
    {}, {1, 2, 3}, {a=1}, {a={b={c={1, {2}}}}}, {[1]='x', [5]='y'}, setmetatable({}, {__serialize='map'}), {{}},
    {{1, 2}, {3}}, {x={}}, {{a=1}, {b=2}}, {1, box.NULL, 3}, {[0]='a', [1]='b'}, {[-1]='a', [2.5]='b', x='c'},
    {[true]=1, [false]=2}, {[string.rep('k', 200)]=1, ['a b']=2, ['']=3, ['1']=4, ['x\ny']=5, ['\255']=6},
    {[string.rep('k', 130)]={1, 2}, z={string.rep('long ', 30)}},
}
for number, value in ipairs(values) do types:insert{number, 'n', value} end
types:insert{1000, box.NULL, box.NULL}
types:insert{1001}
types:insert{1002, 'x', 'y', 'z', 4, box.NULL}
local seed = 1
local function random(bound)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return math.floor(seed / 65536) % bound
end
local function name(length)
    local letters = {}
    for place = 1, length do letters[place] = string.char(97 + random(26)) end
    return table.concat(letters)
end
local function map()
    local filled = {}
    for _ = 1, random(40) do
        local kind = random(10)
        if kind < 7 then filled[name(1 + random(20))] = random(1000)
        elseif kind < 8 then filled[random(30)] = random(1000)
        elseif kind < 9 then filled[-random(30) - 1] = random(1000)
        else filled[name(3)] = {[name(2)]=1, [name(5)]=2, [name(9)]={1, 2}} end
    end
    return setmetatable(filled, {__serialize='map'})
end
for number = 2000, 2300 do types:insert{number, name(random(12)), map(), map()} end
box.snapshot()
for number, value in ipairs(values) do types:replace{number, 'n', value} end
local free = box.schema.space.create('free')
free:create_index('pk', {parts={{1, 'string'}}})
free:insert{'k', 1, {2}}
free:update('k', {{'=', 2, 'x'}, {'!', 4, 5}})
free:upsert({'k', 1}, {{'=', 2, 'old'}})
for _ = 1, 50 do free:upsert({'new', 1, map()}, {{'=', 2, map()}, {'!', -1, {a=1}}}) end
free:delete('k')
box.begin() free:insert{'t1'} free:insert{'t2', map()} types:delete(1) box.commit()
local own = box.schema.space.create('own', {is_local=true})
own:create_index('pk')
own:insert{1}
local sync = box.schema.space.create('sync', {is_sync=true})
sync:create_index('pk')
sync:insert{1}
box.begin() sync:insert{2} own:insert{2} box.commit()
free:before_replace(function(old, new) return old end)
free:insert{'nothing'}
local v = box.schema.space.create('v', {engine='vinyl'})
v:create_index('pk')
v:create_index('by_text', {parts={{2, 'string'}}, unique=false})
for number = 1, 1000 do v:insert{number, 'text ' .. number} end
box.snapshot()
for number = 1, 1000, 3 do v:delete{number} end
v:upsert({2, 'x'}, {{'=', 2, 'changed'}})
v:upsert({5000, 'x'}, {{'=', 2, 'changed'}})
box.snapshot()
os.exit(0)
"#;

/// Fills a directory, once for all comparisons. `None` if there is no Tarantool.
fn filled() -> Option<(Home, Vec<PathBuf>)> {
    let home = Home::new();
    let directory = home.path().join("shop");
    fs::create_dir(&directory).unwrap();
    tarantool(&directory, WRITE)?;
    let mut files = Vec::new();
    add_files(&directory, home.path(), &mut files);
    files.sort();
    Some((home, files))
}

/// Adds the files of rows in a directory and below it, with paths that begin at `base`.
fn add_files(directory: &Path, base: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().map(|end| end.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            add_files(&path, base, files);
        } else if matches!(extension.as_str(), "snap" | "xlog" | "vylog" | "run" | "index") {
            files.push(path.strip_prefix(base).unwrap().to_owned());
        }
    }
}

/// Returns what `tarantoolctl cat` prints, with these arguments.
fn tarantoolctl(home: &Home, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new("tarantoolctl");
    let output = command.arg("cat").args(arguments).current_dir(home.path()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Returns what the program prints, whatever its exit code.
fn ours(home: &Home, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pneu-tarantool"));
    let output = command.arg("cat").args(arguments).current_dir(home.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr).replace("pneu-tarantool: nothing found\n", ""), "");
    output.stdout
}

fn assert_same(home: &Home, ours_given: &[&str], theirs_given: &[&str]) {
    let (found, expected) = (ours(home, ours_given), tarantoolctl(home, theirs_given));
    if found == expected {
        return;
    }
    let lines = |bytes: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(bytes).split('\n').map(str::to_owned).collect()
    };
    let (found, expected) = (lines(&found), lines(&expected));
    let at = found.iter().zip(&expected).position(|(one, two)| one != two);
    let at = at.unwrap_or(found.len().min(expected.len()));
    let near = |lines: &[String]| lines[at.saturating_sub(6)..lines.len().min(at + 3)].join("\n");
    panic!("{ours_given:?}, line {at}:\n{}\n-- expected:\n{}", near(&found), near(&expected));
}

#[test]
fn yaml_and_lua_are_those_of_tarantoolctl() {
    let Some((home, files)) = filled() else { return };
    assert!(files.iter().any(|path| path.extension().is_some_and(|end| end == "run")), "{files:?}");
    for path in &files {
        let path = path.to_str().unwrap();
        for format in ["yaml", "lua"] {
            let form = format!("--format={format}");
            assert_same(&home, &[path, "--format", format], &[path, &form]);
            assert_same(&home, &[path, "--format", format, "--show-system"], &[path, &form, "--show-system"]);
        }
    }
    // Several files, and what is chosen of them.
    let logs: Vec<&str> =
        files.iter().filter_map(|path| path.to_str()).filter(|p| p.ends_with("xlog")).collect();
    for chosen in [
        &["--space=513"][..],
        &["--space=512", "--space=280"],
        &["--from=100", "--to=300"],
        &["--replica=1", "--to=200"],
    ] {
        let given = [&logs[..], &["--format=yaml"], chosen].concat();
        assert_same(&home, &given, &given);
    }
}

/// Every row of the files, and every value in them, is an object that other programs read.
#[test]
fn json_has_all_rows_with_the_names_of_their_fields() {
    let Some((home, files)) = filled() else { return };
    for path in files.iter().filter_map(|path| path.to_str()) {
        let rows = ours(&home, &[path, "--show-system"]);
        let expected = tarantoolctl(&home, &[path, "--format=yaml", "--show-system"]);
        let count = String::from_utf8_lossy(&expected).lines().filter(|line| *line == "---").count();
        let text = String::from_utf8(rows).unwrap();
        assert_eq!(text.lines().count(), count, "{path}");
        for line in text.lines().chain(String::from_utf8(ours(&home, &[path, "--exact"])).unwrap().lines()) {
            let row: serde_json::Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert!(row["lsn"].is_u64() && (row["type"].is_string() || row["type"].is_u64()), "{line}");
        }
    }
    let log = files.iter().filter_map(|path| path.to_str()).find(|path| path.ends_with("xlog")).unwrap();
    let first = String::from_utf8(ours(&home, &[log, "--space", "types", "--key", "1"])).unwrap();
    let first: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert_eq!(first["tuple"], serde_json::json!({"id": 1, "text": "n", "any": "plain"}));
    assert_eq!(first["space"], "types");
}
