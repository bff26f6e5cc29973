//! Spaces by Tarantool's definitions, and as tables.
//!
//! Input: definitions that Tarantool made, and old ones made by hand. Output: failures. Does not depend on
//! how tuples are read.

use store::{Kind, Value};
use tarantool::msgpack::{self, Reader};
use tarantool::space::Spaces;
use tarantool::table::SpaceTable;

/// Creates spaces with all kinds of indexes and prints their definitions.
const SCRIPT: &str = r"
box.cfg{log = 'tarantool.log'}
local function create(name, options, indexes)
    local space = box.schema.space.create(name, options)
    for _, index in ipairs(indexes) do space:create_index(index[1], index[2]) end
    return space
end
create('plain', {}, {{'pk', {parts = {1, 'unsigned'}}}, {'by_name', {unique = false, parts = {{3, 'string'}}}}})
create('hashed', {is_local = true}, {{'pk', {type = 'hash', parts = {2, 'string', 1, 'unsigned'}}},
    {'second', {type = 'hash', parts = {1, 'unsigned'}}}})
create('types', {format = {{'a', 'integer'}, {'b', 'number', is_nullable = true}, {'c', 'uuid'}}}, {
    {'pk', {parts = {'a'}}}, {'b', {parts = {{'b', is_nullable = true}}}}, {'c', {parts = {'c'}}},
    {'all', {unique = false, parts = {{4, 'scalar', is_nullable = true}, {5, 'boolean'}, {6, 'varbinary'}, {7, 'decimal'}, {8, 'double'}}}}})
create('paths', {}, {{'pk', {parts = {1, 'unsigned'}}},
    {'inside', {parts = {{2, 'string', path = 'name.first'}, {3, 'unsigned', path = '[2]', is_nullable = true}}}}})
create('left_out', {}, {{'pk', {parts = {1, 'unsigned'}}}, {'area', {type = 'rtree', parts = {2, 'array'}}},
    {'bits', {type = 'bitset', unique = false, parts = {3, 'unsigned'}}}, {'tags', {unique = false, parts = {{4, 'string', path = '[*]'}}}},
    {'caseless', {parts = {{5, 'string', collation = 'unicode_ci'}}}}, {'binary', {parts = {{5, 'string', collation = 'binary'}}}}})
box.schema.func.create('f', {body = 'function(t) return {t[1]} end', is_deterministic = true, is_sandboxed = true})
box.space.left_out:create_index('computed', {func = 'f', parts = {{1, 'unsigned'}}})
create('by_collation', {}, {{'pk', {parts = {{1, 'string', collation = 'unicode_ci'}}}}, {'second', {parts = {2, 'unsigned'}}}})
create('disk', {engine = 'vinyl'}, {{'pk', {parts = {1, 'unsigned'}}}})
create('gone', {temporary = true}, {{'pk', {parts = {1, 'unsigned'}}}})
local msgpack = require('msgpack')
local function hex(tuple) return (msgpack.encode(tuple):gsub('.', function(c) return string.format('%02x', c:byte()) end)) end
for _, tuple in box.space._space:pairs() do print('space ' .. hex(tuple)) end
for _, tuple in box.space._index:pairs() do print('index ' .. hex(tuple)) end
os.exit(0)
";

const DESCRIBED: &str = "\
plain: space_512(key_0 U64, key_1 Bytes, tuple Bytes) primary [0]
  pk -> primary
  by_name -> by_name Ordered [1]
hashed: space_513(key_0 U64, key_1 Bytes, tuple Bytes) primary [1, 0] local
  pk -> primary, pk Hash unique [1, 0]
  second -> second Hash unique [0]
types: space_514(key_0 Bytes, key_1 Bytes, key_2 Bytes, key_3 Bytes, key_4 Bytes, key_5 Bytes, key_6 Bytes, \
key_7 Bytes, tuple Bytes) primary [0]
  pk -> primary
  b -> b Ordered [1]
  c -> c Ordered unique [2]
  all -> all Ordered [3, 4, 5, 6, 7]
paths: space_515(key_0 U64, key_1 Bytes, key_2 Bytes, tuple Bytes) primary [0]
  pk -> primary
  inside -> inside Ordered [1, 2]
left_out: space_516(key_0 U64, key_1 Bytes, key_2 Bytes, tuple Bytes) primary [0]
  pk -> primary
  tags -> entries_516_3(key_0 Bytes, primary_0 U64)
  caseless -> caseless Ordered [2]
  binary -> binary Ordered unique [1]
  space left_out (516): index area is of the type RTREE: it answers no look-up
  space left_out (516): index bits is of the type BITSET: it answers no look-up
  space left_out (516): index computed is functional, and only Tarantool runs the function that makes its \
keys: it answers no look-up
by_collation: space_517(key_0 Bytes, key_1 U64, tuple Bytes) primary [0]
  pk -> primary
  second -> second Ordered unique [1]
disk: space_518(key_0 U64, tuple Bytes) primary [0]
  pk -> primary
";

#[test]
fn definitions_by_tarantool_become_tables() {
    let directory = tempfile::tempdir().unwrap();
    let Some(printed) = testkit::tarantool(directory.path(), SCRIPT) else { return };
    let mut spaces = Spaces::new();
    for line in printed.lines() {
        let (what, hex) = line.split_once(' ').unwrap();
        let tuple = bytes(hex);
        match what {
            "space" => spaces.set_space(&tuple).unwrap(),
            _ => spaces.set_index(&tuple).unwrap(),
        };
    }
    let described =
        |from: u32| spaces.ids().filter(|&id| id >= from).map(|id| describe(&spaces, id)).collect::<String>();
    assert_eq!(described(512), DESCRIBED);
    // The built-in definitions of system spaces agree with Tarantool's.
    let built_in = Spaces::new();
    for id in built_in.ids() {
        let (ours, theirs) = (built_in.get(id).unwrap().unwrap(), spaces.get(id).unwrap().unwrap());
        assert_eq!((&ours.name, &ours.indexes[0]), (&theirs.name, &theirs.indexes[0]));
    }
    assert_eq!(spaces.named("paths").unwrap().unwrap().id, 515);
    assert!(!spaces.get(519).unwrap().unwrap().has_rows());
    assert!(!spaces.get(281).unwrap().unwrap().has_rows());
}

pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().map(|digit| u8::try_from(digit.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn describe(spaces: &Spaces, id: u32) -> String {
    let space = spaces.get(id).unwrap().unwrap();
    if !space.has_rows() {
        return String::new();
    }
    let table = SpaceTable::new(&space);
    table.schema.validate().unwrap();
    let columns: Vec<String> =
        table.schema.columns.iter().map(|column| format!("{} {:?}", column.name, column.kind)).collect();
    let mut out = format!(
        "{}: {}({}) primary {:?}{}\n",
        space.name,
        table.schema.name,
        columns.join(", "),
        table.schema.primary,
        if space.is_local { " local" } else { "" },
    );
    for index in &table.indexes {
        let mut names = Vec::new();
        if let Some(entries) = &index.entries {
            entries.schema.validate().unwrap();
            let columns = entries.schema.columns.iter();
            let columns: Vec<String> =
                columns.map(|column| format!("{} {:?}", column.name, column.kind)).collect();
            names.push(format!("{}({})", entries.schema.name, columns.join(", ")));
        } else if index.store_name == store::PRIMARY {
            names.push("primary".to_owned());
        }
        for made in table.schema.indexes.iter().filter(|made| made.name == index.name) {
            let unique = if made.unique { " unique" } else { "" };
            names.push(format!("{} {:?}{unique} {:?}", made.name, made.kind, made.columns));
        }
        out += &format!("  {} -> {}\n", index.name, names.join(", "));
    }
    table.remarks.iter().for_each(|remark| out += &format!("  {remark}\n"));
    out
}

/// Writes a tuple from words: numbers, `nil`, `[2` for an array of two, `{1` for a map of one, anything else
/// as text.
fn tuple(words: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for word in words.split_whitespace() {
        if let Some(length) = word.strip_prefix('[') {
            msgpack::put_array_len(&mut out, length.parse().unwrap());
        } else if let Some(length) = word.strip_prefix('{') {
            msgpack::put_map_len(&mut out, length.parse().unwrap());
        } else if let Ok(number) = word.parse() {
            msgpack::put_uint(&mut out, number);
        } else {
            match word {
                "nil" => msgpack::put_nil(&mut out),
                "true" => msgpack::put_boolean(&mut out, true),
                text => msgpack::put_str(&mut out, text.trim_matches('\'').as_bytes()),
            }
        }
    }
    out
}

#[test]
fn old_definitions_are_read() {
    let mut spaces = Spaces::new();
    // Flags as text; options and parts as a list of numbers.
    spaces.set_space(&tuple("[6 600 1 old memtx 0 ''")).unwrap();
    spaces.set_index(&tuple("[8 600 0 primary tree 1 1 0 num")).unwrap();
    spaces.set_index(&tuple("[10 600 1 second hash 0 2 2 STR 1 num")).unwrap();
    spaces.set_space(&tuple("[6 601 1 lost memtx 0 temporary")).unwrap();
    // Nullability from the format, and parts with additional values after the type.
    spaces.set_space(&tuple("[7 602 1 new memtx 0 {0 [2 {2 name a type str {1 is_nullable true")).unwrap();
    spaces.set_index(&tuple("[6 602 0 primary tree {1 unique true [1 [2 0 unsigned")).unwrap();
    spaces.set_index(&tuple("[6 602 1 second tree {0 [2 [3 1 string {0 [2 2 string")).unwrap();
    spaces.set_index(&tuple("[6 602 2 odd tree {0 [1 {3 field 3 type unsigned sort_order desc")).unwrap();
    spaces
        .set_index(&tuple(
            "[6 602 3 nils tree {0 [1 {4 field 3 type unsigned is_nullable true exclude_null true",
        ))
        .unwrap();
    spaces.set_index(&tuple("[6 602 4 any tree {0 [1 [2 3 any")).unwrap();
    spaces.set_index(&tuple("[4 602 5 cut tree")).unwrap();
    let described: String = spaces.ids().filter(|&id| id >= 600).map(|id| describe(&spaces, id)).collect();
    assert_eq!(
        described,
        "\
old: space_600(key_0 U64, key_1 U64, key_2 Bytes, tuple Bytes) primary [0]
  primary -> primary
  second -> second Hash [2, 1]
new: space_602(key_0 U64, key_1 Bytes, key_2 Bytes, key_3 Bytes, tuple Bytes) primary [0]
  primary -> primary
  second -> second Ordered [1, 2]
  odd -> odd Ordered unique [3]
  nils -> entries_602_3(key_0 Bytes, primary_0 U64)
  space new (602): index any has a part of the type any: it answers no look-up
  space new (602): index cut cannot be read (a value is cut off): it answers no look-up
"
    );
}

#[test]
fn spaces_and_indexes_are_created_and_dropped() {
    let mut spaces = Spaces::new();
    let before: Vec<u32> = spaces.ids().collect();
    assert_eq!(spaces.set_space(&tuple("[3 600 1 here")), Ok(600));
    assert_eq!(spaces.set_index(&tuple("[6 600 0 primary tree {0 [1 [2 0 unsigned")), Ok(600));
    assert_eq!(spaces.get(600).unwrap().unwrap().indexes.len(), 1);
    spaces.remove_index(600, 0);
    assert_eq!(spaces.get(600).unwrap().unwrap().indexes.len(), 0);
    spaces.remove_space(600);
    assert_eq!((spaces.get(600), spaces.ids().collect::<Vec<_>>()), (Ok(None), before));
    assert!(spaces.set_space(&tuple("[0")).is_err() && spaces.set_index(&tuple("[2 600 nil")).is_err());
}

#[test]
fn index_names_that_the_store_does_not_take_are_replaced() {
    let mut spaces = Spaces::new();
    spaces.set_space(&tuple("[3 600 1 here")).unwrap();
    for (iid, name) in [(0, "a"), (1, "index_3"), (2, ""), (3, "\u{7}")] {
        spaces.set_index(&tuple(&format!("[6 600 {iid} '{name}' tree {{0 [1 [2 {iid} unsigned"))).unwrap();
    }
    let table = SpaceTable::new(&spaces.get(600).unwrap().unwrap());
    let names: Vec<&str> = table.indexes.iter().map(|index| index.store_name.as_str()).collect();
    assert_eq!(names, ["", "index_3", "index_2", "index_3_2"]);
    assert_eq!(table.index("\u{7}").unwrap().iid, 3);
    table.schema.validate().unwrap();
}

/// Reads a tuple and shows the values, and whether the walk reached the tuple's end.
fn taken(table: &SpaceTable, words: &str) -> Result<Vec<String>, &'static str> {
    let mut bytes = tuple(words);
    bytes.extend_from_slice(b"behind");
    let mut reader = Reader::new(&bytes);
    let mut values = Vec::new();
    let walked = table.shape.take_keys(&mut reader, &mut Vec::new(), |column, value| {
        assert_eq!(column, values.len());
        assert!(value.fits(table.schema.columns[column].kind));
        values.push(match value {
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => format!("{other:?}"),
        });
    });
    walked.map_err(|damage| damage.what)?;
    assert_eq!(reader.rest(), b"behind");
    Ok(values)
}

#[test]
fn tuples_become_rows_in_one_walk() {
    let mut spaces = Spaces::new();
    spaces.set_space(&tuple("[3 600 1 plain")).unwrap();
    spaces.set_index(&tuple("[6 600 0 primary tree {0 [1 [2 1 unsigned")).unwrap();
    spaces.set_index(&tuple("[6 600 1 second tree {0 [1 [2 3 string")).unwrap();
    let plain = SpaceTable::new(&spaces.get(600).unwrap().unwrap());
    assert_eq!(taken(&plain, "[4 x 7 [2 1 2 text").unwrap(), ["U64(7)", "text"]);
    assert_eq!(taken(&plain, "[6 x 7 nil text {1 a [1 2 9").unwrap(), ["U64(7)", "text"]);
    assert_eq!(taken(&plain, "[3 x 7 nil"), Err("a tuple lacks a field of a key"));
    assert_eq!(taken(&plain, "[4 x 7 nil 8"), Err("text is expected"));
    assert_eq!(taken(&plain, "{2 x 7 nil a"), Err("an array is expected"));

    spaces
        .set_index(&tuple(
            "[6 600 2 inside tree {0 [2 {3 field 3 type string path a {4 field 3 type string \
        path b[2] is_nullable true",
        ))
        .unwrap();
    spaces.set_index(&tuple("[6 600 1 second tree {0 [1 {3 field 4 type string is_nullable true")).unwrap();
    let nested = SpaceTable::new(&spaces.get(600).unwrap().unwrap());
    assert_eq!(
        taken(&nested, "[6 x 7 nil {2 a A b [2 1 B text 9").unwrap(),
        ["U64(7)", "A", "\u{1}B", "\u{1}text"]
    );
    assert_eq!(taken(&nested, "[4 x 7 nil {2 b 1 a A").unwrap(), ["U64(7)", "A", "\0", "\0"]);
    assert_eq!(taken(&nested, "[4 x 7 nil {1 b 1"), Err("a tuple lacks a field of a key"));

    spaces.set_index(&tuple("[6 600 0 primary tree {0 [1 {3 field 0 type string collation 999")).unwrap();
    let arrival = SpaceTable::new(&spaces.get(600).unwrap().unwrap());
    assert_eq!((arrival.shape.arrival_column(), arrival.shape.tuple_column()), (Some(3), 4));
    assert_eq!(arrival.schema.kind(4), Some(Kind::Bytes));
    assert!(arrival.primary().is_none() && nested.primary().is_some());
    assert_eq!(taken(&arrival, "[5 x 7 nil {1 a A text").unwrap(), ["A", "\0", "\u{1}text"]);
}

/// A part that all entries share would be kept once for each.
#[test]
fn entries_that_are_too_large_are_refused() {
    let mut spaces = Spaces::new();
    spaces.set_space(&tuple("[3 600 1 many")).unwrap();
    spaces.set_index(&tuple("[6 600 0 primary tree {0 [1 [2 0 unsigned")).unwrap();
    spaces
        .set_index(&tuple("[6 600 1 tags tree {0 [2 {3 field 1 type unsigned path '[*]' [2 2 string"))
        .unwrap();
    let table = SpaceTable::new(&spaces.get(600).unwrap().unwrap());
    let with = |count: u32| {
        let mut out = Vec::new();
        msgpack::put_array_len(&mut out, 3);
        msgpack::put_uint(&mut out, 7);
        msgpack::put_array_len(&mut out, count);
        (0..count).for_each(|number| msgpack::put_uint(&mut out, u64::from(number)));
        msgpack::put_str(&mut out, &vec![b'x'; 1 << 20]);
        let taken = table.shape.take_keys(&mut Reader::new(&out), &mut Vec::new(), |_, _| ());
        taken.map_err(|damage| damage.what)
    };
    assert_eq!(with(63), Ok(()));
    assert_eq!(with(64), Err("the entries of a tuple in a multikey index are too large"));
}
