//! Updates and upserts: by hand, and compared with thousands that Tarantool ran.
//!
//! Input: tuples and operations. Output: failures. Does not depend on how operations are applied.

use crate::values::{pack, show};
use std::collections::BTreeMap;
use std::path::Path;
use tarantool::msgpack::Reader;
use tarantool::space::Field;
use tarantool::update::{Context, update, upsert};
use tarantool::{Header, RowKind, Step, Unpacker, read_head, rows};

fn fields() -> Vec<Field> {
    let field = |name: &str| Field { name: name.into(), ..Field::default() };
    ["id", "n", "s", "d", "m"].map(field).to_vec()
}

/// Returns the changed tuple, or the reason why there is none. Fields count from 1.
fn updated(tuple: &str, operations: &str) -> String {
    let context = Context { index_base: 1, fields: &fields(), double_fields: &[3] };
    match update(&pack(tuple), &pack(operations), &context) {
        Ok(tuple) => show(&tuple),
        Err(why) => why,
    }
}

#[test]
fn each_operation_has_its_effect() {
    let cases = [
        ("[1, 2, 3]", r#"[["=", 2, "x"]]"#, r#"[1, "x", 3]"#),
        ("[1, 2, 3]", r#"[["=", 4, "x"]]"#, r#"[1, 2, 3, "x"]"#),
        ("[1, 2, 3]", r#"[["=", 5, "x"]]"#, "operation =: there is no such field"),
        ("[1, 2, 3]", r#"[["=", -1, "x"]]"#, r#"[1, 2, "x"]"#),
        ("[1, 2, 3]", r#"[["=", -4, "x"]]"#, "operation =: there is no such field"),
        ("[1, 2, 3]", r#"[["!", 2, "x"]]"#, r#"[1, "x", 2, 3]"#),
        ("[1, 2, 3]", r#"[["!", -1, "x"]]"#, r#"[1, 2, 3, "x"]"#),
        ("[1, 2, 3]", r#"[["!", 4, "x"], ["=", 5, 9]]"#, r#"[1, 2, 3, "x", 9]"#),
        ("[1, 2, 3]", r##"[["#", 2, 1]]"##, "[1, 3]"),
        ("[1, 2, 3]", r##"[["#", 2, 100]]"##, "[1]"),
        ("[1, 2, 3]", r##"[["#", -1, 1], ["+", 2, 1]]"##, "[1, 3]"),
        ("[1, 2, 3]", r##"[["#", 2, 0]]"##, "no fields are to be deleted"),
        ("[1, 2, 3]", r#"[["=", 2, 5], ["=", 2, 6]]"#, "[1, 6, 3]"),
        ("[1, 2, 3]", r#"[["=", 2, 5], ["+", 2, 6]]"#, "operation +: the same field is changed twice"),
        ("[1, 2, 3]", r#"[["!", 2, 5], ["+", 2, 6]]"#, "[1, 11, 2, 3]"),
        ("[1, 12, 3]", r#"[["&", 2, 10], ["|", 3, 12]]"#, "[1, 8, 15]"),
        ("[1, 12, 3]", r#"[["^", 2, 10]]"#, "[1, 6, 3]"),
        ("[1, -12, 3]", r#"[["^", 2, 10]]"#, "operation ^: a number without a sign is expected"),
        ("[1, 2]", r#"[["=", 0, 1]]"#, "there is no field 0"),
        ("[1, 2]", r#"[["?", 1, 1]]"#, "there is no operation ? of 3 parts"),
        ("[1, 2]", r#"[["=", 1]]"#, "there is no operation = of 2 parts"),
        ("[1, 2]", r#"[["=", 1.0, 1]]"#, "a place is a number or text"),
    ];
    for (tuple, operations, expected) in cases {
        assert_eq!(updated(tuple, operations), expected, "{tuple} {operations}");
    }
}

#[test]
fn sums_follow_the_rules_of_numbers() {
    let cases = [
        ("18446744073709551614", "+", "1", "18446744073709551615"),
        ("18446744073709551615", "+", "1", "operation +: a whole number overflows"),
        ("1", "-", "9223372036854775809", "-9223372036854775808"),
        ("1", "-", "9223372036854775810", "operation -: a whole number overflows"),
        ("-5", "-", "-7", "2"),
        ("1", "+", "1.5", "2.5f"),
        ("1.5", "-", "1", "0.5f"),
        ("0.1", "+", "0.2", "0.30000000000000004"),
        ("0.5f", "+", "0.25f", "0.75f"),
        ("1.0", "+", "100000000000000000000000000000000000000000.0", "1e41"),
        ("\"x\"", "+", "1", "operation +: a number is expected"),
    ];
    for (old, code, number, expected) in cases {
        let shown = updated(&format!("[7, {old}]"), &format!(r#"[["{code}", 2, {number}]]"#));
        let expected =
            if expected.starts_with("op") { expected.to_owned() } else { format!("[7, {expected}]") };
        assert_eq!(shown, expected, "{old} {code} {number}");
    }
    // A field of doubles stays one, wherever operations move it.
    assert_eq!(updated("[1, 2, 3, 1.5]", r#"[["+", 4, 1]]"#), "[1, 2, 3, 2.5]");
    assert_eq!(updated("[1, 2, 3, 1.5, 1.5]", r##"[["+", 5, 1], ["#", 2, 1]]"##), "[1, 3, 1.5, 2.5]");
}

#[test]
fn splices_count_from_both_ends() {
    let cases = [
        (1, 0, "x", "xhello"),
        (2, 2, "x", "hxlo"),
        (6, 1, "x", "hellox"),
        (99, 1, "x", "hellox"),
        (-1, 0, "x", "hellox"),
        (-2, 1, "x", "hellx"),
        (-6, 99, "x", "x"),
        (2, -1, "x", "hxo"),
        (2, -9, "x", "hxello"),
    ];
    for (offset, cut, paste, expected) in cases {
        let operations = format!(r#"[[":", 1, {offset}, {cut}, "{paste}"]]"#);
        assert_eq!(updated(r#"["hello"]"#, &operations), format!("[\"{expected}\"]"), "{operations}");
    }
    let before = updated(r#"["hello"]"#, r#"[[":", 1, -7, 0, "x"]]"#);
    assert_eq!(before, "operation :: the place is before the text");
}

#[test]
fn paths_and_names_lead_inside() {
    let tuple = r#"[1, 2, 3, 4, {"a": 1, "b": [1, 2, 3], "c": {"d": "x"}}]"#;
    let cases = [
        (r#"["+", "n", 1]"#, r#"[1, 3, 3, 4, {"a": 1, "b": [1, 2, 3], "c": {"d": "x"}}]"#),
        (r#"["+", "m.a", 1]"#, r#"[1, 2, 3, 4, {"a": 2, "b": [1, 2, 3], "c": {"d": "x"}}]"#),
        (r#"["!", "m.b[1]", 9]"#, r#"[1, 2, 3, 4, {"a": 1, "b": [9, 1, 2, 3], "c": {"d": "x"}}]"#),
        (r#"["=", "[5].b[4]", 9]"#, r#"[1, 2, 3, 4, {"a": 1, "b": [1, 2, 3, 9], "c": {"d": "x"}}]"#),
        (r##"["#", "m.b[2]", 9]"##, r#"[1, 2, 3, 4, {"a": 1, "b": [1], "c": {"d": "x"}}]"#),
        (
            r#"["=", "m['new']", nil]"#,
            r#"[1, 2, 3, 4, {"a": 1, "b": [1, 2, 3], "c": {"d": "x"}, "new": nil}]"#,
        ),
        (r##"["#", "m.c", 1]"##, r#"[1, 2, 3, 4, {"a": 1, "b": [1, 2, 3]}]"#),
        (r#"[":", "m.c.d", 1, 0, "y"]"#, r#"[1, 2, 3, 4, {"a": 1, "b": [1, 2, 3], "c": {"d": "yx"}}]"#),
        (r#"["=", "m.b[5]", 9]"#, "operation =: there is no such field"),
        (r#"["!", "m.a", 9]"#, "operation !: the key is there already"),
        (r##"["#", "m.x", 1]"##, "operation #: there is no such field"),
        (r##"["#", "m.a", 2]"##, "operation #: of a map only one pair can be deleted"),
        (r#"["=", "m.x.y", 1]"#, "operation =: there is no such field"),
        (r#"["=", "n.x", 1]"#, "operation =: there is no such field"),
        (r#"["=", "m[1]", 1]"#, "operation =: a step does not fit"),
        (r#"["=", "m.b[", 1]"#, "operation =: a path cannot be read"),
        (r#"["=", "zzz", 1]"#, "there is no field zzz"),
        (r#"["=", "[0]", 1]"#, "there is no field [0]"),
    ];
    for (operation, expected) in cases {
        assert_eq!(updated(tuple, &format!("[{operation}]")), expected, "{operation}");
    }
    // One operation alone cannot set a place twice. Between other operations it can.
    assert_eq!(
        updated("[1, {\"a\": 1}]", r#"[["=", "[2].a", 2], ["=", "[2].a", 3]]"#),
        "operation =: the same field is changed twice"
    );
    let thrice = r#"[["=", "[2].a", 2], ["=", "[2].b", 3], ["=", "[2].a", 4]]"#;
    assert_eq!(updated("[1, {\"a\": 1}]", thrice), r#"[1, {"a": 4, "b": 3}]"#);
}

#[test]
fn an_upsert_skips_operations_that_do_not_fit() {
    let context = Context { index_base: 0, fields: &fields(), double_fields: &[] };
    let upserted = |operations: &str| {
        upsert(&pack("[1, 2, \"x\"]"), &pack(operations), &context).map(|tuple| show(&tuple))
    };
    assert_eq!(
        upserted(r#"[["+", 2, 1], ["+", 1, 1], ["+", 1, 1], ["=", 9, 9]]"#),
        Ok("[1, 3, \"x\"]".to_owned())
    );
    assert_eq!(upserted(r#"[["+", 1, "x"]]"#), Err("a number is expected".to_owned()));
    assert_eq!(upserted("7"), Err("an array is expected".to_owned()));
}

/// Runs thousands of updates and upserts and prints the final tuples.
const SCRIPT: &str = r#"
local ffi, decimal = require('ffi'), require('decimal')
box.cfg{log = 'tarantool.log', wal_mode = 'write'}
local s = box.schema.space.create('s', {format = {{'id', 'unsigned'}, {'n', 'any', is_nullable = true}, {'s', 'any', is_nullable = true},
    {'d', 'double', is_nullable = true}, {'m', 'any', is_nullable = true}}})
s:create_index('pk')
math.randomseed(26)
local function pick(list) return list[math.random(#list)] end
local function number()
    return pick{0, 1, -1, 7, 255, 256, 65536, -129, 2^31, 1.5, -0.25, 0.1, 1e300, 9223372036854775807LL, 18446744073709551615ULL,
        -9223372036854775807LL, ffi.cast('double', 3), ffi.cast('float', 0.5), decimal.new('1.25'), decimal.new('-7'), decimal.new('0.001')}
end
local function value()
    return pick{number(), number(), 'text', '', 'much longer text than the other', true, {1, 2, 3}, {a = 1, b = {2, 3}}, {}, box.NULL}
end
local function map() return {a = value(), b = {value(), value(), value()}, c = {d = value()}, ['x y'] = number()} end
local function tuple() return {math.random(50), value(), pick{'text', 'other text', number()}, ffi.cast('double', pick{1, 2.5}), map(), number()} end
local flat = {2, 2, 3, 4, 4, 5, 6, 7, -1, -2, 'n', 's', 'd', 'm', 'zzz', '[3]'}
local deep = {'m.a', 'm.b[1]', 'm.b[2]', 'm.b[3]', 'm.b[4]', 'm.c.d', 'm.c.e', 'm["x y"]', '[5].new', 'm.b[0]', 'm.none.x', 'n.x', 'm.b.x'}
local function operation(places)
    local code, place = pick{'=', '!', '#', '+', '-', '+', '-', '&', '|', '^', ':', ':', '='}, pick(places)
    if code == '=' or code == '!' then return {code, place, value()} end
    if code == '#' then return {code, place, pick{1, 1, 1, 2, 9}} end
    if code == ':' then return {code, place, pick{1, 2, 5, 99, -1, -2, -5, -99}, pick{0, 1, 3, 99, -1, -3, -99}, pick{'', 'x', 'yy'}} end
    if code == '+' or code == '-' then return {code, place, number()} end
    return {code, place, pick{0, 1, 255, 65535, 18446744073709551615ULL}}
end
local done, refused = 0, 0
for _ = 1, 6000 do
    local operations, places = {}, pick{flat, deep}
    for _ = 1, pick{1, 1, 1, 2, 3, 4} do table.insert(operations, operation(places)) end
    local ok
    local what = math.random(10)
    if what == 1 then ok = pcall(s.replace, s, tuple())
    elseif what < 6 then ok = pcall(s.update, s, math.random(50), operations)
    else ok = pcall(s.upsert, s, tuple(), operations) end
    if ok then done = done + 1 else refused = refused + 1 end
end
local msgpack = require('msgpack')
for _, tuple in s:pairs() do
    print((msgpack.encode(tuple):gsub('.', function(c) return string.format('%02x', c:byte()) end)))
end
print(done, refused)
os.exit(0)
"#;

#[test]
fn thousands_of_updates_end_where_tarantool_ended() {
    let directory = tempfile::tempdir().unwrap();
    let Some(printed) = testkit::tarantool(directory.path(), SCRIPT) else { return };
    let (tuples, counts) = printed.trim_end().rsplit_once('\n').unwrap();
    let done: u32 = counts.split('\t').next().unwrap().parse().unwrap();
    assert!(done > 3000, "{counts}");
    let theirs: Vec<String> = tuples.lines().map(|hex| show(&crate::spaces::bytes(hex))).collect();
    let replayed = replay(&directory.path().join("00000000000000000000.xlog"), 512);
    let ours: Vec<String> = replayed.values().map(|tuple| show(tuple)).collect();
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

/// Applies a log to a map of tuples by their first field.
fn replay(path: &Path, space: u32) -> BTreeMap<u64, Vec<u8>> {
    let file = std::fs::read(path).unwrap();
    let mut offset = Header::parse(&file).unwrap().1;
    let mut tuples: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut unpacker = Unpacker::default();
    let first = |tuple: &[u8]| {
        let mut reader = Reader::new(tuple);
        reader.array_len().unwrap();
        reader.uint().unwrap_or(u64::MAX)
    };
    while let Step::Block(place) = read_head(&file, offset).unwrap() {
        offset = place.payload.end;
        for row in rows(unpacker.unpack(&file, &place).unwrap()) {
            let row = row.unwrap();
            if row.body.space != Some(space) {
                continue;
            }
            let context = Context {
                index_base: row.body.index_base.unwrap_or(0),
                fields: &fields(),
                double_fields: &[3],
            };
            let body = &row.body;
            match row.kind {
                RowKind::Replace => {
                    let tuple = body.tuple.unwrap();
                    tuples.insert(first(tuple), tuple.to_vec());
                }
                RowKind::Update => {
                    if let Some(tuple) = tuples.get_mut(&first(body.key.unwrap())) {
                        *tuple = update(tuple, body.tuple.unwrap(), &context).unwrap();
                    }
                }
                RowKind::Upsert => {
                    let given = body.tuple.unwrap();
                    let old = tuples.get(&first(given));
                    let new = old.map(|old| upsert(old, body.ops.unwrap(), &context).unwrap());
                    let new = new.unwrap_or_else(|| given.to_vec());
                    // If an upsert changes the primary key, all of it is void.
                    if new.len() > 1 && first(&new) == first(given) {
                        tuples.insert(first(given), new);
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }
    tuples
}
