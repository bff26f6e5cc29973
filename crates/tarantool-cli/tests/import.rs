//! `pneu-tarantool import`: rows of other programs, and Tarantool started with them.
//!
//! Input: files as `export` and people write them. Output: failures.

use crate::commands::{home, said, tear};
use crate::support::Home;
use crate::tables::written;
use std::fs;
use testkit::tarantool;

/// The fields of the space `all`.
const FIELDS: &str = "id unsigned, text string?, real double?, any any?, exact decimal?, uuid uuid?, \
                      yes boolean?, nested map?";

/// Returns a space as exact JSON Lines.
fn exact(home: &Home, source: &str, space: &str, to: &str) -> String {
    let arguments =
        ["--quiet", "export", source, "--format", "jsonl", "--exact", "--space", space, "--to", to];
    let run = home.run(&arguments);
    assert_eq!(run.code, Some(0), "{run:?}");
    fs::read_to_string(home.path().join(to).join(format!("{space}.jsonl"))).unwrap()
}

/// Exports the space `all` in a format, and imports the file as a new space. Returns that as exact JSON
/// Lines.
fn through(home: &Home, format: &str) -> String {
    let run = home.run(&["export", "from", "--format", format, "--space", "all", "--to", format]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let (file, new) = (format!("{format}/all.{format}"), format!("new-{format}"));
    let run = home.run(&["import", "from", "copy", &file, "--create", FIELDS, "--to", &new]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.starts_with("added    4 rows to copy\nwritten  "), "{run:?}");
    exact(home, &new, "copy", &format!("back-{format}"))
}

#[test]
fn exact_json_lines_come_back_as_they_were() {
    let Some(home) = written() else { return };
    let before = exact(&home, "from", "all", "lines");
    let import = ["import", "from", "copy", "lines/all.jsonl", "--create", FIELDS, "--to", "new"];
    assert_eq!(home.run(&import).code, Some(0));
    assert_eq!(exact(&home, "new", "copy", "back"), before);
    // The same rows again change nothing but the VClock.
    let again = ["import", "from", "all", "lines/all.jsonl", "--replace", "--to", "again"];
    assert_eq!(home.run(&again).code, Some(0));
    assert_eq!(home.run(&["diff", "from", "again"]).code, Some(0));
}

#[test]
fn tables_keep_what_their_format_can_hold() {
    let Some(home) = written() else { return };
    let rest = r#""nested":{"x":"y"},"9":null,"10":null}"#;
    let csv = through(&home, "csv");
    let lines: Vec<&str> = csv.lines().collect();
    let decimal = r#"{"$decimal":"12.50"}"#;
    let uuid = r#"{"$uuid":"11111111-2222-3333-4444-555555555555"}"#;
    let first = format!(
        r#"{{"id":1,"text":"plain","real":1.5,"any":7,"exact":{decimal},"uuid":{uuid},"yes":true,{rest}"#
    );
    assert_eq!(lines[0], first);
    assert!(lines[1].starts_with(r#"{"id":2,"text":"a,\"b\"\r\n","real":-0.25,"any":"","#), "{csv}");
    assert!(lines[2].starts_with(r#"{"id":3,"text":"","real":null,"any":18446744073709551615,"#), "{csv}");
    // Numbers and text look the same.
    assert!(lines[3].contains(r#""any":"NaN""#) && lines[3].ends_with(r#""9":"more","10":[1,2]}"#), "{csv}");
    let parquet = through(&home, "parquet");
    let lines: Vec<&str> = parquet.lines().collect();
    assert!(lines[0].starts_with(r#"{"id":1,"text":"plain","real":1.5,"any":"7","#), "{parquet}");
    assert!(
        lines[0].contains(&format!(r#""exact":{{"$decimal":"12.50"}},"uuid":{uuid},"yes":true"#)),
        "{parquet}"
    );
    assert!(lines[1].starts_with(r#"{"id":2,"text":"a,\"b\"\r\n","real":-0.25,"any":"","#), "{parquet}");
}

#[test]
fn tarantool_starts_with_what_was_imported() {
    let Some(home) = written() else { return };
    let rows = "id,text\n10,\"two\nlines\"\n11,\n";
    fs::write(home.path().join("more.csv"), rows).unwrap();
    fs::write(home.path().join("letters.jsonl"), "\u{feff}[1,\"Ana\"]\n\n{\"name\":\"Bo\",\"id\":2}\n")
        .unwrap();
    assert_eq!(home.run(&["import", "from", "all", "more.csv", "--to", "one"]).code, Some(0));
    let create = "id unsigned, name string";
    let letters =
        ["import", "one", "letters", "letters.jsonl", "--create", create, "--key", "name,id", "--to", "two"];
    assert_eq!(home.good(&letters).lines().next(), Some("added    2 rows to letters"));
    let script = "
        box.cfg{memtx_dir='two', wal_dir='two', log='tarantool.log'}
        local all, letters = box.space.all, box.space.letters
        print(all:count(), all:get(10).text, all:get(11).text == nil, all.index.by_text:count('two\\nlines'))
        print(letters:count(), letters:get{'Bo', 2}.id, #letters.index.primary.parts)
        print(box.schema.space.create('next').id - letters.id, box.info.vclock[1] > 0)
        os.exit(0)
    ";
    let printed = tarantool(home.path(), script).unwrap();
    assert_eq!(printed, "6\ttwo\nlines\ttrue\t1\n2\t2\t2\n1\ttrue\n");
}

#[test]
fn what_does_not_fit_is_told_with_its_line_and_nothing_is_written() {
    let Some(home) = written() else { return };
    fs::write(home.path().join("more.txt"), "").unwrap();
    for (file, content, what) in [
        ("a.jsonl", "{\"id\":9}\n{\"id\":1}\n", "line 2: the primary key is there already: [1,\"plain\","),
        ("b.jsonl", "{\"id\":9}\n{\"id\":9}\n", "line 2: the primary key is there already: [9]"),
        (
            "c.jsonl",
            "{\"id\":9,\"txt\":\"x\"}\n",
            "line 1: there is no field txt in space all; there are: id, text, ",
        ),
        (
            "d.jsonl",
            "{\"id\":\"9\"}\n",
            "line 1: field id: a whole number from 0 to 2^64 - 1 is expected, not \"9\"",
        ),
        ("e.jsonl", "\n{\"text\":\"x\"}\n", "line 2: field id is missing"),
        ("f.jsonl", "{\"id\":9\n", "line 1: this is not an object or array of JSON: EOF"),
        ("g.csv", "", "line 1: the names of the fields are missing"),
        ("h.csv", "id,text\n9\n", "line 2: it has 1 values, the first line 2 names"),
        ("i.csv", "id,text\n9,\"a\nb\n", "line 2: a value in quotes never ends"),
        ("j.csv", "id,id\n9,9\n", "line 1: two columns have the same name"),
        ("k.csv", "id,uuid\n9,x\n", "line 2: field uuid: a UUID is expected, not x"),
        ("l.csv", "id,text\n,x\n", "line 2: field id has no value, and must not be nil"),
        ("m.parquet", "PAR1 and no more", "Parquet: "),
    ] {
        fs::write(home.path().join(file), content).unwrap();
        let run = home.run(&["import", "from", "all", file, "--to", "new"]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.err.contains(&format!("pneu-tarantool: {file}: {what}")), "{file}: {}", run.err);
    }
    for (arguments, what) in [
        (&["nothing", "a.jsonl"][..], "from: there is no space nothing"),
        (&["_user", "a.jsonl"], "from: space _user is Tarantool's own"),
        (&["all", "a.jsonl", "--create", "id unsigned"], "from: there is a space all already"),
        (&["x", "a.jsonl", "--create", "id"], "--create: \"id\" is not a field"),
        (&["all", "more.txt"], "the name more.txt does not tell its format: use --format"),
        (&["all", "-", "--format", "parquet"], "Parquet has its description at its end"),
        (&["all", "a.jsonl", "--rename", "id"], "--rename id: OLD=NEW is expected"),
        (&["all", "gone.csv"], "gone.csv"),
    ] {
        let run = home.run(&[&["import", "from"], arguments, &["--to", "new"]].concat());
        assert!(run.code == Some(2) && run.err.contains(what), "{run:?}");
    }
    assert!(!home.path().join("new").exists());
    // A target with files of Tarantool is left alone.
    let run = home.run(&["import", "from", "all", "a.jsonl", "--to", "from"]);
    let why = "pneu-tarantool: from holds files of Tarantool already: name another directory\n";
    assert_eq!(said(&run), (Some(2), "", why));
}

#[test]
fn rows_of_vinyl_are_known_before_the_first_new_one() {
    let home = Home::new();
    let script = "
        box.cfg{memtx_dir='.', wal_dir='.', vinyl_dir='.', log='tarantool.log'}
        local v = box.schema.space.create('v', {engine='vinyl'})
        v:create_index('pk')
        v:insert{5, 'old'}
        box.snapshot()
        os.exit(0)
    ";
    fs::create_dir(home.path().join("shop")).unwrap();
    if tarantool(&home.path().join("shop"), script).is_none() {
        return;
    }
    fs::write(home.path().join("rows.jsonl"), "[5,\"new\"]\n").unwrap();
    for salvage in [&[][..], &["--salvage"]] {
        let run = home.run(&[&["import", "shop", "v", "rows.jsonl", "--to", "new"], salvage].concat());
        let why = "rows.jsonl: line 1: the primary key is there already: [5,\"old\"]\n";
        assert!(run.code == Some(2) && run.err.ends_with(why), "{run:?}");
    }
    let replace = ["import", "shop", "v", "rows.jsonl", "--replace", "--to", "new"];
    assert_eq!(home.run(&replace).code, Some(0));
    assert_eq!(home.good(&["get", "new", "v", "5"]), "[5,\"new\"]\n");
}

#[test]
fn keys_of_unique_indexes_are_unique() {
    let home = Home::new();
    let script = "
        box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log'}
        local one = box.schema.space.create('one', {format={
            {'id', 'unsigned'}, {'name', 'string', is_nullable=true}}})
        one:create_index('pk')
        one:create_index('by_name', {parts={{'name', is_nullable=true}}})
        one:insert{1, 'a'}
        local many = box.schema.space.create('many', {format={{'id', 'unsigned'}, {'tags', 'array'}}})
        many:create_index('pk')
        many:create_index('by_tag', {parts={{'tags[*]', 'string'}}, unique=true})
        many:insert{1, {'a', 'b', 'a'}}
        os.exit(0)
    ";
    fs::create_dir(home.path().join("shop")).unwrap();
    if tarantool(&home.path().join("shop"), script).is_none() {
        return;
    }
    let import = |rows: &str, to: &str| {
        fs::write(home.path().join("rows.jsonl"), rows).unwrap();
        home.run(&["import", "shop", "one", "rows.jsonl", "--rename", "number=id", "--to", to])
    };
    let run = import("{\"number\":2,\"name\":\"a\"}\n", "new");
    let why = "shop: two rows of space one have the same key of the unique index by_name\n";
    assert!(run.code == Some(2) && run.err.ends_with(why), "{run:?}");
    fs::write(home.path().join("many.csv"), "id,tags\n2,\"[\"\"c\"\",\"\"b\"\"]\"\n").unwrap();
    let run = home.run(&["import", "shop", "many", "many.csv", "--to", "new"]);
    let why = "shop: two rows of space many have the same key of the unique index by_tag\n";
    assert!(run.code == Some(2) && run.err.ends_with(why), "{run:?}");
    // Nil is not equal to nil there.
    let run = import("{\"number\":2}\n{\"number\":3,\"name\":null}\n{\"number\":4,\"name\":\"b\"}\n", "new");
    assert_eq!(run.code, Some(0), "{run:?}");
    let count = "
        box.cfg{memtx_dir='new', wal_dir='new', log='tarantool.log'}
        print(box.space.one:count())
        os.exit(0)
    ";
    assert_eq!(tarantool(home.path(), count).unwrap(), "4\n");
}

#[test]
fn rules_of_a_space_hold_for_new_rows_or_are_named() {
    let home = Home::new();
    let script = "
        box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log'}
        local two = box.schema.space.create('two', {field_count=2})
        two:create_index('pk', {parts={{1, 'unsigned'}}})
        two:insert{1, 1}
        local any = box.schema.space.create('any', {format={
            {'id', 'unsigned'}, {'rate', 'double'}, {'x', 'any'}, {'y', 'any'}}})
        any:create_index('pk')
        local map = box.schema.space.create('map', {format={{'id', 'unsigned'}, {'place', 'any'}}})
        map:create_check_constraint('small', '\"id\" < 100')
        map:create_index('pk', {parts={{1, 'unsigned'}}})
        map:create_index('place', {type='RTREE', parts={{2, 'array'}}, unique=false})
        map:insert{1, {2, 3}}
        box.schema.space.create('gone'):drop()
        os.exit(0)
    ";
    fs::create_dir(home.path().join("shop")).unwrap();
    if tarantool(&home.path().join("shop"), script).is_none() {
        return;
    }
    let import = |space: &str, rows: &str, more: &[&str]| {
        fs::write(home.path().join("rows.jsonl"), rows).unwrap();
        let to = format!("new-{space}");
        home.run(&[&["import", "shop", space, "rows.jsonl", "--to", &to], more].concat())
    };
    let run = import("two", "[2,2]\n[3]\n", &[]);
    let why = "rows.jsonl: line 2: it has 1 fields, and tuples of the space have 2\n";
    assert!(run.code == Some(2) && run.err.ends_with(why), "{run:?}");
    // A key that does not fit is told in salvage, too, and the row is not lost.
    let run = import("two", "[\"x\",2]\n", &["--salvage", "--replace"]);
    assert!(run.code == Some(2) && run.err.contains("rows.jsonl: line 1: "), "{run:?}");
    let run = import("map", "[2,[4,5]]\n", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    for rule in ["index place", "constraint small"] {
        assert!(
            run.err.contains(&format!("rows were not checked by {rule}: if one does not fit it")),
            "{run:?}"
        );
    }
    let run = import("any", "{\"id\":1,\"rate\":{\"$float\":1.5}}\n", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = import("letters", "[1]\n", &["--create", "id uint, new bool?"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let script = "
        box.cfg{memtx_dir=DIR, wal_dir=DIR, log='tarantool.log'}
        local space = box.space[SPACE]
        print(space:count(), space.id, box.schema.space.create('next').id)
        os.exit(0)
    ";
    for (space, printed) in [("map", "2\t514\t516\n"), ("any", "1\t513\t516\n"), ("letters", "1\t516\t517\n")]
    {
        let script = script.replace("DIR", &format!("'new-{space}'")).replace("SPACE", &format!("'{space}'"));
        assert_eq!(tarantool(home.path(), &script).unwrap(), printed, "{space}");
    }
}

#[test]
fn what_the_directory_lacks_is_told() {
    let (home, directory) = home();
    tear(&directory);
    fs::write(home.path().join("more.jsonl"), "").unwrap();
    let run = home.run(&["import", "shop", "letters", "more.jsonl", "--to", "new"]);
    assert!(run.code == Some(0) && run.err.contains("ends with a torn write"), "{run:?}");
    let run = home.run(&["import", "shop", "letters", "more.jsonl", "--to", "salvaged", "--salvage"]);
    assert!(run.code == Some(3) && run.err.contains("lost: "), "{run:?}");
}
