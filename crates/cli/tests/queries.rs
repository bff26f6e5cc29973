//! Tests `pneu query`: queries saved under names, and found with `query:`.
//!
//! Input: names and queries. Output: what is then listed and found. Does not depend on where queries are
//! stored.

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
        (&["query", "c", "query:c"], 2, "the saved query \"c\" refers to itself"),
        (&["query", "a", "x query:b"], 2, "the saved query \"a\" refers to itself, by way of \"b\""),
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
fn words_stand_for_their_stem_as_the_configuration_says() {
    let home = Home::new();
    for (number, subject) in ["one manpage", "many manpages", "Häuser"].iter().enumerate() {
        home.deliver("inbox", &format!("{number}.x:2,S"), &letter(&number.to_string(), subject, "x"));
    }
    home.first_index();
    let count = |query: &str| home.pneu(&["count", query]).out;
    assert_eq!(
        (count("manpages"), count("~manpages"), count("~haus")),
        ("1\n".into(), "2\n".into(), "0\n".into())
    );
    let directory = home.path().join(".config/pneu");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("config.toml"), "[search]\nstem = [\"english\", \"german\"]\nstem_all = true\n")
        .unwrap();
    assert_eq!(
        (count("manpages"), count("\"manpages\""), count("haus")),
        ("2\n".into(), "1\n".into(), "1\n".into())
    );
    let analysis = home.good(&["count", "--analyze", "subject:manpages"]);
    assert!(analysis.contains("subject:~manpages") && analysis.contains("words of one stem"), "{analysis}");
    fs::write(directory.join("config.toml"), "[search]\nstem = [\"klingon\"]\n").unwrap();
    let wrong = home.pneu(&["count", "x"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.err.contains("there are no stems of \"klingon\"; languages are arabic, danish"),
        "{}",
        wrong.err
    );
}

#[test]
fn words_of_other_programs_are_explained() {
    let home = Home::new();
    home.deliver("", "1.x:2,S", &letter("1", "First", "x"));
    home.deliver("Sent", "2.x:2,S", &letter("2", "Second", "x"));
    let image = b"Message-ID: <3@x>\nSubject: Third\nContent-Type: image/png; name=a.png\n\nx\n";
    home.deliver("Sent", "3.x:2,S", image);
    home.first_index();
    home.good(&["tag", "+work", "--", "subject:first"]);
    for (query, why) in [
        ("tag:unread", "no message has the tag unread; did you mean flag:unread?"),
        ("tag:attachment", "no message has the tag attachment; did you mean flag:attach?"),
        ("tag:flagged", "no message has the tag flagged; did you mean flag:flagged?"),
        ("tag:replied", "no message has the tag replied; did you mean flag:replied?"),
        ("label:sent", "no message has the tag sent; did you mean maildir:/Sent?"),
        ("tag:inbox", "no message has the tag inbox; did you mean maildir:/?"),
        ("is:wrok", "no message has the tag wrok; did you mean tag:work?"),
        ("is:unraed", "no message has the tag unraed; did you mean flag:unread?"),
        ("is:foo", "no message has the tag foo"),
        ("maildir:/inbox", "there is no folder /inbox; did you mean maildir:/?"),
        ("mime:png", "png is no whole MIME type; did you mean mime:*/png or file:png?"),
        ("mimetype:image", "image is no whole MIME type; did you mean mime:image/*?"),
        ("mime:pdf", "pdf is no whole MIME type; did you mean mime:*/pdf?"),
    ] {
        let found = home.pneu(&["find", query]);
        assert_eq!((found.code, found.out.as_str()), (Some(1), ""), "{query}");
        assert_eq!(found.err, format!("pneu: no message matches: {why}\n"), "{query}");
    }
    // The user's own tags are no mistakes, even where all their messages have another one.
    home.good(&["tag", "+unread", "--", "subject:first"]);
    assert_eq!(home.good(&["count", "tag:unread"]), "1\n");
    for query in ["tag:unread subject:second", "mime:image/gif", "is:unread"] {
        assert_eq!(home.pneu(&["find", query]).err, "pneu: no message matches\n", "{query}");
    }
    let viewed = home.pneu(&["view", "tag:flagged"]);
    assert_eq!(viewed.code, Some(1));
    assert!(
        viewed.err.ends_with("no message has the tag flagged; did you mean flag:flagged?\n"),
        "{}",
        viewed.err
    );
    let foreign = home.pneu(&["find", "has:attachment"]);
    assert_eq!(foreign.code, Some(2));
    assert!(foreign.err.contains("write: flag:attach (to search for the text, quote it"), "{}", foreign.err);
}

#[test]
fn a_folder_without_messages_is_explained() {
    let home = Home::new();
    home.deliver("lists/rust", "1.x:2,S", &letter("1", "First", "x"));
    home.first_index();
    let below = "/lists holds no message itself, but folders below it do: maildir:/lists/**";
    let counted = home.pneu(&["count", "maildir:/lists"]);
    assert_eq!((counted.code, counted.out.as_str()), (Some(1), "0\n"));
    assert_eq!(counted.err, format!("pneu: {below}\n"));
    for command in [&["find"][..], &["find", "--format", "json"], &["tag", "+a", "--"]] {
        let found = home.pneu(&[command, &["maildir:/lists"]].concat());
        assert_eq!((found.code, found.out.as_str()), (Some(1), ""), "{command:?}");
        assert_eq!(found.err, format!("pneu: no message matches: {below}\n"), "{command:?}");
    }
    let near = home.pneu(&["find", "maildir:/lsits/rust"]);
    assert_eq!(
        near.err,
        "pneu: no message matches: there is no folder /lsits/rust; did you mean maildir:/lists/rust?\n"
    );
    assert_eq!(home.pneu(&["find", "maildir:/x"]).err, "pneu: no message matches: there is no folder /x\n");
    for quiet in [&["count", "--quiet", "maildir:/lists"], &["find", "--quiet", "maildir:/lists"]] {
        assert_eq!(home.pneu(quiet).err, "");
    }
    assert_eq!(home.good(&["count", "maildir:/lists/**"]), "1\n");
    assert_eq!(home.pneu(&["count", "maildir:/lists/rust nothing"]).err, "");
}

#[test]
fn encoded_names_of_folders_are_shown_decoded() {
    let home = Home::new();
    home.deliver("Entw&APw-rfe", "1.x:2,S", &letter("1", "First", "x"));
    home.deliver("&IC4-x&AAo-", "2.x:2,S", &letter("2", "Second", "x"));
    home.first_index();
    assert_eq!(home.good(&["find", "--fields", "m", "maildir:/entwürfe"]), "/Entwürfe\n");
    assert_eq!(home.subjects("maildir:\"/Entw&APw-rfe\""), ["First"]);
    let json = home.good(&["find", "--format", "json", "subject:first"]);
    assert!(json.contains("\"maildir\":\"/Entwürfe\"") && json.contains("/Entw&APw-rfe/cur/"), "{json}");
    assert!(home.good(&["find", "--format", "sexp", "subject:first"]).contains(":maildir \"/Entwürfe\""));
    // What turns the direction of writing is as little shown as in any other text.
    assert_eq!(home.good(&["find", "--fields", "m", "subject:second"]), "/\u{fffd}x&AAo-\n");
}

#[test]
fn info_says_what_count_counts() {
    let home = Home::new();
    for (number, received) in ["one", "two"].iter().enumerate() {
        let mut content = format!("Received: from {received}\n").into_bytes();
        content.extend(letter("same", "Same", "x"));
        home.deliver("inbox", &format!("{number}.x:2,S"), &content);
    }
    home.first_index();
    let info = home.good(&["info"]);
    let number =
        |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    assert_eq!((number("messages"), number("without copies")), ("2".into(), "1".into()));
    assert_eq!(home.good(&["count"]), "1\n");
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
