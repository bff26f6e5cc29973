//! Tests tags that stand for flags: they are read from the names of files, and changed there.
//!
//! Input: a home whose configuration says so. Output: tags, and names of files. Does not depend on how
//! actions are logged.

use crate::support::{Home, letter};
use std::fs;

fn home() -> Home {
    let home = Home::new();
    home.configure("[tags]\nsync_flags = true\n");
    home.deliver("", "1:2,S", &letter("1", "One", "x"));
    home.deliver("", "2:2,", &letter("2", "Two", "x"));
    home.first_index();
    home
}

fn names(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.mail().join("cur")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn tags_are_flags_in_both_directions() {
    let home = home();
    assert_eq!(home.subjects("tag:unread"), ["Two"]);
    assert_eq!(home.subjects("not tag:unread"), ["One"]);
    assert_eq!(home.good(&["tag"]), "       1 unread\n");
    assert_eq!(home.good(&["tag", "-unread", "+flagged", "+work", "--", "two"]), "1 message: 1 changed\n");
    assert_eq!(names(&home), ["1:2,S", "2:2,FS"]);
    assert_eq!(home.subjects("tag:flagged tag:work"), ["Two"]);
    assert_eq!(home.pneu(&["count", "tag:unread"]).out, "0\n");
    // Another program.
    fs::rename(home.mail().join("cur/1:2,S"), home.mail().join("cur/1:2,R")).unwrap();
    home.good(&["index"]);
    assert_eq!(home.subjects("tag:unread tag:replied"), ["One"]);
    let shown = home.good(&["find", "--format", "json", "one"]);
    assert!(shown.contains("\"tags\":[\"replied\",\"unread\"]"), "{shown}");
    assert_eq!(home.subjects("tag:repl*"), ["One"]);
    // It is an action, so it is undone like one.
    home.good(&["tag", "+draft", "--", "one"]);
    assert_eq!(names(&home)[0], "1:2,DR");
    home.good(&["undo"]);
    assert_eq!(names(&home)[0], "1:2,R");
}

#[test]
fn a_dry_run_asks_each_file_for_its_flags() {
    let home = home();
    home.deliver("other", "3:2,S", &letter("2", "Two", "x"));
    home.good(&["index"]);
    // One of its files has the flag, the other does not.
    let dry = home.pneu(&["tag", "--dry-run", "-unread", "--", "*"]);
    assert!(dry.out.contains("Two") && !dry.out.contains("One"), "{dry:?}");
    let dry = home.pneu(&["tag", "--dry-run", "+unread", "--", "two"]);
    assert!(dry.out.contains("Two"), "{dry:?}");
    assert_eq!(home.good(&["tag", "+unread", "--", "two"]), "1 message: 1 changed\n");
    let dry = home.pneu(&["tag", "--dry-run", "+unread", "--", "two"]);
    assert!(!dry.out.contains("Two"), "{dry:?}");
}

#[test]
fn dumps_leave_flags_to_the_files() {
    let home = home();
    home.good(&["tag", "+work", "+flagged", "--", "two"]);
    assert_eq!(home.good(&["tag", "--dump"]), "+work -- id:2@example.org\n");
    fs::write(home.path().join("dump"), "+later +unread -- id:2@example.org\n+passed -- id:1@example.org\n")
        .unwrap();
    home.good(&["tag", "--restore", "dump"]);
    assert_eq!(home.good(&["tag", "--dump"]), "+later -- id:2@example.org\n");
    assert_eq!(names(&home), ["1:2,S", "2:2,F"], "a restore changes no file");
    fs::write(home.path().join("batch"), "+passed -- subject:one\n-unread +x -- id:2@example.org\n").unwrap();
    home.good(&["tag", "--batch", "batch"]);
    assert_eq!(names(&home), ["1:2,PS", "2:2,FS"]);
    assert_eq!(home.subjects("tag:x"), ["Two"]);
}

#[test]
fn what_was_stored_or_forged_under_such_a_name_does_not_count() {
    let home = home();
    home.configure("");
    home.good(&["tag", "+unread", "+draft", "--", "one"]);
    assert_eq!(home.subjects("tag:unread"), ["One"], "without the option it is a tag");
    assert_eq!(names(&home)[0], "1:2,S");
    home.configure("[tags]\nsync_flags = true\n");
    assert_eq!(home.good(&["tag", "--dump"]), "");
    let mut forged = b"X-Keywords: draft\n".to_vec();
    forged.extend(letter("3", "Three", "x"));
    home.deliver("", "3:2,S", &forged);
    home.good(&["index"]);
    assert_eq!(home.subjects("tag:unread"), ["Two"]);
    assert_eq!(home.pneu(&["count", "tag:draft"]).out, "0\n");
    assert!(!home.good(&["find", "--format", "json", "three"]).contains("draft"));
    home.configure("[tags]\nsync_flags = true\n[[rule]]\nquery = \"*\"\ntag = \"-unread\"\n");
    let wrong = home.pneu(&["index"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("rules change no flags"), "{wrong:?}");
}

#[test]
fn a_batch_is_one_action_and_counts_each_message_once() {
    let home = home();
    for number in 3..9 {
        home.deliver("", &format!("{number}:2,"), &letter(&number.to_string(), "Many", "x"));
    }
    // A copy, which counts as one with its message.
    home.deliver("", "9:2,", &letter("3", "Many", "x"));
    home.good(&["index"]);
    let before = names(&home);
    // Changes take turns, so that no two neighbours are alike.
    let lines: Vec<String> = (3..9)
        .map(|number| {
            let change = if number % 2 == 0 { "-unread +x" } else { "-unread +flagged" };
            format!("{change} -- id:{number}@example.org\n")
        })
        .collect();
    // Later lines see earlier ones: nothing is left of the first change of "one".
    let batch =
        format!("+draft -- subject:one\n{}-draft -- subject:one\n+y -- subject:two\n", lines.concat());
    fs::write(home.path().join("batch"), batch).unwrap();
    assert_eq!(home.good(&["tag", "--batch", "batch"]), "9 lines, 8 messages: 7 changed\n");
    let after = ["1:2,S", "2:2,", "3:2,FS", "4:2,S", "5:2,FS", "6:2,S", "7:2,FS", "8:2,S", "9:2,FS"];
    assert_eq!(names(&home), after);
    assert_eq!(home.good(&["undo", "--list"]).matches(" changed at ").count(), 1);
    home.good(&["undo"]);
    assert_eq!(names(&home), before);
    // Tags of some messages, flags of others.
    home.good(&["tag", "+x", "--", "subject:many"]);
    home.good(&["flag", "+S", "--", "id:4@example.org or id:5@example.org"]);
    assert_eq!(home.good(&["tag", "+x", "-unread", "--", "subject:many"]), "6 messages: 4 changed\n");
    assert_eq!(home.good(&["tag", "+x", "-unread", "--", "subject:two"]), "1 message: 1 changed\n");
    assert_eq!(home.good(&["tag", "+x", "-unread", "--", "subject:two"]), "1 message: 0 changed\n");
}
