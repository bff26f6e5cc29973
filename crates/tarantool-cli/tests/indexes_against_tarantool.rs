//! Indexes with collations, with several entries for a tuple, and with functions, compared with a real
//! Tarantool: what its `index:select` and `index:count` return, and whether it starts from what is exported.

use crate::support::Home;
use std::fs;
use testkit::tarantool;

/// Makes the spaces, one part in a snapshot and one in a log.
const MAKE: &str = r#"
box.cfg{memtx_dir='.', wal_dir='.', log='log', checkpoint_count=9}
local words = {'apple', 'Apple', 'APFEL', 'Äpfel', 'äpfel', 'straße', 'Strasse', 'STRASSE', 'zebra', 'Öl', 'ol', 'Oel',
    'čas', 'cas', 'chata', 'hora', 'ёлка', 'Елка', 'ель', 'かな', 'カナ', 'résumé', 'resume', 'co-op', 'coop', '', 'a b', 'A-b'}
local function word(number) return words[number % #words + 1] end

local text = box.schema.space.create('text')
text:create_index('pk')
text:create_index('ci', {unique = false, parts = {{2, 'string', collation = 'unicode_ci'}}})
text:create_index('full', {unique = false, parts = {{2, 'string', collation = 'unicode'}}})
text:create_index('german', {unique = false, parts = {{2, 'string', collation = 'unicode_de__phonebook_s2'}}})
text:create_index('czech', {unique = false, parts = {{2, 'string', collation = 'unicode_cs_s3'}}})
text:create_index('two', {unique = false, parts = {{3, 'string', collation = 'unicode_ci', is_nullable = true}, {1, 'unsigned'}}})
text:create_index('hash', {type = 'hash', parts = {{2, 'string', collation = 'unicode_ci'}, {1, 'unsigned'}}})
text:create_index('scalar', {unique = false, parts = {{4, 'scalar', collation = 'unicode_ci'}}})
box.internal.collation.create('shifted', 'ICU', 'en', {strength = 'primary', case_level = 'on', alternate_handling = 'shifted'})
box.internal.collation.create('digits', 'ICU', '', {numeric_collation = 'on', case_first = 'upper_first'})
text:create_index('shifted', {unique = false, parts = {{2, 'string', collation = 'shifted'}}})
text:create_index('digits', {unique = false, parts = {{5, 'string', collation = 'digits'}}})
local function row(id)
    local maybe, scalar = word(id * 5), word(id * 3)
    if id % 4 == 0 then maybe = box.NULL end
    if id % 5 == 0 then scalar = id end
    return {id, word(id), maybe, scalar, ({'file', 'File', 'FILE'})[id % 3 + 1] .. id % 13}
end

local caseless = box.schema.space.create('caseless')
caseless:create_index('pk', {parts = {{1, 'string', collation = 'unicode_ci'}}})
caseless:create_index('by_number', {unique = false, parts = {2, 'unsigned'}})

local many = box.schema.space.create('many')
many:create_index('pk')
many:create_index('tags', {unique = false, parts = {{2, 'string', path = '[*]'}}})
many:create_index('names', {unique = false, parts = {{3, 'string', path = 'people[*].name', collation = 'unicode_ci'}}})
many:create_index('codes', {parts = {{4, 'unsigned', path = '[*]'}}})
many:create_index('ages', {unique = false, parts = {{3, 'unsigned', path = 'people[*].age', is_nullable = true}, {5, 'string'}}})
local function several(id)
    local tags, people, codes = {}, {}, {}
    for number = 1, id % 4 do
        tags[number] = word(id + number * number % 3)
        people[number] = {name = word(id * number), age = number ~= 2 and (id + number) % 7 or nil}
        codes[number] = id * 10 + number % 3
    end
    setmetatable(tags, {__serialize = 'seq'}) setmetatable(people, {__serialize = 'seq'}) setmetatable(codes, {__serialize = 'seq'})
    return {id, tags, {people = people}, codes, 'g' .. id % 3}
end

box.schema.func.create('halves', {body = 'function(tuple) return {tuple[1] % 2} end', is_deterministic = true, is_sandboxed = true})
local computed = box.schema.space.create('computed')
computed:create_index('pk')
computed:create_index('half', {unique = false, func = 'halves', parts = {{1, 'unsigned'}}})

for id = 1, 60 do
    text:insert(row(id)) many:insert(several(id)) computed:insert{id}
    caseless:replace{word(id), id}
end
box.snapshot()
for id = 50, 120 do
    text:replace(row(id)) many:replace(several(id + 1)) computed:replace{id}
end
for id = 1, 120, 7 do text:delete(id) many:delete(id) computed:delete(id) end
many:update(3, {{'=', 2, {'late', 'late', 'early'}}})
caseless:replace{'ÄPFEL', 1000}
caseless:update('STRASSE', {{'=', 2, 1001}})
caseless:upsert({'Cas', 7}, {{'=', 2, 1002}})
caseless:upsert({'new', 7}, {{'=', 2, 1003}})
caseless:delete('ОЛ') caseless:delete('HORA')
caseless:insert{'Hora', 1004}
box.internal.collation.create('later', 'ICU', 'de', {strength = 'secondary'})
local fresh = box.schema.space.create('fresh')
fresh:create_index('pk', {parts = {{1, 'string', collation = 'later'}}})
for id = 1, 60 do fresh:replace{word(id), id} end
fresh:delete('STRASSE')
"#;

/// Prints what Tarantool selects: the space, the index, the iterator, the words of the key, the count, the
/// first fields of the tuples.
const ASK: &str = r#"
local function word(value) if value == nil then return 'null' end return tostring(value) end
local function tell(index, key, iterators)
    local parts = {}
    for place = 1, #key do parts[place] = word(key[place]) end
    for _, iterator in ipairs(iterators or {'EQ', 'REQ', 'GE', 'GT', 'LE', 'LT'}) do
        local ids = {}
        for place, tuple in ipairs(index:select(key, {iterator = iterator})) do ids[place] = tostring(tuple[1]) end
        local count = index:count(key, {iterator = iterator})
        print(table.concat({box.space[index.space_id].name, index.name, iterator, table.concat(parts, '|'), count,
            table.concat(ids, '|')}, '\t'))
    end
end
local keys = {'apple', 'ÄPFEL', 'STRASSE', 'oel', 'čas', 'ЁЛКА', 'カナ', 'Resume', 'CO-OP', 'b', 'zz', ''}
for _, key in ipairs(keys) do
    for _, name in ipairs{'ci', 'full', 'german', 'czech', 'two', 'scalar', 'shifted'} do tell(box.space.text.index[name], {key}) end
    tell(box.space.text.index.two, {key, 30})
    tell(box.space.text.index.hash, {key, 29}, {'EQ'})
    tell(box.space.caseless.index.pk, {key})
    tell(box.space.fresh.index.pk, {key})
    tell(box.space.many.index.tags, {key})
    tell(box.space.many.index.names, {key})
end
for id = 1, 30 do tell(box.space.text.index.hash, {box.space.text:get(id + 30) and box.space.text:get(id + 30)[2] or 'x', id + 30}, {'EQ'}) end
for _, key in ipairs{'file2', 'FILE10', 'File1'} do tell(box.space.text.index.digits, {key}) end
tell(box.space.text.index.two, {box.NULL}) tell(box.space.text.index.two, {box.NULL, 40})
for _, key in ipairs{'late', 'early'} do tell(box.space.many.index.tags, {key}) end
for _, key in ipairs{31, 32, 400, 1190} do tell(box.space.many.index.codes, {key}) end
for _, key in ipairs{{3}, {3, 'g1'}, {box.NULL}, {box.NULL, 'g2'}} do tell(box.space.many.index.ages, key) end
tell(box.space.computed.index.half, {1}, {'EQ'})
os.exit(0)
"#;

#[test]
fn indexes_answer_as_tarantools() {
    let home = Home::new();
    for directory in ["from", "again"] {
        fs::create_dir(home.path().join(directory)).unwrap();
    }
    let script = format!("{MAKE}{ASK}");
    let Some(printed) = tarantool(&home.path().join("from"), &script) else { return };
    let loaded = home.run(&["load", "from", "--into", "s", "-q"]);
    let remark = "pneu-tarantool: space computed (515): index half is functional, and only Tarantool runs \
                  the function that makes its keys: it answers no look-up\n";
    assert_eq!((loaded.code, loaded.err.as_str()), (Some(0), remark), "{loaded:?}");
    let (mut compared, mut not_empty) = (0, 0);
    for line in printed.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let [space, index, iterator, words, count, ids] = parts[..] else { panic!("{line}") };
        if space == "computed" {
            continue;
        }
        let (option, is_reverse) = match iterator {
            "EQ" | "REQ" => ("--eq", iterator == "REQ"),
            "GE" => ("--ge", false),
            "GT" => ("--gt", false),
            "LE" => ("--le", true),
            _ => ("--lt", true),
        };
        let key: Vec<&str> = words.split('|').collect();
        let mut arguments = vec!["scan", "s", space, "--fields", "1", "--index", index, option];
        arguments.extend(&key);
        arguments.extend(is_reverse.then_some("--reverse"));
        let found = home.run(&arguments);
        let found: Vec<&str> =
            found.out.lines().map(|line| line.trim_matches(['[', ']']).trim_matches('"')).collect();
        let wanted: Vec<&str> = if count == "0" { Vec::new() } else { ids.split('|').collect() };
        assert_eq!(found, wanted, "{line}");
        let mut arguments = vec!["count", "s", space, "--index", index, option];
        arguments.extend(&key);
        assert_eq!(home.run(&arguments).out, format!("{count}\n"), "{line}");
        if iterator == "EQ" && !words.is_empty() {
            let mut arguments = vec!["get", "s", space, "--index", index];
            arguments.extend(&key);
            arguments.extend(["--fields", "1"]);
            assert_eq!(home.run(&arguments).out.lines().count(), wanted.len(), "{line}");
        }
        compared += 1;
        not_empty += usize::from(!wanted.is_empty());
    }
    assert!(compared > 500 && not_empty > 350, "{compared} comparisons, {not_empty} with tuples");
    let refused = home.run(&["get", "s", "computed", "--index", "half", "1"]);
    assert_eq!((refused.code, refused.err.as_str()), (Some(2), remark), "{refused:?}");
    assert_eq!(home.good(&["verify", "s"]), "no damage found\n");
    home.good(&["export", "s", "--to", "again", "-q"]);
    let ask = format!("box.cfg{{memtx_dir='.', wal_dir='.', log='log'}}{ASK}");
    let again = tarantool(&home.path().join("again"), &ask).unwrap();
    assert_eq!(again, printed, "Tarantool finds the same by all indexes of the export");
    let same = home.run(&["diff", "from", "again"]);
    assert_eq!((same.code, same.out.as_str()), (Some(0), ""), "{same:?}");
}
