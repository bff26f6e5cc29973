//! `pneu-tarantool diff`: what it prints for each kind of difference.

use crate::made::{Made, V, log, orders, snapshot, some_orders, tuple};
use crate::support::Home;

/// A home with a database in `old`, and one in `new` that differs in each way.
fn home() -> Home {
    let home = Home::new();
    let renamed = |name, tuples| Made {
        id: 700,
        name,
        fields: &[],
        indexes: &[("pk", "tree", &[(0, "unsigned")])],
        tuples,
        ..orders(Vec::new())
    };
    let gone = Made { id: 800, name: "gone", ..orders(some_orders()[..1].to_vec()) };
    snapshot(&home.path().join("old"), 4, &[orders(some_orders()), renamed("a", some_orders()), gone]);
    let mut tuples = some_orders();
    tuples[1] = tuple(&[V::N(2), V::S("bob"), V::D(7.0), V::B(true), V::S("more")]);
    // The same number in more bytes, and a field less.
    tuples[3] = tuple(&[V::Raw(&[0xcc, 5]), V::S("cyd"), V::N(-3), V::B(true)]);
    tuples[4] = tuple(&[V::N(8), V::S("bob \"b\""), V::D(0.1), V::B(false)]);
    tuples.remove(2);
    tuples.push(tuple(&[V::N(9), V::S("dee"), V::N(1)]));
    let changed = Made {
        indexes: &[
            ("pk", "tree", &[(0, "unsigned")]),
            ("by_customer", "tree", &[(1, "string"), (2, "number")]),
        ],
        tuples,
        ..orders(Vec::new())
    };
    let come = Made { id: 900, name: "come", ..orders(some_orders()[..1].to_vec()) };
    snapshot(&home.path().join("new"), 9, &[changed, renamed("b", some_orders()), come]);
    home
}

const ROWS: &str = r#"{"space":"orders","space_id":512,"change":"index removed","index":"by_hash","index_id":2,"definition":{"id":512,"iid":2,"name":"by_hash","type":"hash","opts":{"unique":false},"parts":[[1,"string"],[0,"unsigned"]]}}
{"space":"orders","space_id":512,"change":"changed","key":[2],"fields":{"price":{"old":7,"new":7.0},"paid":{"old":false,"new":true},"more":{"new":"more"}}}
{"space":"orders","space_id":512,"change":"removed","key":[3],"tuple":{"id":3,"customer":"ana","price":12,"paid":null,"more":{"town":"Lyon"}}}
{"space":"orders","space_id":512,"change":"changed","key":[8],"fields":{"more":{"old":[1,2]},"6":{"old":6}}}
{"space":"orders","space_id":512,"change":"added","key":[9],"tuple":{"id":9,"customer":"dee","price":1}}
"#;

#[test]
fn each_difference_is_a_line() {
    let home = home();
    let run = home.run(&["diff", "old", "new", "--space", "orders"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), ROWS, ""));
    let run = home.run(&["diff", "old", "new"]);
    assert!(run.code == Some(1) && run.out.starts_with(ROWS), "{run:?}");
    let rest: Vec<&str> = run.out[ROWS.len()..].lines().collect();
    assert_eq!(
        rest[0],
        r#"{"space":"b","space_id":700,"change":"space changed","fields":{"name":{"old":"a","new":"b"}}}"#
    );
    assert!(
        rest[1].starts_with(
            r#"{"space":"gone","space_id":800,"change":"space removed","definition":{"id":800,"#
        )
    );
    assert!(rest[2].starts_with(r#"{"space":"gone","space_id":800,"change":"index removed","index":"pk","#));
    assert!(
        rest[5]
            .starts_with(r#"{"space":"gone","space_id":800,"change":"removed","key":[1],"tuple":{"id":1,"#)
    );
    assert!(rest[6].starts_with(r#"{"space":"come","space_id":900,"change":"space added","#));
    assert!(rest[10].starts_with(r#"{"space":"come","space_id":900,"change":"added","key":[1],"#));
    assert_eq!(rest.len(), 11);
    let run = home.run(&["diff", "old", "new", "--summary"]);
    let summary = r#"{"space":"orders","space_id":512,"added":1,"removed":1,"changed":2,"same":2,"redefined":true}
{"space":"b","space_id":700,"added":0,"removed":0,"changed":0,"same":5,"redefined":true}
{"space":"gone","space_id":800,"added":0,"removed":1,"changed":0,"same":0,"redefined":true}
{"space":"come","space_id":900,"added":1,"removed":0,"changed":0,"same":0,"redefined":true}
"#;
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(1), summary, ""));
    let run = home.run(&["diff", "old", "new", "--space", "280", "--summary"]);
    assert!(run.code == Some(1) && run.out.contains("\"added\":1,\"removed\":1,\"changed\":1,"), "{run:?}");
}

#[test]
fn equal_databases_have_no_difference() {
    let home = home();
    home.good(&["load", "new", "--into", "s", "-q"]);
    home.good(&["export", "s", "--to", "again", "-q"]);
    for other in ["new", "new/00000000000000000009.snap", "again"] {
        assert_eq!(home.good(&["diff", "s", other, "--show-system"]), "");
        let summary = home.good(&["diff", other, "s", "--summary"]);
        assert!(summary.lines().count() == 3 && summary.contains("\"changed\":0,\"same\":5}"), "{summary}");
    }
    // A snapshot and its logs.
    log(&home.path().join("new"), 9, &[tuple(&[V::N(9), V::S("dee"), V::N(2)])]);
    let run = home.run(&["diff", "new/00000000000000000009.snap", "new"]);
    let line = r#"{"space":"orders","space_id":512,"change":"changed","key":[9],"fields":{"price":{"old":1,"new":2}}}"#;
    assert_eq!((run.code, run.out), (Some(1), format!("{line}\n")));
    let run = home.run(&["diff", "s", "new", "--space", "none"]);
    assert!(run.code == Some(2) && run.err.contains("it has no space none, nor has"), "{run:?}");
}

/// Without a key that both have, tuples are compared as wholes.
#[test]
fn tuples_without_a_common_key_are_compared_as_wholes() {
    let home = Home::new();
    let with = |indexes, tuples| Made { indexes, ..orders(tuples) };
    snapshot(&home.path().join("old"), 4, &[with(&[("pk", "tree", &[(0, "unsigned")])], some_orders())]);
    let mut tuples = some_orders();
    tuples[0] = tuple(&[V::N(1), V::S("zoe"), V::N(1)]);
    tuples.reverse();
    snapshot(
        &home.path().join("new"),
        4,
        &[with(&[("pk", "tree", &[(1, "string"), (0, "unsigned")])], tuples)],
    );
    let run = home.run(&["diff", "old", "new"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(run.code == Some(1) && lines.len() == 3, "{run:?}");
    assert!(lines[0].contains(
        r#""change":"index changed","index":"pk","index_id":0,"fields":{"parts":{"old":[[0,"unsigned"]],"#
    ));
    let changes = lines[1..].join("\n");
    assert!(changes.contains(r#""change":"removed","tuple":{"id":1,"customer":"ana""#), "{changes}");
    assert!(changes.contains(r#""change":"added","tuple":{"id":1,"customer":"zoe""#), "{changes}");
    assert_eq!(
        run.err,
        "pneu-tarantool: space orders has no primary key that both sides share: its tuples are compared as \
         wholes\n"
    );
}

/// Two states of one directory, by its logs.
#[test]
fn two_points_of_one_directory_are_compared() {
    let home = Home::new();
    snapshot(&home.path().join("shop"), 4, &[orders(some_orders())]);
    let row = |id, price| tuple(&[V::N(id), V::S("ana"), V::N(price)]);
    log(&home.path().join("shop"), 4, &[row(20, 1), row(20, 2), row(21, 3), row(20, 4)]);
    let diff = |arguments: &[&str]| {
        let run = home.run(&[&["diff", "shop"], arguments].concat());
        assert!(run.code == Some(i32::from(!run.out.is_empty())) && run.err.is_empty(), "{run:?}");
        let begin = "{\"space\":\"orders\",\"space_id\":512,\"change\":";
        run.out.replace(begin, "").lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let new = |id, price| {
        format!("\"added\",\"key\":[{id}],\"tuple\":{{\"id\":{id},\"customer\":\"ana\",\"price\":{price}}}}}")
    };
    let price = |old, new| {
        format!("\"changed\",\"key\":[20],\"fields\":{{\"price\":{{\"old\":{old},\"new\":{new}}}}}}}")
    };
    assert_eq!(diff(&["--from", "5"]), [new(20, 4), new(21, 3)]);
    assert_eq!(diff(&["--from", "6", "--to", "7"]), [price(1, 2)]);
    assert_eq!(diff(&["--from", "6"]), [price(1, 4), new(21, 3)]);
    assert!(diff(&["--from", "6", "--to", "6"]).is_empty());
    assert!(diff(&["shop", "--until", "6"]).is_empty());
    assert_eq!(home.good(&["scan", "shop", "orders", "--ge", "20", "--until", "7"]), "[20,\"ana\",2]\n");
    for (arguments, code) in [
        (&["--to", "5"][..], 2),
        (&["shop", "--from", "5"], 2),
        (&["--from", "5", "--until", "6"], 2),
        (&[], 2),
    ] {
        assert_eq!(home.run(&[&["diff", "shop"], arguments].concat()).code, Some(code), "{arguments:?}");
    }
    let run = home.run(&["count", "shop/00000000000000000004.snap", "orders", "--until", "5"]);
    assert!(run.code == Some(2) && run.err.contains("--until is for directories"), "{run:?}");
}
