//! Tests `pneu tag`: tags by query, stored outside the index.
//!
//! Input: indexed mail and changes. Output: what is then found and printed. Does not depend on where tags are
//! stored.

use crate::support::{Home, letter, run_with_input};
use std::fs;

#[test]
fn tags_are_given_found_listed_and_taken_away() {
    let home = Home::indexed();
    assert_eq!(home.good(&["tag", "+work", "+later", "--", "hello"]), "2 messages: 2 changed\n");
    assert_eq!(home.good(&["tag", "-later", "--", "subject:first"]), "1 message: 1 changed\n");
    assert_eq!(home.good(&["tag"]), "       1 later\n       2 work\n");
    assert_eq!(home.subjects("tag:work"), ["Second thoughts", "First steps"]);
    assert_eq!(home.subjects("tag:work and not tag:later"), ["First steps"]);
    assert_eq!(home.good(&["find", "--fields", "x s", "tag:later"]), "later,work       Second thoughts\n");
    let shown = home.good(&["view", "--format", "json", "id:2@example.org"]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&shown).unwrap()["tags"].to_string(),
        r#"["later","work"]"#
    );
    // The index is gone and made again: tags are no part of it.
    fs::remove_dir_all(home.index_directory()).unwrap();
    home.first_index();
    assert_eq!(home.subjects("tag:later"), ["Second thoughts"]);
    assert_eq!(home.good(&["tag", "--quiet", "-work", "-later", "--", "*"]), "");
    let none = home.pneu(&["tag"]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""));
}

#[test]
fn mistakes_are_told_and_change_nothing() {
    let home = Home::indexed();
    for (arguments, code, part) in [
        (&["tag", "+a b", "--", "hello"][..], 2, "\"a b\" cannot be a tag: a tag has neither white space"),
        (&["tag", "+", "--", "hello"], 2, "\"\" cannot be a tag: a tag has at least one character"),
        (&["tag", "hello"], 2, "no tag is given"),
        (&["tag", "+a", "--"], 2, "no query is given"),
        (&["tag", "+a", "--", "form:bob"], 2, "did you mean \"from:\"?"),
        (&["tag", "+a", "--", "nowhere"], 1, "no message matches"),
    ] {
        let wrong = home.pneu(arguments);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(code), ""), "{arguments:?}");
        assert!(wrong.err.contains(part), "{arguments:?}: {}", wrong.err);
    }
    assert!(!home.data().join("user").exists());
}

#[test]
fn damaged_tags_are_told_and_the_rest_goes_on() {
    let home = Home::indexed();
    home.good(&["tag", "+work", "--", "hello"]);
    let manifest = home.data().join("user/manifest");
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[20] ^= 1;
    fs::write(&manifest, bytes).unwrap();
    assert_eq!(home.subjects("hello").len(), 2, "a query without tags does not need them");
    for arguments in [&["find", "tag:work"][..], &["tag"], &["tag", "+x", "--", "hello"]] {
        let wrong = home.pneu(arguments);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(wrong.err.contains("user/manifest is damaged"), "{arguments:?}: {}", wrong.err);
    }
}

#[test]
fn people_are_listed() {
    let home = Home::indexed();
    assert_eq!(home.good(&["contacts"]), "Ana Example <ana@example.org>\nbo@example.org\n");
    assert_eq!(home.good(&["contacts", "-n", "1", "EXAMPLE"]), "Ana Example <ana@example.org>\n");
    let line = home.good(&["contacts", "--format", "json", "bo@"]);
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((value["sent"].as_u64(), value["received"].as_u64()), (Some(0), Some(4)));
    assert_eq!((value["address"].as_str(), value["name"].as_str()), (Some("bo@example.org"), Some("")));
    let none = home.pneu(&["contacts", "nobody"]);
    assert_eq!((none.code, none.err.as_str()), (Some(1), "pneu: no person matches\n"));
}

#[test]
fn a_message_id_that_stands_twice_loses_no_tag() {
    let home = Home::indexed();
    home.deliver("", "8:2,S", &letter("1", "From a stranger", "with the same Message-ID"));
    home.good(&["index"]);
    home.good(&["tag", "+keep", "--", "hello"]);
    home.good(&["tag", "+other", "--", "stranger"]);
    let dump = home.good(&["tag", "--dump"]);
    fs::write(home.path().join("dump"), &dump).unwrap();
    assert_eq!(dump.lines().filter(|line| line.ends_with("-- id:1@example.org")).count(), 2, "{dump}");
    home.good(&["tag", "--restore", "dump"]);
    assert!(home.subjects("tag:keep").contains(&"First steps".to_owned()));
    assert!(home.subjects("tag:other").contains(&"From a stranger".to_owned()));
}

#[test]
fn labels_of_mu_find_messages_without_a_message_id() {
    let home = Home::indexed();
    let bare = b"From: ana@example.org\nSubject: Bare\nDate: Mon, 5 Jan 2004 10:00:00 +0000\n\nx\n";
    home.deliver("", "8:2,S", bare);
    let lost = home.deliver("", "9:2,S", &bare.map(|byte| if byte == b'B' { b'C' } else { byte }));
    home.good(&["index"]);
    let made = "bf4fc8cbcd5b7e612284e01226d687b911b922b54f0c18e838908172f5407f25@mu.id";
    let other = format!("{}@mu.id", "0".repeat(64));
    let labels = format!(
        ";; mu labels export\n\npath:/elsewhere/cur/1\nmessage-id:{made}\nlabels:one\n\n\
         path:{}\nmessage-id:{other}\nlabels:two\n\npath:/gone/cur/1\nmessage-id:{other}\nlabels:x\n",
        lost.display()
    );
    fs::write(home.path().join("labels"), labels).unwrap();
    let run = home.pneu(&["tag", "--restore", "labels"]);
    assert_eq!(run.out, "3 lines, 2 messages: 2 changed\n", "{run:?}");
    assert_eq!(run.err, "pneu: 1 line named no message\n");
    assert_eq!(home.subjects("tag:one"), ["Bare"]);
    assert_eq!(home.subjects("tag:two"), ["Care"]);
}

#[test]
fn labels_of_mu_leave_muted_as_it_is() {
    let home = Home::indexed();
    home.good(&["tag", "+muted", "+old", "--", "hello"]);
    let labels = ";;\nmessage-id:1@example.org\nlabels:\n\nmessage-id:2@example.org\nlabels:new\n";
    fs::write(home.path().join("labels"), labels).unwrap();
    home.good(&["tag", "--restore", "labels"]);
    let expected = "+muted +new -- id:2@example.org\n+muted -- id:1@example.org\n";
    assert_eq!(home.good(&["tag", "--dump"]), expected);
    fs::write(home.path().join("dump"), "-- id:1@example.org\n").unwrap();
    home.good(&["tag", "--restore", "dump"]);
    assert!(!home.good(&["tag", "--dump"]).contains("1@example.org"), "a dump says all");
}

#[test]
fn tags_go_to_notmuch_and_come_back_and_lines_are_done_at_once() {
    let home = Home::indexed();
    home.good(&["tag", "+work", "+grün", "--", "hello"]);
    home.good(&["tag", "-work", "--", "subject:second"]);
    let dump = home.good(&["tag", "--dump"]);
    assert_eq!(dump, "+gr%c3%bcn +work -- id:1@example.org\n+gr%c3%bcn -- id:2@example.org\n");
    fs::write(home.path().join("dump"), &dump).unwrap();
    home.good(&["tag", "+other", "-work", "--", "*"]);
    assert_eq!(home.good(&["tag", "--restore", "dump"]), "2 lines, 2 messages: 2 changed\n");
    assert_eq!(home.good(&["tag"]), "       2 grün\n       2 other\n       1 work\n");
    let foreign =
        "#notmuch-dump batch-tag:3 config,properties,tags\n+inbox +unread -- id:3@example.org\n-- id:no@x\n";
    let run = run_with_input(&mut home.command(&["tag", "--restore", "-"]), foreign.as_bytes());
    assert_eq!((run.code, run.out.as_str()), (Some(0), "2 lines, 1 message: 1 changed\n"), "{run:?}");
    assert_eq!(run.err, "pneu: 1 line named no message\n");
    assert_eq!(home.subjects("tag:inbox"), ["Third time"]);
    assert_eq!(home.subjects("tag:unread"), [""; 0]);
    let batch = "# sorted\n+a -other -- tag:other\n+b -- tag:a or id:1@example.org\n-a -- subject:fourth\n";
    let run = run_with_input(&mut home.command(&["tag", "--batch", "-"]), batch.as_bytes());
    assert_eq!((run.code, run.out.as_str()), (Some(0), "3 lines, 2 messages: 2 changed\n"), "{run:?}");
    // Queries are answered from the state before; edits follow each other.
    assert_eq!(
        (home.subjects("tag:b"), home.subjects("tag:a")),
        (vec!["First steps".to_owned()], Vec::new())
    );
    assert_eq!(home.subjects("tag:other"), [""; 0]);
    for (arguments, text, part) in [
        (["tag", "--batch", "-"], "+a -- form:bob\n", "-: line 1: "),
        (["tag", "--batch", "-"], "\n+a b\n", "-: line 2: +TAG, -TAG or -- and a query was expected"),
        (["tag", "--restore", "-"], "+a -- from:ana\n", "line 1: a line of a dump has tags to add"),
        (["tag", "--batch", "-"], "+a%20b -- id:1@example.org\n", "\"a b\" cannot be a tag"),
    ] {
        let run = run_with_input(&mut home.command(&arguments), text.as_bytes());
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{text}: {run:?}");
        assert!(run.err.contains(part), "{text}: {}", run.err);
    }
}

#[test]
fn a_message_id_that_no_line_can_hold_is_left_out_of_a_dump() {
    let home = Home::indexed();
    let message = |id: &str, subject: &str| {
        format!(
            "From: a@x\nSubject: {subject}\nMessage-ID: <{id}>\nDate: Tue, 4 Mar 2025 10:00:00 +0000\n\nx\n"
        )
    };
    home.deliver("", "21:2,", message("ödd@x", "odd").as_bytes());
    home.deliver("", "22:2,", message("e\u{1b}[31m\u{7}sc@x", "escaped").as_bytes());
    home.good(&["index"]);
    home.good(&["tag", "+kept", "--", "subject:odd or subject:escaped or subject:first"]);
    let dump = home.pneu(&["tag", "--dump"]);
    assert_eq!(dump.code, Some(3), "{dump:?}");
    assert_eq!(dump.out, "+kept -- id:\"ödd@x\"\n+kept -- id:1@example.org\n");
    let said = "pneu: 1 message with tags left out: no Message-ID, or one with control characters, which no \
                line can hold\n";
    assert_eq!(dump.err, said);
    home.good(&["tag", "-kept", "--", "*"]);
    let restored = run_with_input(&mut home.command(&["tag", "--restore", "-"]), dump.out.as_bytes());
    assert_eq!((restored.code, restored.out.as_str()), (Some(0), "2 lines, 2 messages: 2 changed\n"));
    assert_eq!(home.subjects("tag:kept"), ["odd", "First steps"]);
}

#[test]
fn lines_that_are_tried_are_printed_message_by_message() {
    let home = Home::indexed();
    home.good(&["tag", "+old", "+b", "--", "subject:first"]);
    let lines = "+a -old -- subject:first\n+b -- hello\n-a +c -- id:1@example.org\n";
    let batch = |options: &[&str]| {
        run_with_input(&mut home.command(&[&["tag", "--batch", "-"], options].concat()), lines.as_bytes())
    };
    let tried = batch(&["--dry-run"]);
    assert_eq!(tried.code, Some(0), "{tried:?}");
    let ends: Vec<&str> = tried.out.lines().map(|line| line.split_once('\t').unwrap().1).collect();
    assert_eq!(
        ends,
        ["Ana Example\tSecond thoughts\t+b", "Ana Example\tFirst steps\t+b +c -a -old"],
        "{tried:?}"
    );
    assert_eq!(home.subjects("tag:old tag:b"), ["First steps"], "nothing has changed");
    assert_eq!(batch(&[]).out, "3 lines, 2 messages: 2 changed\n");
    assert_eq!(home.subjects("tag:c tag:b not tag:old not tag:a"), ["First steps"]);
    assert_eq!(batch(&["--dry-run"]).code, Some(1));
    let wrong =
        run_with_input(&mut home.command(&["tag", "--dry-run", "--batch", "-"]), b"+a%20b -- hello\n");
    assert!(wrong.code == Some(2) && wrong.err.contains("cannot be a tag"), "{wrong:?}");
}
