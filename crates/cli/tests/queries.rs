//! `pneu query`: queries saved under names, and found with `query:`.
//!
//! Comes in: names and queries. Goes out: what is then listed and found. Must not know where they are kept.

use crate::support::{Home, letter};
use std::fs;

#[test]
fn queries_are_saved_found_listed_and_removed() {
    let home = Home::indexed();
    let none = home.pneu(&["query"]);
    assert_eq!(
        (none.code, none.err.as_str()),
        (Some(1), "pneu: no query is saved; pneu query NAME QUERY saves one\n")
    );
    assert_eq!(home.good(&["query", "hello", "hello", "and", "not", "again"]), "saved: query:hello\n");
    assert_eq!(home.good(&["query", "--quiet", "some", "query:hello or subject:third"]), "");
    assert_eq!(home.subjects("query:hello"), ["First steps"]);
    assert_eq!(home.subjects("not query:some"), ["A fourth", "Second thoughts"]);
    assert_eq!(home.good(&["count", "Query:some"]), "2\n");
    assert_eq!(home.good(&["tag", "+some", "--", "query:some"]), "2 messages: 2 changed\n");
    assert!(home.good(&["view", "query:hello"]).contains("First steps"));
    assert_eq!(home.good(&["query"]), "hello\thello and not again\nsome\tquery:hello or subject:third\n");
    assert_eq!(home.good(&["query", "some"]), "query:hello or subject:third\n");
    assert_eq!(home.good(&["query", "hello", "again"]), "saved: query:hello\n");
    assert_eq!(home.subjects("query:some"), ["Third time", "Second thoughts"]);
    // The index is no part of it.
    fs::remove_dir_all(home.index_directory()).unwrap();
    home.first_index();
    assert_eq!(home.subjects("query:hello"), ["Second thoughts"]);
    assert_eq!(home.good(&["query", "--remove", "some"]), "");
    assert_eq!(home.good(&["query"]), "hello\tagain\n");
}

#[test]
fn mistakes_are_told_and_save_nothing() {
    let home = Home::indexed();
    home.good(&["query", "a", "hello"]);
    home.good(&["query", "b", "query:a or x"]);
    for (arguments, code, part) in [
        (&["query", "c", "from:bob (x"][..], 2, "in the saved query \"c\": expected a \")\""),
        (&["query", "c", "query:d"], 2, "there is no saved query \"d\""),
        (&["query", "c", "query:c"], 2, "the saved query \"c\" asks for itself"),
        (&["query", "a", "x query:b"], 2, "the saved query \"a\" asks for itself, by way of \"b\""),
        (&["query", "a b", "x"], 2, "\"a b\" cannot be the name of a query: a name has letters"),
        (&["query", "--remove", "a"], 2, "a is part of b: change or remove that first"),
        (&["query", "--remove", "c"], 1, "no query is saved as c"),
        (&["query", "c"], 1, "no query is saved as c"),
        (&["find", "query:c"], 2, "there is no saved query \"c\""),
    ] {
        let wrong = home.pneu(arguments);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(code), ""), "{arguments:?}");
        assert!(wrong.err.contains(part), "{arguments:?}: {}", wrong.err);
    }
    assert_eq!(home.good(&["query"]), "a\thello\nb\tquery:a or x\n");
}

#[test]
fn a_damaged_file_is_told_and_the_rest_goes_on() {
    let home = Home::indexed();
    home.good(&["query", "a", "hello"]);
    let path = home.data().join("user/queries");
    fs::write(&path, "pneu-queries 1\nno tab\n").unwrap();
    assert_eq!(home.subjects("hello").len(), 2, "a query that names none does not need them");
    for arguments in [&["find", "query:a"][..], &["query"], &["query", "b", "x"]] {
        let wrong = home.pneu(arguments);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(wrong.err.contains("line 2 of the saved queries in "), "{arguments:?}: {}", wrong.err);
        assert!(wrong.err.contains(&path.display().to_string()), "{arguments:?}: {}", wrong.err);
    }
}

#[test]
fn what_cannot_stand_in_a_line_is_a_space() {
    let home = Home::indexed();
    home.good(&["query", "a", " hello\n\tand not again\n"]);
    assert_eq!(home.good(&["query", "a"]), "hello  and not again\n");
    assert_eq!(home.subjects("query:a"), ["First steps"]);
}

#[test]
fn an_index_says_how_many_messages_have_problems_and_a_query_finds_them() {
    let home = Home::new();
    home.deliver("", "1:2,S", &letter("1", "Sound", "text"));
    let sound = home.first_index();
    assert_eq!(sound.lines().count(), 1, "{sound}");
    home.deliver("", "2:2,S", b"From: a@example.org\nSubject: Odd\nMessage-ID: <2@example.org>\n\nx\0y\n");
    home.deliver(
        "",
        "3:2,S",
        b"From: a@example.org\nSubject: Late\nMessage-ID: <3@example.org>\nDate: soon\n\nx\n",
    );
    let odd = home.good(&["index"]);
    let said = "2 messages have problems: date 2, nul 1; list them with: pneu find 'problem:*'";
    assert_eq!(odd.lines().nth(1), Some(said), "{odd}");
    assert_eq!(home.subjects("problem:nul"), ["Odd"]);
    assert_eq!(home.subjects("problem:date-unreadable"), ["Late"]);
    let mut all = home.subjects("problem:*");
    all.sort();
    assert_eq!(all, ["Late", "Odd"]);
    let wrong = home.pneu(&["find", "problem:dates"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("problem: takes charset, cut, date"), "{wrong:?}");
    assert_eq!(home.good(&["index"]).lines().count(), 1, "nothing new, nothing said");
}
