//! Indexes that the Tarantool of the tests does not write, from definitions made by hand; and stores of other
//! versions.

use crate::made::{Made, V, snapshot, tuple};
use crate::support::Home;
use crate::tables::sqlite;
use std::path::Path;
use std::sync::Arc;
use store::{OwnedValue, Value};
use tarantool::msgpack::Reader;
use tarantool::table::SpaceTable;

/// A home with a snapshot in `shop` of one space, and the same rows in the store `s`.
fn home() -> Home {
    let home = Home::new();
    let tuples = [
        &[V::N(1), V::S("b"), V::N(5), V::Raw(b"\x93\xa1x\xa1y\xa1x")][..],
        &[V::N(2), V::S("a"), V::Nil, V::Raw(b"\x90")],
        &[V::N(3), V::S("ab"), V::D(5.5), V::Nil],
        &[V::N(4), V::S("B"), V::N(-1), V::Raw(b"\x92\xa1X\xa1z")],
        &[V::N(5), V::S("a"), V::N(5), V::Raw(b"\x91\xa1y")],
        &[V::N(6), V::S("a\0")],
    ];
    let space = Made {
        id: 512,
        name: "things",
        engine: "memtx",
        fields: &["id", "text", "number", "tags"],
        indexes: &[
            ("pk", "tree", &[(0, "unsigned desc")]),
            ("text", "tree", &[(1, "string desc"), (0, "unsigned desc")]),
            ("number", "tree", &[(2, "number nullable desc"), (1, "string")]),
            ("caseless", "tree", &[(1, "string collation=2 desc"), (0, "unsigned")]),
            ("numbers", "tree", &[(2, "number nullable exclude")]),
            ("tags", "tree", &[(3, "string path=[*] collation=2 desc")]),
        ],
        tuples: tuples.map(tuple).to_vec(),
    };
    snapshot(&home.path().join("shop"), 4, &[space]);
    home.good(&["load", "shop", "--into", "s", "-q"]);
    home
}

fn ids(home: &Home, arguments: &[&str]) -> String {
    let run = home.run(&[&["scan", "s", "things", "--fields", "id"], arguments].concat());
    assert!(run.code == Some(0) || run.code == Some(1) && run.out.is_empty(), "{run:?}");
    run.out.replace(['[', ']'], "").replace('\n', " ").trim_end().to_owned()
}

#[test]
fn descending_parts_begin_with_the_greatest_value() {
    let home = home();
    for (arguments, expected) in [
        (&[][..], "6 5 4 3 2 1"),
        (&["--ge", "4"], "4 3 2 1"),
        (&["--lt", "4"], "6 5"),
        (&["--index", "text"], "1 3 6 5 2 4"),
        (&["--index", "text", "--eq", "a"], "5 2"),
        (&["--index", "text", "--gt", "a"], "4"),
        (&["--index", "text", "--ge", "a", "2"], "2 4"),
        (&["--index", "text", "--reverse", "--le", "ab"], "3 1"),
        (&["--index", "number"], "3 5 1 4 2 6"),
        (&["--index", "number", "--eq", "null"], "2 6"),
        (&["--index", "number", "--gt", "5"], "4 2 6"),
        (&["--index", "number", "--le", "5.5"], "3"),
        (&["--index", "caseless"], "1 4 3 2 5 6"),
        (&["--index", "caseless", "--eq", "b"], "1 4"),
    ] {
        assert_eq!(ids(&home, arguments), expected, "{arguments:?}");
    }
    assert_eq!(home.good(&["get", "s", "things", "3"]), "[3,\"ab\",5.5,null]\n");
    assert_eq!(home.good(&["count", "s", "things", "--index", "number", "--ge", "5"]), "5\n");
    assert!(home.good(&["info", "s"]).contains("indexes pk, text, number, caseless, numbers, tags, 6 rows"));
    assert_eq!(home.run(&["diff", "s", "shop"]).code, Some(0));
}

#[test]
fn an_index_has_as_many_entries_for_a_tuple_as_it_needs() {
    let home = home();
    for (arguments, expected) in [
        (&["--index", "tags"][..], "4 5 1 4 1"),
        (&["--index", "tags", "--eq", "x"], "4 1"),
        (&["--index", "tags", "--ge", "y", "--reverse"], "1 4 1 5"),
        (&["--index", "tags", "--where", "id < 3"], "1 1"),
        (&["--index", "tags", "--offset", "1", "--limit", "2"], "5 1"),
        (&["--index", "numbers"], "4 5 1 3"),
        (&["--index", "numbers", "--lt", "5"], "4"),
    ] {
        assert_eq!(ids(&home, arguments), expected, "{arguments:?}");
    }
    let count =
        |arguments: &[&str]| home.run(&[&["count", "s", "things", "--index"], arguments].concat()).out;
    assert_eq!((count(&["tags"]), count(&["numbers"])), ("5\n".to_owned(), "4\n".to_owned()));
    assert_eq!(count(&["tags", "--eq", "Y"]), "2\n");
    assert_eq!(home.good(&["get", "shop", "things", "--index", "tags", "z", "--fields", "id"]), "[4]\n");
    assert_eq!(home.good(&["verify", "s"]), "no damage found\n");
    assert_eq!(home.good(&["scan", "s", "things", "--fields", "id", "--limit", "1"]), "[6]\n");
}

#[test]
fn a_database_has_the_indexes_whose_order_sqlite_has() {
    let home = home();
    let run = home.run(&["export", "s", "--format", "sqlite", "--to", "all.sqlite", "--quiet"]);
    let told = |index: &str| {
        format!("pneu-tarantool: space things: index {index} has no place in SQLite: left out\n")
    };
    assert_eq!((run.code, run.err), (Some(0), told("caseless") + &told("tags")));
    let question = "select sql from sqlite_master where sql not null order by rowid";
    let Some(schema) = sqlite(&home.path().join("all.sqlite"), question) else { return };
    assert_eq!(
        schema,
        "CREATE TABLE \"things\" (\"id\" INTEGER, \"text\" TEXT, \"number\", \"tags\" TEXT, \
         PRIMARY KEY (\"id\" DESC))\n\
         CREATE INDEX \"things_text\" ON \"things\" (\"text\" DESC, \"id\" DESC)\n\
         CREATE INDEX \"things_number\" ON \"things\" (\"number\" DESC, \"text\")\n\
         CREATE INDEX \"things_numbers\" ON \"things\" (\"number\")\n"
    );
}

#[test]
fn a_tuple_that_cannot_have_entries_is_damage() {
    let home = Home::new();
    let indexes: &[crate::made::MadeIndex] =
        &[("pk", "tree", &[(0, "unsigned")]), ("tags", "tree", &[(1, "string path=[*]")])];
    for (number, tags, what) in [
        (1, V::N(7), "a multikey index has no array here"),
        (2, V::Raw(b"\x92\xa1x\x07"), "text is expected"),
        (3, V::Raw(b"\x92\xa1x\xc0"), "text is expected"),
    ] {
        let tuples = vec![tuple(&[V::N(1), tags])];
        let space = Made { id: 512, name: "things", engine: "memtx", fields: &["id"], indexes, tuples };
        let path = snapshot(&home.path().join(format!("shop{number}")), 4, &[space]);
        let run = home.run(&["count", path.to_str().unwrap(), "things"]);
        assert!(run.code == Some(2) && run.err.contains(what), "{run:?}");
    }
}

#[test]
fn a_collation_decides_whether_a_primary_key_occurs_twice() {
    let home = Home::new();
    let indexes: &[crate::made::MadeIndex] = &[("pk", "tree", &[(0, "string collation=2")])];
    let tuples = ["straße", "Äpfel", "STRASSE"].map(|text| tuple(&[V::S(text)])).to_vec();
    let space = Made { id: 512, name: "things", engine: "memtx", fields: &["id"], indexes, tuples };
    snapshot(&home.path().join("shop"), 4, &[space]);
    let run = home.run(&["load", "shop", "--into", "s"]);
    let what = "has the primary key of row 2 in space 512, where each key must be unique; the key has a \
                collation, and the data of collations on Tarantool's machine may tell the two apart";
    assert!(run.code == Some(2) && run.err.contains(what), "{run:?}");
    let run = home.run(&["scan", "shop", "things", "--salvage"]);
    assert_eq!((run.code, run.out.as_str()), (Some(3), "[\"Äpfel\"]\n[\"STRASSE\"]\n"), "{run:?}");
    let run = home.run(&["get", "shop", "things", "Strasse", "--salvage"]);
    assert_eq!((run.code, run.out.as_str()), (Some(3), "[\"STRASSE\"]\n"), "{run:?}");
}

/// Changes a store as another version of the program would have written it.
fn change(store: &Path, change: impl FnOnce(&store::Snapshot, &mut store::Transaction)) {
    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let mut writer = store::Writer::open(&disk, store, store::Options::default()).unwrap();
    let mut transaction = store::Transaction::new();
    change(&writer.snapshot().unwrap(), &mut transaction);
    writer.commit(transaction).unwrap();
}

#[test]
fn a_store_with_other_keys_is_refused() {
    let home = home();
    let store = home.path().join("s");
    change(&store, |_, transaction| {
        transaction.attach("tarantool collations", b"icu4x 1.0\n".to_vec());
    });
    let refused = |what: &str| {
        let again = "load the files of Tarantool into a new store";
        for arguments in [&["get", "s", "things", "3"][..], &["diff", "s", "shop"], &["count", "s", "things"]]
        {
            let run = home.run(arguments);
            assert_eq!((run.code, run.err), (Some(2), format!("pneu-tarantool: s: {what}: {again}\n")));
        }
        let info = home.good(&["info", "s"]);
        assert!(info.contains(&format!("\nremark     s: {what}: {again}\n")), "{info}");
    };
    refused(
        "the store's collations sort by other data than this version of the program \
         (icu4x 1.0\\n, not icu4x 2.4.0)",
    );
    // Definitions and rows can still be read.
    assert!(home.good(&["info", "s"]).contains("6 rows"));
    home.good(&["export", "s", "--to", "new", "-q"]);
    // An index that the tables of the store do not have.
    change(&store, |snapshot, transaction| {
        let spaces = tarantool::stored_spaces(snapshot).unwrap();
        let table = SpaceTable::new(&spaces.get(288).unwrap().unwrap());
        let parts: &[u8] = b"\x91\x92\x03\xa6string";
        let tuple = tuple(&[
            V::N(512),
            V::N(9),
            V::S("new"),
            V::S("tree"),
            V::Raw(b"\x80"),
            V::Raw(parts.to_vec().leak()),
        ]);
        let mut row: Vec<OwnedValue> = Vec::new();
        let take = |_: usize, value: Value| row.push(value.to_owned());
        table.shape.take_keys(&mut Reader::new(&tuple), &mut Vec::new(), take).unwrap();
        row.push(OwnedValue::Bytes(tuple));
        let mut rows = store::Rows::new(&table.schema);
        rows.push(&row.iter().map(OwnedValue::as_value).collect::<Vec<_>>()).unwrap();
        transaction.put(rows);
    });
    refused("the store has other indexes than this version of the program makes (space 512)");
}
