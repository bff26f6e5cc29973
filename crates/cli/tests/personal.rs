//! Tests the user's own addresses: where they come from, what they find, and how they change what `contacts`
//! lists.
//!
//! Input: homes with the configuration of other programs and with sent mail. Output: what is found and
//! printed. Does not depend on how addresses are stored.

use crate::support::{Home, letter};
use std::fs;

fn configured(home: &Home, text: &str) {
    let directory = home.path().join(".config/pneu");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("config.toml"), text).unwrap();
}

#[test]
fn init_takes_addresses_from_other_programs_and_from_sent_mail() {
    let home = Home::new();
    home.deliver("", "1:2,S", &letter("1", "First", "a"));
    fs::write(home.path().join(".notmuch-config"), "[user]\nprimary_email=bo@example.org\n").unwrap();
    fs::write(home.path().join(".muttrc"), "set from=`id`@example.org\nset from=\"Bo <bo@home.example>\"\n")
        .unwrap();
    let sent = String::from_utf8(letter("2", "Second", "b")).unwrap().replace("ana@", "cy@");
    home.deliver(".Sent", "2:2,S", sent.as_bytes());
    let out = home.good(&["init"]);
    let addresses = "  bo@example.org\n  bo@home.example\n  cy@example.org\n";
    let expected = format!(
        "and as your addresses, from sent mail and other programs' configuration,\n\
         {addresses}next: pneu index\n"
    );
    assert!(out.ends_with(&expected), "{out}");
    let text = fs::read_to_string(home.path().join(".config/pneu/config.toml")).unwrap();
    let line = "\n[user]\naddresses = [\"bo@example.org\", \"bo@home.example\", \"cy@example.org\"]\n";
    assert!(text.contains(line), "{text}");
    home.good(&["index"]);
    assert_eq!(home.good(&["count", "flag:personal"]), "2\n");
    assert_eq!(home.good(&["contacts"]), "Ana Example <ana@example.org>\n");
}

#[test]
fn addresses_may_change_without_an_index() {
    let home = Home::indexed();
    let refused = home.pneu(&["find", "hello flag:personal"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert!(refused.err.contains("[user] addresses = "), "{}", refused.err);
    assert!(refused.err.contains("  hello flag:personal\n        ^^^^^^^^^^^^^"), "{}", refused.err);
    let refused = home.pneu(&["contacts", "--personal"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    configured(&home, "[user]\naddresses = [\"BO@example.org\"]\n");
    assert_eq!(home.good(&["count", "is:personal"]), "4\n");
    assert_eq!(home.good(&["find", "--fields", "g", "hello again"]), "uq\n");
    assert!(home.good(&["view", "id:1@example.org"]).contains("\nFlags: seen personal\n"));
    assert_eq!(home.good(&["contacts"]), "Ana Example <ana@example.org>\n");
    assert_eq!(home.good(&["contacts", "--personal"]), "Ana Example <ana@example.org>\n");
    configured(&home, "[user]\naddresses = [\"@nowhere.example\"]\n");
    assert_eq!(home.pneu(&["count", "is:personal"]).out, "0\n");
    assert_eq!(home.good(&["find", "--fields", "g", "hello again"]), "u\n");
    assert_eq!(home.pneu(&["contacts", "--personal"]).code, Some(1));
    configured(&home, "[user]\naddresses = [\"bo\"]\n");
    let wrong = home.pneu(&["find", "hello"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("\"bo\" is neither an address"), "{}", wrong.err);
}
