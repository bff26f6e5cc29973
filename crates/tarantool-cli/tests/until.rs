//! `load --until` and `export --until` on a small directory.

use crate::commands::{home, said};
use std::fs;

#[test]
fn an_earlier_point_is_loaded_and_exported() {
    let (home, directory) = home();
    let out = home.good(&["load", "shop", "--into", "s", "--until", "6"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "read     00000000000000000004.snap and 1 log, up to {1: 5}: 10 rows of 6 spaces");
    assert_eq!(
        lines[1],
        "until    the transaction that ends with LSN 6 of replica 1, of 1970-01-01T00:00:01Z, in \
         00000000000000000004.xlog, and all after it are left out"
    );
    assert_eq!(home.good(&["scan", "s", "letters", "--from", "5"]), "[5,\"Nice\"]\n[6,\"Metz\"]\n");
    let before = fs::read_dir(&directory).unwrap().count();
    let out = home.good(&["export", "shop", "--until", "{1: 5}", "--to", "new"]);
    assert!(out.ends_with("written  10 rows in new/00000000000000000005.snap\n"), "{out}");
    assert_eq!(home.good(&["export", "shop", "--until", "{1: 5}", "--to", "quiet", "--quiet"]), "");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), before, "the original is left alone");
    home.good(&["load", "new", "--into", "t", "--quiet"]);
    for directory in ["s", "t"] {
        assert_eq!(home.good(&["scan", directory, "letters"]).lines().count(), 6);
    }
}

#[test]
fn what_has_no_meaning_is_refused() {
    let (home, _) = home();
    home.good(&["load", "shop", "--into", "s", "--quiet"]);
    for (arguments, what) in [
        (
            &["load", "shop", "--into", "t", "--until", "8"][..],
            "shop: LSN 8 is beyond the last row: the rows end at {1: 6}",
        ),
        (
            &["load", "shop", "--into", "t", "--until", "4"],
            "shop: LSN 4 is before the oldest snapshot, shop/00000000000000000004.snap of {1: 4}",
        ),
        (
            &["export", "shop", "--to", "t", "--until", "noon"],
            "\"noon\" is no position: an LSN, a time such as 2024-03-01T12:30 or @SECONDS, or a \
             VClock such as {1: 5} is expected",
        ),
        (
            &["export", "s", "--to", "t", "--until", "5"],
            "--until is for a directory with Tarantool's files, and s is a store",
        ),
        (
            &["export", "shop", "--to", "shop"],
            "shop holds files of Tarantool already: name another directory",
        ),
    ] {
        let run = home.run(arguments);
        assert_eq!(said(&run), (Some(2), "", format!("pneu-tarantool: {what}\n").as_str()), "{arguments:?}");
        assert!(!home.path().join("t").join("shape").exists());
    }
}

/// Losses before the point are listed, those after it are none.
#[test]
fn salvage_lists_what_is_lost_before_the_point() {
    let (home, directory) = home();
    crate::commands::damage(&directory);
    assert_eq!(home.run(&["export", "shop", "--to", "new", "--until", "6"]).code, Some(2));
    let run = home.run(&["export", "shop", "--to", "new", "--until", "6", "--salvage", "--quiet"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains("lost: shop/00000000000000000004.xlog: bytes "), "{run:?}");
    assert_eq!(home.good(&["export", "shop", "--to", "other", "--until", "5", "--quiet"]), "");
}
