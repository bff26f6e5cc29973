//! `get`, `scan` and `count` on snapshots, directories and stores: what they print, for each option.

use crate::made::{V, log, orders, snapshot, some_orders, tuple};
use crate::support::Home;

/// A home with a snapshot in `shop`, and the same rows in the store `s`.
fn home() -> Home {
    let home = Home::new();
    snapshot(&home.path().join("shop"), 4, &[orders(some_orders())]);
    home.good(&["load", "shop", "--into", "s", "-q"]);
    home
}

const SNAP: &str = "shop/00000000000000000004.snap";

fn ids(home: &Home, arguments: &[&str]) -> String {
    let run = home.run(&[&["scan", "s", "orders", "--fields", "id"], arguments].concat());
    assert!(run.code == Some(0) || run.code == Some(1) && run.out.is_empty(), "{run:?}");
    run.out.replace(['[', ']'], "").replace('\n', " ").trim_end().to_owned()
}

#[test]
fn a_file_a_directory_and_a_store_answer_alike() {
    let home = home();
    std::fs::copy(home.path().join(SNAP), home.path().join("copy of it")).unwrap();
    for source in ["s", "shop", SNAP, "copy of it"] {
        for _ in 0..2 {
            assert_eq!(home.good(&["get", source, "orders", "2"]), "[2,\"bob\",7,false]\n");
            assert_eq!(home.good(&["count", source, "orders"]), "5\n");
            assert_eq!(
                home.good(&["scan", source, "orders", "--limit", "1", "--reverse", "--fields", "1"]),
                "[8]\n"
            );
        }
    }
    // A log belongs to its snapshot: alone it has no answer.
    log(&home.path().join("shop"), 4, &[tuple(&[V::N(9), V::S("new"), V::N(1)])]);
    assert_eq!(home.good(&["get", "shop", "orders", "9"]), "[9,\"new\",1]\n");
    assert_eq!(home.run(&["get", SNAP, "orders", "9"]).code, Some(1));
    let run = home.run(&["get", "shop/00000000000000000004.xlog", "orders", "9"]);
    let refused = "shop/00000000000000000004.xlog: it is no snapshot; logs are read with their snapshot: \
                   name the directory\n";
    assert_eq!((run.code, run.err), (Some(2), format!("pneu-tarantool: {refused}")));
    let run = home.run(&["get", "s", "orders", "1", "--salvage"]);
    assert_eq!(run.err, "pneu-tarantool: --salvage is for files of Tarantool, and s has none\n");
}

#[test]
fn conditions_choose_keys_and_beginnings_of_keys() {
    let home = home();
    for (arguments, expected) in [
        (&["--eq", "3"][..], "3"),
        (&["--ge", "3"], "3 5 8"),
        (&["--gt", "3"], "5 8"),
        (&["--le", "3"], "1 2 3"),
        (&["--lt", "3"], "1 2"),
        (&["--gt", "1", "--lt", "5"], "2 3"),
        (&["--gt", "1", "--le", "5", "--reverse"], "5 3 2"),
        (&["--from", "2", "--to", "5"], "2 3 5"),
        (&["--ge", "9"], ""),
        (&["--index", "by_customer"], "1 3 2 8 5"),
        (&["--index", "by_customer", "--eq", "ana"], "1 3"),
        (&["--index", "by_customer", "--eq", "ana", "12"], "3"),
        (&["--index", "by_customer", "--eq", "ana", "--reverse"], "3 1"),
        (&["--index", "by_customer", "--gt", "ana"], "2 8 5"),
        (&["--index", "by_customer", "--gt", "ana", "10.5"], "3 2 8 5"),
        (&["--index", "by_customer", "--ge", "ana", "11", "--lt", "cyd"], "3 2 8"),
        (&["--index", "by_customer", "--le", "ana"], "1 3"),
        (&["--index", "by_customer", "--lt", "cyd", "-3"], "1 3 2 8"),
        (&["--index", "by_customer", "--le", "cyd", "-3"], "1 3 2 8 5"),
        (&["--index", "by_customer", "--from", "ana", "--from", "11", "--to", "bob"], "3 2"),
        (&["--index", "by_customer", "--eq", "bob \"b\"", "0.1"], "8"),
        (&["--index", "by_hash", "--eq", "bob", "2"], "2"),
        (&["--offset", "1", "--limit", "2"], "2 3"),
        (&["--offset", "4", "--reverse"], "1"),
        (&["--offset", "5"], ""),
        (&["--limit", "0"], ""),
        (&["--where", "paid", "--offset", "1"], "5"),
        (&["--where", "price > 0 and more.town is not null"], "1 3"),
        (&["--where", "[6] = 6 or customer like \"c%\""], "5 8"),
        (&["--ge", "2", "--where", "price < 10", "--reverse"], "8 5 2"),
    ] {
        assert_eq!(ids(&home, arguments), expected, "{arguments:?}");
        let is_plain = !arguments.iter().any(|word| ["--offset", "--limit", "--reverse"].contains(word));
        if is_plain {
            let run = home.run(&[&["count", "s", "orders"], arguments].concat());
            let count = expected.split_whitespace().count();
            assert_eq!(
                (run.code, run.out),
                (Some(i32::from(count == 0)), format!("{count}\n")),
                "{arguments:?}"
            );
        }
    }
}

#[test]
fn fields_and_names_are_printed_as_asked() {
    let home = home();
    let scan =
        |arguments: &[&str]| home.good(&[&["scan", "shop", "orders", "--eq", "8"], arguments].concat());
    assert_eq!(scan(&[]), "[8,\"bob \\\"b\\\"\",0.1,false,[1,2],6]\n");
    assert_eq!(
        scan(&["--format", "json"]),
        "{\"id\":8,\"customer\":\"bob \\\"b\\\"\",\"price\":0.1,\"paid\":false,\"more\":[1,2],\"6\":6}\n"
    );
    assert_eq!(scan(&["--fields", "price, 1,more[2],7"]), "[0.1,8,2,null]\n");
    assert_eq!(
        scan(&["--fields", "price,6,more.town", "--format", "json"]),
        "{\"price\":0.1,\"6\":6,\"more.town\":null}\n"
    );
    assert_eq!(home.good(&["get", "s", "orders", "1", "--fields", "more.town"]), "[\"Paris\"]\n");
    assert_eq!(
        home.good(&["get", "s", "orders", "2", "--format", "json"]),
        "{\"id\":2,\"customer\":\"bob\",\"price\":7,\"paid\":false}\n"
    );
}

#[test]
fn mistakes_are_sentences_and_point_at_their_place() {
    let home = home();
    std::fs::create_dir(home.path().join("nothing")).unwrap();
    for (arguments, said) in [
        (
            &["scan", "s", "orders", "--where", "price > 1 nad paid"][..],
            "--where: \"and\", \"or\" or the end is expected here\n  price > 1 nad paid\n            ^",
        ),
        (
            &["count", "s", "orders", "--where", "prise = 1"],
            "--where: there is no field prise in space orders; there are: id, customer, price, paid, more\n  \
             prise = 1\n  ^",
        ),
        (
            &["get", "s", "orders", "1", "--fields", "id,none"],
            "--fields: there is no field none in space orders; there are: id, customer, price, paid, more",
        ),
        (
            &["scan", "s", "orders", "--eq", "x"],
            "\"x\" is not a key of index pk: a whole number from 0 to 2^64 - 1 is expected, not x",
        ),
        (&["scan", "s", "orders", "--eq", "1", "2"], "index pk has 1 part, not 2"),
        (
            &["get", "s", "orders", "--index", "by_hash", "bob"],
            "index by_hash is a hash index: all 2 parts of its key are needed",
        ),
        (&["scan", "none", "orders"], "none does not exist"),
        (
            &["count", "nothing", "orders"],
            "nothing has no files of Tarantool, and no store of \"pneu-tarantool load\"",
        ),
        (&["count", "shop", "parcels"], "there is no space parcels in shop; pneu-tarantool info lists them"),
        (
            &["count", SNAP, "orders", "--wal", "shop"],
            "--wal is for directories, and shop/00000000000000000004.snap is a file",
        ),
    ] {
        let run = home.run(arguments);
        assert_eq!((run.code, run.out.as_str(), run.err), (Some(2), "", format!("pneu-tarantool: {said}\n")));
    }
    for arguments in
        [&["--eq", "1", "--ge", "1"][..], &["--ge", "1", "--gt", "1"], &["--le", "1", "--lt", "1"]]
    {
        let run = home.run(&[&["scan", "s", "orders"], arguments].concat());
        assert!(run.code == Some(2) && run.err.contains("cannot be used with"), "{run:?}");
    }
    let run = home.run(&["scan", "s", "orders", "--index", "by_hash", "--ge", "bob"]);
    assert!(run.code == Some(2) && run.err.contains("is a hash index and has no order"), "{run:?}");
}
