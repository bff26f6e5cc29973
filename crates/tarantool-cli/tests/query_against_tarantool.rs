//! `scan` and `count` with conditions, compared with what `index:select` of a real Tarantool returns, on keys
//! of all types; and the same conditions as expressions on fields.

use crate::support::Home;
use std::fs;
use testkit::tarantool;

/// Fills a space with a field of each type, and prints for random keys and iterators which tuples Tarantool
/// selects: the index, the iterator, the words of the key, the key as an expression writes it, the tuples.
const SCRIPT: &str = r#"
box.cfg{memtx_dir='.', wal_dir='.', log='log'}
local uuid, decimal = require('uuid'), require('decimal')
math.randomseed(11)
local random = math.random
local function text(length)
    local letters = {}
    for place = 1, random(0, length) do letters[place] = string.sub('abB ~', random(5), -1):sub(1, 1) end
    return table.concat(letters)
end
local big = {18446744073709551615ULL, 9007199254740993ULL, 9007199254740992ULL, 0ULL}
local make = {
    unsigned = function() if random(4) == 1 then return big[random(4)] end return random(0, 30) end,
    integer = function() if random(8) == 1 then return -9223372036854775807LL end return random(-15, 15) end,
    number = function()
        local kind = random(4)
        if kind == 1 then return random(-9, 9) + 0.5 end
        if kind == 2 then return random(-9, 9) / 10 end
        if kind == 3 then return 9007199254740993LL end
        return random(-9, 9)
    end,
    decimal = function() return decimal.new(random(-20, 20)) / 8 end,
    string = function() return text(3) end,
    boolean = function() return random(2) == 1 end,
    uuid = function() return uuid.fromstr(string.format('00000000-0000-4000-8000-0000000000%02x', random(0, 30))) end,
    scalar = function()
        local kind = random(3)
        if kind == 1 then return random(-9, 9) end
        if kind == 2 then return 'x' .. text(2) end
        return random(2) == 1
    end,
    maybe = function() if random(3) == 1 then return box.NULL end return random(-5, 5) end,
}
local names = {'unsigned', 'integer', 'number', 'decimal', 'string', 'boolean', 'uuid', 'scalar', 'maybe'}
local format = {{name = 'id', type = 'unsigned'}}
for place, name in ipairs(names) do
    local kind = name == 'maybe' and 'integer' or name
    format[place + 1] = {name = name, type = kind, is_nullable = name == 'maybe'}
end
local all = box.schema.space.create('all', {format = format})
all:create_index('pk')
for place, name in ipairs(names) do
    local kind = name == 'maybe' and 'integer' or name
    all:create_index(name, {unique = false, parts = {{place + 1, kind, is_nullable = name == 'maybe'}}})
end
all:create_index('three', {unique = false, parts = {{6, 'string'}, {7, 'boolean'}, {3, 'integer'}}})
for id = 1, 400 do
    local tuple = {id}
    for place, name in ipairs(names) do tuple[place + 1] = make[name]() end
    all:insert(tuple)
end
box.snapshot()
local function word(value)
    if value == nil then return 'null' end
    if type(value) == 'number' then return string.format('%.17g', value) end
    return (tostring(value):gsub('U?LL$', ''))
end
local function literal(value)
    local is_uuid = tostring(value):find('-4000-8000-', 1, true)
    if type(value) == 'string' or is_uuid then return '"' .. tostring(value) .. '"' end
    return word(value)
end
local function tell(index, key)
    local words, literals = {}, {}
    for place, value in ipairs(key) do words[place], literals[place] = word(value), literal(value) end
    for _, iterator in ipairs{'EQ', 'REQ', 'GE', 'GT', 'LE', 'LT'} do
        local ids = {}
        for place, tuple in ipairs(index:select(key, {iterator = iterator})) do ids[place] = tostring(tuple[1]) end
        print(table.concat({index.name, iterator, table.concat(words, '|'), literals[1], table.concat(ids, ' ')}, '\t'))
    end
end
for _, name in ipairs(names) do
    for _ = 1, 6 do tell(all.index[name], {make[name]()}) end
end
for count = 1, 3 do
    for _ = 1, 5 do
        local key = {make.string(), make.boolean(), make.integer()}
        for place = 3, count + 1, -1 do key[place] = nil end
        tell(all.index.three, key)
    end
end
os.exit(0)
"#;

#[test]
fn conditions_select_what_tarantool_selects() {
    let home = Home::new();
    let from = home.path().join("from");
    fs::create_dir(&from).unwrap();
    let Some(printed) = tarantool(&from, SCRIPT) else { return };
    home.good(&["load", "from", "--into", "s", "-q"]);
    let (mut compared, mut not_empty) = (0, 0);
    for line in printed.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let [index, iterator, words, literal, ids] = parts[..] else { panic!("{line}") };
        let mut arguments = vec!["scan", "s", "all", "--fields", "id", "--index", index];
        let (option, sign) = match iterator {
            "EQ" | "REQ" => ("--eq", "="),
            "GE" => ("--ge", ">="),
            "GT" => ("--gt", ">"),
            "LE" => ("--le", "<="),
            _ => ("--lt", "<"),
        };
        arguments.push(option);
        arguments.extend(words.split('|'));
        if ["REQ", "LE", "LT"].contains(&iterator) {
            arguments.push("--reverse");
        }
        let found = |arguments: &[&str]| -> Vec<String> {
            let run = home.run(arguments);
            assert!(run.code == Some(0) || run.code == Some(1) && run.out.is_empty(), "{line}: {run:?}");
            run.out.lines().map(|line| line.trim_matches(['[', ']']).to_owned()).collect()
        };
        let mut wanted: Vec<&str> = ids.split_whitespace().collect();
        assert_eq!(found(&arguments), wanted, "{line}");
        compared += 1;
        not_empty += usize::from(!wanted.is_empty());
        // An index has nil before everything; an expression finds it by "is null" alone.
        if index == "three" || index == "maybe" {
            continue;
        }
        let count = home.run(&["count", "s", "all", "--index", index, option, words]).out;
        assert_eq!(count, format!("{}\n", wanted.len()), "{line}");
        wanted.sort_by_key(|id| id.parse::<u32>().unwrap());
        let expression = format!("{index} {sign} {literal}");
        assert_eq!(found(&["scan", "s", "all", "--fields", "id", "--where", &expression]), wanted, "{line}");
    }
    assert!(compared > 400 && not_empty > 250, "{compared} comparisons, {not_empty} with tuples");
}
