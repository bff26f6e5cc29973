//! Exports in other formats, read back by other programs.
//!
//! Input: spaces that Tarantool wrote, and spaces with hostile names. Output: failures.

use crate::commands::{header, home, said};
use crate::support::Home;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tarantool::msgpack::{put_array_len, put_boolean, put_map_len, put_nil, put_str, put_uint};
use tarantool::{FileKind, SnapWriter};
use testkit::{is_ci, may_ask, table_rows, tarantool};

/// Asks SQLite's own program. Returns nothing if there is none.
pub(crate) fn sqlite(path: &Path, question: &str) -> Option<String> {
    let is_there = Command::new("sqlite3").arg("--version").output().is_ok_and(|it| it.status.success());
    if !may_ask("sqlite3", "apt-get install sqlite3", is_there, is_ci()) {
        return None;
    }
    let output = Command::new("sqlite3").arg(path).arg(question).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{question}: {said}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A row with a value of each type, and rows with unusual ones.
const WRITE: &str = "
box.cfg{memtx_dir='.', wal_dir='.', log='tarantool.log'}
local decimal, uuid = require('decimal'), require('uuid')
local all = box.schema.space.create('all', {format={
    {'id', 'unsigned'}, {'text', 'string', is_nullable=true}, {'real', 'double', is_nullable=true},
    {'any', 'any', is_nullable=true}, {'exact', 'decimal', is_nullable=true},
    {'uuid', 'uuid', is_nullable=true}, {'yes', 'boolean', is_nullable=true},
    {'nested', 'map', is_nullable=true}}})
all:create_index('pk')
all:create_index('by_text', {parts={{'text', is_nullable=true}}, unique=false})
all:create_index('by_both', {parts={{'text', is_nullable=true}, {'id'}}})
all:create_index('deep', {parts={{8, 'string', path='x', is_nullable=true}}, unique=false})
local id = uuid.fromstr('11111111-2222-3333-4444-555555555555')
all:insert{1, 'plain', 1.5, 7, decimal.new('12.50'), id, true, {x='y'}}
all:insert{2, 'a,\"b\"\\r\\n', -0.25, '', decimal.new('0.1'), box.NULL, false}
all:insert{3, '', box.NULL, 18446744073709551615ULL}
all:insert{4, box.NULL, box.NULL, 0/0, box.NULL, box.NULL, box.NULL, {z=1}, 'more', {1, 2}}
local plain = box.schema.space.create('plain')
plain:create_index('pk', {type='HASH', parts={{1, 'string'}}})
plain:insert{'one', 1}
plain:insert{'two'}
box.schema.space.create('empty'):create_index('pk')
os.exit(0)
";

pub(crate) fn written() -> Option<Home> {
    let home = Home::new();
    let from = home.path().join("from");
    fs::create_dir(&from).unwrap();
    tarantool(&from, WRITE)?;
    Some(home)
}

fn read(home: &Home, path: &str) -> String {
    String::from_utf8(fs::read(home.path().join(path)).unwrap()).unwrap()
}

#[test]
fn json_lines_are_what_cat_prints() {
    let Some(home) = written() else { return };
    let out = home.good(&["export", "from", "--format", "jsonl", "--to", "json"]);
    assert!(
        out.ends_with(
            "written  4 rows of all in json/all.jsonl\nwritten  2 rows of plain in json/plain.jsonl\n\
         written  0 rows of empty in json/empty.jsonl\n"
        ),
        "{out}"
    );
    home.good(&["export", "from", "--to", "snap", "--quiet"]);
    let snapshot = fs::read_dir(home.path().join("snap")).unwrap().next().unwrap().unwrap().path();
    for exact in [&[][..], &["--exact"]] {
        let _ = fs::remove_dir_all(home.path().join("json"));
        home.good(&[&["export", "from", "--format", "jsonl", "--to", "json", "--quiet"], exact].concat());
        for space in ["all", "plain"] {
            let printed =
                home.good(&[&["cat", snapshot.to_str().unwrap(), "--space", space], exact].concat());
            let tuples = printed.lines().map(|line| {
                let (_, tuple) = line.split_once("\"tuple\":").unwrap();
                format!("{}\n", tuple.strip_suffix('}').unwrap())
            });
            assert_eq!(read(&home, &format!("json/{space}.jsonl")), tuples.collect::<String>());
        }
    }
}

#[test]
fn csv_is_read_by_others() {
    let Some(home) = written() else { return };
    home.good(&["load", "from", "--into", "s", "--quiet"]);
    let arguments =
        ["export", "s", "--format", "csv", "--to", "tables", "--space", "all", "--rename", "text=a \"name\""];
    assert_eq!(home.good(&arguments), "4 rows of all in tables/all.csv\n");
    assert_eq!(
        read(&home, "tables/all.csv"),
        "id,\"a \"\"name\"\"\",real,any,exact,uuid,yes,nested,9,10\r\n\
         1,plain,1.5,7,12.50,11111111-2222-3333-4444-555555555555,true,\"{\"\"x\"\":\"\"y\"\"}\",,\r\n\
         2,\"a,\"\"b\"\"\r\n\",-0.25,\"\",0.1,,false,,,\r\n\
         3,\"\",,18446744073709551615,,,,,,\r\n\
         4,,,NaN,,,,\"{\"\"z\"\":1}\",more,\"[1,2]\"\r\n"
    );
    for (reader, rows) in table_rows(&home.path().join("tables/all.csv")) {
        let rows: Vec<serde_json::Value> =
            rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect();
        assert_eq!(rows.len(), 4, "{reader}");
        assert_eq!(rows[1]["a \"name\""], "a,\"b\"\r\n", "{reader}");
        assert_eq!(rows[3]["10"], "[1,2]", "{reader}");
    }
    assert_eq!(fs::read_dir(home.path().join("tables")).unwrap().count(), 1);
    let again = home.run(&arguments);
    assert!(again.code == Some(2) && again.err.contains("tables/all.csv exists already"), "{again:?}");
}

/// Each of the readers sees the same values with the same types.
#[test]
fn columns_are_read_by_others() {
    let Some(home) = written() else { return };
    for format in ["parquet", "arrow"] {
        let run = home.run(&["export", "from", "--format", format, "--to", format, "--quiet"]);
        assert_eq!(
            said(&run),
            (
                Some(0),
                "",
                "pneu-tarantool: space all, field any: its values have no type in common: they are text\n"
            )
        );
        let path = |space: &str| home.path().join(format!("{format}/{space}.{format}"));
        for (reader, rows) in table_rows(&path("all")) {
            let rows: Vec<serde_json::Value> =
                rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect();
            assert_eq!(
                rows,
                [
                    json!({"id": 1, "text": "plain", "real": 1.5, "any": "7", "exact": "12.50",
                        "uuid": "11111111-2222-3333-4444-555555555555", "yes": true,
                        "nested": "{\"x\":\"y\"}", "9": null, "10": null}),
                    json!({"id": 2, "text": "a,\"b\"\r\n", "real": -0.25, "any": "", "exact": "0.1",
                        "uuid": null, "yes": false, "nested": null, "9": null, "10": null}),
                    json!({"id": 3, "text": "", "real": null, "any": "18446744073709551615", "exact": null,
                        "uuid": null, "yes": null, "nested": null, "9": null, "10": null}),
                    json!({"id": 4, "text": null, "real": null, "any": "NaN", "exact": null, "uuid": null,
                        "yes": null, "nested": "{\"z\":1}", "9": "more", "10": "[1,2]"}),
                ],
                "{reader} {format}"
            );
        }
        for (reader, rows) in table_rows(&path("empty")) {
            assert_eq!(rows, Vec::<String>::new(), "{reader} {format}");
        }
    }
}

#[test]
fn a_database_has_tables_keys_and_indexes() {
    let Some(home) = written() else { return };
    let run = home.run(&["export", "from", "--format", "sqlite", "--to", "all.sqlite", "--quiet"]);
    assert_eq!(
        said(&run),
        (
            Some(0),
            "",
            "pneu-tarantool: space all, field any: 1 whole number over 63 bits, which SQLite does not have: \
             kept as text\n\
             pneu-tarantool: space all, field any: 1 NaN, which SQLite does not have: kept as text\n\
             pneu-tarantool: space all: index deep has no place in SQLite: left out\n"
        )
    );
    let path = home.path().join("all.sqlite");
    let Some(schema) = sqlite(&path, "select sql from sqlite_master where sql not null order by rowid")
    else {
        return;
    };
    assert_eq!(
        schema,
        "CREATE TABLE \"all\" (\"id\" INTEGER, \"text\" TEXT, \"real\" REAL, \"any\", \"exact\" TEXT, \
         \"uuid\" TEXT, \"yes\" INTEGER, \"nested\" TEXT, \"9\" TEXT, \"10\" TEXT, PRIMARY KEY (\"id\"))\n\
         CREATE INDEX \"all_by_text\" ON \"all\" (\"text\")\n\
         CREATE UNIQUE INDEX \"all_by_both\" ON \"all\" (\"text\", \"id\")\n\
         CREATE TABLE \"plain\" (\"1\" TEXT, \"2\" INTEGER, PRIMARY KEY (\"1\"))\n\
         CREATE TABLE \"empty\" (\"1\", PRIMARY KEY (\"1\"))\n"
    );
    let ask = |question: &str| sqlite(&path, question).unwrap();
    assert_eq!(ask("pragma integrity_check"), "ok\n");
    assert_eq!(
        ask("select id, quote(text), quote(real), quote(\"any\"), quote(exact) from \"all\""),
        "1|'plain'|1.5|7|'12.50'\n2|'a,\"b\"\r\n'|-0.25|''|'0.1'\n\
         3|''|NULL|'18446744073709551615'|NULL\n4|NULL|NULL|'NaN'|NULL\n"
    );
    assert_eq!(ask("select \"1\", quote(\"2\") from plain order by 1"), "one|1\ntwo|NULL\n");
    let again = home.run(&["export", "from", "--format", "sqlite", "--to", "all.sqlite"]);
    assert!(again.code == Some(2) && again.err.contains("all.sqlite exists already"), "{again:?}");
}

/// Writes a snapshot with spaces of these names and fields, a tuple of numbers in each.
fn hostile(directory: &Path, spaces: &[(&str, &[&str])]) {
    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let mut snap = SnapWriter::create(&disk, directory, &header(FileKind::Snapshot, 4), 1.0).unwrap();
    for (id, (name, fields)) in (512..).zip(spaces) {
        let mut space = Vec::new();
        put_array_len(&mut space, 7);
        put_uint(&mut space, id);
        put_uint(&mut space, 1);
        put_str(&mut space, name.as_bytes());
        put_str(&mut space, b"memtx");
        put_uint(&mut space, 0);
        put_map_len(&mut space, 0);
        put_array_len(&mut space, u32::try_from(fields.len()).unwrap());
        for field in *fields {
            put_map_len(&mut space, 1);
            put_str(&mut space, b"name");
            put_str(&mut space, field.as_bytes());
        }
        snap.insert(280, 0, &space).unwrap();
    }
    for (id, (name, _)) in (512..).zip(spaces) {
        let mut index = Vec::new();
        put_array_len(&mut index, 6);
        put_uint(&mut index, id);
        put_uint(&mut index, 0);
        put_str(&mut index, format!("{name}\"; drop table x; --").as_bytes());
        put_str(&mut index, b"tree");
        put_map_len(&mut index, 1);
        put_str(&mut index, b"unique");
        put_boolean(&mut index, true);
        put_array_len(&mut index, 1);
        put_array_len(&mut index, 2);
        put_uint(&mut index, 0);
        put_str(&mut index, b"scalar");
        snap.insert(288, 0, &index).unwrap();
    }
    for (id, _) in (512..).zip(spaces) {
        for is_boolean in [true, false] {
            let mut tuple = Vec::new();
            put_array_len(&mut tuple, 3);
            // Different keys for Tarantool, the same in SQLite.
            if is_boolean {
                put_boolean(&mut tuple, true);
            } else {
                put_uint(&mut tuple, 1);
            }
            put_nil(&mut tuple);
            put_str(&mut tuple, b"=1+1");
            snap.insert(id, 0, &tuple).unwrap();
        }
    }
    snap.finish().unwrap();
}

#[test]
fn hostile_names_are_only_names() {
    let home = Home::new();
    let from = home.path().join("deep/from");
    fs::create_dir_all(&from).unwrap();
    let long = "x".repeat(300);
    hostile(
        &from,
        &[
            ("../../outside", &["a", "A", "a"]),
            ("/etc/passwd", &["it's", "\"; drop table x; --", ",\r\n"]),
            ("sqlite_master", &[]),
            ("Same", &["", "", ""]),
            ("same", &["space_516"]),
            ("", &["x"]),
            (&long, &["x"]),
            ("-rf", &["x"]),
        ],
    );
    let run = home.run(&["export", "deep/from", "--format", "csv", "--to", "deep/csv", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.err.contains("another field is named A, too: field 2 is called A_2")
            && run.err.contains("another field is named a, too: field 3 is called a_3"),
        "{run:?}"
    );
    let mut names: Vec<String> = fs::read_dir(home.path().join("deep/csv"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "Same.csv",
            "space_512.csv",
            "space_513.csv",
            "space_516.csv",
            "space_517.csv",
            "space_518.csv",
            "space_519.csv",
            "sqlite_master.csv"
        ]
    );
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing is outside");
    assert_eq!(
        read(&home, "deep/csv/space_513.csv"),
        "it's,\"\"\"; drop table x; --\",\",\r\n\"\r\n1,,=1+1\r\ntrue,,=1+1\r\n"
            .replace("1,,=1+1\r\ntrue,,=1+1", "true,,=1+1\r\n1,,=1+1")
    );
    let run = home.run(&["export", "deep/from", "--format", "sqlite", "--to", "x.sqlite", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("has keys of several types that SQLite does not tell apart"), "{run:?}");
    let path = home.path().join("x.sqlite");
    let Some(tables) = sqlite(&path, "select name from sqlite_master where type = 'table' order by rowid")
    else {
        return;
    };
    let expected =
        ["../../outside", "/etc/passwd", "space_514", "Same", "same_516", "space_517", &long, "-rf"];
    assert_eq!(tables.lines().collect::<Vec<_>>(), expected);
    for table in expected {
        assert_eq!(sqlite(&path, &format!("select count(*) from \"{table}\"")).unwrap(), "2\n", "{table}");
    }
}

#[test]
fn every_file_has_a_name_of_its_own_and_replaces_nothing() {
    let home = Home::new();
    let from = home.path().join("from");
    fs::create_dir(&from).unwrap();
    hostile(&from, &[("space_514", &["a\0b", "x"]), ("ok", &["x"]), ("../up", &["x"])]);
    let csv = || home.run(&["export", "from", "--format", "csv", "--to", "csv", "--quiet"]);
    let run = csv();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.err.contains("space space_514: a name may have no NUL: field 1 is called a\u{fffd}b"),
        "{run:?}"
    );
    let names = || {
        let entries = fs::read_dir(home.path().join("csv")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["ok.csv", "space_514.csv", "space_514_.csv"]);
    // Nothing is written if one of the names is taken.
    fs::remove_file(home.path().join("csv/space_514.csv")).unwrap();
    let run = csv();
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("csv/ok.csv exists already"), "{run:?}");
    assert_eq!(names(), ["ok.csv", "space_514_.csv"]);
    // A name that looks like an address of SQLite is a name.
    let sqlite = |to: &str| home.run(&["export", "from", "--format", "sqlite", "--to", to, "--quiet"]);
    let run = sqlite("file:u.sqlite");
    assert_eq!(run.code, Some(0), "{run:?}");
    let bytes = fs::read(home.path().join("file:u.sqlite")).unwrap();
    assert!(bytes.starts_with(b"SQLite format 3\0"));
    // A link is not replaced, wherever it leads.
    std::os::unix::fs::symlink("nowhere", home.path().join("link.sqlite")).unwrap();
    let run = sqlite("link.sqlite");
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("link.sqlite exists already"), "{run:?}");
    let mut all: Vec<_> =
        fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    all.sort();
    assert_eq!(all, ["csv", "file:u.sqlite", "from", "link.sqlite"]);
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let (home, _) = home();
    for (arguments, what) in [
        (&["--exact"][..], "--exact is for --format jsonl"),
        (
            &["--space", "letters"],
            "a snapshot has all spaces as they are: --space and --rename are for other formats",
        ),
        (&["--format", "csv", "--space", "none"], "there is no space none with rows in shop"),
        (&["--format", "csv", "--rename", "x=y"], "no space that is written has a field x"),
        (&["--format", "csv", "--rename", "x"], "\"x\" is no new name: old=new is expected"),
    ] {
        let run = home.run(&[&["export", "shop", "--to", "out"], arguments].concat());
        assert_eq!(said(&run), (Some(2), "", format!("pneu-tarantool: {what}\n").as_str()), "{arguments:?}");
    }
}
